/** The list of sessions, and how a new one begins. */

import { begin } from "bridle/actions.js";
import { get } from "bridle/api.js";
import { ask, Dialog } from "bridle/dialogs.js";
import { classes, debounce, html, useEffect, useState } from "bridle/dom.js";
import { addressOf, route } from "bridle/route.js";
import { isListed, listed, loadRows, nextRows, rows, shown, wanted } from "bridle/store.js";
import { toastError } from "bridle/toasts.js";
import { ago, oneLine, shortPath } from "bridle/words.js";

const SEARCH_MS = 200;

/** How a state is shown in the list: its mark, its word, its colour. */
const STATES = {
  running: ["●", "runs", "name"],
  waiting: ["?", "waits for you", "warning"],
  cut_off: ["!", "was cut off", "warning"],
  failed: ["✗", "failed", "failed"],
  idle: ["", "", "detail"],
};

export function stateOf(row) {
  if (row.state === "idle" || !row.state) return row.outcome === "failed" ? STATES.failed : STATES.idle;
  return STATES[row.state] ?? STATES.idle;
}

const search = debounce(() => loadRows().catch(toastError), SEARCH_MS);

export function SessionList() {
  useEffect(() => {
    loadRows().catch(toastError);
  }, []);
  const { q, archived } = wanted.value;
  const want = (change) => {
    wanted.value = { ...wanted.value, ...change };
    search();
  };
  return html`<div class="sessions">
    <div class="sessions-head">
      <button type="button" class="primary" onClick=${newSession}>New session</button>
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search"
        maxlength="200"
        value=${q}
        onInput=${(event) => want({ q: event.currentTarget.value })}
      />
    </div>
    <ul class="session-rows" aria-label="Sessions">
      ${listed.value.map((row) => html`<${Row} key=${row.id} row=${row} isOpen=${route.value.session === row.id} />`)}
    </ul>
    ${isListed.value && !listed.value.length && html`<p class="dim padded">${q ? "No matches" : "No sessions yet"}</p>`}
    <div class="sessions-foot">
      ${nextRows.value &&
      html`<button type="button" class="quiet" onClick=${() => loadRows({ more: true }).catch(toastError)}>Show more</button>`}
      <label class="check">
        <input type="checkbox" checked=${archived} onChange=${(event) => want({ archived: event.currentTarget.checked })} />
        archived too
      </label>
    </div>
  </div>`;
}

function Row({ row, isOpen }) {
  const [mark, word, weight] = stateOf(row);
  return html`<li class=${classes("session-row", isOpen && "is-open", row.archived && "is-archived")}>
    <a href=${addressOf(row.id)} aria-current=${isOpen ? "page" : undefined}>
      <span class="session-title clipped">${oneLine(row.title, 120) || "Untitled"}</span>
      ${word && html`<span class=${`session-state is-${weight}`}><span aria-hidden="true">${mark} </span>${word}</span>`}
      <span class="dim session-folder clipped">${shortPath(row.cwd)}</span>
      <span class="dim session-age">${row.archived ? "archived" : ago(row.updated_at)}</span>
    </a>
  </li>`;
}

/** Ask for a folder and begin a session there. */
export function newSession() {
  return ask(NewSession);
}

function NewSession({ done }) {
  const folders = [...new Set([shown.value?.head.value.cwd, ...[...rows.value.values()].map((row) => row.cwd)])].filter(Boolean);
  const [cwd, setCwd] = useState(folders[0] ?? "");
  const [agent, setAgent] = useState("");
  const [title, setTitle] = useState("");
  const [agents, setAgents] = useState([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const leaving = new AbortController();
    const found = (list) => leaving.signal.aborted || (setAgents(list), setProblem(""));
    const failed = (error) => leaving.signal.aborted || (setAgents([]), setProblem(cwd ? error.message : ""));
    const timer = setTimeout(() => get("/agents", { cwd }, { signal: leaving.signal }).then(found, failed), SEARCH_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [cwd]);
  const submit = async (event) => {
    event.preventDefault();
    if (await begin({ cwd: cwd.trim(), agent, title: title.trim() })) done(true);
  };
  return html`<${Dialog} title="New session" done=${done} kind="is-small">
    <form onSubmit=${submit}>
      <label class="field">
        <span>Folder</span>
        <input
          type="text"
          list="folders"
          spellcheck=${false}
          autocomplete="off"
          placeholder="/absolute/path (empty: the daemon's folder)"
          maxlength="4096"
          value=${cwd}
          onInput=${(event) => setCwd(event.currentTarget.value)}
        />
      </label>
      <datalist id="folders">${folders.slice(0, 30).map((folder) => html`<option value=${folder}></option>`)}</datalist>
      ${problem && html`<p class="is-failed" role="alert">${oneLine(problem)}</p>`}
      <label class="field">
        <span>Agent</span>
        <select value=${agent} onChange=${(event) => setAgent(event.currentTarget.value)}>
          <option value="">usual agent</option>
          ${agents.map((each) => html`<option value=${each.agent} disabled=${Boolean(each.problem)}>${oneLine(each.agent, 60)}</option>`)}
        </select>
      </label>
      <label class="field">
        <span>Title (may be empty)</span>
        <input type="text" maxlength="200" value=${title} onInput=${(event) => setTitle(event.currentTarget.value)} />
      </label>
      <div class="dialog-acts">
        <button type="button" onClick=${() => done()}>Cancel</button>
        <button type="submit" class="primary">Begin</button>
      </div>
    </form>
  <//>`;
}
