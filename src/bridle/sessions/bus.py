"""The way out: records and deltas go to every watcher; a slow one is told, and never holds up the run."""

import asyncio
from collections import deque
from collections.abc import Iterable

from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record

BACKLOG = 4_096  # items a watcher may be behind; a 30-line screen of text is some 500


class Subscription:
    """One watcher's bounded backlog."""

    def __init__(self, backlog: int) -> None:
        self._items: deque[Record | Delta] = deque()
        self._backlog = backlog
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
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def take(self) -> tuple[int, list[Record | Delta]]:
        """Wait for items or the end; return how many were dropped before them, and them."""
        if not self._items and not self.is_over:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        dropped, items = self._dropped, list(self._items)
        self._dropped = 0
        self._items.clear()
        return dropped, items


class Bus:
    """Delivers to the watchers of each session."""

    def __init__(self, backlog: int = BACKLOG) -> None:
        self._backlog = backlog
        self._watchers: dict[SessionId, list[Subscription]] = {}

    def subscribe(self, session: SessionId) -> Subscription:
        """Begin to collect for a new watcher."""
        subscription = Subscription(self._backlog)
        self._watchers.setdefault(session, []).append(subscription)
        return subscription

    def watchers(self, session: SessionId) -> int:
        """Return how many watch a session."""
        return len(self._watchers.get(session, ()))

    def publish_everywhere(self, item: Delta) -> None:
        """Hand a fragment to everyone who watches anything."""
        for session in list(self._watchers):
            self.publish(session, (item,))

    def unsubscribe(self, session: SessionId, subscription: Subscription) -> None:
        """Forget a watcher."""
        watchers = self._watchers[session]
        watchers.remove(subscription)
        if not watchers:
            del self._watchers[session]

    def end(self, session: SessionId) -> None:
        """Tell everyone who watches a session that it is gone."""
        for watcher in self._watchers.get(session, ()):
            watcher.end()

    def publish(self, session: SessionId, items: Iterable[Record | Delta]) -> None:
        """Hand items to everyone who watches the session; never waits."""
        watchers = self._watchers.get(session)
        if watchers is None:
            return
        for item in items:
            for watcher in watchers:
                watcher.push(item)
