"""What the cards of things that are asked have in common: they do not hear keys meant for others."""

import time
from math import inf

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from bridle.core.protocol import ApprovalRequested, Decide, QuestionAsked, Reply
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.telling import clicked

GUARD_S = 0.3
"""How long after it has appeared a card takes no key: a person has not read it yet."""

LEAST_HEIGHT = 16
"""Of a screen on which a card has all its lines and a border."""

Waiting = ApprovalRequested | QuestionAsked


class Card(Vertical):
    """Something that waits for an answer."""

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
        """Somebody has decided."""

        def __init__(self, command: Decide | Reply) -> None:
            super().__init__()
            self.command = command

    class NextWanted(Message):
        """Somebody wants to see the next thing that is asked."""

    class Left(Message):
        """Somebody goes back to the prompt; what is asked goes on waiting."""

    class WholeWanted(Message):
        """Somebody wants to see it on the whole screen, or no longer."""

    def __init__(self, host: PanelHost, *, guard_s: float = GUARD_S, whole: bool = False) -> None:
        super().__init__(classes="-whole" if whole else None)
        self.host = host
        self.whole = whole
        self.place = ""
        """Which of how many it is, in words; empty for the only one."""
        self._guard_s = guard_s
        self._hears_at = inf

    def on_mount(self) -> None:
        """Begin to hear keys a while after the card is on the screen."""
        self.call_after_refresh(self._begin_to_hear)

    def _begin_to_hear(self) -> None:
        self._hears_at = time.monotonic() + self._guard_s

    def on_resize(self) -> None:
        """Leave out what is not needed to decide where there is no room for it."""
        self.set_class(self.screen.size.height < LEAST_HEIGHT, "-short")

    def on_key(self, event: events.Key) -> None:
        """Let a key that was pressed too early come to nothing, however late it is heard."""
        if event.time < self._hears_at:
            event.stop()
            event.prevent_default()

    async def on_click(self, event: events.Click) -> None:
        """Do what is named where somebody clicks, like its key."""
        if (name := clicked(event)) and event.time >= self._hears_at:
            await self.run_action(name)

    def take_focus(self) -> None:
        """Move the focus into the card."""

    def placed(self, place: str) -> None:
        """Say which of how many it is."""
        self.place = place
        self.write_title()

    def named(self, who: str) -> None:
        """Say who asks, once that is known."""

    def write_title(self) -> None:
        """Write the first line anew."""

    def write(self, line: str, words: Content) -> None:
        """Write a line of the card anew, once it is there."""
        for part in self.query(f".{line}").results(Static):
            part.update(words)
