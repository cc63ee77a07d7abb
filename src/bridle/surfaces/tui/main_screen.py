"""The main screen: header, conversation, side panels, open approvals and questions, and the prompt.

```
HeaderLine
Conversation (or Welcome)          │ SideBar, from 100 columns on
OpenRequests
Completions, FindBar
PromptEditor
StatusLine
```
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from bridle.surfaces.shared.session_calls import fork_session
from bridle.surfaces.shared.view_model.view_types import (
    Call,
    Head,
    HeadChanged,
    Patch,
    ViewPage,
    ViewSnapshot,
)
from bridle.surfaces.tui.conversation.view import Conversation
from bridle.surfaces.tui.editor import PromptEditor
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.open_sessions import OpenSessions
from bridle.surfaces.tui.panels.host import PanelHost, update_windows
from bridle.surfaces.tui.panels.notifications import report_errors
from bridle.surfaces.tui.panels.palette_commands import run_command
from bridle.surfaces.tui.panels.styles import styled
from bridle.surfaces.tui.session_link import SessionLink
from bridle.surfaces.tui.status_lines import HeaderLine, LinkStatus, StatusLine

if TYPE_CHECKING:
    from bridle.surfaces.tui.panels.open_requests import OpenRequests
    from bridle.surfaces.tui.panels.sidebar import SideBar
    from bridle.surfaces.tui.prompt_widgets import FindBar

WIDE = 100
"""From this width on, the side panels stand beside the conversation."""


@dataclass
class Panels:
    """Widgets mounted after the first frame."""

    asked: "OpenRequests"
    side: "SideBar"
    find_bar: "FindBar"


class MainScreen(Screen[None]):
    """Lays out the widgets and passes messages between them."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("app") if not one.priority]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (8, "-tall")]  # noqa: RUF012

    DEFAULT_CSS = """
    MainScreen {
        layout: vertical;
        & > #middle { height: 1fr; }
        & > #middle > #left { width: 1fr; }
        Welcome { display: none; height: 1fr; padding: 1 2; color: $text-muted; }
        Conversation { height: 1fr; }
        SideBar { display: none; width: 36; border-left: solid $border; padding: 0 1; }
        &.-wide SideBar { display: block; }
        &.-wide.-no-side SideBar { display: none; }
        &.-blank Welcome { display: block; }
        &.-blank Conversation { display: none; }
        &.-short HeaderLine, &.-short StatusLine { display: none; }
    }
    """

    class Ready(Message):
        """All widgets are mounted."""

    def __init__(
        self,
        front: OpenSessions,
        host: PanelHost,
        link: SessionLink,
        editor: PromptEditor,
        situation: Callable[[], LinkStatus],
    ) -> None:
        super().__init__(classes="-blank")
        self.front = front
        self.host = host
        self._link = link
        self.header = HeaderLine(front)
        self.conversation = Conversation()
        self.panels: Panels | None = None
        self.editor = editor
        self.status = StatusLine(front, situation)

    def compose(self) -> ComposeResult:
        """Create the widgets of the first frame."""
        yield self.header
        with Horizontal(id="middle"), Vertical(id="left"):
            yield Welcome(self.host, self.front)
            yield self.conversation
        yield self.editor
        yield self.status

    def on_mount(self) -> None:
        """Focus the prompt; mount the panels after the first frame."""
        self.editor.focus()
        self.show_lines()
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        from bridle.surfaces.tui.panels.open_requests import OpenRequests
        from bridle.surfaces.tui.panels.sidebar import SideBar
        from bridle.surfaces.tui.prompt_widgets import Completions, FindBar

        find_bar = FindBar(self.conversation, self.editor)
        panels = Panels(OpenRequests(self.host), SideBar(self.host), find_bar)
        completions = Completions()
        await self.mount(panels.asked, completions, find_bar, before=self.editor)
        await self.query_one("#middle").mount(panels.side)
        self.panels, self.editor.completions = panels, completions
        self.post_message(self.Ready())

    # ------------------------------------------------------------------ display

    def show_view(self, view: ViewSnapshot) -> None:
        """Show a session from its end."""
        self.remove_class("-blank")
        self.conversation.show(view)
        self.show_head(view.head)

    def show_nothing(self) -> None:
        """Show an empty new session."""
        self.add_class("-blank")
        self.conversation.clear()
        self.show_head(None)
        self.query_one(Welcome).refresh()

    def apply(self, patches: Sequence[Patch]) -> None:
        """Apply patches to the display."""
        self.conversation.apply(patches)
        heads = [patch.head for patch in patches if isinstance(patch, HeadChanged)]
        if heads:
            self.show_head(heads[-1])

    def show_head(self, head: Head | None) -> None:
        """Show the current session's state."""
        self.front.head = head
        if self.panels is not None:
            is_answerable = head is not None and head.state != "cut_off"  # a cut-off run takes no answers
            self.panels.asked.show_head(head if is_answerable else None)
            self.panels.side.show_head(head)
        update_windows(self.app, head)
        self.show_lines()

    def show_lines(self) -> None:
        """Redraw the header and the status line."""
        self.header.refresh()
        self.status.show()
        self.editor.placeholder = self._placeholder()

    def _placeholder(self) -> str:
        words = self.host.key_text
        head = self.front.head
        if head is not None and head.state == "waiting":
            return f"{words('answer')} to answer · {words('send')} to queue · {words('steer')} to steer"
        if self.front.is_active:
            stop = f"{words('cancel')} twice to cancel the run"
            return f"{words('send')} to queue · {words('steer')} to steer · {stop}"
        if head is not None and head.state == "cut_off":
            return f"the last run was interrupted: {words('send')} to resume it, or write a new prompt"
        return f"write a prompt · @file · /skill · !command · {words('help')} for help"

    # ------------------------------------------------------------------ actions

    def action_command(self, name: str) -> None:
        """Run a command of the palette."""
        run_command(self.host, name)

    def action_side(self) -> None:
        """Show or hide the side panels."""
        if self.size.width >= WIDE:
            self.toggle_class("-no-side")
        else:
            from bridle.surfaces.tui.panels.sidebar import SideScreen

            self.app.push_screen(SideScreen(self.host))

    def action_to_prompt(self) -> None:
        """Focus the prompt."""
        self.editor.focus()

    def action_answer(self) -> None:
        """Focus the open approval or question, or go back to the prompt."""
        asked = self.panels.asked if self.panels is not None else None
        if asked is not None and asked.is_waiting and not asked.has_focus_within:
            asked.take_focus()
        else:
            self.editor.focus()

    def action_scroll_up(self) -> None:
        """Scroll the conversation up."""
        self.conversation.action_page_up()

    def action_scroll_down(self) -> None:
        """Scroll the conversation down."""
        self.conversation.action_page_down()

    def action_scroll_first(self) -> None:
        """Go to the oldest loaded item."""
        self.conversation.action_go_home()

    def action_scroll_last(self) -> None:
        """Go to the end of the conversation."""
        self.conversation.action_go_end()

    def action_help_here(self) -> None:
        """Show the keys and commands."""
        self.action_command("help")

    def action_rewind_here(self) -> None:
        """Choose a point to rewind to."""
        self.action_command("rewind")

    def action_find(self) -> None:
        """Open the search line."""
        if self.panels is not None and not self.has_class("-blank"):
            self.panels.find_bar.ask()

    def action_find_here(self) -> None:
        """Open the search line."""
        self.action_find()

    # ------------------------------------------------------------------ requests of the conversation

    @on(Conversation.OlderWanted)
    def _older_wanted(self, event: Conversation.OlderWanted) -> None:
        self._load(self.conversation.prepend, event.before)

    @on(Conversation.NewerWanted)
    def _newer_wanted(self, event: Conversation.NewerWanted) -> None:
        if event.before is not None:
            self._load(self.conversation.append, event.before)
        elif self._link.view_model is not None:
            self.conversation.append(self._link.view_model.view)
        else:
            self.conversation.load_failed()

    @work(group="load", exclusive=True)
    async def _load(self, put: Callable[[ViewPage], None], before: int) -> None:
        session, page = self.front.session, None
        async with report_errors(self.app):
            if session is not None:
                page = await self._link.older(session, before)
        if page is None:
            self.conversation.load_failed()
        elif session == self.front.session:
            put(page)

    @on(Conversation.Forgotten)
    def _forget(self, event: Conversation.Forgotten) -> None:
        if self._link.view_model is not None:
            self._link.view_model.forget(event.keys)

    @on(Conversation.ItemChosen)
    def _look_into(self, event: Conversation.ItemChosen) -> None:
        item = event.item
        if not isinstance(item, Call):
            return
        if event.action == "child" and item.child is not None:
            self.host.open_session(item.child)
        elif event.action == "diff":
            from bridle.surfaces.tui.panels.windows import DiffWindow

            diff = item.diff or item.preview
            self.app.push_screen(DiffWindow(self.host, item.brief or item.tool, diff))

    @work(group="fork")
    async def action_fork_here(self) -> None:
        """Fork the session after the selected item."""
        item, session = self.conversation.selected, self.front.session
        async with report_errors(self.app):
            if item is not None and session is not None:
                self.host.open_session(await fork_session(self.host.api, session, item.seq))


class Welcome(Static):
    """Shown instead of the conversation of a new session."""

    def __init__(self, host: PanelHost, front: OpenSessions) -> None:
        super().__init__()
        self._host = host
        self._front = front

    def render(self) -> Content:
        """Return the folder and the most important keys."""
        words = self._host.key_text
        rows = [
            (words("send"), "send; end a line with \\ for a new one"),
            ("@", "mention a file of this folder"),
            ("/", "run a skill or a command"),
            ("!", "run a shell command"),
            (words("cycle_mode"), "switch mode: ask, plan, accept edits"),
            (words("sessions"), "list sessions"),
            (words("palette"), "find a command"),
            (words("help"), "show all keys"),
            (words("leave"), "quit"),
        ]
        width = max(len(key) for key, _ in rows)
        lines = [styled(("strong", "Bridle"), ("detail", " in "), ("name", self._front.cwd)), Content("")]
        lines += [styled(("name", key.rjust(width)), ("detail", f"  {help_}")) for key, help_ in rows]
        return Content("\n").join(lines)
