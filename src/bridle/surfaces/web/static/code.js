/** Code with colours, built as nodes: no text of others ever becomes HTML here. */

import hljs from "highlight";
import { visible } from "bridle/words.js";
import { toast } from "bridle/toasts.js";

const MAX_CHARS = 20_000; // more is shown without colours
const LONG_LINE = /[^\n]{2000}/u; // so is this: what finds the colours takes the square of it
const COPIED_MS = 1_500;

/** What a language is called besides its name; each value is a file of highlight.js. */
const ALIASES = new Map(Object.entries({
  cjs: "javascript",
  console: "bash",
  "c++": "cpp",
  cs: "csharp",
  docker: "dockerfile",
  h: "c",
  hpp: "cpp",
  html: "xml",
  js: "javascript",
  jsonc: "json",
  jsonl: "json",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  py: "python",
  python3: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  yml: "yaml",
  zsh: "bash",
}));

const loading = new Map();

/** Put code into an element, coloured as soon as its language is there. */
export function fillCode(element, text, language = "") {
  const shownText = visible(text);
  element.textContent = shownText;
  const name = languageOf(language);
  if (!name || text.length > MAX_CHARS || LONG_LINE.test(shownText)) return;
  if (hljs.getLanguage(name)) {
    colour(element, shownText, name);
    return;
  }
  load(name).then((isThere) => {
    if (isThere && element.textContent === shownText) colour(element, shownText, name);
  });
}

function languageOf(text) {
  const name = text.toLowerCase().trim();
  return ALIASES.get(name) ?? (/^[a-z]{1,20}$/u.test(name) ? name : "");
}

function load(name) {
  if (!loading.has(name)) {
    const found = import(`highlight/${name}`).then(
      (module) => {
        hljs.registerLanguage(name, module.default);
        return true;
      },
      () => false, // a language that does not come with the page
    );
    loading.set(name, found);
  }
  return loading.get(name);
}

function colour(element, text, language) {
  const result = hljs.highlight(text, { language, ignoreIllegals: true });
  element.replaceChildren(...nodes(result._emitter.rootNode));
}

function nodes(branch) {
  return branch.children.map((child) => {
    if (typeof child === "string") return document.createTextNode(child);
    const span = document.createElement("span");
    span.className = `code-${String(child.scope ?? "plain").split(".")[0]}`;
    span.append(...nodes(child));
    return span;
  });
}

/** A block of code with the name of its language and a button that copies it. */
export function codeBlock(text, language = "", { isColoured = true } = {}) {
  const block = make("div", "code-block");
  const bar = make("div", "code-bar");
  const name = make("span", "dim");
  name.textContent = visible(language).slice(0, 30);
  const button = make("button", "quiet");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy code");
  button.addEventListener("click", () => copy(text, button));
  bar.append(name, button);
  const pre = make("pre");
  pre.tabIndex = 0;
  const code = make("code");
  pre.append(code);
  if (isColoured) fillCode(code, text, language);
  else code.textContent = visible(text);
  block.append(bar, pre);
  return block;
}

/** Copy a text, and say so on the button. */
export async function copy(text, button = null) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast("warning", "The browser blocked copying; select the text instead");
    return;
  }
  if (!button) {
    toast("done", "Copied");
    return;
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), COPIED_MS);
}

function make(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}
