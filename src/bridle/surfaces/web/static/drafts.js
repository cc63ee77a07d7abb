/** What was typed and not sent, what was sent before, and with which options: kept while the tab lives. */

import { signal } from "bridle/dom.js";

const MAX_HISTORY = 100;
const MAX_KEPT_CHARS = 200_000;

const drafts = new Map();

/** @returns {{text: ReturnType<typeof signal>, files: ReturnType<typeof signal>, options: ReturnType<typeof signal>}} */
export function draftOf(session) {
  if (!drafts.has(session)) {
    drafts.set(session, {
      text: signal(read(`draft.${session}`) ?? ""),
      files: signal([]),
      options: signal(JSON.parse(read(`options.${session}`) ?? "{}")),
    });
  }
  return drafts.get(session);
}

/** Put words into the prompt of a session; what was typed there stays. */
export function putWords(session, words) {
  const { text } = draftOf(session);
  if (!text.value.trim()) setText(session, words);
}

export function setText(session, text) {
  draftOf(session).text.value = text;
  write(`draft.${session}`, text.length > MAX_KEPT_CHARS ? "" : text);
}

/** Choose a model, a mode or an agent for what is sent next; an empty one takes the choice back. */
export function setOption(session, name, value) {
  const { options } = draftOf(session);
  const next = { ...options.value, [name]: value };
  if (!value) delete next[name];
  options.value = next;
  write(`options.${session}`, JSON.stringify(next));
}

/** What was sent in this tab, oldest first. */
export function history() {
  return JSON.parse(read("history") ?? "[]");
}

export function remember(text) {
  const all = [...history().filter((each) => each !== text), text].slice(-MAX_HISTORY);
  write("history", JSON.stringify(all));
}

function read(name) {
  try {
    return sessionStorage.getItem(`bridle.${name}`);
  } catch {
    return null;
  }
}

function write(name, text) {
  try {
    if (text) sessionStorage.setItem(`bridle.${name}`, text);
    else sessionStorage.removeItem(`bridle.${name}`);
  } catch {
    // full, or a browser that keeps nothing: it holds as long as the page
  }
}
