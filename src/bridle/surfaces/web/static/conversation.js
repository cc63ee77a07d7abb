/** The conversation: a list of which only what is near the sight is on the page. */

import { get, sessionPath } from "bridle/api.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "bridle/dom.js";
import { ItemView } from "bridle/items.js";
import { reload } from "bridle/live.js";
import { forgetOpened } from "bridle/opened.js";
import { drawn, Sizes } from "bridle/sizes.js";
import { toastError } from "bridle/toasts.js";
import { oneLine } from "bridle/words.js";

const END_PX = 48; // this near to the end is at the end
const OLDER_PX = 1_500; // this near to the beginning older items are fetched
const MAX_SPOKEN_CHARS = 600;

/**
 * @param {{shown: import("bridle/shown.js").Shown, acts: {label: string, act: (item: object) => void}[]}} props
 */
export function Conversation({ shown, acts }) {
  const list = useMemo(() => new List(shown), [shown]);
  const frame = useRef(null);
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    forgetOpened();
    return list.attach(frame.current, () => redraw((round) => round + 1));
  }, [list]);
  const keys = shown.keys.value;
  const span = list.span(keys);
  useLayoutEffect(() => list.settle());
  useEffect(() => {
    list.fetchOlder();
  });
  return html`<div class="conversation">
    <div class="scroller" ref=${frame} tabindex="0" role="region" aria-label="Conversation" onScroll=${list.onScroll}>
      <div class="column">
        ${shown.before.value !== null && html`<p class="older dim">Scroll up to load older items…</p>`}
        <${Space} height=${span.above} />
        ${keys.slice(span.first, span.end).map(
          (key) => html`<${Row} key=${key} id=${key} item=${shown.item(key)} list=${list} acts=${acts} />`,
        )}
        <${Space} height=${span.below} />
        ${!keys.length && html`<${Empty} />`}
      </div>
    </div>
    ${!list.follows &&
    html`<button type="button" class="to-end" onClick=${() => list.goToEnd()}>
      ↓ ${list.hasNew ? "New" : "To the end"}
    </button>`}
    <${Spoken} shown=${shown} />
  </div>`;
}

function Row({ id, item, list, acts }) {
  const element = useRef(null);
  useLayoutEffect(() => list.watch(id, element.current), [id, list]);
  const value = item?.value;
  return html`<div class="row" data-key=${id} ref=${element}>
    ${value && html`<${ItemView} item=${value} acts=${acts} />`}
  </div>`;
}

function Space({ height }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    element.current.style.height = `${height}px`;
  }, [height]);
  return html`<div ref=${element} aria-hidden="true"></div>`;
}

function Empty() {
  return html`<div class="empty">
    <p>No messages yet.</p>
    <p class="dim">
      Write below what is to be done. <kbd>@</kbd> names a file, <kbd>/</kbd> runs a skill, <kbd>!</kbd> runs a shell
      command.
    </p>
  </div>`;
}

/** Tells screen readers what was answered, once it is whole. */
function Spoken({ shown }) {
  const [words, setWords] = useState("");
  const last = useRef("");
  const key = shown.keys.value.findLast((each) => shown.item(each).peek().type === "answer");
  const answer = key ? shown.item(key).value : null;
  useEffect(() => {
    const isNew = answer && !answer.is_live && last.current === `${answer.key} live`;
    if (isNew) setWords(`Answer: ${oneLine(answer.text, MAX_SPOKEN_CHARS)}`);
    last.current = answer ? `${answer.key} ${answer.is_live ? "live" : "done"}` : "";
  }, [answer?.key, answer?.is_live]);
  return html`<div class="unseen" role="status" aria-live="polite">${words}</div>`;
}

/** Keeps what is in sight where it is while things around it come, go and change their heights. */
class List {
  constructor(shown) {
    this._shown = shown;
    this._sizes = new Sizes();
    this._frame = null;
    this._redraw = () => {};
    this._rows = new Map();
    this._anchor = null; // [key, where its top is in the sight]
    this._top = 0;
    this._drawnTop = 0;
    this._isFetching = false;
    this._newest = "";
    this.follows = true;
    this.onScroll = () => this._scrolled();
  }

  /** Whether something came after what was the end when following stopped. */
  get hasNew() {
    return this._shown.isApart.peek() || this._shown.keys.peek().at(-1) !== this._newest;
  }

  attach(frame, redraw) {
    this._frame = frame;
    this._redraw = redraw;
    this._observer = new ResizeObserver((entries) => this._resized(entries));
    this._observer.observe(frame);
    for (const element of this._rows.values()) this._observer.observe(element);
    redraw();
    return () => this._observer.disconnect();
  }

  watch(key, element) {
    this._rows.set(key, element);
    this._observer?.observe(element);
    return () => {
      this._rows.delete(key);
      this._observer?.unobserve(element);
    };
  }

  /** What is to be drawn now. */
  span(keys) {
    this._sizes.keep(keys);
    const heights = keys.map((key) => this._sizes.height(key, this._shown.item(key).peek().type));
    const room = this._frame?.clientHeight ?? 900;
    const all = heights.reduce((sum, height) => sum + height, 0);
    const top = this.follows ? Math.max(0, all - room) : this._top;
    this._drawnTop = top;
    return drawn(heights, top, room);
  }

  /** After a change: be at the end again, or put what was in sight where it was. */
  settle() {
    const frame = this._frame;
    if (!frame) return;
    if (this.follows) {
      frame.scrollTop = frame.scrollHeight;
      this._newest = this._shown.keys.peek().at(-1);
    } else if (this._anchor) {
      const row = this._rows.get(this._anchor[0]);
      if (row) frame.scrollTop += Math.round(this._offset(row) - this._anchor[1]);
    }
    this._top = frame.scrollTop;
    this._remember();
  }

  goToEnd() {
    this.follows = true;
    if (this._shown.isApart.peek()) reload();
    this._redraw();
  }

  async fetchOlder() {
    const before = this._shown.before.peek();
    if (before === null || this._isFetching || !this._frame || this._frame.scrollTop > OLDER_PX) return;
    this._isFetching = true;
    try {
      this._remember();
      this._shown.addOlder(await get(sessionPath(this._shown.session, "/board/items"), { before }));
    } catch (error) {
      toastError(error);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    } finally {
      this._isFetching = false;
    }
  }

  _scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this._frame;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    const followed = this.follows;
    if (isAtEnd && !this._shown.isApart.peek()) this.follows = true;
    else if (scrollTop < this._top - 1) this.follows = false; // a person moved it: growing never moves it up
    this._top = scrollTop;
    this._remember();
    this.fetchOlder();
    const isFar = Math.abs(scrollTop - this._drawnTop) > 300;
    if (isFar || followed !== this.follows) this._redraw();
  }

  _resized(entries) {
    let isNew = false;
    for (const { target } of entries) {
      const key = target.dataset.key;
      if (key === undefined) isNew = true;
      else if (target.isConnected) isNew = this._sizes.measure(key, target.offsetHeight) || isNew;
    }
    this.settle();
    if (isNew) this._redraw();
  }

  _remember() {
    this._anchor = null;
    for (const key of this._shown.keys.peek()) {
      const row = this._rows.get(key);
      if (!row) continue;
      const offset = this._offset(row);
      if (offset + row.offsetHeight > 0) {
        this._anchor = [key, offset];
        return;
      }
    }
  }

  _offset(row) {
    return row.getBoundingClientRect().top - this._frame.getBoundingClientRect().top;
  }
}
