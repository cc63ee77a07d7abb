"""To a client, the daemon's sessions look like local ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from bridle.core.errors import (
    DaemonGone,
    KeyTaken,
    ProviderError,
    SessionBusy,
    SessionConflict,
    SessionNotFound,
    UsageError,
)
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, user_message
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Cancel,
    Decide,
    Delete,
    Lagged,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    TextDelta,
    ToolFinished,
)
from bridle.core.queries import (
    Changes,
    Describe,
    IsRunning,
    ListSessions,
    PlanRewind,
    PreviewContext,
    Records,
)
from bridle.surfaces.remote.asks import MAX_LINE_BYTES, DaemonStatus
from bridle.surfaces.remote.client import (
    BACKLOG,
    RemoteService,
    VersionMismatch,
    connect,
    say_hello,
)
from bridle.surfaces.remote.server import RemoteServer
from bridle.surfaces.shared.session_calls import fork_session, read_session, wait_for_run
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.sessions.test_client_tools import Lender

VERSION = "1.2.3"


class Warden:
    """Stands for the process."""

    def __init__(self) -> None:
        self.asked_to_end = False

    def status(self) -> DaemonStatus:
        return DaemonStatus(VERSION, 1, 2, "/home", "/socket")

    def request_shutdown(self) -> None:
        self.asked_to_end = True


class Hall:
    """A stage that is served by a socket."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.warden = Warden()
        self.server = RemoteServer(stage.service, self.warden, version=VERSION, token="secret")
        self.socket = str(folder / "s")
        self._clients: list[RemoteService] = []

    async def client(self) -> RemoteService:
        client = await connect(self.socket, VERSION)
        self._clients.append(client)
        return client

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Hall"]:
        async with self.stage:
            server = await asyncio.start_unix_server(
                self.server.connected(needs_token=False), self.socket, limit=MAX_LINE_BYTES
            )
            try:
                yield self
            finally:
                for client in self._clients:
                    await client.aclose()
                server.close()
                await self.server.aclose()


def change() -> SmallTool:
    return SmallTool("change", lambda on: f"changed {on}", access="write")


