"""Driving a run: all events are seen, questions are answered, and the result is known."""

import asyncio

import pytest

from bridle.core.errors import SessionBusy, SessionNotRunning
from bridle.core.ids import CallId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    Decide,
    Delta,
    DropQueued,
    Prompt,
    Question,
    QuestionAsked,
    Record,
    Reply,
    Resume,
    RunOptions,
    TextDelta,
)
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.run_driver import (
    Answer,
    Asked,
    RunDriver,
    answer_unattended,
    leave_to_others,
    run_to_end,
)
from tests.patience import PATIENCE_S
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says

HI = Prompt(user_message("hi"))


def change() -> SmallTool:
    return SmallTool("change", lambda on: f"changed {on}", access="write")


async def yes(asked: Asked) -> Answer | None:
    return Decide(asked.call_id, "once")


def kinds(items: list[Record | Delta]) -> list[str]:
    return [type(item.event if isinstance(item, Record) else item).__name__ for item in items]


async def test_every_item_of_the_run_comes_and_nothing_else():
    async with Stage(Play(says("one"), says("two"))) as stage:
        await stage.run("before")
        async with RunDriver(stage.service, stage.session) as drive:
            await drive.start(HI)
            items = [item async for item in drive.items()]

    assert kinds(items) == [
        "RunStarted",
        "MessageAdded",
        "TurnStarted",
        "TextDelta",
        "ModelReplied",
        "TurnEnded",
        "Checkpoint",
        "RunEnded",
    ]
    assert drive.result is not None
    assert (drive.result.outcome, drive.result.text, drive.result.turns) == ("completed", "two", 1)


async def test_approvals_are_put_to_the_answerer():
    tool = change()
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[tool]) as stage:
        result = await run_to_end(stage.service, stage.session, HI, yes)

    assert (result.outcome, tool.calls) == ("completed", ["a"])


async def test_where_nobody_can_answer_the_run_stops_and_says_what_would_let_it_through():
    tool = change()
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[tool]) as stage:
        result = await run_to_end(stage.service, stage.session, HI)

    assert (result.outcome, tool.calls) == ("denied", [])
    [denied] = result.denied
    assert (denied.reason, denied.rules) == ("nobody is there to approve it", ("change(*)",))


async def test_what_is_left_to_others_is_answered_by_them():
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        driving = asyncio.create_task(run_to_end(stage.service, stage.session, HI, leave_to_others))
        await stage.until(ApprovalRequested)
        await stage.decide("a", "once")

        assert (await driving).outcome == "completed"


async def test_an_answer_from_elsewhere_ends_the_asking():
    was_asked, was_let_go = asyncio.Event(), asyncio.Event()

    async def think(asked: Asked) -> Answer | None:
        was_asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            was_let_go.set()
        return None

    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        driving = asyncio.create_task(run_to_end(stage.service, stage.session, HI, think))
        await was_asked.wait()
        await stage.decide("a", "once")
        await was_let_go.wait()
        result = await driving
        decided = [event for event in await stage.log() if isinstance(event, ApprovalDecided)]

    assert (result.outcome, [event.answer for event in decided]) == ("completed", ["once"])


@pytest.mark.parametrize(("one_by_one", "asked"), [(True, ["a"]), (False, ["a", "b"])])
async def test_one_by_one_an_answer_may_settle_the_next_question_too(one_by_one: bool, asked: list[str]):
    seen: list[str] = []

    async def grant(one: Asked) -> Answer | None:
        seen.append(one.call_id)
        return Decide(one.call_id, "session")

    play = Play(says("", call("a", "change"), call("b", "change")), says("done"))
    async with (
        Stage(play, tools=[change()]) as stage,
        RunDriver(stage.service, stage.session, grant, one_by_one=one_by_one) as drive,
    ):
        await drive.start(HI)
        result = await drive.finish()

    assert (result.outcome, seen) == ("completed", asked)


async def test_a_queued_prompt_is_followed_from_its_own_beginning():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("first")
        async with RunDriver(stage.service, stage.session) as drive:
            receipt = await drive.start(HI)
            assert (receipt.run_id, drive.run_id) == (None, None)
            play.go.set()
            items = [item async for item in drive.items()]

    assert drive.result is not None
    assert (kinds(items)[:2], drive.result.text) == (["RunStarted", "MessageAdded"], "two")
    assert drive.run_id == drive.result.run_id


async def test_a_prompt_that_is_taken_out_of_the_queue_is_said():
    async with Stage(Play(says("one"), hold=True)) as stage:
        await stage.prompt("first")
        async with RunDriver(stage.service, stage.session) as drive:
            receipt = await drive.start(HI)
            assert receipt.item_id is not None
            await stage.service.submit(stage.session, DropQueued(receipt.item_id))
            with pytest.raises(SessionNotRunning, match="taken out of the queue"):
                await drive.finish()


