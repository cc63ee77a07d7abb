"""Serves one connection of an editor."""

import asyncio
import json
import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from acp import RequestError
from acp.agent.router import build_agent_router
from acp.connection import Connection
from acp.meta import AGENT_METHODS
from acp.router import MessageRouter
from acp.schema import ClientCapabilities, DeleteSessionRequest
from acp.utils import normalize_result
from msgspec import UNSET, Struct, UnsetType
from pydantic import ValidationError

from bridle.core.errors import BridleError
from bridle.core.malformed import MALFORMED
from bridle.core.session_api import SessionApi
from bridle.surfaces.acp.agent import BridleAgent
from bridle.surfaces.acp.errors import error_of, error_of_bug, error_of_validation
from bridle.surfaces.acp.mcp_servers import check_servers
from bridle.surfaces.shared.folder_info import Folders
from bridle.system.line_buffer import LineBuffer

if TYPE_CHECKING:
    from acp.interfaces import Agent


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


# ---------------------------------------------------------------------------- connection


_log = logging.getLogger(__name__)


async def serve_editor(
    api: SessionApi, folders: Folders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve an editor until it disconnects."""
    connection = EditorConnection(LineTransport(reader, writer))
    agent = BridleAgent(api, folders, connection)
    connection.connect(_routes(agent))
    try:
        await connection.listen()
    finally:
        await connection.aclose()  # first, so that no new request starts
        await agent.aclose()


def _routes(agent: BridleAgent) -> MessageRouter:
    """Return the router of requests, with those that the official package lacks."""
    router = build_agent_router(
        cast("Agent", agent), use_unstable_protocol=True
    )  # methods are looked up by name
    router.route_request(
        AGENT_METHODS["session_delete"],
        DeleteSessionRequest,
        agent,
        "delete_session",
        adapt_result=normalize_result,
    )
    return router


class EditorConnection:
    """The editor as a notification and request target; implements `EditorClient`."""

    def __init__(self, link: LineTransport) -> None:
        self.capabilities = ClientCapabilities()
        self._link = link
        self._connection: Connection | None = None

    def connect(self, routes: MessageRouter) -> None:
        """Set the router for the editor's requests."""

        async def handle(method: str, params: Any, is_notification: bool) -> Any:  # noqa: FBT001  as it is called
            return await _handled(routes, method, params, is_notification=is_notification)

        self._connection = Connection(handle, self._link, listening=False)

    @property
    def _wire(self) -> Connection:
        assert self._connection is not None, "connect() comes first"
        return self._connection

    async def listen(self) -> None:
        """Handle requests until the editor disconnects."""
        await self._wire.main_loop()

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification; raises ConnectionError."""
        await self._wire.send_notification(method, params)

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request; raises RequestError, ConnectionError. Cancelling this withdraws the request."""
        try:
            return await self._wire.send_request(method, params)
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                await self._link.withdraw()
            raise
        finally:
            self._link.forget()

    async def aclose(self) -> None:
        """Disconnect, and cancel open requests."""
        await self._wire.close()


async def _handled(routes: MessageRouter, method: str, params: Any, *, is_notification: bool) -> Any:
    """Handle a request; turn exceptions into errors without internal details.

    `_meta` is removed: the official package would let its content replace validated parameters.
    """
    try:
        if isinstance(params, dict):
            params = {name: value for name, value in params.items() if name != "_meta"}
            check_servers(params)
        return await routes(method, params, is_notification)
    except RequestError:
        if is_notification:
            return None  # a notification gets no answer
        raise
    except ValidationError as error:
        failure = error_of_validation(error)
    except BridleError as error:
        failure = error_of(error)
    except ConnectionError:
        return None  # the editor is gone
    except Exception:  # noqa: BLE001  the outermost frame: the editor hears that it was our mistake
        _log.exception("%s failed", method[:100])
        failure = error_of_bug()
    if is_notification:
        return None
    raise failure
