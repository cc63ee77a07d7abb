/** How things are written: texts of others made harmless, numbers and times for people. */

const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e" +
    "\\u2060-\\u2064\\u2066-\\u2069\\ufeff]|[\\u{e0000}-\\u{e007f}]",
  "gu",
);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Show control characters, and those that reorder or hide text, as escapes; newlines and tabs stay. */
export function visible(text) {
  return String(text ?? "")
    .replaceAll("\r\n", "\n")
    .replace(UNSEEN, escaped);
}

function escaped(character) {
  const code = character.codePointAt(0);
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Make any text fit one line. */
export function oneLine(text, longest = 300) {
  const line = visible(String(text ?? "").slice(0, longest * 4).split(/\s+/u).join(" ").trim());
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** The last two names of a path: enough to know it by. */
export function shortPath(path) {
  const names = String(path ?? "").split("/").filter(Boolean);
  return oneLine(names.length > 2 ? `…/${names.slice(-2).join("/")}` : path);
}

/** `950`, `12.3k`, `1.2M`. */
export function count(number) {
  if (number < 1_000) return String(number);
  if (number < 999_950) return `${trimmed(number / 1_000)}k`;
  return `${trimmed(number / 1_000_000)}M`;
}

function trimmed(number) {
  return number >= 100 ? String(Math.round(number)) : number.toFixed(1).replace(/\.0$/u, "");
}

/** Dollars; null is a price that nobody knows. */
export function cost(dollars) {
  if (dollars === null || dollars === undefined) return "price unknown";
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

/** `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 3 min`. */
export function duration(ms) {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** `now`, `5 min`, `3 h`, `2 d`, then the date. */
export function ago(at, now = Date.now()) {
  const past = now - at;
  if (past < MINUTE) return "now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)} d`;
  return day(new Date(at));
}

function day(when) {
  const two = (number) => String(number).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
}

/** The time of day, or with the date when it was another day. */
export function clock(at) {
  const when = new Date(at);
  const time = when.toTimeString().slice(0, 5);
  return when.toDateString() === new Date().toDateString() ? time : `${day(when)} ${time}`;
}

/** `900 B`, `12 KB`, `3.4 MB`. */
export function bytes(number) {
  if (number < 1024) return `${number} B`;
  if (number < 1024 * 1024) return `${Math.round(number / 1024)} KB`;
  return `${(number / 1024 / 1024).toFixed(1)} MB`;
}

/** `1 file`, `3 files`. */
export function several(number, word, words = `${word}s`) {
  return `${number} ${number === 1 ? word : words}`;
}
