/** Dialogs: one asks a person something and gives back the answer, and the focus to where it was. */

import { classes, html, signal, useEffect, useLayoutEffect, useRef, useState } from "bridle/dom.js";
import { oneLine, visible } from "bridle/words.js";

const stack = signal([]);
let last = 0;

/**
 * Open a dialog; its view gets the props and `done(value)`, which closes it.
 * @returns {Promise<any>} what it was done with; null when it was dismissed
 */
export function ask(View, props = {}) {
  return new Promise((resolve) => {
    last += 1;
    const id = last;
    const done = (value = null) => {
      stack.value = stack.value.filter((each) => each.id !== id);
      resolve(value);
    };
    stack.value = [...stack.value, { id, View, props, done }];
  });
}

/** Whether a dialog is open. */
export function isAsking() {
  return stack.value.length > 0;
}

/** Where open dialogs are drawn. */
export function Dialogs() {
  return stack.value.map(({ id, View, props, done }) => html`<${View} key=${id} ...${props} done=${done} />`);
}

/**
 * The frame of a dialog: it holds the focus, and Escape dismisses it.
 * @param {{title: string, done: (value?: any) => void, kind?: string, children: any}} props
 */
export function Dialog({ title, done, kind = "", children }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("input, textarea, select"))?.focus();
    return () => {
      dialog.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  const onCancel = (event) => {
    event.preventDefault();
    done();
  };
  const onClick = (event) => event.target === element.current && done();
  return html`<dialog
    ref=${element}
    class=${classes("dialog", kind)}
    aria-label=${title}
    onCancel=${onCancel}
    onMouseDown=${onClick}
  >
    <div class="dialog-box">
      <header class="dialog-head">
        <h2>${title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick=${() => done()}>×</button>
      </header>
      ${children}
    </div>
  </dialog>`;
}

/** Ask for a yes. @returns {Promise<boolean>} */
export async function confirmed(props) {
  return (await ask(Confirm, props)) === true;
}

function Confirm({ title, text, yes, isDangerous = false, done }) {
  return html`<${Dialog} title=${title} done=${done} kind="is-small">
    <p>${visible(text)}</p>
    <div class="dialog-acts">
      <button type="button" autofocus onClick=${() => done()}>Cancel</button>
      <button type="button" class=${isDangerous ? "danger" : "primary"} onClick=${() => done(true)}>${yes}</button>
    </div>
  <//>`;
}

/** Ask for a text. @returns {Promise<string | null>} null when it was dismissed */
export function askText(props) {
  return ask(TextDialog, props);
}

function TextDialog({ title, label, value = "", yes, isLong = false, mayBeEmpty = false, done }) {
  const [text, setText] = useState(value);
  const field = useRef(null);
  useEffect(() => field.current.select(), []);
  const submit = (event) => {
    event.preventDefault();
    if (mayBeEmpty || text.trim()) done(text.trim());
  };
  const onInput = (event) => setText(event.currentTarget.value);
  return html`<${Dialog} title=${title} done=${done} kind="is-small">
    <form onSubmit=${submit}>
      <label class="field">
        <span>${label}</span>
        ${isLong
          ? html`<textarea ref=${field} rows="4" value=${text} onInput=${onInput}></textarea>`
          : html`<input ref=${field} type="text" maxlength="500" value=${text} onInput=${onInput} />`}
      </label>
      <div class="dialog-acts">
        <button type="button" onClick=${() => done()}>Cancel</button>
        <button type="submit" class="primary" disabled=${!mayBeEmpty && !text.trim()}>${yes}</button>
      </div>
    </form>
  <//>`;
}

/** Ask which one of several. @returns {Promise<any>} the value of the option */
export function askChoice(props) {
  return ask(ChoiceDialog, props);
}

/** @param {{options: {value: any, name: string, detail?: string, isOff?: boolean}[]}} props */
function ChoiceDialog({ title, options, hint = "Search", done }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const chosen = useRef(null);
  const found = options.filter((option) =>
    `${option.name} ${option.detail ?? ""}`.toLowerCase().includes(text.toLowerCase()),
  );
  const index = Math.min(at, Math.max(0, found.length - 1));
  useLayoutEffect(() => chosen.current?.scrollIntoView({ block: "nearest" }), [index]);
  const move = (step) => setAt((index + step + found.length) % Math.max(1, found.length));
  const onKeyDown = (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && found[index] && !found[index].isOff) done(found[index].value);
    else return;
    event.preventDefault();
  };
  const onInput = (event) => {
    setText(event.currentTarget.value);
    setAt(0);
  };
  return html`<${Dialog} title=${title} done=${done} kind="is-list">
    <input
      type="text"
      role="combobox"
      aria-expanded="true"
      aria-controls="choices"
      aria-activedescendant=${found.length ? `choice-${index}` : undefined}
      aria-label=${hint}
      placeholder=${hint}
      value=${text}
      onInput=${onInput}
      onKeyDown=${onKeyDown}
    />
    <div id="choices" class="choice-list" role="listbox" aria-label=${title}>
      ${found.map(
        (option, each) =>
          html`<div
            key=${each}
            id=${`choice-${each}`}
            ref=${each === index ? chosen : undefined}
            role="option"
            class=${classes("choice", each === index && "is-chosen")}
            aria-selected=${each === index}
            aria-disabled=${option.isOff ?? false}
            onClick=${() => option.isOff || done(option.value)}
          >
            <span class="clipped">${oneLine(option.name, 120)}</span>
            <span class="dim clipped">${oneLine(option.detail ?? "", 120)}</span>
          </div>`,
      )}
    </div>
    ${!found.length && html`<p class="dim">No matches</p>`}
  <//>`;
}
