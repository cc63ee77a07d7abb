/** Paints a flame chart on a canvas. */

import { coloursOf } from "bridle/plots.js";
import { KINDS, ticks } from "bridle/flame_layout.js";
import { duration, oneLine } from "bridle/words.js";

export const LANE = 24;
export const SCALE = 22;
const GAP = 10;
const LETTER = 6.4;
const PATTERN = 8;

/** The height of a chart with so many lanes in so many rows. */
export const heightOf = (layout) => SCALE + layout.lanes * LANE + layout.rows.length * GAP + 4;

/** Where a lane begins, from the top. */
export function topOf(layout, lane) {
  const row = layout.rows.findIndex((one) => lane < one.first + one.lanes);
  return SCALE + lane * LANE + (row + 1) * GAP - GAP / 2;
}

/** The span at a place, or null. */
export function spanAt(layout, view, width, x, y) {
  const at = view.start + (x / width) * (view.end - view.start);
  const slack = (3 / width) * (view.end - view.start);
  const hits = layout.all.filter(({ span, lane }) => {
    const top = topOf(layout, lane);
    return y >= top && y < top + LANE && at >= span.start - slack && at <= span.end + slack;
  });
  return hits.length ? hits[hits.length - 1].span : null;
}

/** The patterns of the kinds, so that they can be told apart without colour. */
export function patternsOf(context, element) {
  const names = ["paper", "ink", "dim", "line", "failed", ...KINDS.map((kind) => kind.colour)];
  const colours = coloursOf(element, names);
  const fills = Object.fromEntries(
    KINDS.map(({ kind, colour, pattern }) => [kind, patternOf(context, colours[colour], colours.paper, pattern)]),
  );
  return { colours, fills };
}

function patternOf(context, colour, paper, pattern) {
  if (pattern === "plain") return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = PATTERN;
  const pen = tile.getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, PATTERN, PATTERN);
  pen.strokeStyle = pen.fillStyle = paper;
  pen.globalAlpha = 0.22;
  const half = PATTERN / 2;
  const lines = {
    rising: [[-1, half + 1, half + 1, -1], [half - 1, PATTERN + 1, PATTERN + 1, half - 1]],
    falling: [[half - 1, -1, PATTERN + 1, half + 1], [-1, half - 1, half + 1, PATTERN + 1]],
    upright: [[half, 0, half, PATTERN]],
    grid: [[half, 0, half, PATTERN], [0, half, PATTERN, half]],
  }[pattern] ?? [];
  pen.beginPath();
  for (const [x1, y1, x2, y2] of lines) {
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
  }
  pen.stroke();
  if (pattern === "dots") pen.fillRect(3, 3, 2, 2);
  return context.createPattern(tile, "repeat");
}

/** Paint all of it. */
export function paint(canvas, { layout, view, chosen, start }) {
  const width = canvas.clientWidth;
  const height = heightOf(layout);
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const { colours, fills } = patternsOf(pen, canvas.parentElement);
  const place = (at) => ((at - view.start) / (view.end - view.start)) * width;
  paintScale(pen, { view, width, height, place, start, colours });
  for (const { span, lane } of layout.all) {
    if (span.end < view.start || span.start > view.end) continue;
    paintSpan(pen, { span, top: topOf(layout, lane), left: place(span.start), right: place(span.end), width, colours, fills, isChosen: span.key === chosen });
  }
}

function paintScale(pen, { view, width, height, place, start, colours }) {
  pen.strokeStyle = colours.line;
  pen.fillStyle = colours.dim;
  for (const offset of ticks({ start: view.start - start, end: view.end - start }, width / 110)) {
    const x = Math.round(place(start + offset)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, SCALE - 4);
    pen.lineTo(x, height);
    pen.stroke();
    if (x < width - 40) pen.fillText(duration(offset), x + 4, SCALE / 2);
  }
}

function paintSpan(pen, { span, top, left, right, width, colours, fills, isChosen }) {
  const x = Math.max(left, -2);
  const wide = Math.max(Math.min(right, width + 2) - x, 2);
  pen.fillStyle = fills[span.kind];
  pen.fillRect(x, top + 1, wide, LANE - 3);
  if (span.outcome === "failed") {
    pen.fillStyle = colours.failed;
    pen.fillRect(x, top + LANE - 5, wide, 3);
  }
  if (isChosen) {
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x, top + 1, wide, LANE - 3);
    pen.lineWidth = 1;
  }
  const letters = Math.floor((wide - 10) / LETTER);
  if (letters < 3) return;
  const text = oneLine(span.outcome === "failed" ? `✗ ${span.name}` : span.name, letters);
  pen.fillStyle = colours.paper;
  pen.fillText(text, x + 5, top + LANE / 2);
}
