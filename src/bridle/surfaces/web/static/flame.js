/** The flame chart of a run: who was at work when. Mouse, touch and keyboard zoom, move and choose. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "bridle/dom.js";
import { KINDS, moved, placed, within, zoomed } from "bridle/flame_layout.js";
import { paint, spanAt } from "bridle/flame_paint.js";
import { useTheme, useWidth } from "bridle/plots.js";
import { cost, count, duration, oneLine } from "bridle/words.js";

const CLOSER = 0.7;
const STEP = 0.15; // of what is seen, that a key moves by
const TOUCH_HELP = "Drag to move, use two fingers to zoom, tap a span to read about it";
const HELP = "Arrow keys choose a span, with Shift they move, + and − zoom, 0 shows all, Enter zooms to the chosen one";

/** @param {{spans: import("bridle/flame_layout.js").Span[], whole: {start: number, end: number}}} props */
export function Flame({ spans, whole }) {
  const frame = useRef(null);
  const canvas = useRef(null);
  const width = useWidth(frame);
  const theme = useTheme();
  const layout = useMemo(() => placed(spans), [spans]);
  const [view, setView] = useState(whole);
  const [chosen, setChosen] = useState(null);
  const [pointed, setPointed] = useState(null);
  useEffect(() => setView(whole), [whole.start, whole.end]);
  useLayoutEffect(() => {
    if (width) paint(canvas.current, { layout, view, chosen: (pointed ?? chosen)?.key, start: whole.start });
  }, [layout, view, chosen, pointed, width, theme]);
  useGestures(canvas, { layout, view, whole, setView, setChosen, setPointed });
  const change = (how) => setView((old) => how(old));
  const middle = (old) => (old.start + old.end) / 2;
  return html`<div class="flame">
    <div class="flame-tools">
      <${Kinds} rows=${layout.rows} />
      <div class="choices" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick=${() => change((old) => zoomed(old, CLOSER, middle(old), whole))}>+</button>
        <button type="button" aria-label="Zoom out" onClick=${() => change((old) => zoomed(old, 1 / CLOSER, middle(old), whole))}>−</button>
        <button type="button" onClick=${() => setView(whole)}>All</button>
      </div>
    </div>
    <div class="flame-frame" ref=${frame}>
      <canvas
        ref=${canvas}
        tabindex="0"
        role="application"
        aria-label=${`Flame chart of the run. ${HELP}`}
        onKeyDown=${(event) => press(event, { layout, whole, chosen, setChosen, setView })}
      ></canvas>
    </div>
    <p class="flame-details" aria-live="polite">${detailsOf(pointed ?? chosen, whole.start) || (matchMedia("(pointer: coarse)").matches ? TOUCH_HELP : HELP)}</p>
  </div>`;
}

function Kinds({ rows }) {
  return html`<ul class="legend">
    ${rows.map((row) => html`<li key=${row.kind}><i class=${`swatch kind-${row.kind}`}></i>${row.word} <span class="look-quiet">${row.count}</span></li>`)}
  </ul>`;
}

/** Say everything about a span. */
export function detailsOf(span, start) {
  if (!span) return "";
  const { word } = KINDS.find((one) => one.kind === span.kind) ?? { word: span.kind };
  const parts = [
    `${word}: ${oneLine(span.name, 160)}`,
    `after ${duration(span.start - start)}`,
    span.isOpen ? "has not ended" : `took ${duration(span.end - span.start)}`,
  ];
  if (span.tokens) parts.push(`${count(span.tokens)} tokens`);
  if (span.cost) parts.push(cost(span.cost));
  if (span.outcome) parts.push(oneLine(span.outcome.replaceAll("_", " ")));
  return parts.join(" · ");
}

