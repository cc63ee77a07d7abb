"""The wire protocol: one envelope per connection, acknowledged on it; every size and wait is bounded.

```
frame    length (4 bytes, big endian, at most 1 MiB) | envelope
sender   connect ─▶ frame ─▶ frame of the acknowledgement, if one is due ─▶ close
```
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bridle.comms.address import TcpAddress, UnixAddress
from bridle.comms.envelope import MAX_ENVELOPE_BYTES
from bridle.core.errors import BridleError
from bridle.system.unix_socket import short_path

MAX_CONNECTIONS = 64
RECEIVE_S = 10.0
"""The longest a connection may take, however slowly its bytes arrive."""
ACK_S = 30.0
_HEAD_BYTES = 4
_GRACE_S = 0.1  # because a cancelled run must have settled after 0.2 s
_ACCEPT_ROUNDS = 4  # rounds of the event loop until a connection just accepted reaches us

Take = Callable[[bytes], Awaitable[bytes | None]]
"""Handles an envelope and returns its acknowledgement; None to send nothing."""


class BadFrame(BridleError):
    """The data is not a frame, or not a complete one."""


class PeerOffline(BridleError):
    """A peer cannot be reached, or did not acknowledge what it was sent."""


def frame(envelope: bytes) -> bytes:
    """Return an envelope with its length prefix."""
    return len(envelope).to_bytes(_HEAD_BYTES, "big") + envelope


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the envelope in the next frame; raises BadFrame without reading a frame that is too large."""
    try:
        size = int.from_bytes(await reader.readexactly(_HEAD_BYTES), "big")
        if not 0 < size <= MAX_ENVELOPE_BYTES:
            raise BadFrame(f"a frame of {size} bytes")
        return await reader.readexactly(size)
    except (asyncio.IncompleteReadError, OSError) as error:
        raise BadFrame("the connection ended within a frame") from error


async def exchange(
    address: UnixAddress | TcpAddress, envelope: bytes, *, wants_answer: bool, timeout_s: float = ACK_S
) -> bytes | None:
    """Send an envelope, and return its answer if one is due; raises PeerOffline."""
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await _connect(address)
            try:
                writer.write(frame(envelope))
                await writer.drain()
                answer = await read_frame(reader) if wants_answer else None
                writer.close()
                await writer.wait_closed()
                return answer
            finally:
                await _abort(writer)
    except TimeoutError as error:
        raise PeerOffline(f"no answer from {address} within {timeout_s:g} s") from error
    except BadFrame as error:
        raise PeerOffline(
            f"{address} did not accept it",
            hint="it may not trust you, be another peer, or have a full inbox",
        ) from error
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise PeerOffline(f"nothing is listening at {address}: {reason}") from error


async def _connect(
    address: UnixAddress | TcpAddress,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(address, TcpAddress):
        return await asyncio.open_connection(address.host, address.port)
    with short_path(address.path) as path:
        return await asyncio.open_unix_connection(path)


class Connections:
    """The incoming connections: each is read, answered and closed; too many push out the oldest."""

    def __init__(self, take: Take, *, receive_s: float = RECEIVE_S) -> None:
        self._take = take
        self._receive_s = receive_s
        self._open: dict[asyncio.Task[None], None] = {}
        self._answered: set[asyncio.Task[None]] = set()
        """The connections whose envelope was read."""
        self._is_closed = False

    def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until it ends or its time is up."""
        if self._is_closed:
            writer.transport.abort()
            return
        if len(self._open) >= MAX_CONNECTIONS:
            oldest = next(iter(self._open))
            self._forget(oldest)  # at once: the next connection arrives before this one has ended
            oldest.cancel()
        task = asyncio.create_task(self._serve(reader, writer))
        self._open[task] = None
        task.add_done_callback(self._forget)

    async def aclose(self) -> None:
        """End all connections; what was already received is still acknowledged if that is quick."""
        for _ in range(_ACCEPT_ROUNDS):
            await asyncio.sleep(0)
        self._is_closed = True
        for task in self._open.keys() - self._answered:
            task.cancel()
        if self._answered:
            await asyncio.wait(list(self._answered), timeout=_GRACE_S)
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(list(self._open))

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._open.pop(task, None)
        self._answered.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(TimeoutError, BadFrame, OSError):
                async with asyncio.timeout(self._receive_s):
                    envelope = await read_frame(reader)
                    if (task := asyncio.current_task()) is not None:
                        self._answered.add(task)
                    answer = await self._take(envelope)
                    if answer is not None:
                        writer.write(frame(answer))
                        await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        finally:
            await _abort(writer)


async def _abort(writer: asyncio.StreamWriter) -> None:
    """Close a connection without sending the rest; it is gone after one round of the event loop."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
