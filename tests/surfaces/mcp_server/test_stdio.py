"""Lines in, lines out: an invalid line gets an answer and ends nothing."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bridle.core.protocol import RunEnded
from bridle.surfaces.mcp_server.stdio import TOO_LONG, Writer, serve_lines
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import serving

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
LIST = b'{"jsonrpc":"2.0","id":8,"method":"tools/list"}\n'
RUN = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 9,
        "method": "tools/call",
        "params": {"name": "bridle_run", "arguments": {"prompt": "hi", "session_id": "play"}},
    }
).encode()
OPEN = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
).encode()


class Wire:
    """Gives lines, the next one only when the server has said something more, and keeps what it says."""

    def __init__(self, *lines: bytes, waits: bool = True) -> None:
        self._lines = lines
        self._waits = waits
        self._out = io.BytesIO()
        self._said = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> int:
        self._loop.call_soon_threadsafe(self._said.set)
        return self._out.write(data)

    def flush(self) -> None:
        pass

    async def lines(self) -> AsyncIterator[bytes]:
        for line in self._lines:
            self._said.clear()
            yield line
            if self._waits:
                await self._said.wait()

    @property
    def answers(self) -> list[Any]:
        return [json.loads(line) for line in self._out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (b"not json\n", -32700, "Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"pi\n', -32700, "Parse error"),
        (b"\xff\xfe\n", -32700, "Parse error"),
        (b"[" * 100_000 + b"\n", -32700, "Parse error"),
        (b"[" + PING.strip() + b"]\n", -32600, "one JSON-RPC 2.0 message per line"),
        (b"7\n", -32600, "one JSON-RPC 2.0 message per line"),
        (TOO_LONG, -32600, "longer than 16 MiB"),
    ],
)
async def test_nonsense_is_answered_and_the_next_message_too(home: Path, line: bytes, code: int, said: str):
    wire = Wire(line, OPEN, PING)
    async with Stage(Play(says("hello"))) as stage, serving(stage.service, home) as server:
        await serve_lines(server, wire.lines(), Writer(wire))

    refusal, opened, pong = wire.answers
    assert (refusal["id"], refusal["error"]["code"]) == (None, code)
    assert said in refusal["error"]["message"]
    assert opened["result"]["serverInfo"]["name"] == "bridle"
    assert (pong["id"], "error" in pong) == (7, False)
    assert server.runs.is_leaving


async def test_what_was_asked_before_the_end_of_the_input_is_answered(home: Path):
    wire = Wire(OPEN, PING, LIST, waits=False)
    async with Stage(Play(says("hello"))) as stage, serving(stage.service, home) as server:
        await serve_lines(server, wire.lines(), Writer(wire))

    assert sorted(answer["id"] for answer in wire.answers) == [1, 7, 8]
    assert all("result" in answer for answer in wire.answers)


async def test_a_run_does_not_keep_the_process_alive(home: Path):
    model = Play(says("hello"), hold=True)
    wire = Wire(OPEN, RUN, waits=False)
    async with Stage(model) as stage:
        async with serving(stage.service, home) as server:
            await serve_lines(server, wire.lines(), Writer(wire))
        ended = await stage.until(RunEnded)

    assert [(answer["id"], "error" in answer) for answer in wire.answers] == [(1, False), (9, True)]
    assert ended.outcome == "cancelled"


class Deaf(Wire):
    """Reads nothing."""

    def write(self, data: bytes) -> int:
        raise BrokenPipeError(32, "Broken pipe")


async def test_a_client_that_does_not_read_ends_nothing_with_an_error(home: Path):
    wire = Deaf(OPEN, b"nonsense\n", PING, b"nonsense\n", waits=False)
    async with Stage(Play(says("hello"))) as stage, serving(stage.service, home) as server:
        await serve_lines(server, wire.lines(), Writer(wire))

    assert server.runs.is_leaving
