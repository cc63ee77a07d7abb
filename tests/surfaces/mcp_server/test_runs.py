"""When a run waits: only for results of its client, with nothing else in progress."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, ToolCall, ToolResult, Usage
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelReplied,
    Record,
    ToolFinished,
    ToolStarted,
)
from bridle.surfaces.mcp_server.client_tools import ClientTools
from bridle.surfaces.mcp_server.runs import ClientRun


def call(call_id: str, name: str = "theirs") -> ToolCall:
    return ToolCall(CallId(call_id), name, {})


def replied(*calls: ToolCall) -> Event:
    return ModelReplied(RunId("r"), 1, Message("assistant", calls), "tool_use", Usage())


def started(call_id: str, name: str = "theirs", parent: str | None = None) -> Event:
    return ToolStarted(CallId(call_id), name, {}, parent=CallId(parent) if parent else None)


def finished(call_id: str) -> Event:
    return ToolFinished(ToolResult(CallId(call_id), "ours", ""))


def feed(client_run: ClientRun, *events: Event) -> None:
    for event in events:
        client_run.take(Record(1, 1, event, ""))


@asynccontextmanager
async def waiting(*calls: str) -> AsyncIterator[ClientRun]:
    """Yield a run whose client's tools were called."""
    callbacks = ClientTools([])
    client_run = ClientRun(SessionId("s"), callbacks)
    tasks = [asyncio.create_task(callbacks.dispatch(call(one))) for one in calls]
    await asyncio.sleep(0)
    yield client_run
    callbacks.give({CallId(one): ToolOutput("done") for one in calls})
    assert await asyncio.gather(*tasks) == [ToolOutput("done")] * len(calls)
    assert not client_run.waiting


async def test_with_nothing_to_wait_for_a_run_does_not_rest():
    client_run = ClientRun(SessionId("s"), None)
    feed(client_run, replied(call("c1")), started("c1"))

    assert (client_run.is_at_rest, client_run.waiting) == (False, {})


async def test_when_all_calls_of_the_reply_wait_nothing_more_can_come():
    async with waiting("c1", "c2") as client_run:
        feed(client_run, replied(call("c1"), call("c2")), started("c1"), started("c2"))

        assert (client_run.is_at_rest, client_run.is_settled, list(client_run.waiting)) == (
            True,
            True,
            ["c1", "c2"],
        )


async def test_a_further_call_of_the_reply_may_still_come():
    async with waiting("c1") as client_run:
        feed(client_run, replied(call("c1"), call("c2")), started("c1"))

        assert (client_run.is_at_rest, client_run.is_settled) == (True, False)


async def test_of_a_resumed_run_it_is_not_known_what_comes():
    async with waiting("c1") as client_run:
        feed(client_run, started("c1"))

        assert (client_run.is_at_rest, client_run.is_settled) == (True, False)


async def test_a_tool_of_ours_that_runs_is_waited_for():
    async with waiting("c1") as client_run:
        feed(client_run, replied(call("c1"), call("c2", "ours")), started("c1"), started("c2", "ours"))
        before = client_run.is_at_rest
        feed(client_run, finished("c2"))

        assert (before, client_run.is_at_rest, client_run.is_settled) == (False, True, True)


async def test_a_question_is_answered_first():
    async with waiting("c1") as client_run:
        feed(client_run, replied(call("c1"), call("c2", "ours")), started("c1"))
        feed(client_run, ApprovalRequested(CallId("c2"), "ours", {}, "why"))
        before = client_run.is_at_rest
        feed(client_run, ApprovalDecided(CallId("c2"), "once"))

        assert (before, client_run.is_at_rest) == (False, True)


async def test_code_around_a_call_waits_with_it():
    async with waiting("n1") as client_run:
        feed(client_run, replied(call("c1", "python")), started("c1", "python"), started("n1", parent="c1"))

        assert (client_run.is_at_rest, client_run.is_settled) == (True, False)


async def test_a_result_that_comes_before_its_call_is_kept():
    callbacks = ClientTools([])
    callbacks.give({CallId("c1"): ToolOutput("early")})

    assert await callbacks.dispatch(call("c1")) == ToolOutput("early")
    assert callbacks.waiting == {}
