/** Suggestions while one types: files after `@`, skills and prompts of servers after `/`. */

import { get } from "bridle/api.js";
import { classes, html, useEffect, useState } from "bridle/dom.js";
import { oneLine } from "bridle/words.js";

const LIMIT = 12;
const PAUSE_MS = 80;
const FILE = /(?:^|\s)@([^\s@]{0,200})$/u;
const COMMAND = /^\/([\w.-]{0,64})$/u;

/** What is being typed at a place of a text, or null. @returns {{kind: string, text: string, from: number} | null} */
export function typedAt(text, place) {
  const before = text.slice(0, place);
  const command = COMMAND.exec(before);
  if (command) return { kind: "command", text: command[1], from: 1 };
  const file = FILE.exec(before);
  return file ? { kind: "file", text: file[1], from: place - file[1].length } : null;
}

/** The suggestions for what is being typed. */
export function useSuggestions(typed, cwd) {
  const [found, setFound] = useState([]);
  useEffect(() => {
    if (!typed) {
      setFound([]);
      return undefined;
    }
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const options = await suggestions(typed, cwd, leaving.signal).catch(() => []);
      if (!leaving.signal.aborted) setFound(options);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [typed?.kind, typed?.text, cwd]);
  return typed ? found : [];
}

async function suggestions(typed, cwd, signal) {
  if (typed.kind === "file") {
    const { paths } = await get("/files", { cwd, q: typed.text, limit: LIMIT }, { signal });
    return paths.map((path) => ({ name: path, detail: "", insert: path.endsWith("/") ? path : `${path} ` }));
  }
  const all = await get("/commands", { cwd }, { signal });
  return all
    .filter((each) => each.name.toLowerCase().includes(typed.text.toLowerCase()))
    .slice(0, LIMIT)
    .map(({ name, description, arguments: taken }) => ({
      name: `/${name}`,
      detail: [taken, description].filter(Boolean).join(" · "),
      insert: `${name} `,
    }));
}

/** @param {{options: object[], at: number, take: (option: object) => void}} props */
export function Suggestions({ options, at, take }) {
  if (!options.length) return null;
  return html`<div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
    ${options.map(
      (option, each) =>
        html`<div
          key=${option.name}
          id=${`suggestion-${each}`}
          role="option"
          class=${classes("choice", each === at && "is-chosen")}
          aria-selected=${each === at}
          onMouseDown=${(event) => {
            event.preventDefault();
            take(option);
          }}
        >
          <span class="name clipped">${oneLine(option.name, 200)}</span>
          <span class="dim clipped">${oneLine(option.detail, 200)}</span>
        </div>`,
    )}
  </div>`;
}
