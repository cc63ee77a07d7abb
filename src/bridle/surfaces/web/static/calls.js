/** Calls of tools, as cards: what is called, how it goes, what it gives back and changes. */

import { Attachments } from "bridle/attached.js";
import { fillCode } from "bridle/code.js";
import { Diff } from "bridle/diff.js";
import { classes, html, useLayoutEffect, useRef } from "bridle/dom.js";
import { Markdown } from "bridle/markdown.js";
import { useOpened } from "bridle/opened.js";
import { bytes, duration, oneLine, visible } from "bridle/words.js";

const FIRST_CHARS = 12_000; // of an output; more on demand
const SHELL_TOOL = "bash";
const SHORT_OUTPUT_CHARS = 600; // of a shell command; one this short is open from the beginning
const SHORT_DIFF_CHARS = 6_000; // one this short is open from the beginning

/** How each state is shown: its mark, its words, its colour. */
const STATES = {
  writing: ["…", "is being written", "detail"],
  waiting: ["?", "waits for you", "warning"],
  running: ["●", "runs", "name"],
  done: ["✓", "done", "done"],
  failed: ["✗", "failed", "failed"],
  denied: ["⊘", "denied", "warning"],
  lost: ["!", "did not finish", "warning"],
};

/** @param {{call: object}} props */
export function CallCard({ call }) {
  const [mark, words, weight] = STATES[call.state] ?? STATES.lost;
  const isAtWork = call.state === "running" || call.state === "writing";
  const isShortDiff = Boolean(call.diff) && call.diff.length < SHORT_DIFF_CHARS;
  const isShortOutput = call.tool === SHELL_TOOL && (call.output ?? "").length < SHORT_OUTPUT_CHARS;
  const isTold = call.state === "failed" || (call.state === "done" && (isShortDiff || isShortOutput));
  const [isOpen, turn] = useOpened(call.key, isAtWork || isTold);
  return html`<article
    class=${classes("item call", `state-${call.state}`, call.parent && "is-nested")}
    aria-label=${`Call of ${oneLine(call.tool, 60)}: ${words}`}
  >
    <button type="button" class="fold" aria-expanded=${isOpen} onClick=${turn}>
      <span class=${classes("mark", `is-${weight}`, call.state === "running" && "beats")} aria-hidden="true">${mark}</span>
      <span class="name">${oneLine(call.tool, 60)}</span>
      <span class="clipped">${oneLine(call.brief || (call.state === "writing" ? call.written?.slice(-200) : ""), 200)}</span>
      <span class="dim call-state">${stateWords(call, words)}</span>
    </button>
    ${isOpen && html`<${CallBody} call=${call} isAtWork=${isAtWork} />`}
  </article>`;
}

function stateWords(call, words) {
  if (call.state === "done") return call.duration_ms ? duration(call.duration_ms) : "";
  return call.duration_ms ? `${words} · ${duration(call.duration_ms)}` : words;
}

function CallBody({ call, isAtWork }) {
  const args = Object.entries(call.args ?? {});
  return html`<div class="call-body">
    ${call.why && html`<p class=${call.state === "denied" ? "is-warning" : "dim"}>${oneLine(call.why, 1_000)}</p>`}
    ${call.state === "writing" && call.written && html`<${Tail} text=${call.written} label="Arguments so far" />`}
    ${call.code && html`<${Code} text=${call.code} language="python" />`}
    ${!call.code && !call.diff && args.length > 0 && html`<${Arguments} args=${args} />`}
    ${call.diff && html`<${Diff} text=${call.diff} />`}
    ${call.output &&
    (isAtWork
      ? html`<${Tail} text=${call.output} label="Output so far" />`
      : html`<${Output} id=${call.key} text=${call.output} isFailed=${call.state === "failed"} />`)}
    <${Attachments} attached=${call.attached} />
    ${call.answer && html`<${Markdown} text=${call.answer} />`}
    ${call.child && html`<p><a href=${`#/s/${encodeURIComponent(call.child)}`}>Open the sub-agent's session</a></p>`}
  </div>`;
}

/** What a tool is called with, each on its own; a long one is cut unless the whole is wanted. */
export function Arguments({ args, isWhole = false }) {
  return html`<dl class="arguments">
    ${args.map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt class="dim">${oneLine(name, 60)}</dt>
          <dd>${argumentText(value, isWhole)}</dd>
        </div>`,
    )}
  </dl>`;
}

function argumentText(value, isWhole) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  return visible(!isWhole && text.length > FIRST_CHARS ? `${text.slice(0, FIRST_CHARS)}…` : text);
}

/** Code with its colours; a long one is cut unless the whole is wanted. */
export function Code({ text, language, isWhole = false }) {
  const element = useRef(null);
  const shown = isWhole ? text : text.slice(0, FIRST_CHARS * 4);
  useLayoutEffect(() => fillCode(element.current, shown, language), [shown, language]);
  return html`<pre class="code" tabindex="0"><code ref=${element}></code></pre>`;
}

/** The end of a text that still grows; it stays in sight unless a person scrolls up. */
function Tail({ text, label }) {
  const frame = useRef(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current) frame.current.scrollTop = frame.current.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = frame.current;
    follows.current = scrollHeight - scrollTop - clientHeight < 20;
  };
  return html`<pre class="output tail" tabindex="0" aria-label=${label} ref=${frame} onScroll=${onScroll}>${visible(
    text.slice(-FIRST_CHARS),
  )}</pre>`;
}

function Output({ id, text, isFailed }) {
  const isLong = text.length > FIRST_CHARS;
  const [isWhole, turn] = useOpened(`${id}:output`, !isLong);
  return html`<pre class=${classes("output", isFailed && "is-failed-back")} tabindex="0" aria-label="Output">${visible(
      isWhole ? text : text.slice(0, FIRST_CHARS),
    )}</pre>
    ${isLong &&
    html`<button type="button" class="quiet" onClick=${turn}>
      ${isWhole ? "Show less" : `Show all ${bytes(text.length)}`}
    </button>`}`;
}
