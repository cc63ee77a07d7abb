/**
 * The one connection of a tab: what happens in the open session, and news of all others.
 *
 * ```
 * follow(id) ──▶ board loaded ──▶ stream after its seq ──▶ patches, once per frame
 *                     ▲                  │ lost, lagged, reset
 *                     └── wait, longer each time
 * ```
 */

import { signal } from "bridle/dom.js";
import { address, get, isLoggedOut, sessionPath } from "bridle/api.js";
import { Shown } from "bridle/shown.js";
import { forgetNews, shown, takeHead, takeNews } from "bridle/store.js";
import { toast } from "bridle/toasts.js";

const KINDS = ["put", "grow", "drop", "head_changed", "flash", "reset"];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const HIDDEN_MS = 60_000; // after that a tab that nobody sees lets go of its connection
const FRAME_MS = 200; // a hidden tab has no frames

/** `off`, `opening`, `live` or `lost`. */
export const link = signal("off");
/** Why the session cannot be shown. @type {{value: Error | null}} */
export const trouble = signal(null);

let session = null;
let source = null;
let seq = 0;
let waits = 0;
let timer = 0;
let hiddenTimer = 0;
let isAsleep = false;
let staysAwake = () => false;
let turn = 0;
let patches = [];
let isPlanned = false;

/** Show a session and follow it; with null only news are followed. */
export function follow(id) {
  if (id === session && source) return;
  session = id;
  stop();
  trouble.value = null;
  if (shown.value?.session !== id) shown.value = null;
  start(false);
}

/** Load the open session anew, for example to see its end again. */
export function reload() {
  stop();
  start(false);
}

/** Try again at once, for example after a new login. */
export function retry() {
  if (link.value === "live" && !isLoggedOut.value) return;
  waits = 0;
  stop();
  start(false);
}

/** Say when a hidden tab stays connected. */
export function stayAwakeWhile(isWanted) {
  staysAwake = isWanted;
}

function stop() {
  turn += 1;
  clearTimeout(timer);
  source?.close();
  source = null;
  patches = [];
}

async function start(resumes) {
  const mine = turn;
  if (link.value !== "lost") link.value = "opening";
  try {
    if (session && !(resumes && shown.value?.session === session)) await load(mine);
    if (mine !== turn) return;
    if (resumes) patches = (shown.peek()?.liveKeys ?? []).map((key) => ({ type: "drop", key }));
    listen(mine);
  } catch (error) {
    if (mine === turn) refused(error);
  }
}

async function load(mine) {
  const view = await get(sessionPath(session, "/board"));
  if (mine !== turn) return;
  if (shown.value?.session === session) shown.value.load(view);
  else shown.value = new Shown(view);
  seq = view.head.seq;
  takeHead(view.head);
}

function refused(error) {
  if (error.status && error.status < 500 && error.status !== 401) {
    trouble.value = error;
    link.value = "off";
    return;
  }
  lost(false);
}

function listen(mine) {
  const query = { speech: "board", after: seq, news: true };
  source = new EventSource(session ? address(sessionPath(session, "/stream"), query) : "/news");
  const own = source;
  let isOpen = false;
  source.onopen = () => {
    isOpen = true;
    if (link.value === "lost") forgetNews();
    waits = 0;
    link.value = "live";
    isLoggedOut.value = false;
    trouble.value = null;
  };
  source.onerror = (event) => {
    if (mine !== turn || own !== source) return;
    if (event.data !== undefined) toast("failed", JSON.parse(event.data).detail);
    lost(isOpen && event.data === undefined);
  };
  source.addEventListener("done", () => own === source && lost(true));
  source.addEventListener("news", (event) => own === source && takeNews(JSON.parse(event.data)));
  if (!session) source.onmessage = (event) => takeNews(JSON.parse(event.data));
  for (const kind of KINDS) source.addEventListener(kind, (event) => own === source && take(event));
}

function take(event) {
  if (event.lastEventId) seq = Math.max(seq, Number(event.lastEventId));
  const patch = JSON.parse(event.data);
  if (patch.type === "reset") {
    reload();
    return;
  }
  patches.push(patch);
  if (isPlanned) return;
  isPlanned = true;
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    isPlanned = false;
    show();
  };
  requestAnimationFrame(once);
  setTimeout(once, FRAME_MS);
}

function show() {
  const now = patches;
  patches = [];
  const view = shown.peek();
  if (!view || view.session !== session || !now.length) return;
  const before = view.head.peek();
  for (const flash of view.apply(now)) toast(flash.weight ?? "detail", flash.text);
  if (view.head.peek() !== before) takeHead(view.head.peek());
}

/** Come back after a while; `resumes` where the stream ended, or else with what is loaded anew. */
function lost(resumes) {
  if (resumes) show(); // what has come and was not drawn yet is not sent again
  stop();
  link.value = "lost";
  if (document.hidden && isAsleep) return;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits) * (0.7 + 0.6 * Math.random());
  waits += 1;
  timer = setTimeout(() => start(resumes), wait);
}

/** Begin to heed whether anybody sees the page and whether there is a network. */
export function watchPage() {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (!document.hidden) {
      isAsleep = false;
      retry();
      return;
    }
    hiddenTimer = setTimeout(() => {
      if (staysAwake()) return;
      isAsleep = true;
      stop();
      link.value = "off";
    }, HIDDEN_MS);
  });
  addEventListener("online", retry);
  addEventListener("focus", () => isLoggedOut.value && retry());
}
