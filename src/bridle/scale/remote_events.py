"""Brings the events of sessions on other machines to the watchers in this process.

```
the worker that drives it ═ records and deltas ═▶┐
any process that appends ─ NOTIFY session seq ──▶├─▶ the bus of this process ─▶ its watchers
                                                 └── watchers fill gaps from PostgreSQL
```

Delivery here may be incomplete: a watcher reads what it missed from the store. It must be fast.
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
from bridle.sessions.bus import FRAGMENT_DELTAS, Bus

AGAIN_S = 0.2  # after a worker could not be reached
LOOK_S = 5.0  # between checks of a session that no worker seems to drive
GRACE_S = 0.05  # the driving worker may stream a record this long after the notice of it

_SEQ = re.compile(r"[0-9]{1,18}")

Whereabouts = Callable[[SessionId], Awaitable[SessionApi | None]]
"""Returns the session API of the worker that drives a session; None if that is this process or none.

Raises OSError, BridleError.
"""


class RemoteEvents:
    """Publishes what happens elsewhere on the bus of this process, for each session that has watchers."""

    def __init__(self, store: Store, whereabouts: Whereabouts, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._followed: dict[SessionId, _Followed] = {}
        self.bus: Bus = _NotingBus(self._watched, self._followed)
        self._store = store
        self._whereabouts = whereabouts
        self._tasks: set[asyncio.Task[None]] = set()

    def on_records_notice(self, payload: str | None) -> None:
        """Handle a notice that a session has new records; None means that notices were lost."""
        if payload is None:
            for followed in self._followed.values():
                followed.note_seq(math.inf)
            return
        session, _, seq = payload.rpartition(" ")
        found = self._followed.get(SessionId(session))
        if found is not None and _SEQ.fullmatch(seq) and int(seq) > found.seq:
            found.note_seq(int(seq))

    def on_claims_notice(self, payload: str | None) -> None:
        """Handle a notice that a session has a new driver or none; None means that notices were lost."""
        if payload is None:
            for followed in self._followed.values():
                followed.moved.set()
            return
        session = payload.partition(" ")[0]
        if (found := self._followed.get(SessionId(session))) is not None:
            found.moved.set()

    async def aclose(self) -> None:
        """Stop all following."""
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
        """Publish records that a notice announced and that the driving worker did not send."""
        while True:
            await followed.grown.wait()
            followed.grown.clear()
            told, followed.told = followed.told, 0
            if followed.is_connected and told > followed.seq:
                await asyncio.sleep(self._grace_s)
            if told <= followed.seq:
                continue
            try:
                newest = await self._store.read(session, limit=1, newest=True)
            except BridleError:
                await asyncio.sleep(AGAIN_S)
                followed.note_seq(told)
                continue
            if newest and newest[0].seq > followed.seq:  # watchers fetch the records in between
                self.bus.publish(session, newest)

    async def _follow(self, session: SessionId, followed: "_Followed") -> None:
        """Stream from the worker that drives the session, whichever that is at the moment."""
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
            followed.note_seq(math.inf)  # notices are lost with a worker that is killed

    async def _stay(self, api: SessionApi, session: SessionId, followed: "_Followed") -> None:
        moved = asyncio.create_task(followed.moved.wait())
        watching = asyncio.create_task(self._watch(api, session, followed))
        try:
            await asyncio.wait([moved, watching], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (moved, watching):
                task.cancel()
            await asyncio.wait([moved, watching])
        if not watching.cancelled() and (error := watching.exception()) is not None:
            raise error

    async def _watch(self, api: SessionApi, session: SessionId, followed: "_Followed") -> None:
        async with aclosing(api.watch(session, None)) as items:
            seen = 0
            try:
                async for item in items:
                    followed.is_connected = True
                    if isinstance(item, Record):
                        seen = item.seq
                    elif isinstance(item, FRAGMENT_DELTAS) and seen < followed.seq:
                        continue  # a delta of a message that was already published as a record
                    self.bus.publish(session, (item,))
            finally:
                followed.is_connected = False


class _Followed:
    """A session with watchers in this process."""

    def __init__(self) -> None:
        self.seq = 0
        """The newest record published on our bus, from any source."""
        self.told = 0.0
        """The newest record announced by a notice; infinity when notices were lost."""
        self.is_connected = False
        """True while the driving worker streams to us."""
        self.grown = asyncio.Event()
        self.moved = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def note_seq(self, seq: float) -> None:
        """Note that a record exists."""
        self.told = max(self.told, seq)
        self.grown.set()


class _NotingBus(Bus):
    """A bus that notes the newest published record of each followed session, also of runs in this process."""

    def __init__(
        self, on_watch: Callable[[SessionId, bool], None], followed: dict[SessionId, _Followed]
    ) -> None:
        super().__init__(on_watch=on_watch)
        self._followed = followed

    def publish(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        """Send items to all watchers of the session; never waits."""
        super().publish(session, items)
        if (found := self._followed.get(session)) is not None:
            for item in items:
                if isinstance(item, Record):
                    found.seq = max(found.seq, item.seq)
