/** Unified diffs, read and shown on one or two sides. */

import { classes, html, useMemo, useState } from "bridle/dom.js";
import { choice, choose } from "bridle/choices.js";
import { several, visible } from "bridle/words.js";

const FIRST_LINES = 400; // of a diff; more on demand
const MAX_LINES = 20_000;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/u;
const KINDS = { "+": "added", "-": "removed", " ": "same" };
const MARKS = { added: "+", removed: "-", same: " ", hunk: "", note: "" };

/** Whose previews are diffs, as in surfaces/diffs.py: any other is a text of the model, of which no line may be lost. */
export const DIFFING_TOOLS = [
  "write_file",
  "edit_file",
  "multi_edit",
  "rename_symbol",
  "replace_symbol",
  "code_action",
];

/** Tell whether a text is a diff. */
export function isDiff(text) {
  return /^@@ -\d/mu.test(text) || /^--- .*\n\+\+\+ /mu.test(text);
}

/**
 * Read a diff into its files.
 * @returns {{path: string, lines: {kind: string, text: string, old?: number, now?: number}[]}[]}
 */
export function readDiff(text) {
  const files = [];
  let file = null;
  let hunk = null; // where it is, and how many lines of each side it still has
  let isGit = false; // which puts a letter before each path
  for (const line of visible(text).split("\n", MAX_LINES)) {
    const found = hunk ? null : HUNK.exec(line);
    if (hunk) {
      file.lines.push(hunkLine(hunk, line));
      if (hunk.oldLeft <= 0 && hunk.nowLeft <= 0) hunk = null;
    } else if (found) {
      const [old, oldLeft, now, nowLeft] = found.slice(1).map((number) => Number(number ?? 1));
      hunk = oldLeft || nowLeft ? { old, oldLeft, now, nowLeft } : null;
      file ??= begin(files, "");
      file.lines.push({ kind: "hunk", text: line });
    } else if (line.startsWith("--- ")) {
      file = begin(files, pathOf(line, isGit));
    } else if (line.startsWith("+++ ") && file) {
      file.path = pathOf(line, isGit) || file.path;
    } else if (line.startsWith("diff --git ")) {
      isGit = true;
    } else if (line && !line.startsWith("index ")) {
      file ??= begin(files, "");
      file.lines.push({ kind: "note", text: line });
    }
  }
  return files;
}

function hunkLine(hunk, line) {
  const kind = KINDS[line[0]];
  if (!kind) return { kind: "note", text: line }; // "\\ No newline at end of file"
  const read = { kind, text: line.slice(1) };
  if (kind !== "added") {
    read.old = hunk.old++;
    hunk.oldLeft -= 1;
  }
  if (kind !== "removed") {
    read.now = hunk.now++;
    hunk.nowLeft -= 1;
  }
  return read;
}

function begin(files, path) {
  files.push({ path, lines: [] });
  return files.at(-1);
}

function pathOf(line, isGit) {
  const path = line.slice(4).split("\t")[0];
  return path === "/dev/null" ? "" : isGit ? path.replace(/^[ab]\//u, "") : path;
}

/** Put what was removed beside what was added in its place. */
export function pairs(lines) {
  const rows = [];
  let removed = [];
  let added = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      rows.push({ left: removed[at] ?? null, right: added[at] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed" && !added.length) removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      if (line.kind === "removed") removed.push(line);
      else rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

/** How many lines a diff adds and removes. */
export function counts(files) {
  const lines = files.flatMap((file) => file.lines);
  return {
    added: lines.filter((line) => line.kind === "added").length,
    removed: lines.filter((line) => line.kind === "removed").length,
  };
}

/** @param {{text: string}} props */
export function Diff({ text }) {
  const files = useMemo(() => readDiff(text), [text]);
  const [isWhole, setWhole] = useState(false);
  const isSplit = choice("diff") === "split";
  const total = files.reduce((sum, file) => sum + file.lines.length, 0);
  const { added, removed } = counts(files);
  let room = isWhole ? MAX_LINES : FIRST_LINES;
  const parts = files.map((file) => {
    const lines = file.lines.slice(0, Math.max(0, room));
    room -= lines.length;
    return { ...file, lines };
  });
  return html`<div class="diff">
    <div class="diff-bar">
      <span class="dim">
        ${several(files.length, "file")} <span class="is-done">+${added}</span>${" "}
        <span class="is-failed">−${removed}</span>
      </span>
      <button
        type="button"
        class="quiet wide-only"
        aria-pressed=${isSplit}
        onClick=${() => choose("diff", isSplit ? "unified" : "split")}
      >
        Side by side
      </button>
    </div>
    ${parts.map((file, at) => file.lines.length > 0 && html`<${FileDiff} key=${at} file=${file} isSplit=${isSplit} />`)}
    ${total > FIRST_LINES &&
    !isWhole &&
    html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>Show all ${total} lines</button>`}
  </div>`;
}

function FileDiff({ file, isSplit }) {
  return html`<div class="diff-file">
    ${file.path && html`<div class="diff-path name">${file.path}</div>`}
    <div class="diff-frame" tabindex="0" role="group" aria-label=${`Changes of ${file.path || "a file"}`}>
      ${isSplit ? html`<${Split} lines=${file.lines} />` : html`<${Unified} lines=${file.lines} />`}
    </div>
  </div>`;
}

function Unified({ lines }) {
  return html`<table class="diff-lines"><tbody>
    ${lines.map(
      (line, at) =>
        html`<tr key=${at} class=${`line-${line.kind}`}>
          <td class="line-number">${line.old ?? ""}</td>
          <td class="line-number">${line.now ?? ""}</td>
          <td class="line-mark">${MARKS[line.kind]}</td>
          <td class="line-text">${line.text}</td>
        </tr>`,
    )}
  </tbody></table>`;
}

function Split({ lines }) {
  return html`<table class="diff-lines is-split"><tbody>
    ${pairs(lines).map(({ left, right }, at) =>
      left && left.kind !== "same" && left === right
        ? html`<tr key=${at} class=${`line-${left.kind}`}><td></td><td></td><td class="line-text" colspan="4">${left.text}</td></tr>`
        : html`<tr key=${at}>${side(left, left?.old)}${side(right, right?.now)}</tr>`,
    )}
  </tbody></table>`;
}

function side(line, number) {
  const kind = line ? `line-${line.kind}` : "line-none";
  return html`<td class=${classes("line-number", kind)}>${number ?? ""}</td>
    <td class=${classes("line-mark", kind)}>${line ? MARKS[line.kind] : ""}</td>
    <td class=${classes("line-text", kind)}>${line?.text ?? ""}</td>`;
}
