/** Short messages that pass, told to screen readers too. */

import { classes, html, signal } from "bridle/dom.js";
import { oneLine } from "bridle/words.js";

const SHOWN_MS = 6_000;
const FAILED_MS = 12_000;
const MAX_TOASTS = 4;
const MARKS = { detail: "•", done: "✓", warning: "!", failed: "✗" };

const toasts = signal([]);
let last = 0;

/** Tell something once. @param {"detail" | "done" | "warning" | "failed"} weight */
export function toast(weight, text) {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, weight, text: oneLine(text, 400) }].slice(-MAX_TOASTS);
  setTimeout(() => dismiss(id), weight === "failed" ? FAILED_MS : SHOWN_MS);
}

/** Tell why something could not be done. */
export function toastError(error) {
  toast("failed", error.hint ? `${error.message} (${error.hint})` : error.message);
}

function dismiss(id) {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (each) =>
        html`<div key=${each.id} class=${classes("toast", `is-${each.weight}`)}>
          <span class="mark" aria-hidden="true">${MARKS[each.weight]}</span>
          <span class="words">${each.text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => dismiss(each.id)}>×</button>
        </div>`,
    )}
  </div>`;
}
