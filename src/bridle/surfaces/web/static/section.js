/** One part of the panel, which can be folded. */

import { html } from "bridle/dom.js";

/** @param {{title: string, detail?: any, isOpen?: boolean, children: any}} props */
export function Section({ title, detail = "", isOpen = true, children }) {
  return html`<details class="section" open=${isOpen}>
    <summary><h2>${title}</h2><span class="dim">${detail}</span></summary>
    ${children}
  </details>`;
}