async def test_a_run_leaves_the_same_records_here_and_there(tmp_path: Path):
    play = Play(says("", call("a", "look")), says("done"))
    look = SmallTool("look", lambda on: f"saw {on}")
    async with Hall(Stage(play, tools=[look]), tmp_path).open() as hall:
        client = await hall.client()
        session = await client.create(cwd="/", title="far")
        receipt = await client.submit(session, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        ended = await wait_for_run(client, session, receipt.run_id)
        there = await client.ask(Records(session))
        here = await hall.stage.service.ask(Records(session))
        folded = await read_session(client, session)

    assert (ended.outcome, ended.text) == ("completed", "done")
    assert there == here
    assert (folded.known.title, folded.known.totals.tool_calls) == ("far", 1)


async def test_one_client_runs_and_another_watches_and_answers(tmp_path: Path):
    play = Play(says("", call("a", "change")), says("done"))
    async with Hall(Stage(play, tools=[change()]), tmp_path).open() as hall:
        first, second = await hall.client(), await hall.client()
        session = hall.stage.session
        receipt = await first.submit(session, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        async for item in second.watch(session):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                break
        await first.aclose()  # whoever began it has gone
        await second.submit(session, Decide(CallId("a"), "once"))
        ended = await wait_for_run(second, session, receipt.run_id)

    assert (ended.outcome, ended.text, ended.tool_calls) == ("completed", "done", 1)


async def test_fragments_come_as_they_are_made(tmp_path: Path):
    play = Play(says("hello"), hold=True)
    async with Hall(Stage(play), tmp_path).open() as hall:
        client = await hall.client()
        watch = client.watch(hall.stage.session)
        await anext(watch)
        await client.submit(hall.stage.session, Prompt(user_message("hi")))
        async for item in watch:
            if isinstance(item, TextDelta):
                break
        assert item == TextDelta("hello")
        play.go.set()
        async for item in watch:
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                break
        await watch.aclose()
        assert (
            await client.ask(ListSessions()) != ()
        )  # the unwatch has arrived: no stray item is taken for an answer


async def test_errors_arrive_as_what_they_are(tmp_path: Path):
    play = Play(says("hello"), hold=True)
    async with Hall(Stage(play), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        with pytest.raises(SessionNotFound, match='no session "nowhere"'):
            await client.ask(Records(SessionId("nowhere")))
        with pytest.raises(SessionNotFound):
            await anext(client.watch(SessionId("../evil")))
        with pytest.raises(UsageError, match="cannot name a session"):
            await client.create(cwd="/", session_id=SessionId("../evil"))
        await client.submit(session, Prompt(user_message("hi")))
        with pytest.raises(SessionBusy):
            await client.submit(session, Prompt(user_message("again"), if_busy="reject"))
        with pytest.raises(SessionBusy):
            await client.submit(session, Delete())
        await client.submit(session, Cancel())


async def test_a_providers_error_keeps_its_kind(tmp_path: Path):
    class Nobody:
        async def resolve(self, ref):
            raise ProviderError("no key", kind="invalid_api_key", hint="set one")

        async def aclose(self):
            pass

    async with Hall(Stage(Play(), models=Nobody()), tmp_path).open() as hall:
        client = await hall.client()
        with pytest.raises(ProviderError) as caught:
            await client.submit(hall.stage.session, Prompt(user_message("hi"), RunOptions()))

    assert (caught.value.message, caught.value.kind, caught.value.hint) == (
        "no key",
        "invalid_api_key",
        "set one",
    )


async def test_a_fork_a_plan_and_the_context_can_be_had(tmp_path: Path):
    async with Hall(Stage(Play(says("hello"))), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        await hall.stage.run("hi")
        child = await fork_session(client, session)
        assert [item.message.text for item in (await read_session(client, child)).messages] == ["hi", "hello"]
        assert await client.ask(PlanRewind(session, 1)) == await hall.stage.service.ask(
            PlanRewind(session, 1)
        )
        assert await client.ask(Changes(session)) == []
        assert await client.ask(Describe(())) == ""
        assert await client.ask(PreviewContext(session)) == await hall.stage.service.ask(
            PreviewContext(session)
        )
        assert not await client.ask(IsRunning(session))
        await client.submit(child, Delete())
        assert {summary.id for summary in await client.ask(ListSessions())} == {session}


async def test_the_daemon_says_how_it_is_and_takes_the_word_to_end(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client = await hall.client()
        assert await client.status() == DaemonStatus(VERSION, 1, 2, "/home", "/socket")
        await client.shutdown()
        assert hall.warden.asked_to_end


async def test_when_the_daemon_goes_everyone_who_waits_is_told(tmp_path: Path):
    async with Hall(Stage(Play(says("hello"), hold=True)), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        receipt = await client.submit(session, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        waiting = asyncio.create_task(wait_for_run(client, session, receipt.run_id))
        await hall.stage.service.ask(IsRunning(session))
        await hall.server.aclose()
        with pytest.raises(DaemonGone):
            await waiting
        with pytest.raises(DaemonGone):
            await client.ask(ListSessions())


async def test_a_client_that_does_not_read_loses_fragments_and_no_record(tmp_path: Path):
    class Chatty(Play):
        async def stream(self, request):
            for number in range(3 * BACKLOG):
                yield TextDelta(str(number % 10))
            yield says("over")

    async with Hall(Stage(Chatty()), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        watch = client.watch(session)
        await anext(watch)
        receipt = await client.submit(session, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        await wait_for_run(client, session, receipt.run_id)  # read by the same task: the watch lies idle
        seen = [item async for item in _until_end(watch)]
        records = await client.ask(Records(session))

    assert any(isinstance(item, Lagged) for item in seen)
    assert [item for item in seen if isinstance(item, Record)] == records[1:]


async def _until_end(watch):
    async for item in watch:
        yield item
        if isinstance(item, Record) and isinstance(item.event, RunEnded):
            return


@pytest.mark.parametrize(
    "line",
    [b"GET / HTTP/1.1\r\n", b"\xff\xfe\n", b"{}\n", b"[" * 100_000 + b"\n", b"\n"],
    ids=["http", "binary", "empty", "deep", "blank"],
)
async def test_whoever_speaks_another_language_is_turned_away(tmp_path: Path, line: bytes):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        reader, writer = await asyncio.open_unix_connection(hall.socket)
        writer.write(line)
        answer = msgspec.json.decode(await reader.readline())
        assert await reader.read() == b""
        writer.close()
        assert await (await hall.client()).ask(ListSessions()) != ()

    assert answer["refusal"] == "not a Bridle client"


async def test_garbage_after_the_hello_is_answered_and_does_no_harm(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        reader, writer = await asyncio.open_unix_connection(hall.socket)
        writer.write(b'{"version":"1.2.3"}\n')
        await reader.readline()
        answers = []
        for line in (
            b"garbage\n",
            b'{"id":7,"ask":{"type":"nothing"}}\n',
            b'{"id":8,"ask":{"type":"status"}}\n',
        ):
            writer.write(line)
            answers.append(msgspec.json.decode(await reader.readline()))
        writer.close()

    assert [answer["id"] for answer in answers] == [0, 7, 8]
    assert [answer.get("failure", {}).get("kind") for answer in answers] == ["UsageError", "UsageError", None]


async def test_another_version_is_told_so(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        with pytest.raises(VersionMismatch, match=r"the daemon is Bridle 1\.2\.3, the client 9"):
            await connect(hall.socket, "9")


@pytest.mark.parametrize(("token", "is_let_in"), [("secret", True), ("wrong", False), ("", False)])
async def test_by_another_way_than_the_socket_a_token_is_needed(tmp_path: Path, token: str, is_let_in: bool):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        server = await asyncio.start_server(hall.server.connected(needs_token=True), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if is_let_in:
            client = await say_hello(reader, writer, VERSION, token)
            assert await client.ask(ListSessions()) != ()
            await client.aclose()
        else:
            with pytest.raises(DaemonGone, match="the token is wrong"):
                await say_hello(reader, writer, VERSION, token)
        server.close()


async def test_what_is_newest_comes_first_to_who_wants_no_more(tmp_path: Path):
    async with Hall(Stage(Play(says("one"), says("two"))), tmp_path).open() as hall:
        client = await hall.client()
        await hall.stage.run("hi")
        newest = (await client.ask(Records(hall.stage.session)))[-1]
        watch = client.watch(hall.stage.session, None)

        assert await anext(watch) == newest
        await hall.stage.run("again")
        item = await anext(watch)
        assert isinstance(item, Record)
        assert item.seq == newest.seq + 1


async def test_an_unknown_session_has_no_newest_record(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client = await hall.client()
        with pytest.raises(SessionNotFound):
            await anext(client.watch(SessionId("nobody"), None))


async def test_a_tool_is_lent_from_afar(tmp_path: Path):
    lender, model = Lender(), Play(says("", call("c1", "lent")), says("done"))
    async with Hall(Stage(model), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, lender):
            end = await hall.stage.run("hi")
        model.requests.clear()
        await hall.stage.run("again")

    assert (end.outcome, [called.id for called in lender.calls]) == ("completed", ["c1"])
    assert model.requests[0].tools == ()  # it was taken back


async def test_a_call_that_fails_afar_is_a_failed_result(tmp_path: Path):
    class Broken(Lender):
        async def dispatch(self, call: ToolCall) -> ToolOutput:
            raise ValueError("a bug of the client")

    async with Hall(Stage(Play(says("", call("c1", "lent")), says("done"))), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, Broken()):
            await hall.stage.run("hi")
        results = [event.result for event in await hall.stage.log() if isinstance(event, ToolFinished)]

    assert [(result.output, result.is_error) for result in results] == [
        ("ValueError: a bug of the client", True)
    ]


async def test_a_lender_that_goes_leaves_no_call_waiting(tmp_path: Path):
    lender = Lender(waits=True)
    async with Hall(Stage(Play(says("", call("c1", "lent")), says("done"))), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, lender):
            run = await hall.stage.prompt("hi")
            await lender.begun.wait()
            await client.aclose()
            end = await hall.stage.service.wait(hall.stage.session, run)
        results = [event.result.output for event in await hall.stage.log() if isinstance(event, ToolFinished)]

    assert (end.outcome, results) == ("completed", ["the client that provides this tool is gone"])


async def test_what_cannot_be_lent_is_said_at_once(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client = await hall.client()
        with pytest.raises(UsageError, match="cannot name a tool"):
            async with client.provide_tools(hall.stage.session, Lender("two words")):
                pass
        with pytest.raises(SessionNotFound):
            async with client.provide_tools(SessionId("nobody"), Lender()):
                pass


async def test_a_key_is_known_from_afar_and_that_of_another_prompt_refused(tmp_path: Path):
    async with Hall(Stage(Play(says("done"))), tmp_path).open() as hall:
        client = await hall.client()
        session = hall.stage.session
        first = await client.submit(session, Prompt(user_message("hi"), key="k"))
        assert first.run_id is not None
        await wait_for_run(client, session, first.run_id)

        assert (await client.submit(session, Prompt(user_message("hi"), key="k"))).repeated
        with pytest.raises(KeyTaken):
            await client.submit(session, Prompt(user_message("other"), key="k"))


async def test_a_fork_can_be_named(tmp_path: Path):
    async with Hall(Stage(Play(says("done"))), tmp_path).open() as hall:
        client = await hall.client()
        await hall.stage.run("hi")
        assert await fork_session(client, hall.stage.session, session_id=SessionId("branch")) == "branch"
        with pytest.raises(SessionConflict):
            await fork_session(client, hall.stage.session, session_id=SessionId("branch"))


async def test_whoever_gives_up_on_a_hello_leaves_no_connection_behind():
    """A worker that is frozen takes connections still, and says nothing."""
    is_closed = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        is_closed.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(host, port)
    hello = asyncio.create_task(say_hello(reader, writer, "1", "token"))
    await asyncio.sleep(0)
    hello.cancel()
    await asyncio.wait([hello])

    async with asyncio.timeout(PATIENCE_S):
        await is_closed.wait()
    server.close()
