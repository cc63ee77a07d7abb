"""What happens to sessions on other machines, for those who watch them here.

```
worker that drives it ═ records and deltas ═▶┐
anybody who appends ── NOTIFY session seq ──▶├─▶ the bus of this process ─▶ its watchers
                                             └── a gap is filled from PostgreSQL by whoever watches
```

Nothing here has to be complete: a watcher reads what it has missed from the store. It has to be quick.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Delta, Record
from bridle.core.session_api import SessionApi
from bridle.sessions.bus import PIECES, Bus

AGAIN_S = 0.2  # after a worker that could not be reached
LOOK_S = 5.0  # at a session that nobody seems to drive
GRACE_S = 0.05  # in which the worker that drives a session tells of what a notice has told of

_SEQ = re.compile(r"[0-9]{1,18}")

Whereabouts = Callable[[SessionId], Awaitable[SessionApi | None]]
"""From a session to the worker that drives it, if that is another process; raises OSError, BridleError."""


class Following:
    """Feeds the bus of a process with what happens elsewhere, session by session, while somebody watches."""

    def __init__(self, store: Store, whereabouts: Whereabouts, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._followed: dict[SessionId, _Followed] = {}
        self.bus: Bus = _NotingBus(self._watched, self._followed)
        self._store = store
        self._whereabouts = whereabouts
        self._tasks: set[asyncio.Task[None]] = set()

    def heard_records(self, payload: str | None) -> None:
        """Take a notice that a session has grown; None says that notices were lost."""
        if payload is None:
            for followed in self._followed.values():
                followed.hear_of(math.inf)
            return
        session, _, seq = payload.rpartition(" ")
        found = self._followed.get(SessionId(session))
        if found is not None and _SEQ.fullmatch(seq) and int(seq) > found.seq:
            found.hear_of(int(seq))

    def heard_claims(self, payload: str | None) -> None:
        """Take a notice that somebody else drives a session now, or nobody."""
        if payload is None:
            for followed in self._followed.values():
                followed.moved.set()
            return
        session = payload.partition(" ")[0]
        if (found := self._followed.get(SessionId(session))) is not None:
            found.moved.set()

    async def aclose(self) -> None:
        """Follow nothing any more."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _watched(self, session: SessionId, is_watched: bool) -> None:  # noqa: FBT001  the bus calls it so
        if not is_watched:
            if (gone := self._followed.pop(session, None)) is not None:
                for task in gone.tasks:
                    task.cancel()
            return
        followed = self._followed[session] = _Followed()
        for work in (self._catch_up(session, followed), self._follow(session, followed)):
            task = asyncio.create_task(work, name=f"follow {session}")
            followed.tasks.append(task)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _catch_up(self, session: SessionId, followed: "_Followed") -> None:
        """Publish what others have appended, whenever there is news of it that came in no other way."""
        while True:
            await followed.grown.wait()
            followed.grown.clear()
            told, followed.told = followed.told, 0
            if followed.is_heard and told > followed.seq:
                await asyncio.sleep(self._grace_s)
            if told <= followed.seq:
                continue
            try:
                newest = await self._store.read(session, limit=1, newest=True)
            except BridleError:
                await asyncio.sleep(AGAIN_S)
                followed.hear_of(told)
                continue
            if newest and newest[0].seq > followed.seq:  # who watches fetches what lies between
                self.bus.publish(session, newest)

    async def _follow(self, session: SessionId, followed: "_Followed") -> None:
        """Stay with whoever drives the session."""
        while True:
            followed.moved.clear()
            try:
                api = await self._whereabouts(session)
                if api is not None:
                    await self._stay(api, session, followed)
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_S):
                            await followed.moved.wait()
            except (BridleError, OSError):
                await asyncio.sleep(AGAIN_S)
            followed.hear_of(math.inf)  # notices are lost together with a worker that is killed

    async def _stay(self, api: SessionApi, session: SessionId, followed: "_Followed") -> None:
        moved = asyncio.create_task(followed.moved.wait())
        hearing = asyncio.create_task(self._hear(api, session, followed))
        try:
            await asyncio.wait([moved, hearing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (moved, hearing):
                task.cancel()
            await asyncio.wait([moved, hearing])
        if not hearing.cancelled() and (error := hearing.exception()) is not None:
            raise error

    async def _hear(self, api: SessionApi, session: SessionId, followed: "_Followed") -> None:
        async with aclosing(api.watch(session, None)) as items:
            heard = 0
            try:
                async for item in items:
                    followed.is_heard = True
                    if isinstance(item, Record):
                        heard = item.seq
                    elif isinstance(item, PIECES) and heard < followed.seq:
                        continue  # a piece of what a notice has shown as a whole already
                    self.bus.publish(session, (item,))
            finally:
                followed.is_heard = False


class _Followed:
    """A session that somebody watches here."""

    def __init__(self) -> None:
        self.seq = 0
        """The newest record that was published, by whomever."""
        self.told = 0.0
        """The newest record that a notice has told of; all there may be when notices were lost."""
        self.is_heard = False
        """The worker that drives it tells us of all that happens."""
        self.grown = asyncio.Event()
        self.moved = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def hear_of(self, seq: float) -> None:
        """Take notice of a record."""
        self.told = max(self.told, seq)
        self.grown.set()


class _NotingBus(Bus):
    """A bus that knows how far each followed session was published, also by a run of this process."""

    def __init__(
        self, on_watch: Callable[[SessionId, bool], None], followed: dict[SessionId, _Followed]
    ) -> None:
        super().__init__(on_watch=on_watch)
        self._followed = followed

    def publish(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        """Hand items to everyone who watches the session; never waits."""
        super().publish(session, items)
        if (found := self._followed.get(session)) is not None:
            for item in items:
                if isinstance(item, Record):
                    found.seq = max(found.seq, item.seq)
