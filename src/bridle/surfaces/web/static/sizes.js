/**
 * Where things of different heights lie in a list, of which only a few are on the page.
 *
 * ```
 *   ┌ above ─┐ heights of what is not drawn, measured or guessed
 *   │ drawn  │ [first, end): what can be seen, and some more on each side
 *   └ below ─┘
 * ```
 */

export const MARGIN_PX = 800; // drawn beyond what can be seen

/** What an item may be high before it was ever drawn. */
const GUESSED = { said: 90, answer: 160, thought: 34, call: 46, note: 28 };

export class Sizes {
  constructor() {
    this._measured = new Map();
  }

  /** Note how high something is; returns whether that is new. */
  measure(key, height) {
    if (this._measured.get(key) === height) return false;
    this._measured.set(key, height);
    return true;
  }

  /** The height of an item by its key, guessed from its kind before it was measured. */
  height(key, kind) {
    return this._measured.get(key) ?? GUESSED[kind] ?? GUESSED.call;
  }

  /** Forget what is no longer there. */
  keep(keys) {
    if (this._measured.size < keys.length * 2 + 1_000) return;
    const there = new Set(keys);
    for (const key of this._measured.keys()) if (!there.has(key)) this._measured.delete(key);
  }
}

/**
 * Choose what to draw.
 * @param {number[]} heights of all, in order
 * @param {number} top where the sight begins
 * @param {number} room how high it is
 * @returns {{first: number, end: number, above: number, below: number}}
 */
export function drawn(heights, top, room) {
  let first = 0;
  let above = 0;
  while (first < heights.length && above + heights[first] < top - MARGIN_PX) {
    above += heights[first];
    first += 1;
  }
  let end = first;
  let reach = above;
  while (end < heights.length && reach < top + room + MARGIN_PX) {
    reach += heights[end];
    end += 1;
  }
  let below = 0;
  for (let at = end; at < heights.length; at += 1) below += heights[at];
  return { first, end, above, below };
}