function press(event, { layout, whole, chosen, setChosen, setView }) {
  const { key } = event;
  const act = {
    ArrowLeft: () => (event.shiftKey ? move(-STEP) : choose(-1)),
    ArrowRight: () => (event.shiftKey ? move(STEP) : choose(1)),
    "+": () => setView((old) => zoomed(old, CLOSER, focus(old), whole)),
    "=": () => setView((old) => zoomed(old, CLOSER, focus(old), whole)),
    "-": () => setView((old) => zoomed(old, 1 / CLOSER, focus(old), whole)),
    0: () => setView(whole),
    Home: () => choose(-Infinity),
    End: () => choose(Infinity),
    Enter: () => chosen && setView(around(chosen, whole)),
    Escape: () => setChosen(null),
  }[key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();

  function move(share) {
    setView((old) => moved(old, share * (old.end - old.start), whole));
  }
  function focus(old) {
    const middle = chosen ? (chosen.start + chosen.end) / 2 : (old.start + old.end) / 2;
    return Math.min(Math.max(middle, old.start), old.end);
  }
  function choose(by) {
    const { all } = layout;
    if (!all.length) return;
    const now = all.findIndex(({ span }) => span.key === chosen?.key);
    const next = Math.min(Math.max(now < 0 && by > 0 && by < Infinity ? 0 : now + by, 0), all.length - 1);
    const { span } = all[next];
    setChosen(span);
    setView((old) => (span.end < old.start || span.start > old.end ? moved(old, span.start - focusStart(old), whole) : old));
  }
  function focusStart(old) {
    return old.start + STEP * (old.end - old.start);
  }
}

function around(span, whole) {
  const room = Math.max((span.end - span.start) * STEP, 1);
  return within({ start: span.start - room, end: span.end + room }, whole);
}

/** Heed the mouse, the wheel and fingers; one finger or the mouse moves, two fingers zoom. */
function useGestures(canvas, now) {
  const latest = useRef(now);
  latest.current = now;
  useEffect(() => {
    const element = canvas.current;
    const fingers = new Map();
    let isMoved = false;
    const timeAt = (view, x) => view.start + (x / element.clientWidth) * (view.end - view.start);
    const placeOf = (event) => {
      const box = element.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const found = (event) => {
      const { x, y } = placeOf(event);
      return spanAt(latest.current.layout, latest.current.view, element.clientWidth, x, y);
    };
    const on = {
      pointerdown(event) {
        fingers.set(event.pointerId, placeOf(event));
        isMoved = false;
        element.setPointerCapture(event.pointerId);
      },
      pointermove(event) {
        const { setPointed, setView, whole } = latest.current;
        const old = fingers.get(event.pointerId);
        if (!old) {
          setPointed(found(event));
          return;
        }
        const place = placeOf(event);
        const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, other]) => other);
        fingers.set(event.pointerId, place);
        isMoved ||= Math.abs(place.x - old.x) > 2;
        setView((view) => {
          const perPixel = (view.end - view.start) / element.clientWidth;
          if (!others.length) return moved(view, (old.x - place.x) * perPixel, whole);
          const [other] = others;
          const factor = Math.max(Math.abs(old.x - other.x), 8) / Math.max(Math.abs(place.x - other.x), 8);
          return zoomed(view, factor, timeAt(view, other.x), whole);
        });
      },
      pointerup(event) {
        if (fingers.delete(event.pointerId) && !isMoved) latest.current.setChosen(found(event));
      },
      pointercancel(event) {
        fingers.delete(event.pointerId);
      },
      pointerleave() {
        latest.current.setPointed(null);
      },
      wheel(event) {
        const { setView, whole } = latest.current;
        const { x } = placeOf(event);
        if (event.ctrlKey || event.metaKey) {
          setView((view) => zoomed(view, Math.exp(event.deltaY / 200), timeAt(view, x), whole));
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const by = event.deltaX || event.deltaY;
          setView((view) => moved(view, (by / element.clientWidth) * (view.end - view.start), whole));
        } else return; // the page scrolls
        event.preventDefault();
      },
    };
    for (const [name, act] of Object.entries(on)) element.addEventListener(name, act, { passive: false });
    return () => Object.entries(on).forEach(([name, act]) => element.removeEventListener(name, act));
  }, []);
}
