/** A button that opens a list of further actions. */

import { html, useEffect, useRef, useState } from "bridle/dom.js";

/** @param {{label: string, commands: {name: string, act: () => void, isDangerous?: boolean}[]}} props */
export function Menu({ label, commands }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef(null);
  const button = useRef(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    root.current.querySelector("[role=menuitem]")?.focus();
    const leave = (event) => root.current?.contains(event.target) || setOpen(false);
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event) => {
    const items = [...root.current.querySelectorAll("[role=menuitem]")];
    const at = items.indexOf(document.activeElement);
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length]?.focus();
    else if (event.key === "Home") items[0]?.focus();
    else if (event.key === "End") items.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="menu" ref=${root}>
    <button
      type="button"
      class="quiet"
      ref=${button}
      aria-label=${label}
      aria-haspopup="menu"
      aria-expanded=${isOpen}
      onClick=${() => setOpen(!isOpen)}
    >
      ⋯
    </button>
    ${isOpen &&
    html`<div class="menu-list" role="menu" aria-label=${label} onKeyDown=${onKeyDown}>
      ${commands.map(
        ({ name, act, isDangerous }) =>
          html`<button
            type="button"
            role="menuitem"
            tabindex="-1"
            class=${isDangerous ? "is-failed" : ""}
            onClick=${() => {
              close();
              act();
            }}
          >
            ${name}
          </button>`,
      )}
    </div>`}
  </div>`;
}
