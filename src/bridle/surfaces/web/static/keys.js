/** Every key of the page, in one table. `mod` is Ctrl, or Command on a Mac. */

const IS_MAC = /Mac|iPhone|iPad/u.test(navigator.platform);

/** What a key does anywhere in the page. @type {Record<string, {name: string, does: string}>} */
export const KEYS = {
  "mod+k": { name: "palette", does: "Find a command or a session" },
  "?": { name: "help", does: "Show the keys" },
  "alt+n": { name: "new", does: "New session" },
  "alt+arrowup": { name: "previous", does: "Go to the session above" },
  "alt+arrowdown": { name: "next", does: "Go to the session below" },
  "alt+l": { name: "list", does: "Show or hide the sessions" },
  "alt+p": { name: "panel", does: "Show or hide the details" },
  "alt+w": { name: "asks", does: "Go to what is waiting for you" },
  "alt+i": { name: "prompt", does: "Go to the prompt" },
  "alt+c": { name: "stop", does: "Stop the run" },
};

/** What a key does in a card that asks for an approval. */
export const ANSWER_KEYS = { y: "once", s: "session", a: "always", n: "deny", x: "stop", e: "edit" };

/** What a key does in the prompt; the help tells it. */
export const PROMPT_KEYS = {
  enter: "Send; during a run, queue",
  "mod+enter": "During a run, steer it: the model gets it at its next turn",
  "shift+enter": "New line",
  arrowup: "Earlier prompt, from the first line",
  arrowdown: "Later prompt, from the last line",
  tab: "Accept a suggestion",
  escape: "Close the suggestions",
};

const NAMES = {
  mod: IS_MAC ? "⌘" : "Ctrl",
  alt: IS_MAC ? "⌥" : "Alt",
  shift: "Shift",
  enter: "Enter",
  tab: "Tab",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
};

/** A combination as it is written on a keyboard. */
export function keyName(combination) {
  return combination
    .split("+")
    .map((key) => NAMES[key] ?? key.toUpperCase())
    .join("+");
}

/** The combination that an event is. */
export function combinationOf(event) {
  // With Alt a Mac types other letters: there the place of the key counts.
  const key = event.altKey && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.key.toLowerCase();
  const parts = [];
  if (IS_MAC ? event.metaKey : event.ctrlKey) parts.push("mod");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && key.length > 1) parts.push("shift");
  return [...parts, key].join("+");
}

/** The name of what an event asks for; keys without a modifier do nothing where one types. */
export function wantedBy(event) {
  const found = KEYS[combinationOf(event)];
  const isTyped = !event.ctrlKey && !event.metaKey && !event.altKey;
  const isField = event.target.closest?.("input, textarea, select, [contenteditable]");
  return found && !(isTyped && isField) ? found.name : null;
}
