"""The event bus: delivers records and deltas to every watcher, and never waits for a slow one."""

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
BACKLOG = 4_096  # items a watcher may fall behind; a 30-line screen of text is some 500

LIST_EVENTS = (
    *(SessionTitled, SessionArchived, ApprovalRequested, ApprovalDecided),
    *(QuestionAsked, QuestionAnswered, ToolFinished),
)
"""Events that may change a session list; a run's start and end are announced separately."""


FRAGMENT_DELTAS = (TextDelta, ReasoningDelta, ToolCallDelta, ToolOutputDelta)
"""Deltas whose full content is recorded a little later."""


class Subscription:
    """One watcher's bounded backlog."""

    def __init__(self, backlog: int, *, pieces: bool = True) -> None:
        """Without `pieces`, skip deltas whose content is recorded later: for waiting on a record."""
        self._items: deque[Record | Delta] = deque()
        self._backlog = backlog
        self.wants_pieces = pieces
        self._dropped = 0
        self._waiter: asyncio.Future[None] | None = None
        self.is_over = False
        """True once the session is deleted: nothing more will come."""

    def push(self, item: Record | Delta) -> None:
        """Add an item; a full backlog is dropped as a whole and counted."""
        if len(self._items) >= self._backlog:
            self._dropped += len(self._items)
            self._items.clear()
        self._items.append(item)
        self._wake()

    def end(self) -> None:
        """Mark the subscription as over."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def take(self) -> tuple[int, list[Record | Delta]]:
        """Wait for items or the end; return how many were dropped before them, and the items."""
        if not self._items and not self.is_over:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        dropped, items = self._dropped, list(self._items)
        self._dropped = 0
        self._items.clear()
        return dropped, items


class ChangedSessions:
    """The changed sessions that one reader of news has not read yet, each listed once."""

    def __init__(self, sessions: Iterable[SessionId]) -> None:
        self._changed: dict[SessionId, bool] = dict.fromkeys(sessions, False)
        self._waiting = asyncio.Event()
        if self._changed:
            self._waiting.set()

    def add(self, session: SessionId, *, deleted: bool = False) -> None:
        """Add a changed or deleted session."""
        self._changed[session] = deleted
        self._waiting.set()

    async def take(self) -> dict[SessionId, bool]:
        """Wait for a change; return the sessions, and whether each is deleted."""
        await self._waiting.wait()
        self._waiting.clear()
        changed, self._changed = self._changed, {}
        return changed


class Bus:
    """Delivers items to the watchers of each session, and changes of any session to the readers of news."""

    def __init__(
        self, backlog: int = BACKLOG, on_watch: Callable[[SessionId, bool], None] | None = None
    ) -> None:
        """`on_watch` is called when a session gets its first watcher (True) or loses its last one (False)."""
        self._backlog = backlog
        self._on_watch = on_watch
        self._watchers: dict[SessionId, list[Subscription]] = {}
        self._rolls: list[ChangedSessions] = []
        self._newest: dict[SessionId, int] = {}
        """The newest published record of each session with an active run; current deltas belong after it."""

    def subscribe_changes(self, sessions: Iterable[SessionId]) -> ChangedSessions:
        """Add a reader of news, which has read about none of these sessions yet."""
        roll = ChangedSessions(sessions)
        self._rolls.append(roll)
        return roll

    def unsubscribe_changes(self, roll: ChangedSessions) -> None:
        """Remove a reader of news."""
        self._rolls.remove(roll)

    def announce(self, session: SessionId, *, deleted: bool = False) -> None:
        """Notify the readers of news that a session has changed."""
        for roll in self._rolls:
            roll.add(session, deleted=deleted)

    def subscribe(self, session: SessionId, *, pieces: bool = True) -> Subscription:
        """Add a watcher, with or without the deltas whose content is recorded later."""
        subscription = Subscription(self._backlog, pieces=pieces)
        watchers = self._watchers.setdefault(session, [])
        watchers.append(subscription)
        if self._on_watch is not None and len(watchers) == 1:
            self._on_watch(session, True)
        return subscription

    def position(self, session: SessionId) -> int:
        """Return the number of a session's newest published record; 0 if unknown."""
        return self._newest.get(session, 0)

    def watchers(self, session: SessionId) -> int:
        """Return the number of a session's watchers."""
        return len(self._watchers.get(session, ()))

    def publish_everywhere(self, item: Delta) -> None:
        """Send a delta to every watcher of every session."""
        for session in list(self._watchers):
            self.show(session, item)

    def unsubscribe(self, session: SessionId, subscription: Subscription) -> None:
        """Remove a watcher."""
        watchers = self._watchers[session]
        watchers.remove(subscription)
        if not watchers:
            del self._watchers[session]
            if self._on_watch is not None:
                self._on_watch(session, False)

    def end(self, session: SessionId) -> None:
        """Notify a session's watchers that it is deleted."""
        for watcher in self._watchers.get(session, ()):
            watcher.end()
        self.announce(session, deleted=True)

    def publish(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        """Send records and deltas to the session's watchers; never waits."""
        if self._rolls and any(
            isinstance(item, Record) and isinstance(item.event, LIST_EVENTS) for item in items
        ):
            self.announce(session)
        self._note(session, items)
        for item in items:
            self.show(session, item)

    def show(self, session: SessionId, item: Record | Delta) -> None:
        """Send one item to the session's watchers; the deltas in `PIECES` only to those that want them."""
        for watcher in self._watchers.get(session, ()):
            if watcher.wants_pieces or not isinstance(item, FRAGMENT_DELTAS):
                watcher.push(item)

    def _note(self, session: SessionId, items: Sequence[Record | Delta]) -> None:
        last = items[-1] if items else None
        if isinstance(last, Record):
            self._newest.pop(session, None)
            if not isinstance(last.event, RunEnded):
                self._newest[session] = last.seq
            if len(self._newest) > MAX_NOTED:
                del self._newest[next(iter(self._newest))]
