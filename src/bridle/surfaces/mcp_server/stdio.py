"""Serves MCP over stdin and stdout to the program that started the process."""

import logging
from collections.abc import AsyncIterable
from contextlib import suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from bridle.surfaces.mcp_server.server import BridleServer
from bridle.surfaces.mcp_server.stdio_pipes import MAX_LINE_BYTES, TOO_LONG, Lines, Writer, standard_streams

log = logging.getLogger("bridle.mcp_server")

LAST_S = 1.0

Incoming = SessionMessage | Exception


async def serve_stdio(bridle: BridleServer) -> None:
    """Serve until the client closes stdin."""
    with standard_streams() as (source, target):
        await serve_lines(bridle, Lines(source), Writer(target))


async def serve_lines(bridle: BridleServer, lines: AsyncIterable[bytes], writer: Writer) -> None:
    """Serve one client over lines."""
    incoming, requests = anyio.create_memory_object_stream[Incoming](0)
    answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = _Unanswered()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, bridle, lines, incoming, answers.clone(), unanswered)
        group.start_soon(_write, outgoing, writer, unanswered)
        server = bridle.server
        await server.run(requests, answers, server.create_initialization_options())
        with anyio.move_on_after(LAST_S):
            await unanswered.written.wait()
        group.cancel_scope.cancel()


class _Unanswered:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self.written = anyio.Event()
        """Set when nothing more will be written."""
        self._ids: set[RequestId] = set()
        self._changed = anyio.Event()

    def add(self, message: SessionMessage) -> None:
        """Record an incoming message."""
        if isinstance(message.message, JSONRPCRequest):
            self._ids.add(message.message.id)

    def settle(self, message: SessionMessage) -> None:
        """Record an outgoing message."""
        if isinstance(message.message, JSONRPCResponse | JSONRPCError) and message.message.id is not None:
            self._ids.discard(message.message.id)
            self._changed.set()

    async def none_left(self) -> None:
        """Wait until every request is answered."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


async def _read(
    bridle: BridleServer,
    lines: AsyncIterable[bytes],
    incoming: MemoryObjectSendStream[Incoming],
    answers: MemoryObjectSendStream[SessionMessage],
    unanswered: _Unanswered,
) -> None:
    async with incoming, answers:
        with suppress(anyio.BrokenResourceError):  # the server has stopped
            await _pass_on(lines, incoming, answers, unanswered)
        bridle.runs.is_leaving = True
        with anyio.move_on_after(LAST_S):  # the end of the input ends whatever is not answered by then
            await unanswered.none_left()


async def _pass_on(
    lines: AsyncIterable[bytes],
    incoming: MemoryObjectSendStream[Incoming],
    answers: MemoryObjectSendStream[SessionMessage],
    unanswered: _Unanswered,
) -> None:
    async for line in lines:
        message = _parse(line)
        if isinstance(message, JSONRPCError):
            await answers.send(SessionMessage(message))
        elif message is not None:
            unanswered.add(message)
            await incoming.send(message)


def _parse(line: bytes) -> SessionMessage | JSONRPCError | None:
    """Parse one message; return an error for an invalid one and None for an empty line."""
    if line == TOO_LONG:
        return _refusal(INVALID_REQUEST, f"a message is longer than {MAX_LINE_BYTES // 1024 // 1024} MiB")
    if not line.strip():
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        is_json = first["type"] != "json_invalid"
        if is_json:
            return _refusal(INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 message per line")
        return _refusal(PARSE_ERROR, f"Parse error: {first['msg']}")


def _refusal(code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))


async def _write(
    outgoing: MemoryObjectReceiveStream[SessionMessage], writer: Writer, unanswered: _Unanswered
) -> None:
    async with outgoing:
        await _write_all(outgoing, writer, unanswered)
    unanswered.written.set()


async def _write_all(
    outgoing: MemoryObjectReceiveStream[SessionMessage], writer: Writer, unanswered: _Unanswered
) -> None:
    async for message in outgoing:
        line: Any = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await writer.write(f"{line}\n".encode())
            unanswered.settle(message)
        except OSError as error:
            log.info("the client does not read any more: %s", error)
            return
