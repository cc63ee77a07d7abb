/** A session as it was after each of its records: a slider, the conversation then, and the files then. */

import { Diff } from "bridle/diff.js";
import { html, useEffect, useLayoutEffect, useLoaded, useMemo, useRef, useState } from "bridle/dom.js";
import { ItemView } from "bridle/items.js";
import { ReplayLoader } from "bridle/replay_loading.js";
import { recordWords } from "bridle/replay_words.js";
import { bytes, clock, oneLine, several } from "bridle/words.js";

const SETTLE_MS = 120; // a slider that is being drawn asks for nothing in between
const SPEEDS = [1, 2, 5, 20]; // records in a second
const MOST_ITEMS = 60; // of the conversation, the newest
const MOST_FILES = 200;
const JUMP = 20; // records that a page key moves by

/** @param {{session: string}} props */
export function ReplayView({ session }) {
  const loader = useMemo(() => new ReplayLoader(session), [session]);
  const { value: length, error } = useLoaded(() => loader.length(), [loader]);
  return html`<section class="look replay" aria-labelledby="replay-title">
    <h2 id="replay-title" class="unseen">Replay</h2>
    ${error && html`<p class="look-problem" role="alert">${oneLine(error.message)}</p>`}
    ${length > 0 && html`<${Player} key=${session} loader=${loader} length=${length} />`}
    ${length === undefined && !error && html`<p class="look-quiet">Loading…</p>`}
  </section>`;
}

function Player({ loader, length }) {
  const [seq, setSeq] = useState(length);
  const settled = useSettled(seq);
  const { value, error, isLoading } = useLoaded(() => moment(loader, settled), [loader, settled]);
  const go = (to) => setSeq((old) => Math.min(Math.max(typeof to === "function" ? to(old) : to, 1), length));
  useEffect(() => {
    if (value && settled < length) loader.board(settled + 1).catch(() => {});
  }, [value]);
  return html`
    <${Controls} ...${{ seq, length, go }} isReady=${!isLoading && settled === seq} words=${value?.seq === seq ? value.words : null} />
    ${error && html`<p class="look-problem" role="alert">${oneLine(error.message)}</p>`}
    <div class="replay-sides" aria-busy=${isLoading}>
      ${value && html`<${Then} moment=${value} loader=${loader} />`}
    </div>
  `;
}

/** The value once it has not changed for a moment. */
function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

async function moment(loader, seq) {
  const [view, record] = await Promise.all([loader.board(seq), loader.record(seq)]);
  return { seq, view, record, words: record && recordWords(record) };
}

function Controls({ seq, length, go, isReady, words }) {
  const [speed, setSpeed] = useState(2);
  const [isPlaying, setPlaying] = useState(false);
  const isAtEnd = seq >= length;
  useEffect(() => {
    if (!isPlaying || !isReady) return undefined;
    if (isAtEnd) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => go((old) => old + 1), 1000 / speed);
    return () => clearTimeout(timer);
  }, [isPlaying, isReady, seq, speed]);
  const play = () => {
    if (!isPlaying && isAtEnd) go(1);
    setPlaying(!isPlaying);
  };
  const move = (to) => {
    setPlaying(false);
    go(to);
  };
  const jump = (event) => {
    const by = { PageUp: -JUMP, PageDown: JUMP }[event.key];
    if (!by) return;
    event.preventDefault();
    move((old) => old + by);
  };
  const told = words ? `${words.kind}${words.text ? `: ${words.text}` : ""}` : "";
  return html`<div class="replay-controls">
    <div class="replay-buttons">
      <button type="button" aria-label="First record" disabled=${seq <= 1} onClick=${() => move(1)}>|◀</button>
      <button type="button" aria-label="Previous record" disabled=${seq <= 1} onClick=${() => move((old) => old - 1)}>◀</button>
      <button type="button" class="replay-play" onClick=${play}>${isPlaying ? "Pause" : "Play"}</button>
      <button type="button" aria-label="Next record" disabled=${isAtEnd} onClick=${() => move((old) => old + 1)}>▶</button>
      <button type="button" aria-label="Last record" disabled=${isAtEnd} onClick=${() => move(length)}>▶|</button>
      <label class="replay-speed">Speed${" "}
        <select value=${speed} onChange=${(event) => setSpeed(Number(event.target.value))}>
          ${SPEEDS.map((one) => html`<option key=${one} value=${one}>${one} a second</option>`)}
        </select>
      </label>
    </div>
    <input
      type="range"
      min="1"
      max=${length}
      step="1"
      value=${seq}
      aria-label="Record"
      aria-valuetext=${`${seq} of ${length}${told ? `, ${told}` : ""}`}
      onInput=${(event) => move(Number(event.target.value))}
      onKeyDown=${jump}
    />
    <p class="replay-record">
      <b>${seq}</b> of ${length}${" "}
      ${words && html`<span class="replay-kind">${words.kind}</span> <span class="look-quiet">${words.text}</span>`}
    </p>
  </div>`;
}

