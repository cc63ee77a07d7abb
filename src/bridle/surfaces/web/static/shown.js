/**
 * One session as it is shown: its head and its items by key, which patches change.
 *
 * A page folds nothing itself: the board of the service says what an item is (see surfaces/board/values.py).
 */

import { batch, signal } from "bridle/dom.js";

const MAX_ITEMS = 3_000; // a page must not grow with what is read in it
const KEPT_ITEMS = 2_000;
const MAX_LIVE_CHARS = 400_000; // of an item that still grows; the whole comes when it is done
const MARK = "… the beginning is left out …\n";

export class Shown {
  /** @param {{head: object, items: object[], before: number | null}} view what the service says of it */
  constructor(view) {
    this.session = view.head.session;
    this.head = signal(view.head);
    /** The keys of what is loaded, oldest first. */
    this.keys = signal([]);
    /** What to ask for older items with; null when there are none. */
    this.before = signal(null);
    /** Newer items were let go of: the end is not loaded. */
    this.isApart = signal(false);
    this._items = new Map();
    this.load(view);
  }

  /** Show this instead of what was there; items that stay the same keep their place on the screen. */
  load(view) {
    batch(() => {
      const kept = new Map(this._items);
      this._items.clear();
      for (const item of view.items) {
        const old = kept.get(item.key);
        if (old) old.value = item;
        this._items.set(item.key, old ?? signal(item));
      }
      this.head.value = view.head;
      this.keys.value = [...this._items.keys()];
      this.before.value = view.before;
      this.isApart.value = false;
    });
  }

  /** The signal of an item, or undefined when it is not loaded. */
  item(key) {
    return this._items.get(key);
  }

  /** What is not recorded yet: after a lost connection the service says anew what of it there is. */
  get liveKeys() {
    return this.keys.peek().filter((key) => this._items.get(key).peek().at === 0);
  }

  /** Do what patches say, all at once; returns what is to be told once. */
  apply(patches) {
    const flashes = [];
    batch(() => {
      const grown = new Map();
      let isMoved = false;
      for (const patch of patches) {
        if (patch.type === "grow") {
          gather(grown, patch);
          continue;
        }
        if (patch.type === "put" || patch.type === "drop") this._grow(grown);
        if (patch.type === "put") isMoved = this._put(patch.item, patch.before) || isMoved;
        else if (patch.type === "drop") isMoved = this._items.delete(patch.key) || isMoved;
        else if (patch.type === "head_changed") this.head.value = patch.head;
        else if (patch.type === "flash") flashes.push(patch);
      }
      this._grow(grown);
      if (isMoved) this._order();
    });
    return flashes;
  }

  /** Add a page of older items above all others. */
  addOlder(page) {
    batch(() => {
      const older = page.items.filter((item) => !this._items.has(item.key)).map((item) => [item.key, signal(item)]);
      let all = [...older, ...this._items];
      if (all.length > MAX_ITEMS) {
        all = all.slice(0, KEPT_ITEMS);
        this.isApart.value = true;
      }
      this._items = new Map(all);
      this.keys.value = [...this._items.keys()];
      this.before.value = page.before;
    });
  }

  _put(item, before = "") {
    const old = this._items.get(item.key);
    if (old) {
      old.value = item;
      return false;
    }
    if (this._items.has(before)) {
      const all = [...this._items];
      all.splice(all.findIndex(([key]) => key === before), 0, [item.key, signal(item)]);
      this._items = new Map(all);
      return true;
    }
    if (this.isApart.value) return false;
    this._items.set(item.key, signal(item));
    return true;
  }

  _grow(grown) {
    for (const [key, fields] of grown) {
      const item = this._items.get(key);
      if (!item) continue;
      const next = { ...item.value };
      for (const [field, text] of Object.entries(fields)) next[field] = bounded((next[field] ?? "") + text);
      item.value = next;
    }
    grown.clear();
  }

  _order() {
    if (this._items.size > MAX_ITEMS) {
      const all = [...this._items];
      const least = all.length - KEPT_ITEMS;
      const prompt = all.findIndex(([, item], at) => at >= least && item.value.type === "said"); // no call is cut apart
      const kept = all.slice(prompt < 0 ? least : prompt);
      this._items = new Map(kept);
      this.before.value = kept[0][1].value.seq - 1;
    }
    this.keys.value = [...this._items.keys()];
  }
}

function gather(grown, patch) {
  const fields = grown.get(patch.key) ?? {};
  const field = patch.field ?? "text";
  fields[field] = (fields[field] ?? "") + patch.text;
  grown.set(patch.key, fields);
}

function bounded(text) {
  return text.length > MAX_LIVE_CHARS ? MARK + text.slice(-MAX_LIVE_CHARS / 2) : text;
}
