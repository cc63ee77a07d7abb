"""The inbox of a listener: received messages that wait for delivery, bounded in number and size."""

import asyncio
from collections import deque

from msgspec import Struct

from bridle.comms.envelope import Kind, Message
from bridle.comms.texts import MAX_TEXT_CHARS, format_for_model

MAX_WAITING = 1024
MAX_WAITING_BYTES = 64 * 1024 * 1024
DISMISS = "DISMISS"


class ReceivedMessage(Struct, frozen=True):
    """A message received from a peer."""

    peer: str
    id: str
    kind: Kind
    size_bytes: int = 0

    @property
    def text(self) -> str:
        """The message as text for a model."""
        return format_for_model(self.kind, self.peer, self.id)

    @property
    def dismisses(self) -> bool:
        """True if it asks the host to end."""
        return isinstance(self.kind, Message) and self.kind.body.strip() == DISMISS


class Inbox:
    """The messages that wait for one listener."""

    def __init__(self) -> None:
        self._waiting: deque[ReceivedMessage] = deque()
        self._size_bytes = 0
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, item: ReceivedMessage) -> bool:
        """Add a message; return False if there is no room."""
        if len(self._waiting) >= MAX_WAITING or self._size_bytes + item.size_bytes > MAX_WAITING_BYTES:
            return False
        self._waiting.append(item)
        self._size_bytes += item.size_bytes
        self._arrived.set()
        return True

    async def take(self) -> list[ReceivedMessage]:
        """Wait for a message; return it with those the same peer sent right after, up to MAX_TEXT_CHARS."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        taken = [self._pop()]
        room = MAX_TEXT_CHARS - len(taken[0].text)
        while self._waiting and self._waiting[0].peer == taken[0].peer and not taken[-1].dismisses:
            room -= len(self._waiting[0].text)
            if room < 0 or self._waiting[0].dismisses:
                break
            taken.append(self._pop())
        return taken

    def _pop(self) -> ReceivedMessage:
        item = self._waiting.popleft()
        self._size_bytes -= item.size_bytes
        return item
