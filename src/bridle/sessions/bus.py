"""The way out: records and deltas go to every watcher; a slow one is told, and never holds up the run."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from bridle.core.ids import SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Delta,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    Record,
    RunEnded,
    SessionArchived,
    SessionTitled,
    TextDelta,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
)

MAX_NOTED = 10_000  # sessions
BACKLOG = 4_096  # items a watcher may be behind; a 30-line screen of text is some 500

NEWS = (
    *(SessionTitled, SessionArchived, ApprovalRequested, ApprovalDecided),
    *(QuestionAsked, QuestionAnswered, ToolFinished),
)
"""Events that may change what a list of sessions shows; the beginning and end of a run are announced."""


PIECES = (TextDelta, ReasoningDelta, ToolCallDelta, ToolOutputDelta)
"""Fragments of what is recorded as a whole a little later."""


class Subscription:
    """One watcher's bounded backlog."""

    def __init__(self, backlog: int, *, pieces: bool = True) -> None:
        """Without `pieces` fragments are passed over: for who waits for a record only."""
        self._items: deque[Record | Delta] = deque()
        self._backlog = backlog
        self.wants_pieces = pieces
        self._dropped = 0
        self._waiter: asyncio.Future[None] | None = None
        self.is_over = False
        """Nothing more will come: the session is gone."""

    def push(self, item: Record | Delta) -> None:
        """Add an item; when the backlog is full all of it is dropped and counted."""
        if len(self._items) >= self._backlog:
            self._dropped += len(self._items)
            self._items.clear()
        self._items.append(item)
        self._wake()

    def end(self) -> None:
        """Say that nothing more comes."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def take(self) -> tuple[int, list[Record | Delta]]:
        """Wait for items or the end; return how many were dropped before them, and them."""
        if not self._items and not self.is_over:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        dropped, items = self._dropped, list(self._items)
        self._dropped = 0
        self._items.clear()
        return dropped, items


class Roll:
    """The sessions about which one reader of news has not heard the latest; each is in it once."""

    def __init__(self, sessions: Iterable[SessionId]) -> None:
        self._changed: dict[SessionId, bool] = dict.fromkeys(sessions, False)
        self._waiting = asyncio.Event()
        if self._changed:
            self._waiting.set()

    def add(self, session: SessionId, *, deleted: bool = False) -> None:
        """Say that there is something to tell about a session."""
        self._changed[session] = deleted
        self._waiting.set()

    async def take(self) -> dict[SessionId, bool]:
        """Wait for something to tell; return the sessions, and whether each is deleted."""
        await self._waiting.wait()
        self._waiting.clear()
        changed, self._changed = self._changed, {}
        return changed


class Bus:
    """Delivers to the watchers of each session, and to those who want to know how all of them are."""

    def __init__(
        self, backlog: int = BACKLOG, on_watch: Callable[[SessionId, bool], None] | None = None
    ) -> None:
        """`on_watch` hears when the first watcher of a session comes (True), and when the last one goes."""
        self._backlog = backlog
        self._on_watch = on_watch
        self._watchers: dict[SessionId, list[Subscription]] = {}
        self._rolls: list[Roll] = []
        self._newest: dict[SessionId, int] = {}
        """Of sessions with a run: where the fragments that come now belong."""

    def open_roll(self, sessions: Iterable[SessionId]) -> Roll:
        """Begin to collect for a new reader of news, who has heard of none of these sessions yet."""
        roll = Roll(sessions)
        self._rolls.append(roll)
        return roll

    def close_roll(self, roll: Roll) -> None:
        """Forget a reader of news."""
        self._rolls.remove(roll)

    def announce(self, session: SessionId, *, deleted: bool = False) -> None:
        """Tell the readers of news that a session is not as it was."""
        for roll in self._rolls:
            roll.add(session, deleted=deleted)

    def subscribe(self, session: SessionId, *, pieces: bool = True) -> Subscription:
        """Begin to collect for a new watcher, with or without the fragments of what is recorded later."""
        subscription = Subscription(self._backlog, pieces=pieces)
        watchers = self._watchers.setdefault(session, [])
        watchers.append(subscription)
        if self._on_watch is not None and len(watchers) == 1:
            self._on_watch(session, True)
        return subscription

    def position(self, session: SessionId) -> int:
        """Return the newest record of a session that was published; 0 when that is not known."""
        return self._newest.get(session, 0)

    def watchers(self, session: SessionId) -> int:
        """Return how many watch a session."""
        return len(self._watchers.get(session, ()))

    def publish_everywhere(self, item: Delta) -> None:
        """Hand a fragment to everyone who watches anything."""
        for session in list(self._watchers):
            self.show(session, item)

    def unsubscribe(self, session: SessionId, subscription: Subscription) -> None:
        """Forget a watcher."""
        watchers = self._watchers[session]
        watchers.remove(subscription)
        if not watchers:
            del self._watchers[session]
            if self._on_watch is not None:
                self._on_watch(session, False)

    def end(self, session: SessionId) -> None:
        """Tell everyone who watches a session that it is gone."""
        for watcher in self._watchers.get(session, ()):
            watcher.end()
        self.announce(session, deleted=True)

    def publish(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        """Hand items to everyone who watches the session; never waits."""
        if self._rolls and any(isinstance(item, Record) and isinstance(item.event, NEWS) for item in items):
            self.announce(session)
        self._note(session, items)
        for item in items:
            self.show(session, item)

    def show(self, session: SessionId, item: Record | Delta) -> None:
        """Hand one item to everyone who watches the session; fragments only to those who want them."""
        for watcher in self._watchers.get(session, ()):
            if watcher.wants_pieces or not isinstance(item, PIECES):
                watcher.push(item)

    def _note(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        last = items[-1] if items else None
        if isinstance(last, Record):
            self._newest.pop(session, None)
            if not isinstance(last.event, RunEnded):
                self._newest[session] = last.seq
            if len(self._newest) > MAX_NOTED:
                del self._newest[next(iter(self._newest))]
