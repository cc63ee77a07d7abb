/** What the page knows: the sessions of the list, and the one that is open. */

import { batch, computed, debounce, effect, signal, untracked } from "bridle/dom.js";
import { get } from "bridle/api.js";

const PAGE = 50;
const PAUSE_MS = 200;
const MAX_FOUND = 20;

/** @typedef {{id: string, title: string, cwd: string, agent: string, state: string, updated_at: number,
 *   archived?: boolean, outcome?: string, parent?: string, sub_agent?: boolean, model?: string}} Row */

/** The rows of the list by id. @type {{value: Map<string, Row>}} */
export const rows = signal(new Map());
/** What the list is searched for, and whether it shows what was put away. */
export const wanted = signal({ q: "", archived: false });
/** What to ask for further rows with; null when all are there. */
export const nextRows = signal(null);
/** Whether the list was loaded once. */
export const isListed = signal(false);
/** The session that is open. @type {{value: import("bridle/shown.js").Shown | null}} */
export const shown = signal(null);
const endedRuns = signal(0);
/** The sessions that are in memory, as news tell of them. */
const live = new Map();

/** The rows as they are listed: those that run or wait first, then the newest. */
export const listed = computed(() => {
  const found = [...rows.value.values()].filter((row) => !row.sub_agent && fits(row, wanted.value));
  return found.sort((one, other) => rank(other) - rank(one) || other.updated_at - one.updated_at);
});

/** How many sessions wait for a person. */
export const waiting = computed(() => [...rows.value.values()].filter((row) => row.state === "waiting").length);

function rank(row) {
  return row.state === "waiting" ? 2 : row.state === "running" ? 1 : 0;
}

function fits(row, { q, archived }) {
  if (row.archived && !archived) return false;
  const text = q.toLowerCase();
  return [row.title, row.cwd, row.id].some((value) => value.toLowerCase().includes(text));
}

/** Load the list anew, or its next page. */
export async function loadRows({ more = false } = {}) {
  const { q, archived } = wanted.value;
  const page = await get("/sessions", { q, archived, limit: PAGE, before: more ? nextRows.value : "" });
  if (wanted.value.q !== q || wanted.value.archived !== archived) return;
  batch(() => {
    const all = new Map(more || q ? rows.value : [...rows.value].filter(([, row]) => isBusy(row)));
    for (const summary of page.sessions) all.set(summary.id, listedRow(summary));
    rows.value = all;
    nextRows.value = page.next;
    isListed.value = true;
  });
}

function isBusy(row) {
  return row?.state === "running" || row?.state === "waiting";
}

function listedRow(summary) {
  const now = live.get(summary.id);
  return { ...summary, state: now?.state ?? (summary.unfinished ? "cut_off" : "idle"), model: now?.model ?? "" };
}

/** Take in what is new about a session, whichever it is. */
export function takeNews(news) {
  const wasBusy = isBusy(live.get(news.session));
  if (news.live) live.set(news.session, news.live);
  else live.delete(news.session);
  if (wasBusy && !isBusy(news.live)) endedRuns.value += 1;
  const old = rows.value.get(news.session);
  if (!old) {
    if (news.live) findUnlisted();
    return;
  }
  const all = new Map(rows.value);
  if (news.deleted) all.delete(news.session);
  else all.set(news.session, renewed(old, news.live));
  rows.value = all;
}

function renewed(old, now) {
  if (!now) return { ...old, state: isBusy(old) ? "idle" : old.state };
  const { title, state, model = "" } = now;
  const outcome = isBusy(now) ? null : old.outcome;
  return { ...old, title, state, model, outcome, updated_at: old.state === state ? old.updated_at : Date.now() };
}

/** Load the rows of sessions that news have told of: only the list knows which of them are sub-agents. */
const findUnlisted = debounce(async () => {
  try {
    await loadRows();
    const unlisted = [...live.keys()].filter((id) => !rows.value.has(id)).slice(0, MAX_FOUND);
    const pages = await Promise.all(unlisted.map((id) => get("/sessions", { q: id, archived: true, limit: 1 })));
    const found = pages.flatMap((page) => page.sessions.map((summary) => [summary.id, listedRow(summary)]));
    rows.value = new Map([...rows.value, ...found]);
  } catch {
    // the link is down or the login has run out, which the page says by itself
  }
}, PAUSE_MS);

/** Forget which sessions are in memory: after a lost connection news begin anew, and some may be gone. */
export function forgetNews() {
  live.clear();
  rows.value = new Map([...rows.value].map(([id, row]) => [id, isBusy(row) ? { ...row, state: "" } : row]));
  findUnlisted();
}

/** Call back whenever a run of any session ends; returns what stops that. */
export function sessionEnds(act) {
  let seen = endedRuns.peek();
  return effect(() => {
    if (endedRuns.value === seen) return;
    seen = endedRuns.value;
    untracked(act);
  });
}

/** Take over what the open session says of itself into its row. */
export function takeHead(head) {
  const old = rows.value.get(head.session);
  const { title, cwd, agent, state, archived = false } = head;
  if (old && old.title === title && old.state === state && Boolean(old.archived) === archived) return;
  const row = {
    ...old,
    id: head.session,
    title,
    cwd,
    agent,
    state: state ?? "idle",
    archived,
    parent: head.parent,
    sub_agent: head.is_sub_agent ?? false,
    updated_at: head.updated_at || Date.now(),
  };
  rows.value = new Map(rows.value).set(head.session, row);
}
