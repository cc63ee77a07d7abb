/** What there is to know of a session beside its conversation. */

import { unpin } from "bridle/actions.js";
import { get } from "bridle/api.js";
import { ChangedFiles } from "bridle/changed.js";
import { chooseAgent, chooseModel } from "bridle/choosing.js";
import { classes, html, useLayoutEffect, useLoaded, useRef } from "bridle/dom.js";
import { draftOf } from "bridle/drafts.js";
import { Queue } from "bridle/queue.js";
import { addressOf } from "bridle/route.js";
import { Section } from "bridle/section.js";
import { cost, count, oneLine, several } from "bridle/words.js";

const PAUSE_MS = 400; // a state may last for a moment only
const TODO_MARKS = { pending: "○", in_progress: "◐", completed: "●" };
const TODO_WORDS = { pending: "to do", in_progress: "in progress", completed: "done" };
const PARTS = ["system", "tools", "earlier", "run", "reserve"];
const PART_WORDS = { system: "system", tools: "tools", earlier: "earlier", run: "this run", reserve: "kept for the answer" };
const SERVER_WEIGHTS = { ready: "done", failed: "failed", login: "warning", waiting: "warning", untrusted: "warning" };

/** @param {{head: object}} props */
export function Panels({ head }) {
  return html`<div class="panels">
    <${Queue} head=${head} />
    <${Todos} todos=${head.todos ?? []} />
    <${Context} usage=${head.context ?? {}} />
    <${Costs} head=${head} />
    <${ChangedFiles} head=${head} />
    <${Children} head=${head} />
    <${Facts} head=${head} />
    <${Pins} head=${head} />
    <${Servers} head=${head} />
  </div>`;
}

function Todos({ todos }) {
  if (!todos.length) return null;
  const done = todos.filter((todo) => todo.status === "completed").length;
  return html`<${Section} title="To do" detail=${`${done} of ${todos.length}`}>
    <ul class="rows">
      ${todos.map(({ text, status = "pending" }) => {
        return html`<li class=${classes("todo", `is-${status}`)}>
          <span class="mark" aria-hidden="true">${TODO_MARKS[status]}</span>
          <span class="unseen">${TODO_WORDS[status]}: </span>${oneLine(text, 400)}
        </li>`;
      })}
    </ul>
  <//>`;
}

function Context({ usage }) {
  if (!usage.window) return null;
  const used = PARTS.filter((part) => part !== "reserve").reduce((sum, part) => sum + (usage[part] ?? 0), 0);
  const percent = Math.round((used / usage.window) * 100);
  return html`<${Section} title="Context" detail=${`${count(used)} of ${count(usage.window)} tokens`}>
    <div class="context-bar" role="img" aria-label=${`${percent} % of the window is used`}>
      ${PARTS.map((part) => html`<${Share} part=${part} share=${(usage[part] ?? 0) / usage.window} />`)}
    </div>
    <ul class="context-legend">
      ${PARTS.map(
        (part) =>
          html`<li>
            <span class=${`context-swatch part-${part}`} aria-hidden="true"></span>${PART_WORDS[part]} ${count(usage[part] ?? 0)}
          </li>`,
      )}
    </ul>
    ${usage.dropped_messages > 0 &&
    html`<p class="is-warning">${several(usage.dropped_messages, "old message")} did not fit</p>`}
  <//>`;
}

function Share({ part, share }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    element.current.style.width = `${(share * 100).toFixed(2)}%`;
  }, [share]);
  return html`<span ref=${element} class=${`part-${part}`}></span>`;
}

function Costs({ head }) {
  const totals = head.totals ?? {};
  const usage = totals.usage ?? {};
  const isKnown = !totals.unpriced_turns;
  const known = isKnown || totals.cost ? cost(totals.cost ?? 0) : "unknown";
  const sum = (usage.input ?? 0) + (usage.cache_read ?? 0) + (usage.cache_write ?? 0) + (usage.output ?? 0);
  return html`<${Section} title="Cost" detail=${known}>
    <dl class="facts">
      <${Fact} name="Tokens" value=${count(sum)} />
      <${Fact} name="in / out" value=${`${count(usage.input ?? 0)} / ${count(usage.output ?? 0)}`} />
      <${Fact} name="from cache" value=${count(usage.cache_read ?? 0)} />
      <${Fact} name="Runs, turns" value=${`${totals.runs ?? 0}, ${totals.turns ?? 0}`} />
      <${Fact} name="Tool calls" value=${totals.tool_calls ?? 0} />
    </dl>
    ${!isKnown && html`<p class="dim">${several(totals.unpriced_turns, "turn")} of unknown price</p>`}
  <//>`;
}

