"""A program as a transport: how it starts and, above all, how it ends."""

import asyncio
import os
from pathlib import Path

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.mcp.server_log import MAX_LINES, ServerLog
from bridle.mcp.settings import ServerSettings
from bridle.mcp.stdio import MessageReader, StdioTransport, _ServerPipes
from bridle.sandbox import LocalSandbox
from bridle.system.pipes import Pipes
from tests.mcp.players import is_alive, raw

ROOM = SessionId("mcp")


def stdio(settings: ServerSettings, folder: Path) -> tuple[StdioTransport, LocalSandbox]:
    sandbox = LocalSandbox(home="/nonexistent")
    return StdioTransport(settings, str(folder), sandbox, ROOM, ServerLog(settings)), sandbox


async def test_messages_go_out_and_come_in(tmp_path: Path):
    transport, sandbox = stdio(raw("chatty"), tmp_path)
    async with transport as (reads, writes):
        await writes.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list")))
        answer = await reads.receive()
    await sandbox.end_session(ROOM)

    assert [tool["name"] for tool in answer.message.result["tools"]] == ["do", "other"]


async def test_one_that_ends_by_itself_says_how(tmp_path: Path):
    transport, sandbox = stdio(raw("exit"), tmp_path)
    async with transport as (reads, _):
        assert [item async for item in reads] == []
        assert (await transport.lost()).message == "it ended with exit status 5"
    await sandbox.end_session(ROOM)


async def test_a_stubborn_one_is_killed(tmp_path: Path):
    transport, sandbox = stdio(raw("stubborn"), tmp_path)
    async with transport as (reads, writes):
        await writes.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")))
        await reads.receive()
        process = transport._process
        assert process is not None

    assert await process.wait() == 128 + 9
    await sandbox.end_session(ROOM)


async def test_who_is_cancelled_while_it_ends_leaves_nothing(tmp_path: Path):
    transport, sandbox = stdio(raw("stubborn"), tmp_path)
    reads, writes = await transport.__aenter__()
    await writes.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")))
    await reads.receive()
    process = transport._process
    assert process is not None
    leaving = asyncio.create_task(transport.__aexit__(None, None, None))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])

    assert leaving.cancelled()
    assert await process.wait() == 128 + 9
    await sandbox.end_session(ROOM)
    assert not is_alive(process.pid)


async def test_nothing_is_sent_to_one_that_is_gone(tmp_path: Path):
    transport, sandbox = stdio(raw("exit"), tmp_path)
    async with transport as (reads, writes):
        assert [item async for item in reads] == []
        await transport.lost()
        with pytest.raises(anyio.BrokenResourceError):
            await writes.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="x")))
    await sandbox.end_session(ROOM)


@pytest.mark.parametrize(
    ("change", "why"),
    [({"argv": ("no-such-program",)}, "no-such-program"), ({"cwd": "no-such-folder"}, "no-such-folder")],
)
async def test_what_cannot_be_started_is_named(tmp_path: Path, change: dict[str, object], why: str):
    transport, sandbox = stdio(replace(raw("exit"), **change), tmp_path)
    with pytest.raises(ToolError, match=why):
        await transport.__aenter__()
    await transport.__aexit__(None, None, None)
    await sandbox.end_session(ROOM)


async def test_a_server_that_prints_without_end_lets_others_have_their_turn():
    lines = 3200
    reads = MessageReader(ServerLog(raw("exit")), lambda: None)
    reads.put([*[b"y"] * lines, b'{"jsonrpc": "2.0", "method": "x"}'])
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await reads.receive()
    counting.cancel()
    assert turns >= lines // 20


async def test_of_many_printed_lines_only_those_are_looked_at_that_are_kept():
    words = ServerLog(raw("exit"))
    looked_at: list[str] = []
    words.say = looked_at.append  # type: ignore[method-assign]
    pipes = Pipes()
    talk = _ServerPipes(pipes, words)
    os.write(pipes.errors, b"".join(b"%d\n" % number for number in range(1000)))
    talk.read_printed()
    pipes.close_theirs()
    talk.close()
    assert looked_at == [str(number) for number in range(1000 - MAX_LINES, 1000)]
