"""The base class of approval and question cards, which ignore keys pressed too early to be meant."""

import time
from math import inf

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from bridle.core.protocol import ApprovalRequested, Decide, QuestionAsked, Reply
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.notifications import clicked_action

GUARD_S = 0.3
"""Seconds that a new card ignores keys: the user has not read it yet."""

MIN_HEIGHT = 16
"""The minimum screen height for a card with a border and all its lines."""

Waiting = ApprovalRequested | QuestionAsked


class Card(Vertical):
    """An open approval or question."""

    DEFAULT_CSS = """
    Card {
        height: auto;
        border: round $border;
        padding: 0 1;
        &:focus-within { border: heavy $warning; }
        &.-whole { height: 1fr; }
        .title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        .why, .rules, .foot { height: auto; max-height: 4; }
        .why, .foot { color: $text-muted; }
        &.-short { border: none; .why { display: none; } }
        Input { background: $boost; }
    }
    """

    class Answered(Message):
        """The user answered."""

        def __init__(self, command: Decide | Reply) -> None:
            super().__init__()
            self.command = command

    class NextWanted(Message):
        """The user wants the next open approval or question."""

    class Left(Message):
        """The user returns to the prompt without answering."""

    class WholeWanted(Message):
        """The user switches full screen on or off."""

    def __init__(self, host: PanelHost, *, guard_s: float = GUARD_S, whole: bool = False) -> None:
        super().__init__(classes="-whole" if whole else None)
        self.host = host
        self.whole = whole
        self.place = ""
        """Its position, such as `1 of 3`; empty for the only card."""
        self._guard_s = guard_s
        self._hears_at = inf

    def on_mount(self) -> None:
        """Accept keys a moment after the card is on the screen."""
        self.call_after_refresh(self._begin_to_hear)

    def _begin_to_hear(self) -> None:
        self._hears_at = time.monotonic() + self._guard_s

    def on_resize(self) -> None:
        """On a low screen, hide what is not needed to decide."""
        self.set_class(self.screen.size.height < MIN_HEIGHT, "-short")

    def on_key(self, event: events.Key) -> None:
        """Ignore a key pressed too early, even if it is processed later."""
        if event.time < self._hears_at:
            event.stop()
            event.prevent_default()

    async def on_click(self, event: events.Click) -> None:
        """Run the action whose label was clicked."""
        if (name := clicked_action(event)) and event.time >= self._hears_at:
            await self.run_action(name)

    def take_focus(self) -> None:
        """Move the focus into the card."""

    def placed(self, place: str) -> None:
        """Set the card's position among the open ones."""
        self.place = place
        self.write_title()

    def named(self, who: str) -> None:
        """Show which sub-agent asks, once its name is loaded."""

    def write_title(self) -> None:
        """Redraw the first line."""

    def write(self, line: str, words: Content) -> None:
        """Update a line of the card, if it is mounted."""
        for part in self.query(f".{line}").results(Static):
            part.update(words)
