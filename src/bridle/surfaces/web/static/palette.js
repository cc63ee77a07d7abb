/** Every command of the page by its name, and every session; and the help. */

import { archive, attempt, cancel, compact, erase, fork, pin, rename, resume, saveAs } from "bridle/actions.js";
import { logOut } from "bridle/api.js";
import { choice, choose } from "bridle/choices.js";
import { chooseAgent, chooseModel } from "bridle/choosing.js";
import { ask, askChoice, Dialog } from "bridle/dialogs.js";
import { html } from "bridle/dom.js";
import { ANSWER_KEYS, KEYS, keyName, PROMPT_KEYS } from "bridle/keys.js";
import { notifies, turnNotifying } from "bridle/notifying.js";
import { addressOf, open, route } from "bridle/route.js";
import { newSession } from "bridle/sessions.js";
import { listed, shown } from "bridle/store.js";
import { THEMES } from "bridle/theme.js";
import { shortPath } from "bridle/words.js";

const ANSWER_WORDS = {
  once: "Allow the call",
  session: "Allow calls like this for the session",
  always: "Always allow calls like this, in every project",
  deny: "Deny it",
  stop: "Deny it and stop the run",
  edit: "Edit the rule",
};

/** What can be done with the open session. @returns {{name: string, act: () => void, detail?: string}[]} */
export function sessionCommands(head) {
  const { session, state } = head;
  const isBusy = state === "running" || state === "waiting";
  return [
    isBusy && { name: "Stop the run", act: () => cancel(session) },
    state === "cut_off" && { name: "Resume the run", act: () => resume(session) },
    { name: "Rename", act: () => rename(head) },
    { name: "Fork", act: () => fork(session) },
    { name: "Compact the context", act: () => compact(head) },
    { name: "Pin a text", act: () => pin(head) },
    { name: "Choose the model", act: () => chooseModel(head) },
    { name: "Choose the agent", act: () => chooseAgent(head) },
    { name: "Timeline", act: () => (location.hash = addressOf(session, "timeline")) },
    { name: "Replay", act: () => (location.hash = addressOf(session, "replay")) },
    { name: "Save as a web page", act: () => saveAs(session, "html") },
    { name: "Save as Markdown", act: () => saveAs(session, "md") },
    { name: "Save as JSON", act: () => saveAs(session, "json") },
    { name: head.archived ? "Restore from the archive" : "Archive", act: () => archive(head) },
    { name: "Delete", act: () => erase(head), isDangerous: true },
  ].filter(Boolean);
}

function pageCommands() {
  return [
    { name: "New session", act: newSession },
    { name: "Dashboard", act: () => (location.hash = "#/dashboard") },
    ...THEMES.map((theme) => ({ name: `Theme: ${theme}`, act: () => choose("theme", theme) })),
    {
      name: `Diffs: ${choice("diff") === "split" ? "unified" : "side by side"}`,
      act: () => choose("diff", choice("diff") === "split" ? "unified" : "split"),
    },
    { name: notifies() ? "Stop notifications" : "Notify me when this page is hidden", act: turnNotifying },
    { name: "Keys and help", act: showHelp },
    { name: "Log out", act: () => attempt(logOut) },
  ];
}

/** Let a person find a command or a session. */
export async function showPalette() {
  const head = shown.value?.session === route.value.session ? shown.value?.head.value : null;
  const commands = [...(head ? sessionCommands(head) : []), ...pageCommands()];
  const sessions = listed.value.map((row) => ({
    name: row.title || "Untitled",
    detail: shortPath(row.cwd),
    act: () => open(row.id),
  }));
  const options = [...commands, ...sessions].map((each, at) => ({ ...each, value: at }));
  const at = await askChoice({ title: "Commands", options, hint: "Find a command or a session" });
  if (at !== null) options[at].act();
}

export function showHelp() {
  return ask(Help);
}

function Help({ done }) {
  const everywhere = Object.entries(KEYS).map(([keys, { does }]) => [keys, does]);
  const answers = Object.entries(ANSWER_KEYS).map(([keys, answer]) => [keys, ANSWER_WORDS[answer]]);
  return html`<${Dialog} title="Keys and help" done=${done} kind="is-wide">
    <div class="help">
      <${Table} title="Everywhere" rows=${everywhere} />
      <${Table} title="In the prompt" rows=${Object.entries(PROMPT_KEYS)} />
      <${Table} title="In an approval" rows=${answers} />
      <section>
        <h3>Special words in the prompt</h3>
        <p><code>@path</code> names a file, <code>/name</code> runs a skill, <code>!command</code> runs a shell command.</p>
        <p class="dim">Long texts and pictures can be pasted or dropped. What others do in the same session appears here too.</p>
      </section>
    </div>
  <//>`;
}

function Table({ title, rows }) {
  return html`<section>
    <h3>${title}</h3>
    <table class="keys"><tbody>
      ${rows.map(([keys, does]) => html`<tr><td><kbd>${keyName(keys)}</kbd></td><td>${does}</td></tr>`)}
    </tbody></table>
  </section>`;
}
