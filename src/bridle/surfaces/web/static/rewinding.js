/** Going back: what it would take back is shown before it is done. */

import { planRewind, tell } from "bridle/actions.js";
import { ask, Dialog } from "bridle/dialogs.js";
import { Diff } from "bridle/diff.js";
import { html, useLoaded, useState } from "bridle/dom.js";
import { putWords } from "bridle/drafts.js";
import { toast } from "bridle/toasts.js";
import { oneLine, several } from "bridle/words.js";

const SCOPES = { all: "Conversation and files", conversation: "Conversation only", files: "Files only" };

/** Ask whether to go back to before something was said; its words come back into the prompt. */
export async function rewindBefore(session, item) {
  const scope = await ask(RewindDialog, { session, item });
  if (scope && scope !== "files") putWords(session, item.text);
}

function RewindDialog({ session, item, done }) {
  const toSeq = Math.max(1, item.seq - 1);
  const { value, error, isLoading } = useLoaded(() => planRewind(session, toSeq), [session, toSeq]);
  const [scope, setScope] = useState("all");
  const [force, setForce] = useState(false);
  const [isSent, setSent] = useState(false);
  const conflicts = scope === "conversation" ? [] : (value?.plan.conflicts ?? []);
  const submit = async (event) => {
    event.preventDefault();
    setSent(true);
    const taken = await tell(session, { type: "rewind", to_seq: toSeq, scope, force });
    setSent(false);
    if (!taken) return;
    toast("done", "Rewound");
    done(scope);
  };
  return html`<${Dialog} title="Rewind" done=${done} kind="is-wide">
    <form onSubmit=${submit}>
      <p>To before “${oneLine(item.text, 80)}”.</p>
      <fieldset class="scopes">
        <legend>What to restore</legend>
        ${Object.entries(SCOPES).map(
          ([name, words]) =>
            html`<label class="check">
              <input type="radio" name="scope" checked=${scope === name} onChange=${() => setScope(name)} />${words}
            </label>`,
        )}
      </fieldset>
      ${isLoading && html`<p class="dim">Checking the files…</p>`}
      ${error && html`<p class="is-failed" role="alert">${oneLine(error.message)}</p>`}
      ${value && scope !== "conversation" && html`<${Changes} plan=${value.plan} text=${value.diff.text} />`}
      ${conflicts.length > 0 &&
      html`<label class="check is-warning">
        <input type="checkbox" checked=${force} onChange=${(event) => setForce(event.currentTarget.checked)} />
        Also overwrite changes made outside the session: ${oneLine(conflicts.join(", "), 300)}
      </label>`}
      <div class="dialog-acts">
        <button type="button" onClick=${() => done()}>Cancel</button>
        <button type="submit" class="danger" disabled=${isSent || isLoading || (conflicts.length > 0 && !force)}>Rewind</button>
      </div>
    </form>
  <//>`;
}

function Changes({ plan, text }) {
  const { changes = [], lost = [] } = plan;
  if (!changes.length) return html`<p class="dim">No file changes.</p>`;
  return html`<p>${several(changes.length, "file")} will be restored:</p>
    ${lost.length > 0 && html`<p class="is-warning">Too large to restore: ${oneLine(lost.join(", "), 300)}</p>`}
    ${text && html`<div class="bounded"><${Diff} text=${text} /></div>`}`;
}
