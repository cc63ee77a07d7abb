/** Where one types: the prompt with its files, its suggestions and what it is sent with. */

import { cancel } from "bridle/actions.js";
import { PICTURES } from "bridle/attached.js";
import { ModelButton, ModeSelect } from "bridle/choosing.js";
import { Suggestions, typedAt, useSuggestions } from "bridle/completing.js";
import { classes, html, useLayoutEffect, useRef, useState } from "bridle/dom.js";
import { draftOf, history, remember, setText } from "bridle/drafts.js";
import { isLongPaste, pastedText, readFiles, send } from "bridle/sending.js";
import { bytes, oneLine } from "bridle/words.js";

const MAX_FIELD_PX = 320;

/** @param {{head: object}} props */
export function Prompt({ head }) {
  const { session, state } = head;
  const draft = draftOf(session);
  const text = draft.text.value;
  const files = draft.files.value;
  const field = useRef(null);
  const isBusy = state === "running" || state === "waiting";
  const typing = useTyping(head, draft, field);
  const adding = useAdding(draft);
  const { isSending, submit } = useSending(head, draft, field, typing.forgetPast);
  useFittingHeight(field, text);
  const onKeyDown = (event) => {
    if (event.isComposing || typing.onKey(event)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    submit({ isSteer: isBusy && (event.ctrlKey || event.metaKey) });
  };
  const onSubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return html`<form class=${classes("prompt", adding.isOver && "is-over")} aria-label="Prompt" onSubmit=${onSubmit} ...${adding.dropping}>
    <${Suggestions} options=${typing.options} at=${typing.at} take=${typing.take} />
    <${Files} files=${files} drop=${(file) => (draft.files.value = files.filter((each) => each !== file))} />
    <textarea
      id="prompt"
      ref=${field}
      rows="1"
      aria-label="Prompt"
      aria-autocomplete="list"
      aria-controls=${typing.options.length ? "suggestions" : undefined}
      aria-activedescendant=${typing.options.length ? `suggestion-${typing.at}` : undefined}
      placeholder=${isBusy ? "Queue another prompt" : "Ask Bridle to do something  @file  /skill  !command"}
      value=${text}
      onInput=${typing.onInput}
      onKeyDown=${onKeyDown}
      onKeyUp=${typing.onMove}
      onClick=${typing.onMove}
      onPaste=${adding.onPaste}
    ></textarea>
    <div class="prompt-bar">
      <${AttachButton} add=${adding.add} />
      <${ModeSelect} head=${head} />
      <${ModelButton} head=${head} />
      ${text.startsWith("!") && html`<span class="chip is-warning">shell</span>`}
      <span class="prompt-acts">
        ${isBusy && html`<button type="button" class="danger" onClick=${() => cancel(session)}>Stop</button>`}
        ${isBusy && html`<button type="button" disabled=${isSending} onClick=${() => submit({ isSteer: true })}>Steer</button>`}
        <button type="submit" class="primary" disabled=${isSending || (!text.trim() && !files.length)}>
          ${isBusy ? "Queue" : "Send"}
        </button>
      </span>
    </div>
  </form>`;
}

/** What typing does beside adding letters: suggestions, and going through earlier prompts. */
function useTyping({ session, cwd }, draft, field) {
  const text = draft.text.value;
  const [place, setPlace] = useState(0);
  const [at, setAt] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const past = useRef(null); // how far back in the history one is
  const typed = isClosed ? null : typedAt(text, place);
  const options = useSuggestions(typed, cwd);
  const onMove = (event) => setPlace(event.currentTarget.selectionStart);
  const change = (value, caret = value.length) => {
    setText(session, value);
    setPlace(caret);
    if (!field.current) return;
    field.current.value = value; // at once: the next key may come before the page is drawn
    field.current.setSelectionRange(caret, caret);
  };
  const take = (option) => {
    const before = text.slice(0, typed.from) + option.insert;
    change(before + text.slice(place).trimStart(), before.length);
    setAt(0);
  };
  const leaf = (step) => {
    const all = history();
    const next = (past.current ?? all.length) + step;
    if (next < 0 || next > all.length) return;
    past.current = next;
    change(all[next] ?? "");
  };
  const onInput = (event) => {
    setText(session, event.currentTarget.value);
    onMove(event);
    setAt(0);
    setClosed(false);
  };
  /** Do what a key is for, and tell whether it was for something. */
  const onKey = (event) => {
    const { key } = event;
    const isFirstLine = isPlain(event) && !text.slice(0, place).includes("\n");
    const isLastLine = isPlain(event) && !text.slice(place).includes("\n");
    if (options[at] && (key === "Tab" || key === "Enter") && isPlain(event)) take(options[at]);
    else if (options.length && key === "ArrowDown") setAt((at + 1) % options.length);
    else if (options.length && key === "ArrowUp") setAt((at + options.length - 1) % options.length);
    else if (options.length && key === "Escape") setClosed(true);
    else if (key === "ArrowUp" && isFirstLine) leaf(-1);
    else if (key === "ArrowDown" && isLastLine && past.current !== null) leaf(1);
    else return false;
    event.preventDefault();
    return true;
  };
  const forgetPast = () => {
    past.current = null;
  };
  return { at, options, take, onInput, onMove, onKey, forgetPast };
}

/** Sending what was typed; it stays until it was taken. */
function useSending(head, draft, field, forgetPast) {
  const [isSending, setSending] = useState(false);
  const submit = async ({ isSteer = false } = {}) => {
    const text = draft.text.value;
    const files = draft.files.value;
    if (isSending || (!text.trim() && !files.length)) return;
    setSending(true);
    const isTaken = await send({ head, text: text.trim(), files, options: draft.options.value, isSteer });
    setSending(false);
    if (!isTaken) return;
    remember(text.trim());
    forgetPast();
    if (draft.text.value === text) setText(head.session, ""); // what was typed meanwhile stays
    draft.files.value = draft.files.value.filter((file) => !files.includes(file));
    field.current?.focus();
  };
  return { isSending, submit };
}

/** Files that are pasted or dropped. */
function useAdding(draft) {
  const [isOver, setOver] = useState(false);
  const add = (found) => {
    draft.files.value = [...draft.files.value, ...found];
  };
  const onPaste = async (event) => {
    const list = [...event.clipboardData.files];
    const words = event.clipboardData.getData("text/plain");
    if (!list.length && !isLongPaste(words)) return;
    event.preventDefault();
    add(list.length ? await readFiles(list) : [pastedText(words, draft.files.value.length + 1)]);
  };
  const dropping = {
    onDragOver: (event) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: async (event) => {
      setOver(false);
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      add(await readFiles([...event.dataTransfer.files]));
    },
  };
  return { isOver, add, onPaste, dropping };
}

function isPlain(event) {
  return !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
}

/** Let the field be as high as its text, up to a bound. */
function useFittingHeight(field, text) {
  useLayoutEffect(() => {
    const { style } = field.current;
    style.height = "auto";
    style.height = `${Math.min(MAX_FIELD_PX, field.current.scrollHeight)}px`;
  }, [text]);
}

function Files({ files, drop }) {
  if (!files.length) return null;
  return html`<ul class="attached" aria-label="Attached">
    ${files.map(
      (file) =>
        html`<li class="chip">
          ${file.data
            ? html`<img src=${`data:${file.mime};base64,${file.data}`} alt="" />`
            : html`<span class="dim">${bytes(file.text.length)}</span>`}
          <span class="clipped">${oneLine(file.name, 60)}</span>
          <button type="button" class="quiet" aria-label=${`Remove ${oneLine(file.name, 60)}`} onClick=${() => drop(file)}>
            ×
          </button>
        </li>`,
    )}
  </ul>`;
}

function AttachButton({ add }) {
  const input = useRef(null);
  const onChange = async (event) => {
    const list = [...event.currentTarget.files];
    event.currentTarget.value = "";
    add(await readFiles(list));
  };
  return html`<button type="button" class="quiet" aria-label="Attach a picture or text file" onClick=${() => input.current.click()}>
      +
    </button>
    <input
      class="gone"
      type="file"
      multiple
      tabindex="-1"
      aria-label="Files"
      accept=${[...PICTURES, "text/*"].join(",")}
      ref=${input}
      onChange=${onChange}
    />`;
}
