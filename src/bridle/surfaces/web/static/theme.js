/** Light, dark, or as the system is. */

import { choice, choose } from "bridle/choices.js";
import { effect } from "bridle/dom.js";

export const THEMES = ["system", "light", "dark"];

/** Keep the page in the chosen theme. */
export function watchTheme() {
  effect(() => {
    const theme = choice("theme");
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  });
}

/** Go on to the next theme. */
export function nextTheme() {
  choose("theme", THEMES[(THEMES.indexOf(choice("theme")) + 1) % THEMES.length]);
}
