/** What filled the context window in each turn of a run. */

import { html } from "bridle/dom.js";
import { whole } from "bridle/plots_data.js";
import { count } from "bridle/words.js";

/** The parts of a window, from the bottom up; what is left is free. */
const PARTS = [
  ["system", "system prompt"],
  ["tools", "tools"],
  ["earlier", "earlier messages"],
  ["run", "this run"],
  ["reserve", "kept for the answer"],
];
const FREE = ["free", "free"];

/**
 * The parts of a window in tokens, with what is free.
 * @param {{window?: number, system?: number, tools?: number, earlier?: number, run?: number, reserve?: number}} usage
 */
export function partsOf(usage) {
  const parts = PARTS.map(([name]) => usage[name] ?? 0);
  const used = parts.reduce((sum, tokens) => sum + tokens, 0);
  return [...parts, Math.max(0, (usage.window ?? 0) - used)];
}

/** @param {{turns: {turn: number, context: object}[]}} props */
export function ContextTurns({ turns }) {
  const known = turns.filter(({ context }) => context?.window);
  if (!known.length) return html`<p class="look-quiet">No turn has been sent yet.</p>`;
  return html`<figure class="plot">
    <figcaption><h3>Context window by turn</h3></figcaption>
    <ul class="legend">
      ${[...PARTS, FREE].map(([name, word]) => html`<li key=${name}><i class=${`swatch use-${name}`}></i>${word}</li>`)}
    </ul>
    <ol class="context-turns" aria-hidden="true">
      ${known.map(({ turn, context }) => html`<li key=${turn} title=${titleOf(turn, context)}>${bars(context)}</li>`)}
    </ol>
    <details class="plot-table">
      <summary>Context window as a table</summary>
      <div class="wide" tabindex="0" role="region" aria-label="Context window as a table">
        <${ContextTable} turns=${known} />
      </div>
    </details>
  </figure>`;
}

function bars(context) {
  return partsOf(context)
    .slice(0, PARTS.length)
    .map((tokens, index) => {
      const height = `${(100 * tokens) / context.window}%`;
      return html`<i class=${`swatch use-${PARTS[index][0]}`} style=${{ height }}></i>`;
    });
}

function titleOf(turn, context) {
  const parts = partsOf(context).map((tokens, index) => `${(PARTS[index] ?? FREE)[1]} ${count(tokens)}`);
  return `Turn ${turn}: ${parts.join(", ")} of ${count(context.window)}`;
}

function ContextTable({ turns }) {
  return html`<table>
    <caption class="unseen">Tokens of the context window by turn</caption>
    <thead>
      <tr>
        <th scope="col">Turn</th>
        ${[...PARTS, FREE].map(([name, word]) => html`<th key=${name} scope="col">${word}</th>`)}
        <th scope="col">window</th>
      </tr>
    </thead>
    <tbody>
      ${turns.map(({ turn, context }) => html`<tr key=${turn}>
        <th scope="row">${turn}</th>
        ${partsOf(context).map((tokens) => html`<td>${whole(tokens)}</td>`)}
        <td>${whole(context.window)}</td>
      </tr>`)}
    </tbody>
  </table>`;
}
