/** One session: its title, its conversation, what waits for a person, the prompt. */

import { fork, resume } from "bridle/actions.js";
import { Asks } from "bridle/asks.js";
import { Conversation } from "bridle/conversation.js";
import { classes, html, useEffect, useMemo, useState } from "bridle/dom.js";
import { putWords } from "bridle/drafts.js";
import { link, trouble } from "bridle/live.js";
import { Menu } from "bridle/menu.js";
import { sessionCommands } from "bridle/palette.js";
import { Prompt } from "bridle/prompt.js";
import { rewindBefore } from "bridle/rewinding.js";
import { addressOf } from "bridle/route.js";
import { stateOf } from "bridle/sessions.js";
import { shown } from "bridle/store.js";
import { cost, count, duration, oneLine, shortPath } from "bridle/words.js";

const VIEWS = [
  ["", "session", "Conversation"],
  ["timeline", "timeline", "Timeline"],
  ["replay", "replay", "Replay"],
];

/** The line above every view of a session. */
export function SessionHead({ session, view }) {
  const head = shown.value?.session === session ? shown.value.head.value : null;
  return html`<div class="session-head">
    <div class="session-name">
      <h1 class="clipped">${head ? oneLine(head.title, 200) || "Untitled" : "…"}</h1>
      ${head && html`<span class="dim clipped" title=${head.cwd}>${shortPath(head.cwd)}</span>`}
      ${head?.archived && html`<span class="chip">archived</span>`}
    </div>
    <nav class="tabs" aria-label="Views of the session">
      ${VIEWS.map(
        ([path, name, words]) =>
          html`<a href=${addressOf(session, path)} aria-current=${view === name ? "page" : undefined}>${words}</a>`,
      )}
    </nav>
    ${head && html`<${Menu} label="More about this session" commands=${sessionCommands(head)} />`}
  </div>`;
}

export function SessionView({ session }) {
  const view = shown.value;
  const acts = useMemo(
    () => [
      { label: "Fork before", act: (item) => forkBefore(session, item) },
      { label: "Rewind", act: (item) => rewindBefore(session, item) },
    ],
    [session],
  );
  if (trouble.value) return html`<${Trouble} error=${trouble.value} />`;
  if (!view || view.session !== session) return html`<p class="dim padded" role="status">Opening…</p>`;
  const head = view.head.value;
  return html`<${Conversation} key=${session} shown=${view} acts=${acts} />
    <div class="foot">
      <${Asks} head=${head} />
      <${RunLine} head=${head} />
      <${Prompt} key=${session} head=${head} />
    </div>`;
}

async function forkBefore(session, item) {
  const made = await fork(session, Math.max(1, item.seq - 1));
  if (made) putWords(made, item.text);
}

function Trouble({ error }) {
  const isGone = error.status === 404;
  return html`<div class="empty" role="alert">
    <p>${isGone ? "Session not found; it may have been deleted." : oneLine(error.message, 500)}</p>
    ${error.hint && html`<p class="dim">${oneLine(error.hint, 500)}</p>`}
    <p><a href="#/">All sessions</a></p>
  </div>`;
}

/** What the run does now, or how the last one ended. */
function RunLine({ head }) {
  const { run, state, outcome, reason } = head;
  const [mark, word, weight] = stateOf(head);
  const now = useNow(Boolean(run) && state !== "cut_off");
  if (link.value === "lost") return null;
  if (state === "cut_off") {
    return html`<p class="run-line is-warning">
      <span>The run was interrupted.</span>
      <button type="button" onClick=${() => resume(head.session)}>Resume</button>
    </p>`;
  }
  if (run) {
    const facts = [
      `turn ${run.turn ?? 0}`,
      `${count(run.tokens ?? 0)} tokens`,
      ...(run.cost === null || run.cost === undefined ? [] : [cost(run.cost)]),
      duration(Math.max(0, now - run.started_at)),
    ];
    return html`<p class="run-line">
      <span class=${classes("mark", `is-${weight}`, state === "running" && "beats")} aria-hidden="true">${mark}</span>
      <span class="clipped">${oneLine(run.doing || word, 160)}</span>
      <span class="dim run-facts">${facts.join(" · ")}</span>
    </p>`;
  }
  if (!outcome || outcome === "completed") return null;
  return html`<p class=${`run-line ${outcome === "failed" ? "is-failed" : "is-warning"}`}>
    <span>${outcome.replaceAll("_", " ")}${reason ? `: ${oneLine(reason, 300)}` : ""}</span>
  </p>`;
}

function useNow(isWanted) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isWanted) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isWanted]);
  return now;
}
