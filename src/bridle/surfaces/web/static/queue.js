/** Prompts that wait: they can be changed, taken out, or given to the run at once. */

import { tell } from "bridle/actions.js";
import { askText } from "bridle/dialogs.js";
import { html } from "bridle/dom.js";
import { Section } from "bridle/section.js";
import { oneLine } from "bridle/words.js";

/** @param {{head: object}} props */
export function Queue({ head }) {
  const queue = head.queue ?? [];
  if (!queue.length) return null;
  return html`<${Section} title="Queue" detail=${queue.length}>
    <ul class="rows">
      ${queue.map((each) => html`<${Queued} key=${each.item_id} head=${head} queued=${each} />`)}
    </ul>
  <//>`;
}

function Queued({ head, queued }) {
  const { item_id, message } = queued;
  const isSteer = queued.delivery === "steer";
  const text = wordsOf(message);
  const edit = async () => {
    const words = await askText({ title: "Edit", label: "Prompt", value: text, yes: "Save", isLong: true });
    if (words) await tell(head.session, { type: "edit_queued", item_id, message: withWords(message, words) });
  };
  const drop = () => tell(head.session, { type: "drop_queued", item_id });
  const steer = () => tell(head.session, { type: "edit_queued", item_id, message, delivery: "steer" });
  return html`<li class="queued">
    <span class="clipped">${oneLine(text, 200)}</span>
    <span class="queued-acts">
      ${isSteer
        ? html`<span class="dim">at the next turn</span>`
        : html`<button type="button" class="quiet" onClick=${steer}>Steer now</button>`}
      <button type="button" class="quiet" onClick=${edit}>Edit</button>
      <button type="button" class="quiet" aria-label="Remove from the queue" onClick=${drop}>×</button>
    </span>
  </li>`;
}

function wordsOf(message) {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
}

function withWords(message, words) {
  return { ...message, parts: [{ type: "text", text: words }, ...message.parts.filter((part) => part.type !== "text")] };
}
