/** What waits for a person: calls to approve and questions to answer. */

import { tell } from "bridle/actions.js";
import { Arguments, Code } from "bridle/calls.js";
import { Diff, DIFFING_TOOLS, isDiff } from "bridle/diff.js";
import { html, useLayoutEffect, useRef, useState } from "bridle/dom.js";
import { ANSWER_KEYS } from "bridle/keys.js";
import { addressOf } from "bridle/route.js";
import { toast } from "bridle/toasts.js";
import { oneLine, visible } from "bridle/words.js";

const CODE_TOOL = "python";

/** The answers to an approval; those with `grants` need a rule that fits. */
const ANSWERS = [
  { answer: "once", name: "Allow", kind: "primary" },
  { answer: "session", name: "Allow for the session", grants: true },
  { answer: "always", name: "Always allow", grants: true, where: "in every project: " },
  { answer: "deny", name: "Deny" },
  { answer: "stop", name: "Stop the run", kind: "danger" },
];

/** @param {{head: object}} props */
export function Asks({ head }) {
  const { approvals = [], questions = [] } = head;
  if (!approvals.length && !questions.length) return null;
  return html`<section class="asks" aria-label="Waiting for you">
    ${approvals.map((each) => html`<${Approval} key=${each.call_id} session=${head.session} approval=${each} />`)}
    ${questions.map((each) => html`<${Question} key=${each.call_id} session=${head.session} asked=${each} />`)}
  </section>`;
}

function Approval({ session, approval }) {
  const suggested = approval.suggestions ?? [];
  const card = useRef(null);
  const [isSent, setSent] = useState(false);
  const [edited, setEdited] = useState(null); // {rules, reason} once somebody edits
  useToldWhenGone(card, isSent, `${approval.tool} was decided elsewhere`);
  const rules = edited ? lines(edited.rules) : suggested;
  const decide = async ({ answer, grants }) => {
    if (isSent || (grants && !rules.length)) return;
    setSent(true);
    const own = grants && edited ? { rules } : {};
    const reason = edited?.reason.trim() ? { reason: edited.reason.trim() } : {};
    const taken = await tell(session, { type: "decide", call_id: approval.call_id, answer, ...own, ...reason });
    if (!taken) setSent(false);
  };
  const edit = () => setEdited(edited ? null : { rules: suggested.join("\n"), reason: "" });
  const onKeyDown = (event) => {
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const wanted = ANSWER_KEYS[event.key.toLowerCase()];
    if (!wanted) return;
    event.preventDefault();
    if (wanted === "edit") edit();
    else decide(ANSWERS.find((each) => each.answer === wanted));
  };
  return html`<div
    class="ask"
    role="group"
    tabindex="0"
    ref=${card}
    aria-label=${`Approval: ${oneLine(approval.tool, 60)}`}
    aria-busy=${isSent}
    onKeyDown=${onKeyDown}
  >
    <p class="ask-head">
      <span class="mark is-warning" aria-hidden="true">?</span>
      <strong>May <span class="name">${oneLine(approval.tool, 60)}</span> run?</strong>
      <span class="dim clipped">${oneLine(approval.why, 300)}</span>
      ${approval.child && html`<a href=${addressOf(approval.child)}>asked by a sub-agent</a>`}
    </p>
    <div class="ask-body"><${Wanted} approval=${approval} /></div>
    ${edited && html`<${Editing} edited=${edited} setEdited=${setEdited} />`}
    <div class="ask-acts">
      ${ANSWERS.filter((each) => !each.grants || rules.length || edited).map(
        (each) =>
          html`<button
            type="button"
            class=${each.kind ?? ""}
            disabled=${isSent || (each.grants && !rules.length)}
            title=${each.grants ? `${each.where ?? ""}${rules.join(", ")}` : undefined}
            onClick=${() => decide(each)}
          >
            ${each.name}<kbd aria-hidden="true">${keyOf(each.answer)}</kbd>
          </button>`,
      )}
      <button type="button" class="quiet" aria-expanded=${edited !== null} onClick=${edit}>
        Edit the rule<kbd aria-hidden="true">${keyOf("edit")}</kbd>
      </button>
    </div>
    ${!edited && suggested.length > 0 && html`<p class="dim rule">Rule: <code>${oneLine(suggested.join(", "), 300)}</code></p>`}
  </div>`;
}

