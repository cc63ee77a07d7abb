/** What plots show, worked out from what the server counted. Nothing here touches the page. */

import { cost, several } from "bridle/words.js";

export const MOST_BARS = 10;

/**
 * @typedef {{turns: number, tool_calls: number, tokens: number, cost: number, unpriced: number,
 *   duration_ms: number}} Use
 * @typedef {{at: number, model: string, use: Use}} SlotUse
 */

/**
 * Say how much each model used in each slot, those who used most first; the others become one.
 * @param {number[]} times
 * @param {SlotUse[]} slots
 * @param {(use: Use) => number} amount
 * @param {number} most
 */
export function stacks(times, slots, amount, most = 6) {
  const places = new Map(times.map((at, index) => [at, index]));
  const totals = new Map();
  for (const slot of slots) totals.set(slot.model, (totals.get(slot.model) ?? 0) + amount(slot.use));
  const ranked = [...totals].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([model]) => model);
  const named = ranked.length > most ? ranked.slice(0, most - 1) : ranked;
  const names = ranked.length > most ? [...named, `${ranked.length - named.length} others`] : named;
  const rows = names.map((name) => ({ name, values: times.map(() => 0) }));
  for (const slot of slots) {
    const place = places.get(slot.at);
    const row = named.indexOf(slot.model);
    if (place !== undefined) rows[row < 0 ? rows.length - 1 : row].values[place] += amount(slot.use);
  }
  return rows;
}

/**
 * Put rows on top of each other: the last one reaches highest.
 * @param {{values: number[]}[]} rows
 */
export function heaped(rows) {
  let below = rows[0]?.values.map(() => 0) ?? [];
  return rows.map((row) => {
    below = row.values.map((value, index) => value + below[index]);
    return below;
  });
}

/**
 * Keep the rows with the largest amounts and sum up the rest of them.
 * @template T
 * @param {T[]} rows
 * @param {(row: T) => number} amount
 * @param {(rest: T[]) => T} sum
 */
export function topAndRest(rows, amount, sum, most = MOST_BARS) {
  const ranked = [...rows].sort((a, b) => amount(b) - amount(a));
  if (ranked.length <= most) return ranked;
  return [...ranked.slice(0, most), sum(ranked.slice(most))];
}

/** @param {Use[]} uses */
export function sumOfUses(uses) {
  const sum = { turns: 0, tool_calls: 0, tokens: 0, cost: 0, unpriced: 0, duration_ms: 0 };
  for (const use of uses) for (const name of Object.keys(sum)) sum[name] += use[name] ?? 0;
  return sum;
}

/** Write a number in full, with marks between the thousands. */
export const whole = (number) => Math.round(number).toLocaleString("en-US");

/**
 * Say what something cost: what is not known is said, and is never shown as nothing.
 * @param {Use} use
 */
export function price(use) {
  if (!use.unpriced) return cost(use.cost);
  const unknown = `${several(use.unpriced, "request")} of unknown price`;
  return use.cost ? `${cost(use.cost)} + ${unknown}` : unknown;
}

/** @param {number} at @param {"hour" | "day"} step */
export function slotName(at, step) {
  const date = new Date(at);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  if (step === "day") return day;
  return `${day} ${date.toTimeString().slice(0, 5)}`;
}