async def test_a_repeated_prompt_gives_the_run_again():
    keyed = Prompt(user_message("hi"), key="k")
    async with Stage(Play(says("one"), says("two"))) as stage:
        first = await run_to_end(stage.service, stage.session, keyed)
        await stage.run("between")

        assert await run_to_end(stage.service, stage.session, keyed) == first


async def test_a_run_that_was_cut_off_is_driven_on():
    store = EphemeralStore(FixedClock())
    play = Play(says("one"), hold=True)
    async with Stage(play, store=store) as stage:
        await stage.prompt("hi")
        await play.streaming.wait()
        await stage.service.park(0.0)

    async with Stage(Play(says("at last")), store=store) as later:
        result = await run_to_end(later.service, later.session, Resume())

    assert (result.outcome, result.text) == ("completed", "at last")


async def test_cancelling_ends_the_run():
    play = Play(says("one"), hold=True)
    async with Stage(play) as stage, RunDriver(stage.service, stage.session) as drive:
        await drive.start(HI)
        await play.streaming.wait()
        await drive.cancel("enough")
        result = await drive.finish()
        await drive.cancel("too late")

    assert (result.outcome, result.reason) == ("cancelled", "enough")


async def test_leaving_does_not_end_the_run():
    play = Play(says("one"), hold=True)
    async with Stage(play) as stage:
        async with RunDriver(stage.service, stage.session) as drive:
            receipt = await drive.start(HI)
            await play.streaming.wait()
        play.go.set()
        assert receipt.run_id is not None
        ended = await stage.service.wait(stage.session, receipt.run_id)

    assert (ended.outcome, drive.result) == ("completed", None)


async def test_what_is_not_taken_is_raised():
    async with Stage(Play(says("one"), hold=True)) as stage:
        await stage.prompt("first")
        with pytest.raises(SessionBusy):
            await run_to_end(stage.service, stage.session, Prompt(user_message("hi"), if_busy="reject"))


async def test_fragments_of_a_quick_run_are_not_missed():
    async with Stage(Play(says("quick"))) as stage, RunDriver(stage.service, stage.session) as drive:
        await drive.start(Prompt(user_message("hi"), RunOptions()))
        texts = [item.text async for item in drive.items() if isinstance(item, TextDelta)]

    assert texts == ["quick"]


async def test_a_question_of_the_model_gets_no_answer_from_nobody():
    asked = QuestionAsked(CallId("q"), Question("which"))

    assert await answer_unattended(asked) == Reply(CallId("q"))
    assert await leave_to_others(asked) is None


async def test_what_was_decided_is_not_asked_again_with_a_repeated_prompt():
    asked: list[CallId] = []

    async def note(one: Asked) -> Answer | None:
        asked.append(one.call_id)
        return Decide(one.call_id, "once")

    keyed = Prompt(user_message("hi"), key="k")
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        await run_to_end(stage.service, stage.session, keyed, note)
        async with RunDriver(stage.service, stage.session, note) as drive:
            await drive.start(keyed)
            async for _ in drive.items():
                await asyncio.sleep(0)  # as one does who passes it on

    assert asked == ["a"]


async def test_what_is_still_open_is_asked_with_a_repeated_prompt():
    keyed = Prompt(user_message("hi"), key="k")
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        await stage.service.submit(stage.session, keyed)
        await stage.until(ApprovalRequested)
        result = await run_to_end(stage.service, stage.session, keyed, yes)

    assert result.outcome == "completed"


async def test_a_repeated_prompt_that_still_waits_hears_that_the_run_before_it_was_stopped():
    keyed = Prompt(user_message("hi"), key="k")
    async with Stage(Play(says("one"), hold=True)) as stage:
        await stage.prompt("first")
        await stage.service.submit(stage.session, keyed)
        async with RunDriver(stage.service, stage.session) as drive:
            await drive.start(keyed)
            await stage.service.submit(stage.session, Cancel())
            with pytest.raises(SessionNotRunning, match="the run before it was stopped"):
                async with asyncio.timeout(PATIENCE_S):
                    await drive.finish()


@pytest.mark.parametrize("has_begun", [True, False])
async def test_cancelling_does_not_end_the_run_of_somebody_else(has_begun: bool):
    play = Play(says("one"), hold=True)
    async with Stage(play) as stage:
        run = await stage.prompt("first")
        async with RunDriver(stage.service, stage.session) as drive:
            if has_begun:
                await drive.start(HI)
            await drive.cancel("not wanted any more")
            if has_begun:
                with pytest.raises(SessionNotRunning, match="taken out of the queue"):
                    await drive.finish()
        play.go.set()
        ended = await stage.service.wait(stage.session, run)

    assert (ended.outcome, ended.text) == ("completed", "one")