function Fact({ name, value }) {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function Children({ head }) {
  const { value } = useLoaded((signal) => childrenOf(head.session, signal), [head.session, head.children_seq, head.state], PAUSE_MS);
  if (!head.parent && !value?.length) return null;
  const origin = head.is_sub_agent ? "The session that started it" : "The session it was forked from";
  return html`<${Section} title="Related sessions">
    ${head.parent && html`<p><a href=${addressOf(head.parent)}>↑ ${origin}</a></p>`}
    <${Tree} sessions=${value ?? []} />
  <//>`;
}

async function childrenOf(session, signal) {
  const { sessions } = await get("/sessions", { below: session, archived: true, limit: 200 }, { signal });
  const below = (id, depth) =>
    depth > 5 ? [] : sessions.filter((each) => each.parent === id).map((each) => ({ ...each, below: below(each.id, depth + 1) }));
  return below(session, 0);
}

function Tree({ sessions }) {
  if (!sessions.length) return null;
  return html`<ul class="rows tree">
    ${sessions.map(
      (each) =>
        html`<li key=${each.id}>
          <a class="clipped" href=${addressOf(each.id)}>${oneLine(each.title || each.id, 80)}</a>
          <span class="dim">${each.unfinished ? "runs" : (each.outcome ?? "")}</span>
          <${Tree} sessions=${each.below} />
        </li>`,
    )}
  </ul>`;
}

function Facts({ head }) {
  const { agent, model } = draftOf(head.session).options.value;
  return html`<${Section} title="Session">
    <dl class="facts">
      <${ChosenFact} name="Agent" value=${agent ?? head.agent} choose=${() => chooseAgent(head)} />
      <${ChosenFact} name="Model" value=${model ?? (head.model || "usual")} choose=${() => chooseModel(head)} />
      <${Fact} name="Folder" value=${oneLine(head.cwd, 300)} />
      <${Fact} name="Id" value=${oneLine(head.session, 130)} />
    </dl>
  <//>`;
}

function ChosenFact({ name, value, choose }) {
  return html`<div>
    <dt>${name}</dt>
    <dd><button type="button" class="quiet" onClick=${choose}>${oneLine(value, 60)}</button></dd>
  </div>`;
}

function Pins({ head }) {
  const { pins = [], granted = [] } = head;
  if (!pins.length && !granted.length) return null;
  return html`<${Section} title="Pins and rules">
    <ul class="rows">
      ${pins.map(
        (text) =>
          html`<li><span class="clipped">${oneLine(text, 200)}</span>
            <button type="button" class="quiet" aria-label="Unpin" onClick=${() => unpin(head, text)}>×</button></li>`,
      )}
      ${granted.map((rule) => html`<li><code class="clipped">${oneLine(rule, 200)}</code><span class="dim">allowed</span></li>`)}
    </ul>
  <//>`;
}

function Servers({ head }) {
  const { value } = useLoaded((signal) => get("/servers", { cwd: head.cwd }, { signal }), [head.cwd, head.state], PAUSE_MS);
  if (!value?.length) return null;
  return html`<${Section} title="Servers" detail=${value.length} isOpen=${value.some((each) => each.state === "failed")}>
    <ul class="rows">
      ${value.map(
        (server) =>
          html`<li key=${server.kind + server.name} title=${oneLine(server.detail ?? "", 400)}>
            <span class="clipped">${oneLine(server.name, 80)}</span>
            <span class="dim">${server.kind}</span>
            <span class=${`is-${SERVER_WEIGHTS[server.state] ?? "detail"}`}>${server.state}</span>
          </li>`,
      )}
    </ul>
  <//>`;
}
