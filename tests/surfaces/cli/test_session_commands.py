"""`bridle session steer`, `queue`, `decide` and `cancel` control a run of the daemon from anywhere."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    MessageAdded,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    ToolFinished,
)
from bridle.core.queries import Records
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.surfaces.command import Bridle, Done
from tests.surfaces.daemon.process import DaemonProcess

T = TypeVar("T")

WRITE = {"text": "I write.", "calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}
TWICE = {"calls": WRITE["calls"] * 2}
DONE = {"text": "All done."}


class Waiting:
    """A run that waits for an approval."""

    def __init__(self, client: RemoteService, session: SessionId, run: RunId) -> None:
        self.client = client
        self.session = session
        self._run = run

    async def ended(self) -> RunEnded:
        return await wait_for_run(self.client, self.session, self._run)

    async def events(self, kind: type[T]) -> list[T]:
        records = await self.client.ask(Records(self.session))
        return [record.event for record in records if isinstance(record.event, kind)]


@asynccontextmanager
async def waiting(bridle: Bridle, *replies: object, asks: int = 1) -> AsyncIterator[Waiting]:
    daemon = DaemonProcess(bridle.home, bridle.env)
    try:
        await daemon.start()
        async with daemon.reached() as client:
            session = await client.create(cwd=str(bridle.project))
            options = RunOptions(model=bridle.script(*replies))  # type: ignore[arg-type]
            receipt = await client.submit(session, Prompt(user_message("write"), options))
            assert receipt.run_id is not None
            async for item in client.watch(session):
                asks -= isinstance(item, Record) and isinstance(item.event, ApprovalRequested)
                if not asks:
                    break
            yield Waiting(client, session, receipt.run_id)
    finally:
        daemon.close()


async def test_a_call_is_let_through_while_a_message_and_a_prompt_wait(bridle: Bridle):
    async with waiting(bridle, WRITE, DONE, {"text": "Next."}) as run:
        steered = bridle("session", "steer", run.session, "and", "hurry")
        queued = bridle("session", "queue", run.session, "then this")
        decided = bridle("session", "decide", run.session, "once")
        ended = await run.ended()
        said = [(event.source, event.message.text) for event in await run.events(MessageAdded)]

    assert [steered, queued, decided] == [Done(0, "", "")] * 3
    assert (ended.outcome, ended.text) == ("completed", "All done.")
    assert said[:2] == [("prompt", "write"), ("steer", "and hurry")]
    assert (bridle.project / "a.txt").read_text() == "a\n"


async def test_a_refusal_tells_the_model_why(bridle: Bridle):
    async with waiting(bridle, WRITE, DONE) as run:
        bridle("session", "decide", run.session, "deny", "--reason", "not there")
        await run.ended()
        [finished] = await run.events(ToolFinished)

    assert finished.result.output == "denied: not there"


async def test_of_several_calls_one_has_to_be_named(bridle: Bridle):
    async with waiting(bridle, TWICE, DONE, asks=2) as run:
        unclear = bridle("session", "decide", run.session, "once")
        unknown = bridle("session", "decide", run.session, "once", "--call", "nobody")
        [first, _] = await run.events(ApprovalRequested)
        named = bridle("session", "decide", run.session, "stop", "--call", first.call_id)
        ended = await run.ended()

    assert (unclear.code, "several calls wait: " in unclear.err) == (64, True)
    assert unknown == Done(64, "", 'error: no call "nobody" of this session waits for an answer\n')
    assert (named.code, ended.outcome) == (0, "denied")


async def test_a_run_is_cancelled_and_then_there_is_nothing_to_say_to(bridle: Bridle):
    async with waiting(bridle, WRITE, DONE) as run:
        cancelled = bridle("session", "cancel", run.session)
        ended = await run.ended()
        again = bridle("session", "cancel", run.session)
        steered = bridle("session", "steer", run.session, "hello")

    assert (cancelled.code, ended.outcome, ended.reason) == (0, "cancelled", "cancelled by the user")
    assert (again.code, "has no active run" in again.err) == (1, True)
    assert (steered.code, "has no active run to steer" in steered.err) == (1, True)


@pytest.mark.parametrize("words", [("steer", "x"), ("queue", "x"), ("cancel",)])
def test_without_the_daemon_no_run_can_be_reached(bridle: Bridle, words: tuple[str, ...]):
    bridle("run", "--model", bridle.script(DONE), "hi")
    [session] = bridle.sessions()
    command, *text = words

    assert bridle("session", command, session["id"], *text) == Done(
        1,
        "",
        "error: the daemon is not running, and only its runs can be reached from here\n"
        "hint: bridle daemon start\n",
    )
