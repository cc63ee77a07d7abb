"""The terminal interface: one screen over a link to the sessions.

```
keys ──▶ MainScreen ──▶ BridleApp ──▶ Link ──▶ SessionApi
screen ◀── MainScreen ◀── BridleApp ◀── patches, news
```

It has no session logic: it shows the view of a session, and every action is a command.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on, work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from bridle.config.settings import Settings
from bridle.core.errors import BridleError, SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.protocol import Cancel, Resume
from bridle.core.session_api import LiveSession
from bridle.surfaces.shared.terminal import one_line, visible
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.shared.view_model.view_types import Flash, Patch, ViewSnapshot, Weight
from bridle.surfaces.tui.completion import Completer
from bridle.surfaces.tui.editor import PromptEditor
from bridle.surfaces.tui.keys import bindings, keymap
from bridle.surfaces.tui.main_screen import MainScreen
from bridle.surfaces.tui.open_sessions import FolderDefaults, OpenSessions, PromptTarget, draft_key
from bridle.surfaces.tui.panel_host import AppPanelHost
from bridle.surfaces.tui.panels.notifications import notify, report_errors
from bridle.surfaces.tui.panels.palette_commands import COMMANDS, run_command, system_commands
from bridle.surfaces.tui.prompt_history import History, load_drafts, save_drafts
from bridle.surfaces.tui.prompt_sender import OutgoingPrompt, create_outgoing_prompt, join_texts, send
from bridle.surfaces.tui.session_link import LinkState, SessionLink
from bridle.surfaces.tui.startup import ExitState, Opening, StartOptions
from bridle.surfaces.tui.status_lines import LinkStatus
from bridle.surfaces.tui.terminal import (
    SAVE_TITLE,
    edit_text,
    notification_sequence,
    quit_on_signal,
    window_title,
)
from bridle.surfaces.tui.theme import THEMES

AGAIN_S = 2.0
"""How soon a key must be pressed again to confirm the first press."""
SEVERITIES: dict[Weight, Literal["information", "warning", "error"]] = {
    "detail": "information",
    "done": "information",
    "warning": "warning",
    "failed": "error",
}
"""Textual's name for each severity."""


