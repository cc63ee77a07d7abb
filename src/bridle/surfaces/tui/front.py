"""What is in front: a session or the begin of one, what is chosen for its next prompts, what else is open."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.permission import Mode
from bridle.core.protocol import RunOptions
from bridle.surfaces.board.values import Head

MODES: tuple[Mode, ...] = ("ask", "plan", "accept-edits")
"""Those that one key goes through; yolo has to be chosen by its name."""


class Choice(Struct, frozen=True):
    """What the next prompts do differently; None is as the session does."""

    model: str | None = None
    agent: str | None = None
    mode: Mode | None = None

    def options(self) -> RunOptions:
        """Return them as a prompt carries them."""
        return RunOptions(model=self.model, agent=self.agent, mode=self.mode)


class Usual(Struct, frozen=True):
    """What holds in a folder where nothing is chosen."""

    agent: str = ""
    model: str = ""
    mode: Mode = "ask"


class Place(Struct, eq=False):
    """Where prompts are written: in a session, or at the begin of one, which the first prompt makes."""

    session: SessionId | None = None
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Prompts enter a session in the order they were typed."""


class Front:
    """Which sessions are open, which of them is in front, and what was chosen and typed in each."""

    def __init__(self, cwd: str, drafts: Mapping[str, str] = {}) -> None:
        self.home_cwd = cwd
        """Where new sessions begin."""
        self.cwd = cwd
        self.place = Place()
        self.head: Head | None = None
        self.open: list[SessionId] = []
        self.usual = Usual()
        self.drafts: dict[str, str] = dict(drafts)
        self._choices: dict[SessionId | None, Choice] = {}
        self._places: dict[SessionId, Place] = {}

    @property
    def session(self) -> SessionId | None:
        """Return the session in front; None at the begin of a new one."""
        return self.place.session

    @property
    def draft_key(self) -> str:
        """Return what a draft is kept under."""
        return draft_key(self.session, self.cwd)

    @property
    def is_active(self) -> bool:
        """Tell whether a run of the session in front goes on."""
        return self.head is not None and self.head.state in ("running", "waiting")

    def show(self, session: SessionId | None, cwd: str = "") -> None:
        """Put a session in front, or the begin of a new one in a folder."""
        if session is not None and session not in self.open:
            self.open.append(session)
        self.head = None
        self.place = Place() if session is None else self._places.setdefault(session, Place(session))
        if session is None:
            self.cwd = cwd or self.home_cwd

    def began(self, session: SessionId, place: Place | None = None) -> None:
        """Take note that the first prompt has made a session of a place, or of what is in front."""
        place = place or self.place
        place.session = session
        self._places[session] = place
        if place is self.place:
            self._choices[session] = self._choices.pop(None, Choice())
        if session not in self.open:
            self.open.append(session)

    def close(self, session: SessionId) -> None:
        """Forget a session that is gone."""
        if session in self.open:
            self.open.remove(session)
        self._choices.pop(session, None)
        self._places.pop(session, None)
        self.drafts.pop(session, None)

    def neighbour(self, step: int) -> SessionId | None:
        """Return the open session before or after the one in front, going round; None when there is none."""
        others: list[SessionId | None] = [*self.open]
        if self.session is None:
            others.append(None)
        place = others.index(self.session) if self.session in others else 0
        return others[(place + step) % len(others)] if others else None

    # ------------------------------------------------------------------ what was chosen

    @property
    def choice(self) -> Choice:
        """Return what was chosen for the next prompts of what is in front."""
        return self._choices.get(self.session, Choice())

    def choose(self, choice: Choice) -> None:
        """Choose anew."""
        self._choices[self.session] = choice

    def next_mode(self) -> Mode:
        """Go to the next mode and return it."""
        now = self.mode
        mode = MODES[(MODES.index(now) + 1) % len(MODES)] if now in MODES else MODES[0]
        self.choose(replace(self.choice, mode=mode))
        return mode

    @property
    def mode(self) -> Mode:
        """Return the mode of the next prompt."""
        return self.choice.mode or (self.head.mode if self.head else self.usual.mode)

    @property
    def model(self) -> str:
        """Return the model of the next prompt."""
        return self.choice.model or (self.head.model if self.head else "") or self.usual.model

    @property
    def agent(self) -> str:
        """Return the agent of the next prompt."""
        return self.choice.agent or (self.head.agent if self.head else "") or self.usual.agent


def draft_key(session: SessionId | None, cwd: str) -> str:
    """Return what a draft of a session is kept under, or one of a new session in a folder."""
    return session or f"new {cwd}"
