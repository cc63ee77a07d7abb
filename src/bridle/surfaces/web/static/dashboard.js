/** Usage of all sessions: totals, plots over time, and who used most. */

import { get } from "bridle/api.js";
import { debounce, html, useEffect, useLoaded, useMemo, useState } from "bridle/dom.js";
import { BarTable, StackPlot } from "bridle/plots.js";
import { price, stacks, sumOfUses, topAndRest, whole } from "bridle/plots_data.js";
import { sessionEnds } from "bridle/store.js";
import { cost, count, duration, oneLine, several } from "bridle/words.js";

const RANGES = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["", "All time"],
];
const PAUSE_MS = 500; // many runs may end at once

/** The page of all plots. */
export function DashboardView() {
  const [range, setRange] = useState("7d");
  const [round, setRound] = useState(0);
  useEffect(() => sessionEnds(debounce(() => setRound((old) => old + 1), PAUSE_MS)), []);
  const { value, error, isLoading } = useLoaded((signal) => get("/stats/plots", { since: range }, { signal }), [range, round]);
  return html`<section class="look" aria-labelledby="dashboard-title" aria-busy=${isLoading}>
    <header class="look-head">
      <h2 id="dashboard-title">Dashboard</h2>
      <${Ranges} range=${range} choose=${setRange} />
    </header>
    ${error && html`<p class="look-problem" role="alert">${oneLine(error.message)}</p>`}
    ${value ? html`<${Plots} stats=${value} range=${range} />` : !error && html`<p class="look-quiet">Counting…</p>`}
  </section>`;
}

function Ranges({ range, choose }) {
  return html`<div class="choices" role="group" aria-label="Time">
    ${RANGES.map(([value, label]) => html`<button key=${value} type="button" aria-pressed=${range === value} onClick=${() => choose(value)}>${label}</button>`)}
  </div>`;
}

function Plots({ stats, range }) {
  const tokens = useMemo(() => stacks(stats.times, stats.slots, (use) => use.tokens), [stats]);
  const money = useMemo(() => stacks(stats.times, stats.slots, (use) => use.cost), [stats]);
  if (!stats.total.turns && !stats.total.tokens) return html`<${Empty} range=${range} />`;
  const { times, step } = stats;
  return html`
    <${Totals} stats=${stats} />
    <div class="look-grid">
      <${StackPlot} title="Tokens over time" ...${{ times, step, rows: tokens, write: count }} />
      <${Money} stats=${stats} rows=${money} />
      <${BarTable} title="Sessions" name="Session" rows=${sessionRows(stats)} amount=${tokensOf} columns=${USE_COLUMNS} />
      <${BarTable} title="Models" name="Model" rows=${useRows(stats.models)} amount=${tokensOf} columns=${USE_COLUMNS} />
      <${BarTable} title="Agents" name="Agent" rows=${useRows(stats.agents)} amount=${tokensOf} columns=${USE_COLUMNS} />
      <${Tools} tools=${stats.tools} />
    </div>
    ${stats.left_out.length > 0 && html`<p class="look-warning">${several(stats.left_out.length, "session")} cannot be read and ${stats.left_out.length === 1 ? "is" : "are"} left out: run bridle doctor</p>`}
  `;
}

function Empty({ range }) {
  return html`<div class="look-empty">
    <p>${range ? "No usage in this period." : "No usage yet."}</p>
    <p>${range ? "Choose a longer period, or " : ""}<a href="#/">start a session</a>: its usage appears here.</p>
  </div>`;
}

function Totals({ stats }) {
  const { total } = stats;
  const runs = Object.entries(stats.runs);
  const failed = Object.values(stats.tools).reduce((sum, tool) => sum + tool.failed, 0);
  return html`<dl class="totals">
    <${Total} name="Sessions" value=${whole(stats.sessions)} />
    <${Total}
      name="Runs"
      value=${whole(runs.reduce((sum, [, number]) => sum + number, 0))}
      more=${runs.map(([outcome, number]) => `${whole(number)} ${outcome.replaceAll("_", " ")}`).join(", ")}
    />
    <${Total} name="Tokens" value=${count(total.tokens)} more=${several(total.turns, "turn")} />
    <${Total} name="Cost" value=${total.cost || !total.unpriced ? cost(total.cost) : "unknown"} more=${unknownPrice(total)} />
    <${Total} name="Tool calls" value=${whole(total.tool_calls)} more=${failed ? `${whole(failed)} failed` : ""} />
    <${Total} name="Time in runs" value=${duration(total.duration_ms)} />
  </dl>`;
}

function Total({ name, value, more = "" }) {
  return html`<div><dt>${name}</dt><dd>${value}${more && html`<small>${more}</small>`}</dd></div>`;
}

const unknownPrice = (use) => (use.unpriced ? `${several(use.unpriced, "request")} of unknown price` : "");

function Money({ stats, rows }) {
  const { times, step, total } = stats;
  if (!total.cost) {
    return html`<figure class="plot">
      <figcaption><h3>Cost over time</h3></figcaption>
      <p class="look-quiet">${total.unpriced ? `No price is known: ${unknownPrice(total)}` : "No costs."}</p>
    </figure>`;
  }
  return html`<div>
    <${StackPlot} title="Cost over time" ...${{ times, step, rows, write: cost }} />
    ${total.unpriced > 0 && html`<p class="look-warning">${unknownPrice(total)}: not in the plot</p>`}
  </div>`;
}

function Tools({ tools }) {
  const rows = topAndRest(
    Object.entries(tools).map(([name, tool]) => ({ name, ...tool })),
    (tool) => tool.calls,
    (rest) => {
      const sum = { name: several(rest.length, "other"), calls: 0, failed: 0, denied: 0, duration_ms: 0, tokens: 0 };
      for (const tool of rest) for (const field of ["calls", "failed", "denied", "duration_ms", "tokens"]) sum[field] += tool[field];
      return sum;
    },
  );
  if (!rows.length) return null;
  return html`<${BarTable}
    title="Tools"
    name="Tool"
    rows=${rows}
    amount=${(tool) => tool.calls}
    columns=${[
      ["Calls", (tool) => whole(tool.calls)],
      ["Failed", (tool) => whole(tool.failed)],
      ["Denied", (tool) => whole(tool.denied)],
      ["Tokens", (tool) => count(tool.tokens)],
      ["Time", (tool) => duration(tool.duration_ms)],
    ]}
  />`;
}

const tokensOf = (row) => row.use.tokens;

const USE_COLUMNS = [
  ["Tokens", (row) => count(row.use.tokens)],
  ["Cost", (row) => price(row.use)],
  ["Turns", (row) => whole(row.use.turns)],
];

function useRows(users) {
  const rows = Object.entries(users).map(([name, use]) => ({ name: name || "unnamed", use }));
  return topAndRest(rows, tokensOf, (rest) => ({ name: several(rest.length, "other"), use: sumOfUses(rest.map((row) => row.use)) }));
}

function sessionRows(stats) {
  const rows = stats.named.map(({ id, title, use }) => ({ name: title || id, href: `#/s/${encodeURIComponent(id)}`, use }));
  return stats.others ? [...rows, { name: several(stats.others, "other"), use: stats.others_use }] : rows;
}
