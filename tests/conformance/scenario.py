"""A scenario: what the model says, what the user does and when, and what is visible of it."""

from typing import Any

from msgspec import Struct

from bridle.core.protocol import (
    LIKE_AGENT,
    Cancel,
    Decide,
    Prompt,
    Reply,
    Resume,
    RunOptions,
    SessionOptions,
    Steer,
)
from tests.conformance.seen import Seen

Move = Prompt | Steer | Decide | Reply | Cancel | Resume
"""What a user does during a run; a prompt then waits in the queue."""


def word_of(move: Move) -> str:
    """Name a kind of move, as the tables of surfaces do."""
    return f"decide {move.answer}" if isinstance(move, Decide) else type(move).__name__.lower()


class Touch(Struct, frozen=True):
    """Make an empty file in the project: what a tool of the scenario waits for."""

    name: str


class When(Struct, frozen=True):
    """Once this is seen, do that."""

    seen: Seen
    do: Move | Touch


class Scenario(Struct, frozen=True):
    """One play, the same on every surface."""

    name: str
    replies: tuple[dict[str, Any], ...]
    """The script of the model."""
    story: tuple[Seen, ...]
    """What a client sees that is shown everything, up to the end of the first run."""
    moves: tuple[When, ...] = ()
    """In order: one is looked for when the one before is done."""
    settings: str = ""
    """What the project's own settings say beside the model."""
    files: dict[str, str] = {}
    facts: dict[str, Any] = {}
    """About the model."""
    options: RunOptions = RunOptions()
    made: SessionOptions = LIKE_AGENT
    """The options that another client made the session with."""
    begins: bool = False
    """The surface itself makes the session; otherwise it is there before, so that nothing of it is missed."""
    too_early: Move | None = None
    """A move before the run begins: every surface says in its own way that there is nothing to move."""
    is_watched: bool = False
    """Whoever sees it has not prompted it."""
    is_unattended: bool = False
    """The client cannot be asked anything: its surface makes the moves by itself."""
    before: str = ""
    """A prompt that has been answered before, by another client."""
    runs: int = 1
    """How many runs end after the first move."""
    remembers: str = ""
    """A rule that stands in the user's settings afterwards."""
    prompt: str = "go"

    @property
    def needs_person(self) -> bool:
        """Return whether the scenario needs a person who answers."""
        asks = any(line.kind in ("asked", "question") for line in self.story)
        return asks and not self.is_unattended
