/** Choosing the model, the mode and the agent of what is sent next. */

import { attempt } from "bridle/actions.js";
import { get } from "bridle/api.js";
import { askChoice } from "bridle/dialogs.js";
import { html } from "bridle/dom.js";
import { draftOf, setOption } from "bridle/drafts.js";
import { cost, count, oneLine } from "bridle/words.js";

/** What the modes of a run let through without asking. */
const MODES = {
  ask: "ask before it changes or runs anything",
  "accept-edits": "edit files without asking",
  plan: "read only",
  yolo: "never ask",
};

/** @param {{head: object}} props */
export function ModeSelect({ head }) {
  const chosen = draftOf(head.session).options.value.mode ?? "";
  const onChange = (event) => setOption(head.session, "mode", event.currentTarget.value);
  return html`<select class="quiet" aria-label="Mode" title="What the next run may do" value=${chosen} onChange=${onChange}>
    <option value="">default mode</option>
    ${Object.entries(MODES).map(
      ([mode, words]) => html`<option value=${mode} title=${words}>${mode}</option>`,
    )}
  </select>`;
}

export function ModelButton({ head }) {
  const chosen = draftOf(head.session).options.value.model;
  const name = chosen ?? head.model;
  return html`<button type="button" class="quiet clipped" title="Choose the model" onClick=${() => chooseModel(head)}>
    ${name ? oneLine(name.split("/").pop(), 40) : "default model"}
  </button>`;
}

/** Ask for the model of what is sent next. */
export async function chooseModel(head) {
  const models = await attempt(() => get("/models", { cwd: head.cwd }));
  if (!models) return;
  const known = models.map((model) => ({
    value: model.ref,
    name: model.ref,
    detail: [`${count(model.window_tokens)} tokens`, priceOf(model)].filter(Boolean).join(" · "),
  }));
  const usual = { value: "", name: "Default", detail: head.model || "the agent's model" };
  const chosen = await askChoice({ title: "Model", options: [usual, ...known], hint: "Search models" });
  if (chosen !== null) setOption(head.session, "model", chosen);
}

function priceOf({ price }) {
  return price ? `${cost(price.input ?? 0)} in, ${cost(price.output ?? 0)} out per million` : "";
}

/** Ask for the agent that does what is sent next. */
export async function chooseAgent(head) {
  const agents = await attempt(() => get("/agents", { cwd: head.cwd }));
  if (!agents) return;
  const options = agents.map((agent) => ({
    value: agent.agent === head.agent ? "" : agent.agent,
    name: agent.agent,
    detail: agent.problem || [agent.name, agent.model, agent.mode].filter(Boolean).join(" · "),
    isOff: Boolean(agent.problem),
  }));
  const chosen = await askChoice({ title: "Agent", options, hint: "Search agents" });
  if (chosen !== null) setOption(head.session, "agent", chosen);
}
