"""Tools provided through the daemon, and the state of a connection: all of it ends, whoever leaves first."""

import asyncio
from pathlib import Path

import pytest

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.messages import ToolCall, user_message
from bridle.core.ports import ToolOutput
from bridle.core.protocol import Cancel, Delete, Prompt, ToolFinished
from bridle.core.queries import IsRunning, Records
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.remote.server import MAX_ASKS
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, call, says
from tests.sessions.test_client_tools import Interrupted, Lender
from tests.surfaces.remote.test_remote import Hall


def play() -> Play:
    return Play(says("", call("c1", "lent")), says("done"))


async def result_of_call(client: RemoteService, hall: Hall) -> str:
    """Run a prompt and return what its call came to."""
    receipt = await client.submit(hall.stage.session, Prompt(user_message("hi")))
    assert receipt.run_id is not None
    async with asyncio.timeout(PATIENCE_S):
        await wait_for_run(client, hall.stage.session, receipt.run_id)
    records = await client.ask(Records(hall.stage.session))
    [result] = [record.event.result for record in records if isinstance(record.event, ToolFinished)]
    return result.output


async def test_a_cancelled_run_cancels_the_call_at_the_client(tmp_path: Path):
    lender = Lender(waits=True)
    async with Hall(Stage(play()), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, lender), asyncio.timeout(PATIENCE_S):
            await client.submit(hall.stage.session, Prompt(user_message("hi")))
            await lender.begun.wait()
            await client.submit(hall.stage.session, Cancel())
            await lender.ended.wait()


class Speaker(Lender):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        return ToolOutput(self._text)


async def test_an_output_that_cannot_be_sent_is_a_failed_result(tmp_path: Path):
    async with Hall(Stage(play()), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, Speaker("half \ud800")):
            output = await result_of_call(client, hall)

    assert "surrogate" in output


async def test_an_output_without_an_end_does_not_end_the_connection(tmp_path: Path):
    async with Hall(Stage(play()), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, Speaker("x" * (65 * 1024 * 1024))):
            output = await result_of_call(client, hall)

    assert "longer than" in output


async def test_a_client_can_lend_to_more_sessions_than_it_can_ask_at_once(tmp_path: Path):
    async with Hall(Stage(play()), tmp_path).open() as hall:
        client = await hall.client()
        loans = [client.provide_tools(hall.stage.session, Lender()) for _ in range(MAX_ASKS + 1)]
        for loan in loans:
            await loan.__aenter__()
        output = await result_of_call(client, hall)
        for loan in loans:
            await loan.__aexit__(None, None, None)

    assert output == "lent output"


async def test_a_watch_that_is_taken_back_at_once_leaves_nothing_behind(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client = await hall.client()
        for _ in range(MAX_ASKS + 1):
            watching = asyncio.ensure_future(anext(client.watch(hall.stage.session)))
            await asyncio.sleep(0)  # it has asked
            watching.cancel()
            await asyncio.wait([watching])

        assert await client.ask(IsRunning(hall.stage.session)) is False


async def test_whoever_watches_a_session_hears_that_it_is_deleted(tmp_path: Path):
    async with Hall(Stage(Play()), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        items = client.watch(session)
        await anext(items)
        await client.submit(session, Delete())

        with pytest.raises(SessionNotFound):
            async with asyncio.timeout(PATIENCE_S):
                await anext(items)


async def test_a_prompt_without_an_end_does_not_end_the_connection(tmp_path: Path):
    async with Hall(Stage(Play(says("done"))), tmp_path).open() as hall:
        client, session = await hall.client(), hall.stage.session
        with pytest.raises(UsageError, match="longer than the"):
            await client.submit(session, Prompt(user_message("x" * (65 * 1024 * 1024))))

        assert await client.ask(IsRunning(session)) is False


async def test_a_tool_that_says_it_was_cancelled_has_failed(tmp_path: Path):
    async with Hall(Stage(play()), tmp_path).open() as hall:
        client = await hall.client()
        async with client.provide_tools(hall.stage.session, Interrupted()):
            output = await result_of_call(client, hall)

    assert output == "CancelledError: "
