/** Asks the service. Every error is a Problem, whose message can be shown as it is. */

import { signal } from "bridle/dom.js";

const TIMEOUT_MS = 60_000;

/** Whether the login has run out: then a dialog says what to do. */
export const isLoggedOut = signal(false);

/** Why a request was not fulfilled. */
export class Problem extends Error {
  constructor(message, { status = 0, code = "", hint = "" } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }

  /** Nobody answered: the service is not there, or not yet. */
  get isUnreachable() {
    return this.status === 0;
  }
}

/** A name for a request, so that one that is sent twice is done once. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The address of something, with what is asked of it; what is null, empty or false is left out. */
export function address(path, query = {}) {
  const wanted = Object.entries(query).filter(([, value]) => ![null, undefined, "", false].includes(value));
  const text = new URLSearchParams(wanted.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** The address of something about a session: `sessionPath(id, "/diff")`. */
export function sessionPath(session, rest = "") {
  return `/sessions/${encodeURIComponent(session)}${rest}`;
}

/** @returns {Promise<any>} the decoded answer */
export function get(path, query = {}, options = {}) {
  return ask("GET", address(path, query), undefined, options);
}

/** @returns {Promise<any>} the decoded answer */
export function post(path, body = {}, options = {}) {
  return ask("POST", path, body, options);
}

/** Take something away for good. */
export function remove(path) {
  return ask("DELETE", path);
}

/** Forget the login of this browser. */
export async function logOut() {
  await ask("POST", "/logout");
  isLoggedOut.value = true;
}

/** The keys of prompts whose answer was lost: sent again, such a prompt is not taken twice. */
const unanswered = new Map();

/** Hand a command to a session, such as `{type: "cancel"}`; returns its receipt. */
export async function command(session, body) {
  const path = sessionPath(session, "/commands");
  if (body.type !== "prompt" && body.type !== "steer") return post(path, body);
  const sent = `${session} ${JSON.stringify(body)}`;
  const key = unanswered.get(sent) ?? newKey();
  unanswered.set(sent, key);
  try {
    const receipt = await post(path, body, { key });
    unanswered.delete(sent);
    return receipt;
  } catch (error) {
    if (error.status >= 400 && error.status < 500) unanswered.delete(sent);
    throw error;
  }
}

async function ask(method, url, body, { key = "", signal: leaving } = {}) {
  const headers = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  let answer;
  try {
    answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: leaving ? AbortSignal.any([leaving, deadline]) : deadline,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    throw new Problem(error.name === "TimeoutError" ? "Bridle took too long to answer" : "Bridle cannot be reached");
  }
  if (!answer.ok) throw await problemOf(answer);
  const type = answer.headers.get("content-type") ?? "";
  if (answer.status === 204) return null;
  return type.includes("json") ? answer.json() : answer.text();
}

async function problemOf(answer) {
  if (answer.status === 401) isLoggedOut.value = true;
  const told = await answer.json().catch(() => ({}));
  return new Problem(told.detail || `Bridle answered with status ${answer.status}`, {
    status: answer.status,
    code: told.code ?? "",
    hint: told.hint ?? "",
  });
}
