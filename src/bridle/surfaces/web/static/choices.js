/** What a person has chosen for this browser: the look of the page, kept from visit to visit. */

import { signal } from "bridle/dom.js";

const PREFIX = "bridle.";

/** The choices and what holds before one is made; `theme` is set by boot.js before the first paint. */
const CHOICES = {
  theme: "system",
  diff: "unified",
  panel: "open",
  list: "open",
  notify: "off",
};

const signals = Object.fromEntries(Object.entries(CHOICES).map(([name, usual]) => [name, signal(read(name) ?? usual)]));

/** What holds now; a view that asks is drawn anew when it changes. */
export function choice(name) {
  return signals[name].value;
}

/** Choose, here and in the other tabs of this browser. */
export function choose(name, value) {
  signals[name].value = value;
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // a browser that keeps nothing: the choice holds as long as the page
  }
}

function read(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

addEventListener("storage", (event) => {
  const name = event.key?.startsWith(PREFIX) ? event.key.slice(PREFIX.length) : "";
  if (name in signals) signals[name].value = event.newValue ?? CHOICES[name];
});
