/** How a run went: its flame chart, its context window turn by turn, and the same as tables. */

import { get, sessionPath } from "bridle/api.js";
import { html, useEffect, useLoaded, useMemo, useState } from "bridle/dom.js";
import { detailsOf, Flame } from "bridle/flame.js";
import { KINDS } from "bridle/flame_layout.js";
import { sessionEnds } from "bridle/store.js";
import { ContextTurns } from "bridle/timeline_context.js";
import { clock, cost, count, duration, oneLine, several } from "bridle/words.js";

const MOST_ROWS = 500; // of the table; the chart shows all

/** @param {{session: string}} props */
export function TimelineView({ session }) {
  const [run, setRun] = useState("");
  const [round, setRound] = useState(0);
  useEffect(() => sessionEnds(() => setRound((old) => old + 1)), []);
  const { value, error, isLoading } = useLoaded(
    (signal) => get(sessionPath(session, "/timeline"), { run }, { signal }),
    [session, run, round],
  );
  return html`<section class="look" aria-labelledby="timeline-title" aria-busy=${isLoading}>
    <header class="look-head">
      <h2 id="timeline-title">Timeline</h2>
      ${value?.runs?.length > 0 && html`<${Runs} runs=${value.runs} chosen=${value.run_id} choose=${setRun} />`}
    </header>
    ${error && html`<p class="look-problem" role="alert">${oneLine(error.message)}</p>`}
    ${value ? html`<${Run} timeline=${value} />` : !error && html`<p class="look-quiet">Loading…</p>`}
  </section>`;
}

function Runs({ runs, chosen, choose }) {
  const name = (run) => `${clock(run.began_at)} · ${oneLine(run.brief || "run", 60)}${run.outcome ? ` · ${run.outcome}` : " · runs"}`;
  return html`<label class="look-choice">Run${" "}
    <select value=${chosen} onChange=${(event) => choose(event.target.value)}>
      ${runs.toReversed().map((run) => html`<option key=${run.run_id} value=${run.run_id}>${name(run)}</option>`)}
    </select>
  </label>`;
}

function Run({ timeline }) {
  const { spans, whole } = useMemo(() => read(timeline), [timeline]);
  if (!spans.length) return html`<p class="look-empty">No runs yet: <a href="#/">start one</a> to see its timeline here.</p>`;
  return html`
    <${Flame} spans=${spans} whole=${whole} />
    ${timeline.left_out > 0 && html`<p class="look-warning">${several(timeline.left_out, "span")} more are left out.</p>`}
    <details class="plot-table">
      <summary>Spans as a table</summary>
      <div class="wide" tabindex="0" role="region" aria-label="Spans as a table">
        <${SpanTable} spans=${spans} start=${whole.start} />
      </div>
    </details>
    <${ContextTurns} turns=${timeline.turns ?? []} />
  `;
}

/** Turn what the service says into what is drawn; what has not ended reaches to the end of the chart. */
function read({ spans: told = [] }) {
  const end = Math.max(1, ...told.map((span) => span.end_ms ?? span.start_ms));
  const spans = told.map(({ key, kind, name, start_ms: start, end_ms: ended = null, ...facts }) => ({
    key,
    kind,
    name,
    start,
    end: ended ?? end,
    isOpen: ended === null,
    tokens: facts.tokens ?? 0,
    cost: facts.cost ?? null,
    outcome: facts.outcome ?? "",
  }));
  return { spans, whole: { start: 0, end } };
}

function SpanTable({ spans, start }) {
  return html`<table>
    <caption class="unseen">Spans of the run</caption>
    <thead>
      <tr>${["What", "Kind", "After", "Took", "Tokens", "Cost", "Outcome"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr>
    </thead>
    <tbody>
      ${spans.slice(0, MOST_ROWS).map((span) => html`<tr key=${span.key}>
        <th scope="row" title=${detailsOf(span, start)}>${oneLine(span.name, 80)}</th>
        <td>${KINDS.find((one) => one.kind === span.kind)?.word ?? span.kind}</td>
        <td>${duration(span.start - start)}</td>
        <td>${span.isOpen ? "–" : duration(span.end - span.start)}</td>
        <td>${span.tokens ? count(span.tokens) : "–"}</td>
        <td>${span.cost === null ? "–" : cost(span.cost)}</td>
        <td>${span.outcome ? oneLine(span.outcome.replaceAll("_", " ")) : "–"}</td>
      </tr>`)}
    </tbody>
  </table>`;
}
