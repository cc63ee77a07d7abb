"""One connection of an editor, cut off at any point."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.ids import SessionId
from bridle.core.protocol import RunEnded, RunStarted
from bridle.core.queries import ListSessions, Records
from bridle.surfaces.acp.server import MAX_LINE_BYTES, MAX_OPEN_REQUESTS, LineTransport, serve_editor
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.acp.editor import wires

SESSION = {"sessionId": "play"}
TEXT = [{"type": "text", "text": "go"}]
CUTS = 8


def lines(cwd: str) -> list[dict[str, Any]]:
    """Return what an editor says, one request after the other."""
    opening = {"cwd": cwd, "mcpServers": []}
    return [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": opening},
        {"id": 3, "method": "session/load", "params": {**SESSION, **opening}},
        {"id": 4, "method": "session/prompt", "params": {**SESSION, "prompt": TEXT}},
        {"id": 5, "method": "session/prompt", "params": {**SESSION, "prompt": TEXT}},
        {"method": "session/cancel", "params": SESSION},
        {"id": 6, "method": "session/fork", "params": {**SESSION, "cwd": cwd}},
        {"id": 7, "method": "session/close", "params": SESSION},
    ]


@pytest.mark.parametrize("waits", [True, False], ids=["answered", "at once"])
@pytest.mark.parametrize("count", range(1, CUTS + 1))
async def test_an_editor_that_hangs_up_leaves_nothing(
    tmp_path: Path, env: dict[str, str], count: int, waits: bool
):
    play = Play(says("", call("c1", "write", "x")), says("Done."), says("More."), says("Last."))
    tool = SmallTool("write", lambda on: on, access="write")
    async with Stage(play, tools=[tool], cwd=str(tmp_path)) as stage:
        await read_session(stage.service, stage.session)
        before = asyncio.all_tasks()
        (reader, writer), (own_reader, own_writer) = await wires()
        folders = Folders(env, str(tmp_path))
        serving = asyncio.create_task(serve_editor(stage.service, folders, own_reader, own_writer))
        for message in lines(str(tmp_path))[:count]:
            writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            if waits and "id" in message and message["method"] != "session/prompt":
                await _answered(reader, message["id"])
        writer.close()
        async with asyncio.timeout(PATIENCE_S):
            await serving
            await _at_rest(stage)

        assert [one for one in stage.service.live() if one.watchers] == []
        assert {task for task in asyncio.all_tasks() - before if "acp" in str(task.get_coro())} == set()


async def _answered(reader: asyncio.StreamReader, key: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while json.loads(await reader.readline()).get("id") != key:
            pass


async def _at_rest(stage: Stage) -> None:
    """Wait for the end of every run that has begun."""
    for summary in await stage.service.ask(ListSessions()):
        session = SessionId(summary.id)
        events = [record.event for record in await stage.service.ask(Records(session))]
        ended = {event.run_id for event in events if isinstance(event, RunEnded)}
        for event in events:
            if isinstance(event, RunStarted) and event.run_id not in ended:
                await stage.service.wait(session, event.run_id)


# ---------------------------------------------------------------------------- transport


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}


async def exchange(*lines: bytes, most_bytes: int = MAX_LINE_BYTES) -> tuple[list[Any], list[Any]]:
    """Send lines, hang up, and return what was taken and what was answered."""
    (reader, writer), (own_reader, own_writer) = await wires()
    link = LineTransport(own_reader, own_writer, most_bytes)
    writer.write(b"".join(line + b"\n" for line in lines))
    writer.write_eof()
    taken = []
    async with asyncio.timeout(PATIENCE_S):
        while (message := await link.receive()) is not None:
            taken.append(message)
        await link.close()
        answers = [json.loads(line) for line in (await reader.read()).splitlines()]
    writer.close()
    return taken, answers


def refusal(key: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": message}}


async def test_messages_pass_and_the_rest_is_refused():
    good = [PING, {"jsonrpc": "2.0", "method": "note"}, {"jsonrpc": "2.0", "id": "a", "result": None}]
    bad = [b"", b"   ", b"{", b"\xff\xfe", b"[]", b"7", b'{"jsonrpc":"1.0","id":3,"method":"x"}']
    bad += [b'{"jsonrpc":"2.0","id":null,"method":"x"}', b'{"jsonrpc":"2.0","id":[],"method":"x"}']
    bad += [b'{"jsonrpc":"2.0","id":9,"method":5}', b'{"jsonrpc":"2.0","id":5}', b'{"jsonrpc":"2.0"}']
    bad += [b'{"jsonrpc":"2.0","id":4,"error":7}', b'{"jsonrpc":"2.0","id":6,"method":"x","params":3}']

    taken, answers = await exchange(*bad, *(json.dumps(one).encode() for one in good))

    assert taken == good
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (None, -32600),
        (3, -32600),
        (None, -32600),
        (None, -32600),
        (9, -32600),
        (None, -32600),
        (None, -32600),
        (4, -32600),
        (6, -32600),
    ]


async def test_an_id_is_taken_once_at_a_time():
    (reader, writer), (own_reader, own_writer) = await wires()
    link = LineTransport(own_reader, own_writer)
    line = json.dumps(PING).encode() + b"\n"
    writer.write(line * 2)
    assert await link.receive() == PING
    waiting = asyncio.create_task(link.receive())
    refused = json.loads(await reader.readline())
    await link.send({"jsonrpc": "2.0", "id": 1, "result": {}})
    writer.write(line)

    assert await waiting == PING
    assert refused == refusal(None, -32600, "a request with this id is open already")
    writer.close()
    await link.close()


async def test_so_many_requests_are_open_at_once():
    lines = [json.dumps({**PING, "id": number}).encode() for number in range(MAX_OPEN_REQUESTS + 2)]

    taken, answers = await exchange(*lines)

    assert [one["id"] for one in taken] == list(range(MAX_OPEN_REQUESTS))
    assert answers == [
        refusal(MAX_OPEN_REQUESTS + more, -32600, "too many requests are open") for more in range(2)
    ]


async def test_a_line_without_an_end_is_forgotten():
    ping = json.dumps(PING).encode()

    taken, answers = await exchange(b"x" * 300_000, ping, b"y" * 200_000, most_bytes=100_000)

    assert taken == [PING]
    assert answers == [refusal(None, -32700, "a line is longer than 100000 bytes")] * 2


async def test_what_a_task_has_asked_is_withdrawn_by_its_id():
    (reader, writer), (own_reader, own_writer) = await wires()
    link = LineTransport(own_reader, own_writer)

    await link.send({"jsonrpc": "2.0", "id": 7, "method": "ask", "params": {}})
    await link.withdraw()
    await link.withdraw()
    await link.close()

    lines = [json.loads(line) for line in (await reader.read()).splitlines()]
    assert lines[1:] == [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}}]
    writer.close()


async def test_an_answer_for_somebody_who_is_gone_is_no_error():
    (_, writer), (own_reader, own_writer) = await wires()
    link = LineTransport(own_reader, own_writer)
    writer.close()
    await writer.wait_closed()
    assert await link.receive() is None

    for _ in range(3):
        await link.send({"jsonrpc": "2.0", "id": 1, "result": "x" * 100_000})
    with pytest.raises(ConnectionError):
        await link.send({"jsonrpc": "2.0", "method": "note", "params": {}})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40) | st.just(json.dumps(PING).encode()), max_size=6))
async def test_no_bytes_end_the_connection(lines: list[bytes]):
    last = {"jsonrpc": "2.0", "method": "last"}

    taken, _ = await exchange(*lines, json.dumps(last).encode())

    assert taken[-1] == last