/** All that it would do: nobody may be asked about more than is shown. */
function Wanted({ approval: { tool, preview = "", args = {} } }) {
  if (DIFFING_TOOLS.includes(tool) && isDiff(preview)) return html`<${Diff} text=${preview} />`;
  const code = tool === CODE_TOOL && typeof args.code === "string" ? args.code : "";
  const about = code ? preview.trimEnd().split("\n").at(-1) : preview; // before it comes the code, maybe not all of it
  const others = Object.entries(args).filter(([, value]) => value !== code && !isSaidIn(preview, value));
  return html`${code && html`<${Code} text=${code} language="python" isWhole />`}
    ${about && html`<pre class="output" tabindex="0" aria-label="What it would do">${visible(about)}</pre>`}
    ${others.length > 0 && html`<${Arguments} args=${others} isWhole />`}`;
}

function isSaidIn(preview, value) {
  return preview.includes(JSON.stringify(value)) || (typeof value === "string" && value !== "" && preview.includes(value));
}

function Editing({ edited, setEdited }) {
  return html`<div class="editing">
    <label class="field">
      <span>Rules, one on each line; they hold with “for the session” and “always”</span>
      <textarea
        rows="2"
        spellcheck=${false}
        value=${edited.rules}
        onInput=${(event) => setEdited({ ...edited, rules: event.currentTarget.value })}
      ></textarea>
    </label>
    <label class="field">
      <span>Message to the model if you deny it</span>
      <input
        type="text"
        maxlength="2000"
        value=${edited.reason}
        onInput=${(event) => setEdited({ ...edited, reason: event.currentTarget.value })}
      />
    </label>
  </div>`;
}

function Question({ session, asked }) {
  const { text, choices = [], several = false } = asked.question;
  const [chosen, setChosen] = useState([]);
  const [words, setWords] = useState("");
  const [isSent, setSent] = useState(false);
  const card = useRef(null);
  useToldWhenGone(card, isSent, "The question was answered elsewhere");
  const answers = [...chosen, ...(words.trim() ? [words.trim()] : [])];
  const reply = async (given) => {
    setSent(true);
    if (!(await tell(session, { type: "reply", call_id: asked.call_id, answers: given }))) setSent(false);
  };
  const turn = (choice, isOn) => {
    const others = several ? chosen.filter((each) => each !== choice) : [];
    setChosen(isOn ? [...others, choice] : others);
  };
  const submit = (event) => {
    event.preventDefault();
    if (answers.length) reply(several ? answers : answers.slice(-1));
  };
  return html`<form class="ask" ref=${card} aria-label="Question" onSubmit=${submit}>
    <p class="ask-head">
      <span class="mark is-warning" aria-hidden="true">?</span>
      <strong class="words">${visible(text)}</strong>
    </p>
    <div class="question-choices">
      ${choices.map(
        (choice) =>
          html`<label key=${choice}>
            <input
              type=${several ? "checkbox" : "radio"}
              name=${asked.call_id}
              checked=${chosen.includes(choice)}
              onChange=${(event) => turn(choice, event.currentTarget.checked)}
            />
            <span>${oneLine(choice, 500)}</span>
          </label>`,
      )}
    </div>
    <label class="field">
      <span>${choices.length ? "Or in your own words" : "Your answer"}</span>
      <input type="text" maxlength="20000" value=${words} onInput=${(event) => setWords(event.currentTarget.value)} />
    </label>
    <div class="ask-acts">
      <button type="submit" class="primary" disabled=${isSent || !answers.length}>Answer</button>
      <button type="button" disabled=${isSent} onClick=${() => reply([])}>Skip</button>
    </div>
  </form>`;
}

/** Say that somebody else was first, to a person who was about to answer. */
function useToldWhenGone(card, isSent, words) {
  const state = useRef({ isSent, words });
  state.current = { isSent, words };
  useLayoutEffect(() => {
    const element = card.current; // what is done when it goes is done while it is still there
    return () => {
      const wasBusy = element?.contains(document.activeElement) || element?.querySelector(".editing");
      if (wasBusy && !state.current.isSent) toast("warning", state.current.words);
    };
  }, []);
}

function lines(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function keyOf(answer) {
  return Object.entries(ANSWER_KEYS).find(([, each]) => each === answer)?.[0] ?? "";
}