class BridleApp(App[ExitState], inherit_bindings=False):
    """The Textual app: shows sessions and sends them prompts and commands."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("app") if one.priority]
    ENABLE_COMMAND_PALETTE = False  # Textual binds its own key to it
    TITLE = "Bridle"
    CSS = """
    Toast { padding: 0 1; }
    ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    """

    def __init__(
        self, settings: Settings, environ: dict[str, str], begin: StartOptions, open_api: Opening
    ) -> None:
        """Raise ConfigError if the key settings are invalid."""
        super().__init__()
        self.settings = settings
        self.environ = environ
        self._drafts = load_drafts(settings.home)
        self.front = OpenSessions(begin.cwd, self._drafts)
        self.front.usual = FolderDefaults(settings.agent, settings.model, settings.rules.mode)
        self.front.show(begin.session)
        self.live: dict[SessionId, LiveSession] = {}
        self.link = SessionLink(
            lambda: open_api(lambda words: self.notify(visible(words), markup=False)), self
        )
        commands = {name: command.help for name, command in COMMANDS.items()}
        self.editor = PromptEditor(
            Completer(environ, commands, lambda: self.link.api),
            History(settings.home, begin.cwd),
            settings.tui.keys,
            join_texts([self.front.drafts.pop(self.front.draft_key, ""), begin.typed]),
        )
        self.editor.cwd = begin.cwd
        self.host = AppPanelHost(self, self)
        self.main = MainScreen(self.front, self.host, self.link, self.editor, self._situation)
        self._linked: Worker[None] | None = None
        self._why = ""
        self._pressed: dict[str, float] = {}
        self._unsent: OutgoingPrompt | None = None
        self._flying: list[OutgoingPrompt] = []
        self.set_keymap(keymap(settings.tui.keys))
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = begin.theme

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen, which is never closed."""
        return self.main

    @on(MainScreen.Ready)
    def _start(self) -> None:
        """Connect to the sessions; the first frame is already drawn, and the user may have typed already."""
        self.use_command_palette = True
        self.app_resume_signal.subscribe(self, lambda _: self.call_later(self.refresh, layout=True))
        self._write(SAVE_TITLE)
        quit_on_signal(lambda: self._leave("y"))
        self._name_window()
        self.link.look_at(self.front.session)
        self._linked = self._connect()

    @work(group="link")
    async def _connect(self) -> None:
        await self.link.run()

    async def _hang_up(self) -> None:
        """Disconnect from the sessions; runs in this process need time to end."""
        if self._linked is None:
            return
        if not self._linked.is_cancelled:  # a second cancel would interrupt the shutdown
            self._linked.cancel()
        with suppress(WorkerCancelled, WorkerFailed):
            await self._linked.wait()

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """Return the commands of the palette."""
        return system_commands(self.host)

    # ------------------------------------------------------------------ events from the link

    def link_changed(self, state: LinkState, why: str = "") -> None:
        """Show the state of the connection."""
        self._why = why
        if state != "ready":
            self.live.clear()
        self.main.show_lines()

    def shown(self, view: ViewSnapshot) -> None:
        """Show the current session from its end."""
        self.front.cwd = self.editor.cwd = view.head.cwd
        self.main.show_view(view)
        self._name_window()

    def patched(self, session: SessionId, patches: Sequence[Patch]) -> None:
        """Apply patches to the current session's display."""
        if session != self.front.session:
            return
        title = self.front.head.title if self.front.head else ""
        self.main.apply(patches)
        for patch in patches:
            if isinstance(patch, Flash):
                self.notify(visible(patch.text), severity=SEVERITIES[patch.weight], markup=False)
        if self.front.head is not None and self.front.head.title != title:
            self._name_window()

    def lost(self, session: SessionId, error: BridleError) -> None:
        """Report that the current session cannot be followed; close it if it does not exist."""
        notify(self, error.message, failed=True)
        if isinstance(error, SessionNotFound):
            self.close_session(session)

    def session_changed(self, session: SessionId, live: LiveSession | None, *, deleted: bool) -> None:
        """Store a session's state; notify a user in another window when a run ends or waits."""
        before = self.live.get(session)
        if live is None:
            self.live.pop(session, None)
        else:
            self.live[session] = live
        if deleted:
            self.close_session(session)
        if before is not None and before.state != "idle" and not self.app_focus:
            state = live.state if live is not None else "idle"
            if state != before.state and state != "running":
                words = "waits for you" if state == "waiting" else "has ended"
                self._write(
                    notification_sequence(
                        self.settings.tui.notify, "Bridle", f"{before.title or short_id(session)} {words}"
                    )
                )
        self.main.status.show()

    def _situation(self) -> LinkStatus:
        others = [one.state for one in self.live.values() if one.id != self.front.session]
        return LinkStatus(
            link=self.link.state,
            why=self._why,
            in_process=self.link.is_here,
            waiting=others.count("waiting"),
            running=others.count("running"),
        )

    # ------------------------------------------------------------------ sessions

    def open_session(self, session: SessionId | None, cwd: str = "") -> None:
        """Show a session, or an empty new one; keep the prompt text as the previous session's draft."""
        self.front.drafts[self.front.draft_key] = self.editor.text
        self._show(session, cwd)

    def _show(self, session: SessionId | None, cwd: str = "") -> None:
        front = self.front
        front.show(session, cwd)
        self.editor.cwd = front.cwd
        self.editor.put(front.drafts.pop(front.draft_key, ""))
        self.main.show_nothing()
        self.link.look_at(session)
        self.editor.focus()
        self._name_window()

    def close_session(self, session: SessionId) -> None:
        """Stop showing a deleted session."""
        if session == self.front.session:
            self.open_session(self.front.adjacent_session(-1) if len(self.front.open) > 1 else None)
        self.front.close(session)
        self.main.show_lines()

    def _began(self, session: SessionId, place: PromptTarget) -> None:
        self.front.began(session, place)
        if place is self.front.place:
            self.link.look_at(session)

    def action_new_session(self) -> None:
        """Start a new session in the current session's folder."""
        self.open_session(None, self.front.cwd)

    def action_next_session(self) -> None:
        """Switch to the next open session."""
        self._go(1)

    def action_previous_session(self) -> None:
        """Switch to the previous open session."""
        self._go(-1)

    def _go(self, step: int) -> None:
        session = self.front.adjacent_session(step)
        if session is not None and session != self.front.session:
            self.open_session(session)

    # ------------------------------------------------------------------ prompts

    @on(PromptEditor.Sent)
    def _take(self, event: PromptEditor.Sent) -> None:
        name = event.text.strip().removeprefix("/")
        if event.text.startswith("/") and name in COMMANDS:
            self.editor.put("")
            run_command(self.host, name)
            return
        new = create_outgoing_prompt(event.typed, event.text, self.front, steers=event.how == "steer")
        letter, self._unsent = self._unsent or new, None
        if (letter.typed, letter.place, letter.steers) != (new.typed, new.place, new.steers):
            letter = new
        self.editor.put("")
        self.main.conversation.action_go_end()
        self._send(letter)

    @work(group="send")
    async def _send(self, letter: OutgoingPrompt) -> None:
        """Send a prompt; if it is rejected, put it back into the editor with the same idempotency key."""
        self.editor.prompts.add(letter.text)
        self._flying.append(letter)
        async with letter.place.sending:
            try:
                await send(letter, await self.link.opened(), self.environ, self._began)
                self._flying.remove(letter)
                return
            except BridleError as error:
                hint = f"\nhint: {error.hint}" if error.hint else ""
                notify(self, f"not sent: {error.message}{hint}", failed=True)
            except TimeoutError:
                notify(self, "not sent: no connection to the sessions", failed=True)
            self._flying.remove(letter)
            if letter.place is self.front.place:
                self._unsent = letter
                self.editor.put(join_texts([letter.typed, self.editor.text]))
            else:
                self._keep(letter)

    def _keep(self, letter: OutgoingPrompt) -> None:
        key, drafts = draft_key(letter.place.session, letter.cwd), self.front.drafts
        drafts[key] = join_texts([letter.typed, drafts.get(key, "")])

    @on(PromptEditor.Cancelled)
    def _escape(self) -> None:
        if not self.front.is_active:
            return
        if self._again("cancel"):
            self._cancel()
        else:
            self.notify(f"press {self.host.key_text('cancel')} again to cancel the run", timeout=AGAIN_S)

    @work(group="cancel")
    async def _cancel(self) -> None:
        async with report_errors(self):
            if self.front.session is not None:
                await self.link.submit(self.front.session, Cancel("cancelled by the user"))

    @on(PromptEditor.Resumed)
    @work(group="send")
    async def _resume(self) -> None:
        head = self.front.head
        if head is not None and head.state == "cut_off":
            async with report_errors(self):
                await self.link.submit(head.session, Resume())

    @on(PromptEditor.EditWanted)
    def _edit(self) -> None:
        try:
            with self.suspend():
                text = edit_text(self.editor.expand_pastes(self.editor.text), self.environ, self.front.cwd)
        except BridleError as error:
            notify(self, error.message, failed=True)
            return
        self.editor.put(text)

    # ------------------------------------------------------------------ quitting

    def action_interrupt(self) -> None:
        """Copy the selection, clear the prompt, cancel the run, or quit: the first that applies."""
        selected = self.screen.get_selected_text() or getattr(self.focused, "selected_text", "")
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.notify("copied", timeout=1)
        elif self.screen is self.main and not self.editor.is_empty:
            self.editor.prompts.add(self.editor.text)
            self.editor.put("")
        elif self.front.is_active and not self._again("interrupt"):
            self._cancel()
        elif self._again("leave"):
            self.action_leave()
        else:
            self.notify(f"press {self.host.key_text('interrupt')} again to quit", timeout=AGAIN_S)

    def action_suspend(self) -> None:
        """Suspend to the shell."""
        self.action_suspend_process()

    def action_leave(self) -> None:
        """Quit; runs in the daemon continue, and runs in this process need a confirmation."""
        if self.link.is_here and any(one.state != "idle" for one in self.live.values()):
            from bridle.surfaces.tui.panels.dialogs import Confirm

            words = "A run is active in this process, without a daemon. Quitting cancels it."
            self.push_screen(Confirm(words), self._leave)
        else:
            self._leave("y")

    def _leave(self, answer: str | None) -> None:
        if answer is not None:
            left = ExitState(self.front.session, self.front.is_active and not self.link.is_here)
            self.call_later(self._close, left)  # a confirmation dialog must close first

    async def _close(self, left: ExitState) -> None:
        await self.link.aclose()
        self.exit(left)

    async def on_unmount(self) -> None:
        """Save drafts, disconnect, and restore the terminal's title."""
        self.front.drafts[self.front.draft_key] = self.editor.text
        for letter in reversed(self._flying):
            self._keep(letter)
        drafts = {key: self.editor.expand_pastes(text) for key, text in self.front.drafts.items()}
        await asyncio.to_thread(save_drafts, Path(self.settings.home), drafts, self._drafts)
        await self._hang_up()
        self._write(window_title(""))

    # ------------------------------------------------------------------ helpers

    def action_cycle_mode(self) -> None:
        """Switch to the next mode."""
        mode = self.front.next_mode()
        self.notify(f"mode {mode}", timeout=1)
        self.main.show_lines()

    def action_palette(self) -> None:
        """Open the command palette."""
        self.action_command_palette()

    def on_app_focus(self, event: events.AppFocus) -> None:
        """Refresh the status line, which may be outdated."""
        self.main.status.show()

    def _again(self, key: str) -> bool:
        """Return True if the same key was pressed within `RETRY_S`."""
        now = time.monotonic()
        before, self._pressed[key] = self._pressed.get(key, -AGAIN_S), now
        return now - before <= AGAIN_S

    def _name_window(self) -> None:
        head = self.front.head
        name = one_line(head.title) if head and head.title else self.front.cwd
        self._write(window_title(f"bridle · {name}"))

    def _write(self, sequence: str) -> None:
        if self._driver is not None and sequence:
            self._driver.write(sequence)
