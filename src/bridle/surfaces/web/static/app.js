/** Where the page begins: the frame around every view, and the keys that work everywhere. */

import { cancel } from "bridle/actions.js";
import { isLoggedOut } from "bridle/api.js";
import { choice, choose } from "bridle/choices.js";
import { Dialogs, isAsking } from "bridle/dialogs.js";
import { classes, effect, html, render, signal, untracked, useEffect, useState } from "bridle/dom.js";
import { wantedBy } from "bridle/keys.js";
import { follow, link, retry, watchPage } from "bridle/live.js";
import { notifies, turnNotifying, watchSessions } from "bridle/notifying.js";
import { showHelp, showPalette } from "bridle/palette.js";
import { Panels } from "bridle/panels.js";
import { open, route } from "bridle/route.js";
import { SessionHead, SessionView } from "bridle/session_view.js";
import { newSession, SessionList } from "bridle/sessions.js";
import { isListed, listed, shown } from "bridle/store.js";
import { nextTheme, watchTheme } from "bridle/theme.js";
import { toast, Toasts } from "bridle/toasts.js";
import { oneLine, several } from "bridle/words.js";

const NARROW = matchMedia("(max-width: 900px)");
const THEME_SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** Views that are loaded when they are looked at: the plots need a library of their own. */
const LATER = {
  dashboard: () => import("bridle/dashboard.js").then((module) => module.DashboardView),
  timeline: () => import("bridle/timeline.js").then((module) => module.TimelineView),
  replay: () => import("bridle/replay.js").then((module) => module.ReplayView),
};

/** Which drawer is out, where there is no room for all: "list", "panel" or none. */
const drawer = signal("");
const isNarrow = signal(NARROW.matches);

function App() {
  const { view, session } = route.value;
  const isListShown = isNarrow.value ? drawer.value === "list" : choice("list") === "open";
  const hasPanel = view === "session" && shown.value?.session === session;
  const isPanelShown = hasPanel && (isNarrow.value ? drawer.value === "panel" : choice("panel") === "open");
  return html`<div class=${classes("shell", isListShown && "has-list", isPanelShown && "has-panel")}>
    <button type="button" class="skip" onClick=${goToMain}>Skip to the content</button>
    <${Top} hasPanel=${hasPanel} isListShown=${isListShown} isPanelShown=${isPanelShown} />
    ${isListShown && html`<nav class="side list" aria-label="Sessions"><${SessionList} /></nav>`}
    <main class="main" id="main" tabindex="-1">
      <${LinkBanner} />
      ${session && html`<${SessionHead} session=${session} view=${view} />`}
      <${View} view=${view} session=${session} />
    </main>
    ${isPanelShown &&
    html`<aside class="side panel" aria-label="Details of the session"><${Panels} head=${shown.value.head.value} /></aside>`}
    ${isNarrow.value && drawer.value && html`<div class="veil" onClick=${() => (drawer.value = "")}></div>`}
    <${Toasts} />
    <${Dialogs} />
  </div>`;
}

function Top({ hasPanel, isListShown, isPanelShown }) {
  const theme = choice("theme");
  const place = route.value.view === "dashboard" ? "page" : undefined;
  return html`<header class="top">
    <${Sign} name="Sessions" sign="☰" act=${() => turn("list")} aria-expanded=${isListShown} />
    <a class="brand" href="#/">Bridle</a>
    <a class="top-link" href="#/dashboard" aria-current=${place}>Dashboard</a>
    <span class="fill"></span>
    <${Sign} name="Find a command or a session" sign="⌕" act=${showPalette} />
    <${Sign}
      name="Notifications"
      sign=${notifies() ? "◉" : "◎"}
      act=${turnNotifying}
      class="quiet wide-only"
      aria-pressed=${notifies()}
    />
    <${Sign} name=${`Theme: ${theme}`} sign=${THEME_SIGNS[theme]} act=${nextTheme} />
    <${Sign} name="Keys and help" sign="?" act=${showHelp} class="quiet wide-only" />
    ${hasPanel && html`<${Sign} name="Details" sign="◨" act=${() => turn("panel")} aria-expanded=${isPanelShown} />`}
  </header>`;
}

