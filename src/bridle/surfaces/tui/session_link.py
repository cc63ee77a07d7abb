"""The connection of the terminal interface to its sessions: opened, and reopened when it breaks.

```
connecting ──▶ ready ──▶ reconnecting ──▶ ready …
                 ├─ news of every session ──▶ Listener.heard
                 └─ the current session   ──▶ Listener.shown, patched
```

It does not use Textual: it reports to a `Listener`, on the event loop. Modules that only a connection needs
are imported with it, so that they do not delay the first frame.
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
from bridle.surfaces.shared.view_model.view_types import (
    Grow,
    HeadChanged,
    Patch,
    Reset,
    ViewPage,
    ViewSnapshot,
)

if TYPE_CHECKING:
    from bridle.surfaces.shared.view_model.view import ViewModel

LinkState = Literal["connecting", "ready", "reconnecting"]
Opener = Callable[[], Awaitable[SessionApi]]

FRAME_S = 1 / 30
FIRST_WAIT_S = 0.2
MAX_WAIT_S = 5.0
OPEN_S = 60.0

_AT_ONCE = 100  # items handled before other tasks get a turn


class NotConnected(BridleError):
    """The sessions cannot be reached now."""


class LinkListener(Protocol):
    """Receives what a link reports."""

    def link_changed(self, state: LinkState, why: str = "") -> None:
        """The connection changed its state."""

    def shown(self, view: ViewSnapshot) -> None:
        """The current session was loaded from its end; whatever was shown before is outdated."""

    def patched(self, session: SessionId, patches: Sequence[Patch]) -> None:
        """The current session's view changed; called at most 30 times a second."""

    def lost(self, session: SessionId, error: BridleError) -> None:
        """The current session cannot be followed."""

    def session_changed(self, session: SessionId, live: LiveSession | None, *, deleted: bool) -> None:
        """A session was created, ended, renamed or changed its state."""


class SessionLink:
    """Keeps a session API open, follows the session in front, and hears of the others."""

    def __init__(self, open_api: Opener, listener: LinkListener, frame_s: float = FRAME_S) -> None:
        self.state: LinkState = "connecting"
        self.view_model: ViewModel | None = None
        """The view of the current session."""
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
            raise NotConnected("no connection to the sessions yet", hint="Bridle keeps retrying")
        return self._api

    @property
    def is_here(self) -> bool:
        """True if the sessions are in this process, so that their runs end with it."""
        return self._api is not None and not self._api.is_remote

    async def opened(self) -> SessionApi:
        """Return the session API, waiting for it the first time; raises NotThere."""
        if self.state == "connecting":
            async with asyncio.timeout(OPEN_S):
                await self._is_told.wait()
        return self.api

    async def run(self) -> None:
        """Keep the connection open until the task is cancelled, then close it."""
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
            wait_s = min(2 * wait_s, MAX_WAIT_S)

    async def aclose(self) -> None:
        """Close the connection; runs in this process are cancelled and their ends recorded."""
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
        """Follow this session instead of the current one, or reload it; None follows none."""
        self._session = session
        self._let_go()
        self.view_model = None
        if self._following is not None:
            self._following.cancel()
            self._following = None
        if self._tasks is not None and self._api is not None and session is not None:
            self._following = self._tasks.create_task(self._follow(self._api, session))

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Submit a command to a session; raises BridleError if it is rejected."""
        return await self.api.submit(session, command)

    async def older(self, session: SessionId, before: int) -> ViewPage:
        """Return the items before those loaded; raises BridleError."""
        from bridle.surfaces.shared.view_model.loader import load_older_items

        return await load_older_items(self.api, session, before)

    # ------------------------------------------------------------------ receiving

    async def _hear(self, api: SessionApi) -> None:
        async with aclosing(api.watch(None)) as news:
            async for one in news:
                self._listener.session_changed(one.session, one.live, deleted=one.deleted)

    async def _follow(self, api: SessionApi, session: SessionId) -> None:
        from bridle.surfaces.shared.view_model.loader import open_view

        try:
            while True:
                view_model = await open_view(api, session)
                self._let_go()
                self.view_model = view_model
                self._listener.shown(view_model.view)
                await self._watch(api, session, view_model)
        except DaemonGone:
            raise
        except BridleError as error:
            self._listener.lost(session, error)

    async def _watch(self, api: SessionApi, session: SessionId, view_model: "ViewModel") -> None:
        """Keep a view up to date until it must be reloaded."""
        count = 0
        async with aclosing(api.watch(session, view_model.head.seq)) as items:
            async for item in items:
                patches = view_model.add(item)
                if any(isinstance(patch, Reset) for patch in patches):
                    return
                self._collect(patches)
                count += 1
                if count % _AT_ONCE == 0:  # many items may be ready: handle keys in between
                    await asyncio.sleep(0)

    # ------------------------------------------------------------------ reporting

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
        """Drop pending patches, because the whole view is shown again."""
        self._pending = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def add_patches(pending: list[Patch], patches: Iterable[Patch]) -> None:
    """Append patches to pending ones; merge text for the same item, and keep only the last head."""
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
    """Return the message of a group's first error."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error.message if isinstance(error, BridleError) else str(error)
