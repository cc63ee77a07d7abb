/** Plots: stacks over time, and bars by name. Beside each stands a table with the same numbers. */

import uPlot from "uplot";
import { html, useEffect, useLayoutEffect, useRef, useState } from "bridle/dom.js";
import { heaped, slotName } from "bridle/plots_data.js";
import { oneLine } from "bridle/words.js";

export const PARTS = 6;
const HEIGHT = 190;
const NARROWEST = 220;
const LONGEST_NAME = 48;
const HALVES = { hour: 1_800_000, day: 43_200_000 }; // of a slot, so that the first and the last bar fit

/** Read colours as they are on the screen now: a canvas knows no variables. */
export function coloursOf(element, names) {
  const probe = element.appendChild(document.createElement("i"));
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return Object.fromEntries(names.map((name, index) => [name, found[index]]));
}

/** A number that changes with the theme, so that what is painted can be painted anew. */
export function useTheme() {
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const changed = () => setTheme((old) => old + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const watcher = new MutationObserver(changed);
    watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", changed);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", changed);
    };
  }, []);
  return theme;
}

/** The width of an element, kept up; 0 until it is known. */
export function useWidth(ref) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return width;
}

/**
 * How much was used in each slot of time, by name, on top of each other.
 * @param {{title: string, times: number[], step: "hour" | "day", write: (n: number) => string,
 *   rows: {name: string, values: number[]}[]}} props
 */
export function StackPlot({ title, times, step, rows, write }) {
  const place = useRef(null);
  const width = useWidth(place);
  const theme = useTheme();
  const [pointed, setPointed] = useState(null);
  useLayoutEffect(() => {
    if (!width) return undefined;
    const made = plotOf(place.current, { times, step, rows, write, width: Math.max(width, NARROWEST), setPointed });
    return () => made.destroy();
  }, [times, rows, width, theme]);
  return html`<figure class="plot">
    <figcaption><h3>${title}</h3></figcaption>
    <${Legend} names=${rows.map((row) => row.name)} />
    <div class="plot-place" ref=${place} aria-hidden="true"></div>
    <p class="plot-pointed">${pointed === null ? "" : pointedText({ times, step, rows, write, pointed })}</p>
    <details class="plot-table">
      <summary>${title} as a table</summary>
      <div class="wide" tabindex="0" role="region" aria-label=${`${title} as a table`}>
        <${SlotTable} ...${{ title, times, step, rows, write }} />
      </div>
    </details>
  </figure>`;
}

function Legend({ names }) {
  return html`<ul class="legend">
    ${names.map((name, index) => html`<li key=${name}><i class=${`swatch part-${(index % PARTS) + 1}`}></i>${oneLine(name, LONGEST_NAME)}</li>`)}
  </ul>`;
}

function pointedText({ times, step, rows, write, pointed }) {
  const used = rows.filter((row) => row.values[pointed]);
  const parts = used.map((row) => `${oneLine(row.name)} ${write(row.values[pointed])}`);
  return `${slotName(times[pointed], step)}: ${parts.join(" · ") || "nothing"}`;
}

function SlotTable({ title, times, step, rows, write }) {
  const used = times.map((at, index) => ({ at, index })).filter(({ index }) => rows.some((row) => row.values[index]));
  return html`<table>
    <caption class="unseen">${title}</caption>
    <thead>
      <tr><th scope="col">${step === "hour" ? "Hour" : "Day"}</th>${rows.map((row) => html`<th scope="col">${oneLine(row.name, LONGEST_NAME)}</th>`)}</tr>
    </thead>
    <tbody>
      ${used.reverse().map(({ at, index }) => html`<tr key=${at}>
        <th scope="row">${slotName(at, step)}</th>
        ${rows.map((row) => html`<td>${row.values[index] ? write(row.values[index]) : "–"}</td>`)}
      </tr>`)}
    </tbody>
  </table>`;
}

function plotOf(place, { times, step, rows, write, width, setPointed }) {
  const colours = coloursOf(place, ["ink", "dim", "line", ...Array.from({ length: PARTS }, (_, n) => `part-${n + 1}`)]);
  const bars = uPlot.paths.bars({ size: [0.8, 36] });
  // The highest is painted first and the lower ones over it.
  const layers = heaped(rows)
    .map((values, index) => ({ values, colour: colours[`part-${(index % PARTS) + 1}`] }))
    .reverse();
  const half = HALVES[step];
  const axis = { stroke: colours.dim, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const options = {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { range: [(times[0] - half) / 1000, (times.at(-1) + half) / 1000] }, y: { range: (_, __, most) => [0, most || 1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 62, values: (_, ticks) => ticks.map(write) },
    ],
    series: [{}, ...layers.map(({ colour }) => ({ fill: colour, stroke: colour, width: 0, paths: bars, points: { show: false } }))],
    hooks: { setCursor: [(plot) => setPointed(plot.cursor.idx ?? null)] },
  };
  return new uPlot(options, [times.map((at) => at / 1000), ...layers.map((layer) => layer.values)], place);
}

/**
 * Bars by name, which are a table at the same time.
 * @param {{title: string, name: string, amount: (row: any) => number, columns: [string, (row: any) => unknown][],
 *   rows: {name: string, href?: string}[]}} props
 */
export function BarTable({ title, name, rows, amount, columns }) {
  const most = Math.max(...rows.map(amount), 1e-9);
  return html`<figure class="plot">
    <figcaption><h3>${title}</h3></figcaption>
    <div class="wide" tabindex="0" role="region" aria-label=${title}>
      <table class="bars">
        <caption class="unseen">${title}</caption>
        <thead>
          <tr>
            <th scope="col">${name}</th>
            <td aria-hidden="true"></td>
            ${columns.map(([head]) => html`<th scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => html`<tr key=${row.href ?? row.name}>
            <th scope="row" title=${oneLine(row.name)}>
              ${row.href ? html`<a href=${row.href}>${oneLine(row.name)}</a>` : oneLine(row.name)}
            </th>
            <td class="bar" aria-hidden="true"><i style=${{ width: `${(100 * amount(row)) / most}%` }}></i></td>
            ${columns.map(([, cell]) => html`<td>${cell(row)}</td>`)}
          </tr>`)}
        </tbody>
      </table>
    </div>
  </figure>`;
}