/** A button that is a sign only; its name is for whoever points at it or hears it. */
function Sign({ name, sign, act, ...more }) {
  return html`<button type="button" class="quiet" aria-label=${name} title=${name} onClick=${act} ...${more}>${sign}</button>`;
}

function View({ view, session }) {
  if (view === "session") return html`<${SessionView} session=${session} />`;
  if (view === "home") return html`<${Home} />`;
  return html`<div class="later" tabindex="0">
    ${view === "dashboard" && html`<h1 class="unseen">Usage of all sessions</h1>`}
    <${Later} key=${`${view} ${session}`} view=${view} session=${session} />
  </div>`;
}

function Later({ view, session }) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isGone = false;
    LATER[view]().then(
      (component) => isGone || setFound(() => component),
      () => isGone || setProblem("This part of the page could not be loaded; reload the page"),
    );
    return () => {
      isGone = true;
    };
  }, [view]);
  if (problem) return html`<p class="is-failed padded" role="alert">${problem}</p>`;
  return found ? html`<${found} session=${session} />` : html`<p class="dim padded">Loading…</p>`;
}

function Home() {
  const waits = listed.value.filter((row) => row.state === "waiting");
  return html`<div class="home">
    <h1>${waits.length ? `${several(waits.length, "session")} ${waits.length === 1 ? "waits" : "wait"} for you` : "Sessions"}</h1>
    ${waits.map((row) => html`<p><a href=${`#/s/${encodeURIComponent(row.id)}`}>${oneLine(row.title, 100) || "Untitled"}</a></p>`)}
    ${isListed.value && !listed.value.length && html`<p>No sessions yet. Start one in a project folder.</p>`}
    <p><button type="button" class="primary" onClick=${newSession}>New session</button></p>
    <p class="dim">Choose a session from the list, or press <kbd>Ctrl+K</kbd> to find one.</p>
  </div>`;
}

/** Says that the page waits for the service, or that the login has run out. */
function LinkBanner() {
  if (isLoggedOut.value) {
    return html`<div class="banner is-failed-back" role="alert">
      <span>Your login has expired. Run <code>bridle web</code> on the daemon's machine; your text stays here.</span>
      <button type="button" onClick=${retry}>Try again</button>
    </div>`;
  }
  if (link.value !== "lost") return null;
  return html`<div class="banner is-warning-back" role="status">
    <span>Reconnecting…</span><button type="button" class="quiet" onClick=${retry}>Now</button>
  </div>`;
}

function goToMain() {
  (document.querySelector("#prompt") ?? document.querySelector("#main")).focus();
}

function turn(side) {
  if (!isNarrow.value) {
    choose(side, choice(side) === "open" ? "closed" : "open");
    return;
  }
  drawer.value = drawer.value === side ? "" : side;
  if (drawer.value) requestAnimationFrame(() => document.querySelector(".side :is(button, a, input, summary)")?.focus());
}

function goBy(step) {
  const all = listed.value;
  const at = all.findIndex((row) => row.id === route.value.session);
  if (all.length) open(all[(at + step + all.length) % all.length].id);
}

const DOES = {
  palette: showPalette,
  help: showHelp,
  new: newSession,
  previous: () => goBy(-1),
  next: () => goBy(1),
  list: () => turn("list"),
  panel: () => turn("panel"),
  asks: () => document.querySelector(".ask")?.focus() ?? toast("detail", "Nothing is waiting"),
  prompt: () => document.querySelector("#prompt")?.focus(),
  stop: () => route.value.session && cancel(route.value.session),
};

function onKeyDown(event) {
  if (event.key === "Escape" && drawer.value) drawer.value = "";
  const name = isAsking() ? null : wantedBy(event);
  if (!name) return;
  event.preventDefault();
  DOES[name]();
}

watchTheme();
watchPage();
watchSessions();
NARROW.addEventListener("change", () => (isNarrow.value = NARROW.matches));
document.addEventListener("keydown", onKeyDown);
effect(() => {
  const { session } = route.value;
  untracked(() => follow(session));
  drawer.value = "";
});
render(html`<${App} />`, document.querySelector("#app"));
