"""A run cut off after any stored event resumes: finished tools stay finished, nothing is lost."""

import asyncio

import pytest

from bridle.core.budget import Limits
from bridle.core.errors import ProviderError, SessionNotRunning
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolResult, user_message
from bridle.core.model import Model
from bridle.core.ports import Provider
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    Event,
    ModelReplied,
    Prompt,
    PromptQueued,
    Resume,
    RunEnded,
    RunOptions,
    RunResumed,
    ToolFinished,
    ToolStarted,
)
from bridle.core.queries import Records
from bridle.core.recovery import INTERRUPTED
from bridle.core.session import fold
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Cast, FixedClock, Play, SmallTool, Stage, call, says


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
        return [record.event for record in await stage.service.ask(Records(stage.session))]


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
        records = await stage.service.ask(Records(stage.session))

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
        session = await read_session(stage.service, stage.session)
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
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log)
    cast = tools()
    async with Stage(asked, tools=cast, store=store) as stage:
        await stage.submit_run(Resume())
        await stage.until(ApprovalRequested, 2)
        await stage.decide("b", "once")
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, cast[1].calls) == ("completed", ["2"])


async def test_an_answer_to_the_question_of_before_the_cut_counts_before_it_is_asked_again():
    asked = Play(says("", call("b", "change", "2")), says("done"))
    async with Stage(asked, tools=tools()) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log)
    cast = tools()
    async with Stage(asked, tools=cast, store=store) as stage:
        await asyncio.gather(stage.submit_run(Resume()), stage.decide("b", "once"))
        ended = await stage.service.wait(stage.session, run_id)
        decided = [event for event in await stage.log() if isinstance(event, ApprovalDecided)]

    assert (ended.outcome, cast[1].calls) == ("completed", ["2"])
    assert len(decided) == 1


async def test_a_reply_that_is_stored_counts_although_the_new_limit_of_turns_is_lower():
    """The limit stops requests, and this one was made before the cut."""
    store, log = await cut_store(15)
    assert sum(isinstance(event, ModelReplied) for event in log[:15]) == 2
    async with Stage(play(), tools=tools(), store=store) as stage:
        run_id = await stage.submit_run(Resume(RunOptions(limits=Limits(turns=1))))
        ended = await stage.service.wait(stage.session, run_id)
        results = [e.result.call_id for e in await stage.log() if isinstance(e, ToolFinished)]

    assert (ended.outcome, ended.reason) == (
        "budget_exhausted",
        "the turns limit is reached: 2 of 1 used",
    )
    assert sorted(results) == ["a", "b", "c", "d"]


async def test_the_time_between_the_cut_and_the_resume_is_not_counted():
    store = EphemeralStore(FixedClock())
    held = Play(says("done"), hold=True)
    async with Stage(held, store=store) as stage:
        run_id = await stage.prompt("hi", limits=Limits(duration_s=60.0))
        await held.streaming.wait()
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    cut = EphemeralStore(FixedClock())
    await cut.append(SessionId("play"), 0, log)
    later = FixedClock(3_600_000)
    async with Stage(play(), tools=tools(), store=cut, clock=later) as stage:
        await stage.submit_run(Resume(RunOptions(mode="yolo")))
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.text) == ("completed", "done")


async def test_a_run_that_had_changed_its_model_goes_on_with_the_new_one():
    gone = ProviderError("no such model", kind="model_not_found")
    understudy = Play(says("", call("b", "change", "2")), says("done"))
    async with Stage(Play([gone, gone]), understudy=understudy, tools=tools()) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log)
    first = Play([gone, gone])
    async with Stage(first, understudy=understudy, tools=tools(), store=store) as stage:
        await stage.submit_run(Resume(RunOptions(mode="yolo")))
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.text, first.requests) == ("completed", "done", [])


async def test_a_resumed_run_keeps_the_rules_it_was_started_with():
    async with Stage(play(), tools=tools()) as stage:
        run_id = await stage.prompt("hi", mode="yolo", deny=("change",))
        await stage.service.wait(stage.session, run_id)
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    store = EphemeralStore(FixedClock())
    await store.append(SessionId("play"), 0, log[:3])
    cast = tools()
    async with Stage(play(), tools=cast, store=store) as stage:
        await stage.submit_run(Resume())
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, cast[0].calls, cast[1].calls) == ("completed", ["1", "4"], [])


async def test_a_stop_decided_before_the_cut_also_stops_what_the_resume_would_start():
    asked = Play(says("", call("a", "look", "1"), call("b", "change", "2")))
    async with Stage(asked, tools=tools()) as stage:
        run_id = await stage.prompt("hi", ask=("look",))
        await stage.until(ApprovalRequested, 2)
        log = [record.event for record in await stage.service.ask(Records(stage.session))]
    store = EphemeralStore(FixedClock())
    stop = [ApprovalDecided(CallId("a"), "once"), ApprovalDecided(CallId("b"), "stop", "enough")]
    await store.append(SessionId("play"), 0, [*log, *stop])
    cast = tools()
    async with Stage(asked, tools=cast, store=store) as stage:
        await stage.submit_run(Resume())
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.reason) == ("denied", "enough")
    assert (cast[0].calls, cast[1].calls) == ([], [])


async def test_a_prompt_that_waited_when_the_process_ended_between_two_runs_is_begun():
    async with Stage(Play(says("one"))) as stage:
        await stage.run("go")
        end = len(await stage.store.read(stage.session))
    await stage.store.append(stage.session, end, [PromptQueued("item", user_message("more"))])

    async with Stage(Play(says("one"), says("two")), store=stage.store) as stage:
        run_id = await stage.submit_run(Resume())
        last = await stage.service.wait(stage.session, run_id)
        session = await read_session(stage.service, stage.session)

    assert (last.outcome, last.text, session.known.queue) == ("completed", "two", ())


async def test_a_queue_that_the_user_has_stopped_is_not_begun_by_resuming():
    hold = Play(says("one"), hold=True)
    async with Stage(hold) as stage:
        await stage.prompt("go")
        await hold.streaming.wait()
        await stage.service.submit(stage.session, Prompt(user_message("more")))
        await stage.service.submit(stage.session, Cancel())
        await stage.until(RunEnded)

        with pytest.raises(SessionNotRunning, match="no interrupted run"):
            await stage.service.submit(stage.session, Resume())


class SlowCast(Cast):
    """Finds a model on demand."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider, window_tokens=10_000)
        self.go = asyncio.Event()

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        await self.go.wait()
        return await super().resolve(ref)


async def test_a_run_that_begins_when_its_engine_is_about_to_end_is_left_to_be_resumed():
    """A shutdown waits only for a limited time; no user has cancelled the run."""
    play = Play(says("one"), hold=True)
    models = SlowCast(play)
    async with Stage(play, models=models) as stage:
        beginning = asyncio.create_task(stage.prompt("go"))
        await asyncio.sleep(0)
        await stage.service.park(0)
        models.go.set()
        await beginning
        await play.streaming.wait()
    events = [record.event for record in await stage.store.read(stage.session)]

    assert not any(isinstance(event, RunEnded) for event in events)
    assert fold(await stage.store.read(stage.session)).run is not None
