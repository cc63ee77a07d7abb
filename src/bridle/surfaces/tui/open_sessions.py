"""State of the interface: the current session, options for its next prompts, and the open sessions."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.protocol import RunOptions
from bridle.surfaces.shared.view_model.view_types import Head

MODES: tuple[Mode, ...] = ("ask", "plan", "accept-edits")
"""The modes that one key cycles through; yolo must be chosen by name."""


class PromptOptions(Struct, frozen=True):
    """Options the user chose for the next prompts; None keeps the session's own."""

    model: str | None = None
    agent: str | None = None
    mode: Mode | None = None
    effort: Effort | None = None

    def options(self) -> RunOptions:
        """Return them as run options of a prompt."""
        return RunOptions(model=self.model, agent=self.agent, mode=self.mode, effort=self.effort)


class FolderDefaults(Struct, frozen=True):
    """Defaults of a folder where nothing was chosen."""

    agent: str = ""
    model: str = ""
    mode: Mode = "ask"


class PromptTarget(Struct, eq=False):
    """Where a prompt goes: to a session, or to a new one, which the first prompt creates."""

    session: SessionId | None = None
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while sending, so that prompts enter a session in the order they were typed."""


class OpenSessions:
    """The open sessions, the current one, and the choices and drafts of each."""

    def __init__(self, cwd: str, drafts: Mapping[str, str] = {}) -> None:
        self.home_cwd = cwd
        """The default folder of new sessions."""
        self.cwd = cwd
        self.place = PromptTarget()
        self.head: Head | None = None
        self.open: list[SessionId] = []
        self.usual = FolderDefaults()
        self.drafts: dict[str, str] = dict(drafts)
        self._choices: dict[SessionId | None, PromptOptions] = {}
        self._places: dict[SessionId, PromptTarget] = {}

    @property
    def session(self) -> SessionId | None:
        """The current session; None for a new one."""
        return self.place.session

    @property
    def draft_key(self) -> str:
        """The key under which the current draft is stored."""
        return draft_key(self.session, self.cwd)

    @property
    def is_active(self) -> bool:
        """True while the current session has an active run."""
        return self.head is not None and self.head.state in ("running", "waiting")

    def show(self, session: SessionId | None, cwd: str = "") -> None:
        """Make a session current, or a new one in a folder."""
        if session is not None and session not in self.open:
            self.open.append(session)
        self.head = None
        self.place = (
            PromptTarget() if session is None else self._places.setdefault(session, PromptTarget(session))
        )
        if session is None:
            self.cwd = cwd or self.home_cwd

    def began(self, session: SessionId, place: PromptTarget | None = None) -> None:
        """Record that the first prompt created a session for a place, by default the current place."""
        place = place or self.place
        place.session = session
        self._places[session] = place
        if place is self.place:
            self._choices[session] = self._choices.pop(None, PromptOptions())
        if session not in self.open:
            self.open.append(session)

    def close(self, session: SessionId) -> None:
        """Forget a deleted session."""
        if session in self.open:
            self.open.remove(session)
        self._choices.pop(session, None)
        self._places.pop(session, None)
        self.drafts.pop(session, None)

    def adjacent_session(self, step: int) -> SessionId | None:
        """Return the open session `step` places after the current one, wrapping around; None if none."""
        others: list[SessionId | None] = [*self.open]
        if self.session is None:
            others.append(None)
        place = others.index(self.session) if self.session in others else 0
        return others[(place + step) % len(others)] if others else None

    # ------------------------------------------------------------------ choices

    @property
    def choice(self) -> PromptOptions:
        """The user's options for the next prompts of the current session."""
        return self._choices.get(self.session, PromptOptions())

    def choose(self, choice: PromptOptions) -> None:
        """Replace the options for the next prompts."""
        self._choices[self.session] = choice

    def next_mode(self) -> Mode:
        """Switch to the next mode and return it."""
        now = self.mode
        mode = MODES[(MODES.index(now) + 1) % len(MODES)] if now in MODES else MODES[0]
        self.choose(replace(self.choice, mode=mode))
        return mode

    @property
    def mode(self) -> Mode:
        """The mode of the next prompt."""
        return self.choice.mode or (self.head.mode if self.head else self.usual.mode)

    @property
    def model(self) -> str:
        """The model of the next prompt."""
        return self.choice.model or (self.head.model if self.head else "") or self.usual.model

    @property
    def agent(self) -> str:
        """The agent of the next prompt."""
        return self.choice.agent or (self.head.agent if self.head else "") or self.usual.agent


def draft_key(session: SessionId | None, cwd: str) -> str:
    """Return the key of a session's draft, or of a new session's draft in a folder."""
    return session or f"new {cwd}"
