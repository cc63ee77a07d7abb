/**
 * What a model says, as Markdown. Nothing in it is trusted: HTML is shown as text, pictures are links, and
 * what is left goes through DOMPurify with a short list of what may stay.
 */

import { Lexer, Marked } from "marked";
import DOMPurify from "dompurify";
import { html, useEffect, useLayoutEffect, useRef } from "bridle/dom.js";
import { codeBlock } from "bridle/code.js";
import { visible } from "bridle/words.js";

const MAX_CHARS = 100_000; // more is shown as plain text
const MAX_STRETCH_CHARS = 4_000; // of one paragraph: the parser takes the square of it, and more
const MAX_MS = 1_000; // for the paragraphs of one text; what is left then is shown as it was written
const SHARE = 4; // the parser may take one part of the time in so many, however long a live answer is

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."p br hr strong em del code pre blockquote ul ol li a h3 h4 h5 h6".split(" "),
    ..."table thead tbody tr th td span #text".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "class", "start", "align"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/iu,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  KEEP_CONTENT: true,
  RETURN_DOM_FRAGMENT: true,
};
const SAFE_LINK = /^(?:https?|mailto):/iu;
const SAFE_CLASS = /^language-[\w+#.-]{1,30}$/u;

/** A parser that nobody can keep busy: what would take too long stays as it was written. */
class Bounded extends Lexer {
  constructor(options) {
    super(options);
    this._until = performance.now() + MAX_MS;
  }

  inlineTokens(text, tokens = []) {
    if (text.length <= MAX_STRETCH_CHARS && performance.now() < this._until) return super.inlineTokens(text, tokens);
    tokens.push({ type: "text", raw: text, text, escaped: false });
    return tokens;
  }
}

const marked = new Marked({
  gfm: true,
  hooks: { provideLexer: () => (text, options) => new Bounded(options).lex(text) },
  renderer: {
    html: ({ text }) => escape(text),
    image: ({ href, text }) => picture(href, text),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2); // the page has its own two levels above
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
  },
});

function escape(text) {
  return text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`);
}

function picture(href, text) {
  const words = `[picture${text ? `: ${escape(text)}` : ""}]`;
  return SAFE_LINK.test(href) ? `<a href="${escape(href)}">${words}</a>` : words;
}

/** Turn Markdown into nodes. */
export function markdownNodes(text, { isColoured = true } = {}) {
  if (text.length > MAX_CHARS) return plain(text);
  let dirty;
  try {
    dirty = marked.parse(visible(text));
  } catch {
    return plain(text); // nested deeper than the parser can go
  }
  const clean = DOMPurify.sanitize(dirty, ALLOWED);
  for (const link of clean.querySelectorAll("a:not([href])")) link.replaceWith(...link.childNodes);
  for (const link of clean.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = link.getAttribute("href") ?? "";
  }
  for (const code of clean.querySelectorAll("pre > code")) {
    const language = SAFE_CLASS.test(code.className) ? code.className.slice("language-".length) : "";
    code.parentElement.replaceWith(codeBlock(code.textContent.replace(/\n$/u, ""), language, { isColoured }));
  }
  for (const element of clean.querySelectorAll("[class]:not(.code-block, .code-block *)")) {
    element.removeAttribute("class");
  }
  for (const table of clean.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table-frame";
    frame.tabIndex = 0;
    table.replaceWith(frame);
    frame.append(table);
  }
  return clean;
}

function plain(text) {
  const fragment = document.createDocumentFragment();
  const pre = document.createElement("pre");
  pre.className = "plain";
  pre.textContent = visible(text);
  fragment.append(pre);
  return fragment;
}

/** Markdown that still grows: what is finished stays as it is, only its last blocks are made anew. */
class Growing {
  constructor(root) {
    this._root = root;
    this._done = 0; // characters whose nodes stay
    this._kept = 0; // nodes that stay
    this._spentMs = 0;
    this._at = 0;
    this._timer = 0;
  }

  update(text) {
    clearTimeout(this._timer);
    const wait = this._at + this._spentMs * SHARE - performance.now();
    if (wait > 0) {
      this._timer = setTimeout(() => this.update(text), wait);
      return;
    }
    const began = performance.now();
    this._draw(text);
    this._at = performance.now();
    this._spentMs = this._at - began;
  }

  _draw(text) {
    if (text.length < this._done) this._done = this._kept = 0;
    const rest = text.slice(this._done);
    const finished = finishedChars(rest);
    while (this._root.childNodes.length > this._kept) this._root.lastChild.remove();
    if (finished) {
      this._root.append(markdownNodes(rest.slice(0, finished)));
      this._done += finished;
      this._kept = this._root.childNodes.length;
    }
    this._root.append(markdownNodes(rest.slice(finished), { isColoured: false }));
  }

  close() {
    clearTimeout(this._timer);
  }
}

/** How much of a text is blocks that what follows cannot change any more. */
function finishedChars(text) {
  let tokens;
  try {
    tokens = new Bounded(marked.defaults).lex(text);
  } catch {
    return 0;
  }
  const solid = tokens.findLastIndex((token) => token.type !== "space");
  return tokens.slice(0, Math.max(0, solid)).reduce((sum, token) => sum + token.raw.length, 0);
}

/** @param {{text: string, isLive?: boolean}} props */
export function Markdown({ text, isLive = false }) {
  const root = useRef(null);
  const growing = useRef(null);
  useLayoutEffect(() => {
    if (isLive) {
      growing.current ??= new Growing(root.current);
      growing.current.update(text);
      return;
    }
    growing.current?.close();
    growing.current = null;
    root.current.replaceChildren(markdownNodes(text));
  }, [text, isLive]);
  useEffect(() => () => growing.current?.close(), []);
  return html`<div class="markdown" ref=${root}></div>`;
}
