/** Where the spans of a run stand in its flame chart. Nothing here touches the page. */

/** The rows of a chart from top to bottom: what they hold, their word, colour and pattern. */
export const KINDS = [
  { kind: "turn", word: "turns", colour: "strong-line", pattern: "plain" },
  { kind: "model", word: "model", colour: "part-1", pattern: "plain" },
  { kind: "tool", word: "tools", colour: "part-2", pattern: "rising" },
  { kind: "wait", word: "waits for a person", colour: "part-3", pattern: "dots" },
  { kind: "child", word: "sub-agents", colour: "part-4", pattern: "falling" },
  { kind: "hook", word: "hooks", colour: "part-5", pattern: "upright" },
  { kind: "compaction", word: "compaction", colour: "part-6", pattern: "grid" },
];

const MOST_LANES = 12; // more calls at once than this share the last lane

/**
 * @typedef {{key: string, kind: string, name: string, start: number, end: number, isOpen: boolean,
 *   tokens: number, cost: number | null, outcome: string, depth: number}} Span
 * @typedef {{span: Span, lane: number}} Placed
 */

/**
 * Put spans into lanes so that none covers another; returns the lanes of all and where each kind begins.
 * @param {Span[]} spans
 */
export function placed(spans) {
  const rows = [];
  const all = [];
  let first = 0;
  for (const facts of KINDS) {
    const own = spans.filter((span) => span.kind === facts.kind).sort((a, b) => a.start - b.start || b.end - a.end);
    if (!own.length) continue;
    const ends = [];
    for (const span of own) {
      let lane = ends.findIndex((end) => end <= span.start);
      if (lane < 0) lane = ends.length < MOST_LANES ? ends.length : MOST_LANES - 1;
      ends[lane] = Math.max(ends[lane] ?? 0, span.end);
      all.push({ span, lane: first + lane });
    }
    rows.push({ ...facts, first, lanes: ends.length, count: own.length });
    first += ends.length;
  }
  all.sort((a, b) => a.span.start - b.span.start || a.lane - b.lane);
  return { rows, all, lanes: first };
}

/**
 * A piece of time that is looked at, inside the whole.
 * @param {{start: number, end: number}} view @param {{start: number, end: number}} whole
 */
export function within(view, whole) {
  const shortest = Math.min(1, whole.end - whole.start);
  const length = Math.min(Math.max(view.end - view.start, shortest), whole.end - whole.start);
  const start = Math.min(Math.max(view.start, whole.start), whole.end - length);
  return { start, end: start + length };
}

/** Look closer (factor < 1) or from further away, so that a moment stays where it is. */
export function zoomed(view, factor, at, whole) {
  return within({ start: at - (at - view.start) * factor, end: at + (view.end - at) * factor }, whole);
}

/** Look further left or right. */
export function moved(view, by, whole) {
  return within({ start: view.start + by, end: view.end + by }, whole);
}

/** Round times for a scale: about so many, at 1, 2 or 5 of a power of ten. */
export function ticks(view, about) {
  const rough = Math.max((view.end - view.start) / Math.max(about, 1), 1e-6);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) found.push(at);
  return found;
}