function Then({ moment: { seq, view, record }, loader }) {
  return html`
    <${Talk} seq=${seq} view=${view} record=${record} />
    <aside class="replay-files" aria-label="The files then">
      <${Files} loader=${loader} seq=${seq} filesSeq=${view.head.files_seq ?? 0} isChange=${record?.event.type === "files_changed"} />
    </aside>
  `;
}

/** The end of the conversation as it was. */
function Talk({ seq, view, record }) {
  const frame = useRef(null);
  useLayoutEffect(() => {
    frame.current.scrollTop = frame.current.scrollHeight;
  }, [seq]);
  const { title, state = "idle" } = view.head;
  const isCut = view.before !== null || view.items.length > MOST_ITEMS;
  return html`<div class="replay-talk" role="region" aria-label="The conversation then" tabindex="0" ref=${frame}>
    <p class="look-quiet">${oneLine(title || "untitled")} · ${state.replaceAll("_", " ")}${record ? ` · ${clock(record.at)}` : ""}</p>
    ${isCut && html`<p class="look-quiet">Earlier items are not shown; move the slider back to see them.</p>`}
    ${view.items.slice(-MOST_ITEMS).map((item) => html`<${ItemView} key=${item.key} item=${item} />`)}
    ${!view.items.length && html`<p class="look-quiet">No messages yet.</p>`}
  </div>`;
}

function Files({ loader, seq, filesSeq, isChange }) {
  const [which, setWhich] = useState("all");
  const isOne = which === "one" && isChange;
  const wanted = isOne ? [seq - 1, seq] : [0, Math.min(filesSeq, seq)];
  const { value, error } = useLoaded(
    () => (filesSeq ? loader.diff(...wanted) : Promise.resolve({ changes: [], text: "" })),
    [loader, filesSeq, ...wanted],
  );
  return html`
    <h3>Files</h3>
    <div class="choices" role="group" aria-label="Which changes">
      <button type="button" aria-pressed=${!isOne} onClick=${() => setWhich("all")}>Up to here</button>
      <button type="button" aria-pressed=${isOne} disabled=${!isChange} onClick=${() => setWhich("one")}>This record</button>
    </div>
    ${error && html`<p class="look-problem" role="alert">${oneLine(error.message)}</p>`}
    ${value && html`<${FileList} changes=${value.changes} />`}
    ${value?.text && html`<${Diff} text=${value.text} />`}
  `;
}

function FileList({ changes }) {
  if (!changes.length) return html`<p class="look-quiet">No files changed yet.</p>`;
  return html`<p class="look-quiet">${several(changes.length, "file")} changed</p>
    <ul class="replay-list">
      ${changes.slice(0, MOST_FILES).map(({ path, before, after }) => html`<li key=${path}>
        <span class="replay-mark">${!before ? "new" : !after ? "deleted" : "changed"}</span>
        <span class="replay-path">${oneLine(path)}</span>
        <span class="look-quiet">${after ? bytes(after.size ?? 0) : ""}</span>
      </li>`)}
    </ul>
    ${changes.length > MOST_FILES && html`<p class="look-quiet">and ${changes.length - MOST_FILES} more</p>`}`;
}
