/**
 * Where in the page one is, by the address after `#`.
 *
 * | address | view |
 * |---|---|
 * | `#/` | the beginning |
 * | `#/s/<id>` | a session |
 * | `#/s/<id>/timeline`, `#/s/<id>/replay` | how its runs went |
 * | `#/dashboard` | what all sessions have used |
 */

import { signal } from "bridle/dom.js";

const VIEWS = ["timeline", "replay"];

/** @returns {{view: "home" | "session" | "timeline" | "replay" | "dashboard", session: string | null}} */
export function read(hash) {
  const [first = "", id = "", view = ""] = hash.replace(/^#?\/?/u, "").split("/");
  if (first === "dashboard") return { view: "dashboard", session: null };
  const session = decoded(id);
  if (first !== "s" || !session) return { view: "home", session: null };
  return { view: VIEWS.includes(view) ? view : "session", session };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export const route = signal(read(location.hash));

addEventListener("hashchange", () => {
  route.value = read(location.hash);
});

/** The address of a session, or of one of its views. */
export function addressOf(session, view = "") {
  return `#/s/${encodeURIComponent(session)}${view ? `/${view}` : ""}`;
}

/** Go to a session, or with null to the beginning. */
export function open(session) {
  location.hash = session ? addressOf(session) : "#/";
}
