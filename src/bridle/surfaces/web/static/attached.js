/** Pictures and files beside words. */

import { classes, html, useState } from "bridle/dom.js";
import { oneLine } from "bridle/words.js";

/** The kinds of pictures that are shown; others can hold more than a picture. */
export const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** @param {{attached?: {mime: string, name?: string, data?: string}[]}} props */
export function Attachments({ attached = [] }) {
  if (!attached.length) return null;
  return html`<ul class="attached" aria-label="Attached">
    ${attached.map((file, at) => html`<li key=${at}><${Attachment} file=${file} /></li>`)}
  </ul>`;
}

function Attachment({ file }) {
  const [isLarge, setLarge] = useState(false);
  const name = oneLine(file.name || file.mime, 80);
  if (!file.data || !PICTURES.includes(file.mime)) return html`<span class="chip name">${name}</span>`;
  return html`<button
    type="button"
    class=${classes("picture", isLarge && "is-large")}
    aria-label=${`${isLarge ? "Shrink" : "Enlarge"} ${name}`}
    onClick=${() => setLarge(!isLarge)}
  >
    <img src=${`data:${file.mime};base64,${file.data}`} alt=${name} />
  </button>`;
}
