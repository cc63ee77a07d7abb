"""A run cut off after any stored event goes on: finished tools stay finished, nothing is lost."""

import pytest

from bridle.core.ids import SessionId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    ApprovalRequested,
    Event,
    Resume,
    RunEnded,
    RunResumed,
    ToolFinished,
    ToolStarted,
)
from bridle.core.recovery import INTERRUPTED
from bridle.core.session import fold
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says


def tools() -> list[SmallTool]:
    return [
        SmallTool("look", lambda on: f"saw {on}"),
        SmallTool("change", lambda on: f"changed {on}", access="write"),
    ]


def play() -> Play:
    return Play(
        says("", call("a", "look", "1"), call("b", "change", "2")),
        says("", call("c", "change", "3"), call("d", "look", "4")),
        says("done"),
    )


async def whole_log() -> list[Event]:
    async with Stage(play(), tools=tools()) as stage:
        await stage.run("hi", mode="yolo")
        return [record.event for record in await stage.service.records(stage.session)]


CUTS = range(3, 22)  # from RunStarted and its prompt to just before RunEnded


async def cut_store(cut: int) -> tuple[EphemeralStore, list[Event]]:
    log = await whole_log()
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log[:cut])
    return store, log


async def test_the_log_has_as_many_cuts_as_are_tried():
    assert len(await whole_log()) == CUTS.stop


@pytest.mark.parametrize("cut", CUTS)
async def test_resume_after_any_event_ends_the_run_without_repeating_a_finished_tool(cut):
    store, log = await cut_store(cut)
    finished = {e.result.call_id for e in log[:cut] if isinstance(e, ToolFinished)}
    started = {e.call_id: e for e in log[:cut] if isinstance(e, ToolStarted)}
    cast = tools()
    async with Stage(play(), tools=cast, store=store) as stage:
        run_id = await stage.submit_run(Resume())
        ended = await stage.service.wait(stage.session, run_id)
        records = await stage.service.records(stage.session)

    new = [record.event for record in records[cut:]]
    ran = {e.call_id for e in new if isinstance(e, ToolStarted)}
    lost = {call_id for call_id, e in started.items() if call_id not in finished and not e.repeatable}
    assert (ended.outcome, ended.text) == ("completed", "done")
    assert not ran & finished
    assert not ran & lost
    assert isinstance(new[0], RunResumed)
    assert set(new[0].interrupted) == lost
    for call_id in lost:
        name = started[call_id].tool
        assert ToolFinished(ToolResult(call_id, name, INTERRUPTED, is_error=True)) in new
    results = [e.result.call_id for e in (r.event for r in records) if isinstance(e, ToolFinished)]
    assert sorted(results) == ["a", "b", "c", "d"]
    assert [item.message.role for item in fold(records).messages] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
async def test_a_new_prompt_after_any_cut_closes_the_run_and_goes_on(cut):
    store, _ = await cut_store(cut)
    async with Stage(Play(*[says("fine")] * 4), tools=tools(), store=store) as stage:
        ended = await stage.run("go on")
        session = await stage.service.read(stage.session)
        ends = [e for e in await stage.log() if isinstance(e, RunEnded)]

    assert ended.outcome == "completed"
    assert [end.outcome for end in ends] == ["failed", "completed"]
    for before, after in zip(session.messages, session.messages[1:], strict=False):
        if before.message.calls:
            assert [part.call_id for part in after.message.parts] == [c.id for c in before.message.calls]


async def test_an_open_approval_is_asked_again_and_a_given_answer_still_counts():
    asked = Play(says("", call("b", "change", "2")), says("done"))
    async with Stage(asked, tools=tools()) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        log = [record.event for record in await stage.service.records(stage.session)]
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log)
    cast = tools()
    async with Stage(asked, tools=cast, store=store) as stage:
        await stage.submit_run(Resume())
        await stage.until(ApprovalRequested, 2)
        await stage.decide("b", "once")
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, cast[1].calls) == ("completed", ["2"])
