/** One thing of the conversation: what was said, answered, thought, called or noted. */

import { Attachments } from "bridle/attached.js";
import { classes, html } from "bridle/dom.js";
import { CallCard } from "bridle/calls.js";
import { copy } from "bridle/code.js";
import { Markdown } from "bridle/markdown.js";
import { useOpened } from "bridle/opened.js";
import { bytes, clock, oneLine, visible } from "bridle/words.js";

const FIRST_CHARS = 8_000; // of a long text; more on demand

const SPEAKERS = {
  prompt: "You",
  steer: "You, during the run",
  fork: "Before the fork",
  import: "Imported",
  child: "Sub-agent",
  peer: "Another agent",
  check: "Check",
  extract: "Bridle",
};
const NOTE_MARKS = { detail: "·", done: "✓", warning: "!", failed: "✗" };

/**
 * @param {{item: object, acts?: {label: string, act: (item: object) => void}[]}} props
 * `acts` are what can be done with what a person said
 */
export function ItemView({ item, acts = [] }) {
  switch (item.type) {
    case "said":
      return html`<${Said} item=${item} acts=${acts} />`;
    case "answer":
      return html`<${Answer} item=${item} />`;
    case "thought":
      return html`<${Thought} item=${item} />`;
    case "call":
      return html`<${CallCard} call=${item} />`;
    case "note":
      return html`<${Note} item=${item} />`;
    default:
      return null;
  }
}

function Said({ item, acts }) {
  const source = item.source ?? "prompt";
  const isOwn = source === "prompt" || source === "steer";
  return html`<article class=${classes("item said", isOwn && "is-own")} aria-label=${SPEAKERS[source] ?? "Said"}>
    <header class="item-head">
      <span class="speaker">${SPEAKERS[source] ?? oneLine(source)}</span>
      ${item.at > 0 && html`<time class="dim">${clock(item.at)}</time>`}
      <span class="item-acts">
        <button type="button" class="quiet" onClick=${(event) => copy(item.text, event.currentTarget)}>Copy</button>
        ${(isOwn ? acts : []).map(
          ({ label, act }) => html`<button type="button" class="quiet" onClick=${() => act(item)}>${label}</button>`,
        )}
      </span>
    </header>
    <${LongText} id=${item.key} text=${item.text} />
    <${Attachments} attached=${item.attached} />
  </article>`;
}

function Answer({ item }) {
  return html`<article class="item answer" aria-label="Answer" aria-busy=${item.is_live ?? false}>
    <${Markdown} text=${item.text} isLive=${item.is_live ?? false} />
    ${!item.is_live &&
    html`<div class="item-acts">
      <button type="button" class="quiet" onClick=${(event) => copy(item.text, event.currentTarget)}>Copy</button>
    </div>`}
  </article>`;
}

function Thought({ item }) {
  const [isOpen, turn] = useOpened(item.key);
  const first = oneLine(item.text.slice(item.is_live ? -200 : 0), 100);
  return html`<article class="item thought" aria-label="Thought">
    <button type="button" class="fold" aria-expanded=${isOpen} onClick=${turn}>
      <span class="arrow" aria-hidden="true">${isOpen ? "▾" : "▸"}</span>
      <span class="fold-name">${item.is_live ? "Thinking…" : "Thought"}</span>
      ${!isOpen && html`<span class="dim clipped">${first}</span>`}
    </button>
    ${isOpen && html`<div class="thought-text">${visible(item.text)}</div>`}
  </article>`;
}

function Note({ item }) {
  const weight = item.weight ?? "detail";
  return html`<p class=${classes("item note", `is-${weight}`)}>
    <span class="mark" aria-hidden="true">${NOTE_MARKS[weight]}</span>
    <span>${oneLine(item.text, 2_000)}</span>
    ${item.at > 0 && html`<time class="dim">${clock(item.at)}</time>`}
  </p>`;
}

/** Words as they were written; a long text is folded. */
function LongText({ id, text }) {
  const isLong = text.length > FIRST_CHARS;
  const [isWhole, turn] = useOpened(`${id}:text`, !isLong);
  const words = isWhole ? text : text.slice(0, FIRST_CHARS);
  return html`<div class="words">${visible(words)}${!isWhole && "…"}</div>
    ${isLong &&
    html`<button type="button" class="quiet" onClick=${turn}>
      ${isWhole ? "Show less" : `Show all ${bytes(text.length)}`}
    </button>`}`;
}
