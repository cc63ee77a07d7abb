"""What a client may do to the server: anything, without harm to others."""

import asyncio
import gc
from itertools import cycle
from pathlib import Path

import msgspec
import pytest

from bridle.core.errors import DaemonGone
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Delete, Prompt, Rename
from bridle.core.queries import Changes, IsRunning, ListSessions, PlanRewind, PreviewContext, Records
from bridle.surfaces.remote import client as client_module
from bridle.surfaces.remote import server as server_module
from bridle.surfaces.remote.server import MAX_ASKS, MAX_KEPT
from bridle.surfaces.shared.session_calls import fork_session, wait_for_run
from tests.patience import PATIENCE_S
from tests.sessions.stage import FixedClock, Play, Stage, says
from tests.surfaces.remote.test_remote import VERSION, Hall

HELLO = b'{"version":"%b"}\n' % VERSION.encode()


class Rough:
    """A client that writes what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def at(cls, hall: Hall, *, hello: bytes = HELLO) -> "Rough":
        rough = cls(*await asyncio.open_unix_connection(hall.socket, limit=2**20))
        rough.writer.write(hello)
        if hello:
            await rough.reader.readline()
        return rough

    async def ask(self, number: int, ask: dict) -> dict:
        self.writer.write(msgspec.json.encode({"id": number, "ask": ask}) + b"\n")
        return msgspec.json.decode(await self.reader.readline())

    async def is_hung_up(self) -> bool:
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass
        return True


async def test_a_hello_without_an_end_is_cut_short(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall, hello=b"")
        rough.writer.write(b"x" * 10_000)

        answer = msgspec.json.decode(await rough.reader.readline())
        assert answer["refusal"] == "not a Bridle client"
        assert await rough.is_hung_up()
        rough.writer.close()


async def test_what_is_not_utf_8_is_refused_and_others_are_served(tmp_path: Path):
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        stranger = await Rough.at(hall, hello=b"")
        stranger.writer.write(b'{"version":"\xff"}\n')
        refused = msgspec.json.decode(await stranger.reader.readline())
        stranger.writer.close()
        rough = await Rough.at(hall)
        rough.writer.write(b'{"id":7,"ask":{"type":"is_running","session":"\xff"}}\n')
        answer = msgspec.json.decode(await rough.reader.readline())
        listed = await rough.ask(8, {"type": "query", "query": {"type": "list"}})
        rough.writer.close()

    gc.collect()  # what a task has raised is told when no one can ask for it any more
    assert refused["refusal"] == "not a Bridle client"
    assert (answer["id"], answer["failure"]["kind"]) == (0, "UsageError")
    assert (listed["id"], problems) == (8, [])


async def test_who_says_nothing_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server_module, "HELLO_S", 0.01)
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall, hello=b"")
        assert await rough.is_hung_up()
        rough.writer.close()
        assert await (await hall.client()).ask(ListSessions()) != ()


async def test_a_line_that_is_too_long_ends_that_connection_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server_module, "MAX_LINE_BYTES", 100_000)
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        other = await hall.client()
        rough = await Rough.at(hall)
        rough.writer.write(b"x" * 200_000)
        assert await rough.is_hung_up()
        rough.writer.close()
        assert await other.ask(ListSessions()) != ()
        await until(lambda: hall.server.clients == 1)

    gc.collect()  # what a task has raised is told when no one can ask for it any more
    assert problems == []


async def test_a_client_that_vanishes_in_the_middle_leaves_nothing_behind(tmp_path: Path):
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall)
        await rough.ask(1, {"type": "watch", "session": hall.stage.session})
        for number in range(2, 50):  # it never reads the answers: hanging up resets the connection
            rough.writer.write(b'{"id":%d,"ask":{"type":"query","query":{"type":"list"}}}\n' % number)
        rough.writer.transport.abort()
        await until(lambda: hall.server.clients == 0)
        assert hall.stage.service._bus.watchers(hall.stage.session) == 0

    gc.collect()  # what a task has raised is told when no one can ask for it any more
    assert problems == []


async def test_who_will_say_nothing_more_still_gets_the_answers(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall)
        for number in range(5):
            rough.writer.write(b'{"id":%d,"ask":{"type":"status"}}\n' % number)
        rough.writer.write_eof()
        answers = [msgspec.json.decode(line) for line in (await rough.reader.read()).splitlines()]
        rough.writer.close()

    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]


async def test_a_number_can_watch_once(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall)
        watch = {"type": "watch", "session": hall.stage.session}
        first = await rough.ask(5, watch)
        second = await rough.ask(5, watch)
        rough.writer.close()
        await until(lambda: hall.server.clients == 0)  # or a watch that no one can end would hold it

    assert first["item"]["seq"] == 1
    assert second["failure"] == {"kind": "UsageError", "message": "watch 5 already exists"}


async def test_asks_at_once_are_bounded(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall)
        first = b"".join(b'{"id":%d,"ask":{"type":"status"}}\n' % number for number in range(1, MAX_ASKS + 1))
        rough.writer.write(first)
        refused = await rough.ask(1000, {"type": "status"})
        rough.writer.close()

    assert refused["failure"]["message"] == f"more than {MAX_ASKS} asks at once"


async def test_watches_are_bounded_and_can_always_be_taken_back(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        rough = await Rough.at(hall)
        watch = {"type": "watch", "session": hall.stage.session}
        for number in range(1, MAX_KEPT + 1):
            assert "item" in await rough.ask(number, watch)
        refused = await rough.ask(2000, watch)
        await rough.ask(2001, {"type": "unwatch", "watch": 1})
        taken = await rough.ask(2002, watch)
        rough.writer.close()

    assert refused["failure"]["message"] == f"more than {MAX_KEPT} watches and tool offers"
    assert taken["item"]["seq"] == 1


async def test_clients_at_once_are_bounded(tmp_path: Path):
    hall = Hall(Stage(Play()), tmp_path)
    hall.server._most = 2
    async with hall.open():
        first, _second = await hall.client(), await hall.client()
        with pytest.raises(DaemonGone, match="the daemon has 2 clients already"):
            await hall.client()
        await first.aclose()
        await until(lambda: hall.server.clients == 1)
        assert await (await hall.client()).ask(ListSessions()) != ()


async def test_an_answer_that_is_too_long_is_an_error_and_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server_module, "MAX_ANSWER_BYTES", 300)
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        for number in range(5):
            await client.submit(session, Rename(f"title {number} " * 10))
        with pytest.raises(Exception, match="the answer is longer than 300 bytes"):
            await client.ask(Records(session))
        assert not await client.ask(IsRunning(session))


@pytest.mark.parametrize("limit", [None, 0, 1, 2, 3, 5, 6, 7, 100])
@pytest.mark.parametrize("after", [0, 2, 6])
async def test_a_long_session_comes_in_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None, after: int
):
    monkeypatch.setattr(client_module, "PAGE", 2)
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        for number in range(5):
            await client.submit(session, Rename(f"title {number}"))
        there = await client.ask(Records(session, after, limit))
        here = (await hall.stage.service.ask(Records(session)))[after:]

    assert there == here[:limit]


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/b", "..", "", "x\0y", "a" * 200])
async def test_a_session_that_is_a_path_is_no_session(tmp_path: Path, name: str):
    before = set(tmp_path.parent.iterdir())
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client, session = await hall.client(), SessionId(name)
        for asking in (
            client.submit(session, Prompt(user_message("hi"))),
            client.ask(Records(session)),
            client.ask(PreviewContext(session)),
            client.ask(Changes(session)),
            client.ask(PlanRewind(session, 1)),
            fork_session(client, session),
            client.ask(IsRunning(session)),
            client.submit(session, Delete()),
            anext(client.watch(session)),
        ):
            with pytest.raises(Exception, match="no session"):
                await asking
        with pytest.raises(Exception, match="cannot name a session"):
            await client.create(cwd="/", session_id=session)

    assert set(tmp_path.parent.iterdir()) == before


class JumpingClock(FixedClock):
    """A clock that jumps each time it is read."""

    def __init__(self) -> None:
        self._times = cycle([10**12, 10**12 + 10**10, 5, 10**12, 10**15, 1])

    def now_ms(self) -> int:
        return next(self._times)


async def test_a_clock_that_jumps_changes_nothing_but_the_times(tmp_path: Path):
    stage = Stage(Play(says("one"), says("two")), clock=JumpingClock())
    async with Hall(stage, tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        for _ in range(2):
            receipt = await client.submit(session, Prompt(user_message("hi")))
            assert receipt.run_id is not None
            assert (await wait_for_run(client, session, receipt.run_id, receipt.seq)).outcome == "completed"
        await hall.stage.service.drop_idle(3600.0, 10)
        records, live = await client.ask(Records(session)), hall.stage.service.live()

    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [one.state for one in live] == ["idle"]


async def until(holds) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  a server gives no event for it
            await asyncio.sleep(0.005)
