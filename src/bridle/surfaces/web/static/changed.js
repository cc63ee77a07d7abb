/** The files that a session has changed, each with its diff. */

import { get, sessionPath } from "bridle/api.js";
import { Diff, readDiff } from "bridle/diff.js";
import { ask, Dialog } from "bridle/dialogs.js";
import { html, useLoaded } from "bridle/dom.js";
import { Section } from "bridle/section.js";
import { oneLine } from "bridle/words.js";

const PAUSE_MS = 400; // a run may change many files one after the other

/** @param {{head: object}} props */
export function ChangedFiles({ head }) {
  const { value, error } = useLoaded(
    (signal) => get(sessionPath(head.session, "/diff"), {}, { signal }),
    [head.session, head.files_seq, head.state === "idle"],
    PAUSE_MS,
  );
  const changes = value?.changes ?? [];
  if (!changes.length && !error) return null;
  return html`<${Section} title="Changed files" detail=${changes.length || ""}>
    ${error && html`<p class="dim">${oneLine(error.message)}</p>`}
    <ul class="rows">
      ${changes.map(
        (change) =>
          html`<li key=${change.path}>
            <button type="button" class="row-button" onClick=${() => ask(FileDialog, { change, text: value.text })}>
              <span class="mark" aria-hidden="true">${changeMark(change)}</span>
              <span class="name clipped-start">${oneLine(change.path, 300)}</span>
              <span class="unseen">${changeWord(change)}</span>
            </button>
          </li>`,
      )}
    </ul>
  <//>`;
}

function changeWord({ before, after }) {
  return !before ? "added" : !after ? "removed" : "changed";
}

function changeMark(change) {
  return { added: "+", removed: "−", changed: "~" }[changeWord(change)];
}

function FileDialog({ change, text, done }) {
  const own = fileDiff(text, change.path);
  return html`<${Dialog} title=${oneLine(change.path, 200)} done=${done} kind="is-wide">
    ${own ? html`<${Diff} text=${own} />` : html`<p class="dim">It was ${changeWord(change)}; no diff available</p>`}
  <//>`;
}

/** The part of a diff that is about one file. */
function fileDiff(text, path) {
  const starts = [...text.matchAll(/^--- .*\n\+\+\+ .*$/gmu)].map((match) => match.index);
  const pieces = starts.map((start, at) => text.slice(start, starts[at + 1]));
  return pieces.find((piece) => readDiff(piece)[0]?.path === path);
}
