"""The connection of the terminal interface to its sessions: opened, lost, opened again.

```
connecting ──▶ ready ──▶ reconnecting ──▶ ready …
                 ├─ hear    news of every session ──▶ Listener.heard
                 └─ follow  the session in front  ──▶ Listener.shown, patched
```

Nothing of Textual is in it: what it hears it tells a `Listener`, in the event loop. What only a connection
needs is loaded with it: the first frame is not kept waiting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec.structs import replace

from bridle.core.errors import BridleError, DaemonGone
from bridle.core.ids import SessionId
from bridle.core.protocol import Command
from bridle.core.session_api import LiveSession, Receipt, SessionApi
from bridle.surfaces.board.values import BoardPage, BoardView, Grow, HeadChanged, Patch, Reset

if TYPE_CHECKING:
    from bridle.surfaces.board.board import Board

LinkState = Literal["connecting", "ready", "reconnecting"]
Opener = Callable[[], Awaitable[SessionApi]]

FRAME_S = 1 / 30
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 5.0
OPEN_S = 60.0

_AT_ONCE = 100  # items before others get their turn


class NotThere(BridleError):
    """The sessions cannot be reached at the moment."""


class Listener(Protocol):
    """Whom a link tells what it hears."""

    def link_changed(self, state: LinkState, why: str = "") -> None:
        """Take note that the connection is there, or is not."""

    def shown(self, view: BoardView) -> None:
        """Show the session in front from its end: what was shown before is no longer right."""

    def patched(self, session: SessionId, patches: Sequence[Patch]) -> None:
        """Change what is shown of the session in front; comes at most 30 times a second."""

    def lost(self, session: SessionId, error: BridleError) -> None:
        """Take note that the session in front cannot be followed."""

    def heard(self, session: SessionId, live: LiveSession | None, *, deleted: bool) -> None:
        """Take note that a session began, ended, was named or changed what it does."""


class Link:
    """Keeps a session API open, follows the session in front, and hears of the others."""

    def __init__(self, open_api: Opener, listener: Listener, frame_s: float = FRAME_S) -> None:
        self.state: LinkState = "connecting"
        self.board: Board | None = None
        """Of the session in front."""
        self._open_api = open_api
        self._listener = listener
        self._frame_s = frame_s
        self._api: SessionApi | None = None
        self._is_told = asyncio.Event()
        self._session: SessionId | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._running: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._pending: list[Patch] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0

    @property
    def api(self) -> SessionApi:
        """Return the session API; raises NotThere while there is none."""
        if self._api is None:
            raise NotThere("the sessions cannot be reached yet", hint="it is tried again by itself")
        return self._api

    @property
    def is_here(self) -> bool:
        """Tell whether the sessions are in this process, so that their runs end with it."""
        return self._api is not None and not self._api.is_remote

    async def opened(self) -> SessionApi:
        """Return the session API, waiting for it the first time; raises NotThere."""
        if self.state == "connecting":
            async with asyncio.timeout(OPEN_S):
                await self._is_told.wait()
        return self.api

    async def run(self) -> None:
        """Keep the connection until the task is cancelled; then let go of it."""
        self._running = asyncio.current_task()
        wait_s, why = FIRST_WAIT_S, ""
        while True:
            try:
                api = await self._open_api()
            except (BridleError, OSError) as error:
                why = error.message if isinstance(error, BridleError) else str(error)
            else:
                wait_s = FIRST_WAIT_S
                why = await self._serve(api)
            self._set_state("reconnecting", why)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def aclose(self) -> None:
        """Let go of the connection; runs of this process are cancelled, and their ends recorded."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _serve(self, api: SessionApi) -> str:
        """Use a session API until it breaks; return why it did."""
        why = ""
        self._api = api
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._hear(api))
                self._set_state("ready")
                self.look_at(self._session)
        except* DaemonGone as gone:
            why = _first(gone)
        finally:
            self._api = self._tasks = self._following = None
            await api.aclose()
        return why

    def look_at(self, session: SessionId | None) -> None:
        """Follow a session instead of the one before, or anew; None follows none."""
        self._session = session
        self._let_go()
        self.board = None
        if self._following is not None:
            self._following.cancel()
            self._following = None
        if self._tasks is not None and self._api is not None and session is not None:
            self._following = self._tasks.create_task(self._follow(self._api, session))

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises BridleError when it was not taken."""
        return await self.api.submit(session, command)

    async def older(self, session: SessionId, before: int) -> BoardPage:
        """Return the items before those that are loaded; raises BridleError."""
        from bridle.surfaces.board.loading import older_items

        return await older_items(self.api, session, before)

    # ------------------------------------------------------------------ listening

    async def _hear(self, api: SessionApi) -> None:
        async with aclosing(api.watch(None)) as news:
            async for one in news:
                self._listener.heard(one.session, one.live, deleted=one.deleted)

    async def _follow(self, api: SessionApi, session: SessionId) -> None:
        from bridle.surfaces.board.loading import open_board

        try:
            while True:
                board = await open_board(api, session)
                self._let_go()
                self.board = board
                self._listener.shown(board.view)
                await self._watch(api, session, board)
        except DaemonGone:
            raise
        except BridleError as error:
            self._listener.lost(session, error)

    async def _watch(self, api: SessionApi, session: SessionId, board: "Board") -> None:
        """Keep a board up to date until it has to be opened anew."""
        count = 0
        async with aclosing(api.watch(session, board.head.seq)) as items:
            async for item in items:
                patches = board.add(item)
                if any(isinstance(patch, Reset) for patch in patches):
                    return
                self._collect(patches)
                count += 1
                if count % _AT_ONCE == 0:  # many may be there already: keys come between
                    await asyncio.sleep(0)

    # ------------------------------------------------------------------ telling

    def _set_state(self, state: LinkState, why: str = "") -> None:
        self.state = state
        self._is_told.set()
        self._listener.link_changed(state, why)

    def _collect(self, patches: Iterable[Patch]) -> None:
        add_patches(self._pending, patches)
        if self._timer is None and self._pending:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(self._flushed_at + self._frame_s, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        patches, self._pending = self._pending, []
        if self._session is not None and patches:
            self._listener.patched(self._session, patches)

    def _let_go(self) -> None:
        """Forget what was not told yet, because all of it is shown anew."""
        self._pending = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def add_patches(pending: list[Patch], patches: Iterable[Patch]) -> None:
    """Put patches after others; text for the same item becomes one patch, and only the last head counts."""
    for patch in patches:
        match pending[-1] if pending else None, patch:
            case Grow(key, text, field), Grow(other_key, more, other_field) if (key, field) == (
                other_key,
                other_field,
            ):
                pending[-1] = replace(patch, text=text + more)
            case HeadChanged(), HeadChanged():
                pending[-1] = patch
            case _:
                pending.append(patch)


def _first(group: "BaseExceptionGroup[DaemonGone]") -> str:
    """Say what the first error of a group says."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error.message if isinstance(error, BridleError) else str(error)
