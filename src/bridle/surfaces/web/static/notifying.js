/** Tells a person who looks elsewhere that something waits or has ended: by the title, and if wanted by the browser. */

import { choice, choose } from "bridle/choices.js";
import { effect } from "bridle/dom.js";
import { stayAwakeWhile } from "bridle/live.js";
import { open } from "bridle/route.js";
import { rows, shown, waiting } from "bridle/store.js";
import { toast } from "bridle/toasts.js";
import { oneLine } from "bridle/words.js";

/** Whether the browser tells of what happens while nobody looks. */
export function notifies() {
  return choice("notify") === "on" && globalThis.Notification?.permission === "granted";
}

/** Ask the browser for permission, or stop telling. */
export async function turnNotifying() {
  if (notifies()) {
    choose("notify", "off");
    return;
  }
  const isAllowed = (await globalThis.Notification?.requestPermission()) === "granted";
  choose("notify", isAllowed ? "on" : "off");
  if (!isAllowed) toast("warning", "The browser does not allow notifications for this page");
}

/** Begin to tell. */
export function watchSessions() {
  stayAwakeWhile(notifies);
  const states = new Map();
  effect(() => {
    for (const row of rows.value.values()) {
      const before = states.get(row.id);
      states.set(row.id, row.state);
      if (!before || before === row.state || row.sub_agent || !document.hidden || !notifies()) continue;
      if (row.state === "waiting") notify(row, "waits for you");
      else if (before === "running" && row.state === "idle") notify(row, "has ended");
    }
  });
  effect(() => {
    const title = shown.value ? oneLine(shown.value.head.value.title, 60) : "";
    document.title = `${waiting.value ? `(${waiting.value}) ` : ""}${title ? `${title} – ` : ""}Bridle`;
  });
}

function notify(row, words) {
  const note = new Notification(oneLine(row.title, 80) || "Bridle", { body: words, tag: row.id });
  note.onclick = () => {
    window.focus();
    open(row.id);
    note.close();
  };
}
