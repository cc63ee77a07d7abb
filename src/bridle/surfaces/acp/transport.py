"""The connection to an editor: one JSON-RPC message per line, robust against invalid input.

Invalid input is answered with an error, and the connection continues. The official package has no limit on
the length of lines and stops at the first JSON list, so it gets its messages from here.
"""

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bridle.core.malformed import MALFORMED
from bridle.system.line_buffer import LineBuffer

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_OPEN_REQUESTS = 64  # of the editor, at once
READ_BYTES = 64 * 1024
MAX_REASON_CHARS = 500

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

RequestKey = int | str


class _Message(Struct):
    """A request, a notification, or an answer to a request of Bridle."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | list[Any] | UnsetType | None = UNSET
    result: Any = UNSET
    error: dict[str, Any] | UnsetType = UNSET


_decoder = msgspec.json.Decoder(_Message)


class InvalidMessage(Exception):
    """The line is not an acceptable message."""

    def __init__(self, code: int, why: str, key: RequestKey | None = None) -> None:
        super().__init__(why)
        self.answer = {
            "jsonrpc": "2.0",
            "id": key,
            "error": {"code": code, "message": why[:MAX_REASON_CHARS]},
        }


class LineTransport:
    """Sends and receives messages over a pair of streams; a `Transport` of the official package."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most_bytes: int = MAX_LINE_BYTES
    ) -> None:
        self._reader = reader
        self._most_bytes = most_bytes
        self._lines = LineBuffer(most_bytes)
        self._whole: deque[bytes | None] = deque()
        self._writer = writer
        self._open: set[RequestKey | None] = set()
        """Requests of the editor that have no answer yet."""
        self._asking: dict[asyncio.Task[Any], RequestKey] = {}
        """The request to the editor that each task waits for."""

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None if the editor is gone."""
        while True:
            try:
                if not self._whole:
                    piece = await self._reader.read(READ_BYTES)
                    if not piece:
                        return None
                    self._whole.extend(self._lines.feed(piece))
                    continue
                line = self._whole.popleft()
                if line is None:
                    raise InvalidMessage(PARSE_ERROR, f"a line is longer than {self._most_bytes} bytes")
                if line.strip():
                    return self._taken(line)
            except InvalidMessage as refused:
                await self._write(refused.answer)
            except ConnectionError:
                return None

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message, waiting for a slow reader; raises ConnectionError unless it is an answer."""
        key = message.get("id")
        if "method" not in message:
            self._open.discard(key)
            with suppress(ConnectionError):  # a client that is gone needs no answer
                await self._write(message)
            return
        if key is not None and (task := asyncio.current_task()) is not None:
            self._asking[task] = key
        await self._write(message)

    async def withdraw(self) -> None:
        """Notify the editor that the request of this task needs no answer any more."""
        task = asyncio.current_task()
        if task is not None and (key := self._asking.pop(task, None)) is not None:
            await self.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": key}})

    def forget(self) -> None:
        """Record that the request of this task is answered."""
        if (task := asyncio.current_task()) is not None:
            self._asking.pop(task, None)

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        self._writer.write(data.encode("utf-8", "replace") + b"\n")
        await self._writer.drain()

    def _taken(self, line: bytes) -> dict[str, Any]:
        """Return the message of a line; raises Refused."""
        message = _decoded(line)
        key = message.id
        if message.method is UNSET:
            if key is UNSET or (message.result is UNSET and message.error is UNSET):
                raise InvalidMessage(INVALID_REQUEST, "neither a request nor an answer")
        elif key is None:
            raise InvalidMessage(INVALID_REQUEST, "the id of a request may not be null")
        elif key is not UNSET:
            if key in self._open:
                raise InvalidMessage(INVALID_REQUEST, "a request with this id is open already")
            if len(self._open) >= MAX_OPEN_REQUESTS:
                raise InvalidMessage(INVALID_REQUEST, "too many requests are open", key)
            self._open.add(key)
        fields = {name: getattr(message, name) for name in message.__struct_fields__}
        return {name: value for name, value in fields.items() if value is not UNSET}


def _decoded(line: bytes) -> _Message:
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError as error:
        raise InvalidMessage(INVALID_REQUEST, f"not a JSON-RPC message: {error}", _id_in(line)) from None
    except MALFORMED as error:
        raise InvalidMessage(PARSE_ERROR, f"not JSON: {error}") from None


def _id_in(line: bytes) -> RequestKey | None:
    """Return the id of an otherwise invalid message, if it has one."""
    try:
        key = msgspec.json.decode(line, type=dict[str, Any]).get("id")
    except MALFORMED:
        return None
    return key if isinstance(key, int | str) and not isinstance(key, bool) else None
