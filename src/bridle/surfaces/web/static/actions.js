/** What a person can do with sessions. Each tells by itself what went wrong, and gives back whether it worked. */

import { address, command, get, post, remove, sessionPath } from "bridle/api.js";
import { askText, confirmed } from "bridle/dialogs.js";
import { open } from "bridle/route.js";
import { rows } from "bridle/store.js";
import { toast, toastError } from "bridle/toasts.js";
import { oneLine } from "bridle/words.js";

/** Commands that come too late when a run has ended or somebody else was first. */
const LATE = { decide: "It was already decided", reply: "It was already answered", steer: "The run has already ended" };

/** Do something; an error is told. @returns {Promise<any>} what it gave, or null */
export async function attempt(act) {
  try {
    return (await act()) ?? true;
  } catch (error) {
    tellError(error);
    return null;
  }
}

/** Tell why something could not be done; that the login has run out is told above everything already. */
function tellError(error) {
  if (error.status !== 401) toastError(error);
}

/** Hand a command to a session. */
export async function tell(session, body) {
  try {
    return await command(session, body);
  } catch (error) {
    const isLate = error.code === "SESSION_NOT_RUNNING" && LATE[body.type];
    if (isLate) toast("warning", LATE[body.type]);
    else tellError(error);
    return null;
  }
}

/** Begin a session in a folder and open it. */
export async function begin({ cwd, agent = "", title = "" }) {
  const made = await attempt(() =>
    post("/sessions", { prompt: "", initial_turn: "deferred", cwd, ...(agent && { agent }), ...(title && { title }) }),
  );
  if (made) open(made.session_id);
  return Boolean(made);
}

export async function rename(head) {
  const title = await askText({ title: "Rename", label: "Title", value: head.title, yes: "Rename" });
  if (title) await tell(head.session, { type: "rename", title });
}

/** Begin a session with the messages up to a record, or with all of them. */
export async function fork(session, at = null) {
  const made = await attempt(() => post(sessionPath(session, "/fork"), at === null ? {} : { at }));
  if (!made) return null;
  open(made.session_id);
  return made.session_id;
}

export async function archive(head) {
  const archived = !head.archived;
  if (await tell(head.session, { type: "archive", archived })) toast("done", archived ? "Archived" : "Restored");
}

/** Delete a session for good, after a yes. */
export async function erase(head) {
  const isWanted = await confirmed({
    title: "Delete the session",
    text: `“${oneLine(head.title || head.session, 80)}” and its sub-agents are removed for good. Files stay as they are.`,
    yes: "Delete",
    isDangerous: true,
  });
  if (!isWanted) return;
  if (!(await attempt(() => remove(sessionPath(head.session))))) return;
  const left = new Map(rows.value);
  left.delete(head.session);
  rows.value = left;
  toast("done", "Deleted");
  open(null);
}

export async function compact(head) {
  const keep = await askText({
    title: "Compact",
    label: "What the summary must keep (optional)",
    yes: "Compact",
    isLong: true,
    mayBeEmpty: true,
  });
  if (keep !== null && (await tell(head.session, { type: "compact", keep }))) toast("detail", "Compacting…");
}

export async function pin(head) {
  const text = await askText({
    title: "Pin",
    label: "Kept verbatim through every compaction",
    yes: "Pin",
    isLong: true,
  });
  if (text) await tell(head.session, { type: "pin", text });
}

export function unpin(head, text) {
  return tell(head.session, { type: "pin", text, pinned: false });
}

export function cancel(session) {
  return tell(session, { type: "cancel" });
}

export function resume(session) {
  return tell(session, { type: "resume" });
}

/** Save a session as a file. @param {"html" | "md" | "json"} format */
export function saveAs(session, format) {
  const link = document.createElement("a");
  link.href = address(sessionPath(session, "/export"), { format });
  link.download = `${session}.${format}`;
  document.body.append(link);
  link.click();
  link.remove();
}

/** What going back would do, and the diff that it would take back. */
export async function planRewind(session, toSeq) {
  const [plan, diff] = await Promise.all([
    get(sessionPath(session, "/rewind"), { to_seq: toSeq }),
    get(sessionPath(session, "/diff"), { after: toSeq }),
  ]);
  return { plan, diff };
}
