"""Plays: script the model, submit, decide, and compare the log."""

import asyncio
import gc
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.config.daemon_keys import ServeSettings
from bridle.config.keys import ConfigFile
from bridle.core.budget import Limits
from bridle.core.context import CompactionPolicy, ContextUsage
from bridle.core.errors import (
    ProviderError,
    SessionBusy,
    SessionNotFound,
    SessionNotRunning,
    StoreFull,
    UsageError,
)
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, Message, Text, ToolResult, Usage, user_message
from bridle.core.model import Model, Price
from bridle.core.ports import Provider
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Archive,
    BudgetExhausted,
    BudgetWarned,
    Cancel,
    Checkpoint,
    Delete,
    DropQueued,
    EditQueued,
    Lagged,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    Prompt,
    PromptQueued,
    Record,
    Rename,
    Resume,
    Retrying,
    RunEnded,
    RunStarted,
    SessionCreated,
    SessionFacts,
    SessionTitled,
    Steer,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Totals,
    TurnEnded,
    TurnStarted,
)
from bridle.core.queries import IsRunning, ListSessions, PreviewContext, Records
from bridle.core.retry import RetryPolicy
from bridle.stores.claims import FileClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import fork_session, read_session
from tests.patience import PATIENCE_S
from tests.sessions.stage import Cast, FixedClock, Play, SmallTool, Stage, call, says

USAGE = Usage(input=10, output=5)


def look(name: str = "look") -> SmallTool:
    return SmallTool(name, lambda on: f"saw {on}")


def change(name: str = "change") -> SmallTool:
    return SmallTool(name, lambda on: f"changed {on}", access="write")


async def test_a_plain_answer_leaves_this_log():
    async with Stage(Play(says("hello"))) as stage:
        ended = await stage.run("hi")
        run_id = ended.run_id
        log = await stage.log()

    context = ContextUsage(window=10_000, system=4, run=5, reserve=100, run_messages=1)
    created = SessionCreated(SessionId("play"), "/")
    totals = Totals(messages=2, runs=1, turns=1, usage=USAGE, unpriced_turns=1)
    assert log == [
        RunStarted(run_id, "scripted/play"),
        MessageAdded(user_message("hi"), tokens=5),
        TurnStarted(run_id, 1),
        ModelReplied(
            run_id, 1, Message("assistant", (Text("hello"),)), "end_turn", USAGE, tokens=5, context=context
        ),
        TurnEnded(run_id, 1, USAGE, context),
        Checkpoint(SessionFacts(created, 1_000, "hi", "scripted/play", totals=totals)),
        RunEnded(run_id, "completed", "hello", turns=1, usage=USAGE),
    ]


async def test_a_tool_turn_records_start_before_and_finish_after():
    tool = look()
    async with Stage(Play(says("", call("c1", "look", "x")), says("done")), tools=[tool]) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert [type(event).__name__ for event in log] == [
        "RunStarted",
        "MessageAdded",
        "TurnStarted",
        "ModelReplied",
        "ToolStarted",
        "ToolFinished",
        "TurnEnded",
        "TurnStarted",
        "ModelReplied",
        "TurnEnded",
        "Checkpoint",
        "RunEnded",
    ]
    assert log[4] == ToolStarted(CallId("c1"), "look", {"on": "x"}, repeatable=True)
    assert log[5].result == ToolResult(CallId("c1"), "look", "saw x")
    assert (ended.outcome, ended.turns, ended.tool_calls) == ("completed", 2, 1)


async def test_results_reach_the_model_in_call_order_whoever_finishes_first():
    first_may_end = asyncio.Event()

    async def work(on: str) -> str:
        if on == "slow":
            await first_may_end.wait()
        else:
            first_may_end.set()
        return on

    play = Play(says("", call("a", "look", "slow"), call("b", "look", "quick")), says("done"))
    async with Stage(play, tools=[SmallTool("look", work)]) as stage:
        await stage.run("hi")
        finished = [e.result.call_id for e in await stage.log() if isinstance(e, ToolFinished)]

    assert finished == ["b", "a"]
    assert [part.call_id for part in play.requests[1].messages[-1].parts] == ["a", "b"]


async def test_calls_that_change_things_run_alone_and_in_order():
    running: list[str] = []

    async def work(on: str) -> str:
        assert not running
        running.append(on)
        await asyncio.sleep(0)
        running.remove(on)
        return on

    tool = SmallTool("change", work, access="write")
    play = Play(says("", *(call(f"c{n}", "change", str(n)) for n in range(5))), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        await stage.run("hi", mode="yolo")

    assert tool.calls == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("answer", "outcome", "ran"), [("once", "completed", 1), ("deny", "completed", 0), ("stop", "denied", 0)]
)
async def test_an_approval_waits_for_its_answer(answer, outcome, ran):
    tool = change()
    play = Play(says("", call("c1", "change", "src/x")), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        asked = await stage.until(ApprovalRequested)
        await stage.decide("c1", answer, "because")
        ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert asked == ApprovalRequested(
        CallId("c1"),
        "change",
        {"on": "src/x"},
        "writes a file (mode ask)",
        "would change src/x",
        ("change(src/**)",),
    )
    assert ApprovalDecided(CallId("c1"), answer, "because") in log
    assert (ended.outcome, len(tool.calls)) == (outcome, ran)


async def test_a_denied_call_tells_the_model_why():
    play = Play(says("", call("c1", "change")), says("done"))
    async with Stage(play, tools=[change()]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("c1", "deny", "not that file")
        await stage.service.wait(stage.session, run_id)

    [result] = play.requests[1].messages[-1].parts
    assert result == ToolResult(CallId("c1"), "change", "denied: not that file", is_error=True)


async def test_a_grant_for_the_session_answers_the_other_questions_it_covers_and_lasts():
    tool = change()
    play = Play(
        says("", call("a", "change", "src/x"), call("b", "change", "src/y")),
        says("", call("c", "change", "src/z")),
        says("done"),
        says("", call("d", "change", "src/w")),
        says("done again"),
    )
    async with Stage(play, tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested, 2)
        await stage.decide("a", "session")
        await stage.service.wait(stage.session, run_id)
        await stage.run("more")
        decided = [e for e in await stage.log() if isinstance(e, ApprovalDecided)]

    assert tool.calls == ["src/x", "src/y", "src/z", "src/w"]
    assert decided == [
        ApprovalDecided(CallId("a"), "session", rules=("change(src/**)",)),
        ApprovalDecided(CallId("b"), "once", "rule change(src/**)"),
    ]


async def test_questions_come_in_the_order_of_the_calls_however_long_a_preview_takes():
    class SlowPreview(SmallTool):
        async def preview(self, args, context):
            if args["on"] == "slow":
                for _ in range(20):
                    await asyncio.sleep(0)
            return ""

    tool = SlowPreview("change", lambda on: on, access="write")
    play = Play(says("", call("a", "change", "slow"), call("b", "change", "quick")), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        await stage.prompt("hi")
        await stage.until(ApprovalRequested, 2)
        asked = [e.call_id for e in await stage.log() if isinstance(e, ApprovalRequested)]

    assert asked == ["a", "b"]


async def test_a_grant_also_covers_a_question_that_was_still_being_prepared():
    granted = asyncio.Event()

    class SlowPreview(SmallTool):
        async def preview(self, args, context):
            if args["on"] == "src/late":
                await granted.wait()
            return ""

    tool = SlowPreview("change", lambda on: on, access="write")
    play = Play(says("", call("a", "change", "src/x"), call("b", "change", "src/late")), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("a", "session")
        await stage.until(ApprovalDecided)
        granted.set()
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, tool.calls) == ("completed", ["src/x", "src/late"])


async def test_the_first_answer_counts_and_unknown_calls_are_ignored():
    tool = change()
    async with Stage(Play(says("", call("c1", "change")), says("done")), tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("nobody", "once")
        await stage.decide("c1", "deny")
        await stage.decide("c1", "once")
        await stage.service.wait(stage.session, run_id)

    assert tool.calls == []


async def test_bad_arguments_come_back_to_the_model():
    play = Play(
        says("", call("c1", "nothing"), call("c2", "look").__class__(CallId("c2"), "look", {})), says("done")
    )
    tool = look()
    async with Stage(play, tools=[tool]) as stage:
        ended = await stage.run("hi")

    unknown, missing = play.requests[1].messages[-1].parts
    assert unknown.is_error
    assert "nothing" in unknown.output
    assert missing.is_error
    assert "on" in missing.output
    assert (tool.calls, ended.outcome) == ([], "completed")


async def test_a_tool_that_breaks_is_a_failed_result():
    def break_down(on: str) -> str:
        raise ZeroDivisionError("by zero")

    play = Play(says("", call("c1", "look")), says("done"))
    async with Stage(play, tools=[SmallTool("look", break_down)]) as stage:
        ended = await stage.run("hi")

    [result] = play.requests[1].messages[-1].parts
    assert result == ToolResult(
        CallId("c1"), "look", "look failed: ZeroDivisionError: by zero", is_error=True
    )
    assert ended.outcome == "completed"


async def test_steering_joins_at_the_next_turn_and_keeps_the_run_going():
    play = Play(says("first"), says("second"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        await play.streaming.wait()
        await stage.service.submit(stage.session, Steer(user_message("wait, also this")))
        play.go.set()
        ended = await stage.service.wait(stage.session, run_id)
        session = await read_session(stage.service, stage.session)

    assert [item.message.text for item in session.messages] == ["hi", "first", "wait, also this", "second"]
    assert (ended.text, ended.turns, session.known.queue) == ("second", 2, ())


async def test_prompts_while_busy_queue_and_can_be_edited_and_dropped():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("hi")
        await play.streaming.wait()
        submit = stage.service.submit
        kept = await submit(stage.session, Prompt(user_message("typo")))
        gone = await submit(stage.session, Prompt(user_message("never mind")))
        await submit(stage.session, EditQueued(kept.item_id, user_message("fixed")))
        await submit(stage.session, DropQueued(gone.item_id))
        with pytest.raises(UsageError):
            await submit(stage.session, DropQueued(gone.item_id))
        with pytest.raises(SessionBusy):
            await submit(stage.session, Prompt(user_message("now!"), if_busy="reject"))
        play.go.set()
        await stage.until(RunEnded, 2)
        session = await read_session(stage.service, stage.session)

    assert [item.message.text for item in session.messages] == ["hi", "one", "fixed", "two"]


async def test_a_queued_prompt_can_be_sent_into_the_run_instead():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        await play.streaming.wait()
        queued = await stage.service.submit(stage.session, Prompt(user_message("hurry")))
        assert queued.item_id is not None
        edit = EditQueued(queued.item_id, user_message("hurry"), "steer")
        await stage.service.submit(stage.session, edit)
        play.go.set()
        ended = await stage.service.wait(stage.session, run_id)
        session = await read_session(stage.service, stage.session)
        with pytest.raises(UsageError):
            await stage.service.submit(stage.session, edit)

    assert [item.message.text for item in session.messages] == ["hi", "one", "hurry", "two"]
    assert (ended.turns, session.known.queue) == (2, ())


async def test_steering_an_idle_session_is_refused():
    async with Stage(Play(says("hello"))) as stage:
        for command in (Steer(user_message("go")), Cancel(), Resume()):
            with pytest.raises(SessionNotRunning):
                await stage.service.submit(stage.session, command)


async def test_cancel_during_the_model_call_keeps_the_text_seen_so_far():
    play = Play(says("half an ans"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        await play.streaming.wait()
        began = time.monotonic()
        await stage.service.interrupt(stage.session, "enough")
        took_s = time.monotonic() - began
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.reason, ended.text) == ("cancelled", "enough", "half an ans")
    assert took_s < 5  # the promise of 200 ms is a bench's business; here it must not hang


async def test_cancel_during_a_tool_gives_its_call_a_result():
    began = asyncio.Event()

    async def hang(on: str) -> str:
        began.set()
        await asyncio.Event().wait()
        return on

    async with Stage(Play(says("", call("c1", "look"))), tools=[SmallTool("look", hang)]) as stage:
        await stage.prompt("hi")
        await began.wait()
        await stage.service.interrupt(stage.session)
        [finished] = [e for e in await stage.log() if isinstance(e, ToolFinished)]
        [*_, last] = await stage.log()

    assert finished.result.output == "not finished: the run ended (cancelled)"
    assert last.outcome == "cancelled"


async def test_cancel_while_an_approval_is_open():
    tool = change()
    async with Stage(Play(says("", call("c1", "change"))), tools=[tool]) as stage:
        await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.service.interrupt(stage.session)
        [*_, last] = await stage.log()

    assert (last.outcome, tool.calls) == ("cancelled", [])


async def test_cancel_during_backoff():
    failing = [ProviderError("busy", kind="rate_limited", retry_after_s=100.0)]
    async with Stage(Play(failing), retry=RetryPolicy()) as stage:
        await stage.prompt("hi")
        await stage.until(Retrying)
        await stage.service.interrupt(stage.session)
        [*_, last] = await stage.log()

    assert last.outcome == "cancelled"


async def test_a_cancelled_session_goes_on_with_the_next_prompt():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("hi")
        await play.streaming.wait()
        await stage.service.interrupt(stage.session)
        play.go.set()
        ended = await stage.run("again")

    assert ended.text == "two"


async def test_a_retry_is_visible_and_only_the_last_try_is_kept():
    busy = ProviderError("too many requests", kind="rate_limited")
    async with Stage(Play([busy, busy, says("hello")])) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert [e for e in log if isinstance(e, Retrying)] == [
        Retrying(ended.run_id, 1, attempt, 2, "rate_limited", "too many requests", 0) for attempt in (1, 2)
    ]
    assert (ended.outcome, ended.text) == ("completed", "hello")


@pytest.mark.parametrize("kind", ["server_error", "invalid_api_key"])
async def test_a_model_that_keeps_failing_fails_the_run(kind):
    async with Stage(Play([ProviderError("no", kind=kind)])) as stage:
        ended = await stage.run("hi")

    assert (ended.outcome, ended.reason) == ("failed", "no")


async def test_a_model_that_cannot_be_reached_is_replaced_for_the_rest_of_the_run():
    gone = Play([ProviderError("no such model", kind="model_not_found")])
    understudy = Play(says("", call("c1", "look")), says("done"))
    async with Stage(gone, understudy=understudy, tools=[look()]) as stage:
        ended = await stage.run("hi")
        switched = [e for e in await stage.log() if isinstance(e, ModelSwitched)]

    assert switched == [ModelSwitched(ended.run_id, 1, "scripted/understudy", "no such model")]
    assert (ended.outcome, ended.text, len(gone.requests)) == ("completed", "done", 1)


async def test_the_small_model_writes_the_title_of_a_new_session():
    titles = Play(says('"Greetings, plainly."\n'), says("never asked"))
    async with Stage(
        Play(says("hello"), says("again")), understudy=titles, titles_by="scripted/understudy"
    ) as stage:
        await stage.run("hi")
        titled = await stage.until(SessionTitled)
        await stage.run("and again")
        session = await read_session(stage.service, stage.session)

    assert titled == SessionTitled("Greetings, plainly", "scripted/understudy", USAGE)
    assert session.known.title == "Greetings, plainly"
    assert session.known.totals.usage == USAGE + USAGE + USAGE
    assert len(titles.requests) == 1


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Set timeout in config.toml to 45 seconds", "Set timeout in config.toml"),
        ("Makefile with targets build, test and clean", "Makefile with targets build, test"),
        ("One two three four five six seven", "One two three four five six"),
        ("Six words are all that fit", "Six words are all that fit"),
    ],
)
async def test_a_title_has_at_most_six_words_and_ends_with_none_that_joins(said: str, title: str):
    titles = Play(says(said))
    async with Stage(Play(says("hello")), understudy=titles, titles_by="scripted/understudy") as stage:
        await stage.run("hi")

        assert (await stage.until(SessionTitled)).title == title


async def test_a_title_that_fails_leaves_the_one_made_from_the_prompt():
    broken = Play([ProviderError("down", kind="server_error")])
    async with Stage(Play(says("hello")), understudy=broken, titles_by="scripted/understudy") as stage:
        ended = await stage.run("hi")
        titled = (await read_session(stage.service, stage.session)).known.title

    assert (ended.outcome, titled) == ("completed", "hi")


async def test_a_request_that_is_wrong_is_not_sent_to_another_model():
    refusing = Play([ProviderError("bad request", kind="invalid_request")])
    async with Stage(refusing, understudy=Play(says("hello"))) as stage:
        ended = await stage.run("hi")

    assert (ended.outcome, ended.reason) == ("failed", "bad request")


async def test_a_model_that_answers_nothing_fails_the_run():
    async with Stage(Play(says(""))) as stage:
        ended = await stage.run("hi")

    assert (ended.outcome, ended.reason) == ("failed", "the model sent an empty answer")


async def test_a_model_that_repeats_itself_for_ever_is_stopped():
    play = Play(*(says("", call(f"c{n}", "look")) for n in range(100)))
    tool = look()
    async with Stage(play, tools=[tool]) as stage:
        ended = await stage.run("hi")

    assert (ended.outcome, ended.reason) == ("limit", "the same calls gave the same results 5 times")
    assert len(tool.calls) == 5


async def test_max_turns_ends_the_run():
    play = Play(*(says("", call(f"c{n}", "look", str(n))) for n in range(100)))
    async with Stage(play, tools=[look()]) as stage:
        ended = await stage.run("hi", limits=Limits(turns=3))
        log = await stage.log()

    assert (ended.outcome, ended.reason) == ("budget_exhausted", "the turns limit is reached: 3 of 3 used")
    assert BudgetExhausted("turns", 3, 3) in log
    assert ended.turns == 3


async def test_a_spent_budget_ends_the_run_after_the_turn():
    play = Play(*(says("", call(f"c{n}", "look", str(n))) for n in range(100)))
    async with Stage(play, tools=[look()]) as stage:
        ended = await stage.run("hi", limits=Limits(tool_calls=2))
        log = await stage.log()

    assert (ended.outcome, ended.reason) == (
        "budget_exhausted",
        "the tool_calls limit is reached: 2 of 2 used",
    )
    assert [e for e in log if isinstance(e, BudgetWarned | BudgetExhausted)] == [
        BudgetWarned("tool_calls", 2, 2),
        BudgetExhausted("tool_calls", 2, 2),
    ]
    assert ended.tool_calls == 2


async def test_a_turn_that_would_exceed_the_budget_is_not_sent():
    play = Play(says("hello"))
    async with Stage(play) as stage:
        ended = await stage.run("hi", limits=Limits(tokens=5))

    assert (ended.outcome, ended.reason, play.requests) == (
        "budget_exhausted",
        "the next turn needs about 9 tokens, more than are left (0 of 5 used)",
        [],
    )


async def test_calls_beyond_the_limit_are_not_run():
    tool = look()
    play = Play(says("", *(call(f"c{n}", "look", str(n)) for n in range(5))), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        ended = await stage.run("hi", limits=Limits(tool_calls=2))

    assert (len(tool.calls), ended.outcome) == (2, "budget_exhausted")


async def test_a_deadline_stops_a_model_that_hangs():
    async with Stage(Play(says("never"), hold=True)) as stage:
        ended = await stage.run("hi", limits=Limits(duration_s=0.05))

    assert (ended.outcome, ended.text) == ("budget_exhausted", "never")


async def test_a_request_that_cannot_fit_fails_with_a_reason():
    async with Stage(Play(says("hello")), window_tokens=200) as stage:
        ended = await stage.run("word " * 1_000)

    assert ended.outcome == "failed"
    assert "window holds 200" in ended.reason


async def test_old_messages_leave_a_small_window():
    play = Play(*(says(f"answer {n}") for n in range(20)))
    async with Stage(play, window_tokens=200, compaction=CompactionPolicy(auto=False)) as stage:
        for n in range(8):
            assert (await stage.run(f"question {n} " + "x" * 100)).outcome == "completed"
        usage = (await stage.service.ask(PreviewContext(stage.session))).usage

    assert usage.dropped_messages > 0
    assert usage.total + usage.reserve <= 200
    assert play.requests[-1].messages[0].role == "user"


async def test_call_ids_are_made_unique():
    play = Play(
        says("", call("x", "look", "1"), call("x", "look", "2")),
        says("", call("x", "look", "3")),
        says("done"),
    )
    tool = look()
    async with Stage(play, tools=[tool]) as stage:
        await stage.run("hi")
        started = [e.call_id for e in await stage.log() if isinstance(e, ToolStarted)]

    assert started == ["x", "x_1_1", "x_2_0"]
    assert tool.calls == ["1", "2", "3"]


async def test_a_watcher_sees_everything_once_and_a_late_one_too():
    async with Stage(Play(says("hello"))) as stage:
        run_id = await stage.prompt("hi")
        live, late = [], []
        for seen in (live, late):
            async for item in stage.service.watch(stage.session):
                seen.append(item)
                if isinstance(item, Record) and isinstance(item.event, RunEnded):
                    break
        records = await stage.service.ask(Records(stage.session))

    assert [item for item in live if isinstance(item, Record)] == records == late
    assert TextDelta("hello") in live
    assert run_id


async def test_a_slow_watcher_is_told_and_loses_no_record():
    play = Play(says("x"), hold=True)
    async with Stage(play) as stage:
        seen = []
        watching = stage.service.watch(stage.session)
        run_id = await stage.prompt("hi")
        while not (
            isinstance(item := await anext(watching), Record) and isinstance(item.event, MessageAdded)
        ):
            seen.append(item)
        await play.streaming.wait()
        for n in range(10_000):
            stage.service._bus.publish(stage.session, [TextDelta(str(n))])
        play.go.set()
        await stage.service.wait(stage.session, run_id)
        while not (isinstance(item := await anext(watching), Record) and isinstance(item.event, RunEnded)):
            seen.append(item)
        seqs = [i.seq for i in seen if isinstance(i, Record)]

    assert any(isinstance(item, Lagged) for item in seen)
    assert seqs == sorted(set(seqs))


async def test_sessions_are_listed_renamed_forked_archived_and_deleted():
    async with Stage(Play(says("hello"), says("more"))) as stage:
        await stage.run("hi")
        await stage.service.submit(stage.session, Rename("greeting"))
        child = await fork_session(stage.service, stage.session)
        listed = {summary.title for summary in await stage.service.ask(ListSessions())}
        messages = [item.message.text for item in (await read_session(stage.service, child)).messages]
        await stage.service.submit(stage.session, Archive())
        active = [summary.id for summary in await stage.service.ask(ListSessions())]
        await stage.service.submit(child, Delete())
        left = [summary.id for summary in await stage.service.ask(ListSessions(archived=True))]

    assert listed == {"greeting", "greeting (fork)"}
    assert messages == ["hi", "hello"]
    assert (active, left) == ([child], [stage.session])


async def test_an_unknown_session_is_a_clear_error():
    async with Stage(Play(says("hello"))) as stage:
        for session in ("nobody", "../evil"):
            with pytest.raises(SessionNotFound, match=session):
                await stage.service.submit(SessionId(session), Prompt(user_message("hi")))


async def test_a_session_that_runs_elsewhere_is_busy():
    store = EphemeralStore(FixedClock())
    play = Play(says("hello"), hold=True)
    async with Stage(play, store=store) as here:
        claims = here.service._engine.claims
        async with Stage(Play(says("other")), store=store, claims=claims) as there:
            await here.prompt("hi")
            with pytest.raises(SessionBusy, match="another process"):
                await there.prompt("me too")
            play.go.set()


async def test_a_second_writer_gets_the_conflict_and_its_run_is_seen_to_fail():
    store = EphemeralStore(FixedClock())
    play = Play(says("hello"), hold=True)
    async with Stage(play, store=store) as here:
        run_id = await here.prompt("hi")
        await play.streaming.wait()
        last = (await store.read(here.session))[-1].seq
        await store.append(here.session, last, [PromptQueued("x", user_message("foreign"))])
        watching = asyncio.create_task(here.service.wait(here.session, run_id))
        play.go.set()
        ended = await watching

    assert ended.outcome == "failed"


class FullStore(EphemeralStore):
    """Runs out of space at a given append."""

    left = 10**9

    async def append(self, session, expected_seq, events):
        if self.left == 0:
            raise StoreFull("no space left on the device")
        self.left -= 1
        return await super().append(session, expected_seq, events)


async def test_a_full_disk_fails_the_run_and_loses_nothing():
    store = FullStore(FixedClock())
    async with Stage(Play(says("hello"), says("again"), hold=True), store=store) as stage:
        play = stage.service._engine.models.providers["play"]
        run_id = await stage.prompt("hi")
        await play.streaming.wait()
        store.left = 0
        watching = asyncio.create_task(stage.service.wait(stage.session, run_id))
        await asyncio.sleep(0)
        play.go.set()
        ended = await watching
        before = await stage.kinds()
        store.left = 10**9
        again = await stage.run("hi again")

    assert (ended.outcome, ended.reason) == ("failed", "no space left on the device")
    assert before == ["RunStarted", "MessageAdded", "TurnStarted"]
    assert again.outcome == "completed"


async def test_a_full_disk_before_a_model_call_leaves_no_call_behind():
    """An effect whose announcement could not be stored is dropped, without a warning by Python."""
    store = FullStore(FixedClock())
    play = Play(says("hello"))
    async with Stage(play, store=store) as stage:
        store.left = 1
        ended = await stage.run("hi")
        gc.collect()

    assert (ended.outcome, play.requests) == ("failed", [])


async def test_watching_an_unknown_session_is_a_clear_error():
    async with Stage(Play(says("hello"))) as stage:
        with pytest.raises(SessionNotFound, match="nobody"):
            await anext(stage.service.watch(SessionId("nobody")))


async def test_half_a_character_from_a_model_is_replaced():
    play = Play(says("caf\udce9", call("a\ud800", "look", "\udfff")), says("done \ud800"))
    tool = SmallTool("look", lambda on: f"saw {on} \ud83d")
    async with Stage(play, tools=[tool]) as stage:
        ended = await stage.run("hi")
        replies = [event.message for event in await stage.log() if isinstance(event, ModelReplied)]

    assert (ended.outcome, ended.text) == ("completed", "done \ufffd")
    assert replies[0] == Message("assistant", (Text("caf\ufffd"), call("a\ufffd", "look", "\ufffd")))
    assert tool.calls == ["\ufffd"]


async def test_an_answer_after_the_cancel_is_not_recorded():
    release = asyncio.Event()
    slow = SmallTool("look", lambda on: stubborn(release))
    play = Play(says("", call("c2", "look"), call("c1", "change")))
    async with Stage(play, tools=[change(), slow]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.service.submit(stage.session, Cancel())
        await stage.decide("c1", "once")
        release.set()
        await stage.service.wait(stage.session, run_id)
        kinds = await stage.kinds()

    assert "ApprovalDecided" not in kinds
    assert kinds[-4:] == ["ToolFinished", "TurnEnded", "Checkpoint", "RunEnded"]


async def stubborn(release: asyncio.Event) -> str:
    """Go on after a cancel until it is released."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await release.wait()
        raise
    return ""


async def test_a_second_answer_is_not_recorded_while_another_question_is_open():
    tool = change()
    play = Play(says("", call("c1", "change", "1"), call("c2", "change", "2")), says("done"))
    async with Stage(play, tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested, 2)
        await stage.decide("c2", "once")
        await stage.decide("c2", "deny")
        await stage.decide("c1", "once")
        await stage.service.wait(stage.session, run_id)
        decided = [e for e in await stage.log() if isinstance(e, ApprovalDecided)]

    assert [(event.call_id, event.answer) for event in decided] == [("c2", "once"), ("c1", "once")]
    assert tool.calls == ["1", "2"]


async def test_a_retried_turn_starts_once_and_its_tokens_are_reserved_once():
    failing = ProviderError("busy", kind="server_overloaded")
    async with Stage(Play(says("hello"))) as stage:
        await stage.run("hi")
        needed = (await stage.until(TurnEnded)).context.total
    async with Stage(Play([failing, says("hello")], mute=True)) as stage:
        ended = await stage.run("hi", limits=Limits(tokens=needed + 1))
        kinds = await stage.kinds()

    assert (ended.outcome, kinds.count("TurnStarted")) == ("completed", 1)


async def test_the_tokens_of_a_turn_are_reserved_once_when_its_model_changes():
    gone = ProviderError("no such model", kind="model_not_found")
    async with Stage(Play(says("hello"))) as stage:
        await stage.run("hi")
        needed = (await stage.until(TurnEnded)).context.total
    async with Stage(Play([gone], mute=True), understudy=Play(says("hello"))) as stage:
        ended = await stage.run("hi", limits=Limits(tokens=needed + 1))

    assert ended.outcome == "completed"


async def test_a_last_turn_that_used_more_than_was_left_still_completes():
    async with Stage(Play(says("hello", usage=Usage(input=4_000, output=4_000)))) as stage:
        ended = await stage.run("hi", limits=Limits(tokens=5_000))

    assert (ended.outcome, ended.text) == ("completed", "hello")


async def test_a_tool_that_will_not_stop_does_not_hold_up_the_end_of_the_run():
    release = asyncio.Event()
    slow = SmallTool("look", lambda on: stubborn(release))
    async with Stage(Play(says("", call("c1", "look"))), tools=[slow]) as stage:
        await stage.prompt("hi")
        await stage.until(ToolStarted)
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_S):
            await stage.service.interrupt(stage.session)
        release.set()


async def test_a_title_by_the_user_is_not_replaced():
    titles = Play(says("Greetings"), hold=True)
    async with Stage(Play(says("hello")), understudy=titles, titles_by="scripted/understudy") as stage:
        await stage.run("hi")
        await titles.streaming.wait()
        await stage.service.submit(stage.session, Rename("mine"))
        titles.go.set()
        await stage.service.aclose()
        session = await read_session(stage.service, stage.session)

    assert session.known.title == "mine"


async def test_two_services_take_turns_on_one_session():
    async with Stage(Play(says("one"), says("two"), says("three"))) as here:
        await here.run("a")
        async with Stage(Play(says("one"), says("two"), says("three")), store=here.store) as there:
            await there.run("b")
            await here.prompt("c")
            await here.until(RunEnded, 3)
        session = await read_session(here.service, here.session)

    assert [item.message.text for item in session.messages] == ["a", "one", "b", "two", "c", "three"]


async def test_a_queued_prompt_waits_after_a_cancel_and_starts_after_the_next_run():
    play = Play(says("one"), says("two"), says("three"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("a")
        await stage.service.submit(stage.session, Prompt(user_message("queued")))
        await play.streaming.wait()
        await stage.service.interrupt(stage.session)
        after_cancel = await stage.kinds()
        play.go.set()
        await stage.run("b")
        await stage.until(RunEnded, 3)
        session = await read_session(stage.service, stage.session)

    assert (after_cancel.count("RunStarted"), after_cancel[-1]) == (1, "RunEnded")
    assert [item.message.text for item in session.messages if item.message.role == "user"] == [
        "a",
        "b",
        "queued",
    ]


async def test_a_running_session_can_be_forked_but_neither_archived_nor_deleted():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        await play.streaming.wait()
        child = await fork_session(stage.service, stage.session)
        with pytest.raises(SessionBusy):
            await stage.service.submit(stage.session, Archive())
        with pytest.raises(SessionBusy):
            await stage.service.submit(stage.session, Delete())
        play.go.set()
        ended = await stage.service.wait(stage.session, run_id)
        copied = [item.message.text for item in (await read_session(stage.service, child)).messages]

    assert (ended.outcome, copied) == ("completed", ["hi"])


async def test_a_session_that_runs_elsewhere_is_not_deleted():
    store = EphemeralStore(FixedClock())
    play = Play(says("hello"), hold=True)
    async with Stage(play, store=store) as here:
        claims = here.service._engine.claims
        async with Stage(Play(says("other")), store=store, claims=claims) as there:
            run_id = await here.prompt("hi")
            with pytest.raises(SessionBusy):
                await there.service.submit(there.session, Delete())
            play.go.set()
            ended = await here.service.wait(here.session, run_id)

    assert ended.outcome == "completed"


class SlowCast(Cast):
    """Models whose server takes its time to start."""

    def __init__(self, play: Play) -> None:
        super().__init__(play, window_tokens=10_000)
        self.is_asked = asyncio.Event()
        self.is_there = asyncio.Event()

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        self.is_asked.set()
        await self.is_there.wait()
        return await super().resolve(ref)


async def test_a_session_whose_run_is_about_to_begin_is_not_idle():
    models = SlowCast(Play(says("done")))
    async with Stage(Play(), models=models) as stage:
        beginning = asyncio.create_task(stage.prompt("hi"))
        await models.is_asked.wait()
        await stage.service.drop_idle(idle_s=0.0, most=0)
        models.is_there.set()
        ended = await stage.service.wait(stage.session, await beginning)

    assert (ended.outcome, ended.text) == ("completed", "done")


@pytest.mark.parametrize("name", ["../../kept", "a/b", ""])
async def test_what_is_no_name_of_a_session_touches_no_file(tmp_path: Path, name: str):
    kept = tmp_path / "kept.lock"
    kept.write_text("of somebody else")
    async with Stage(Play(), claims=FileClaims(tmp_path / "run" / "claims")) as stage:
        with pytest.raises(SessionNotFound, match="no session"):
            await stage.service.ask(IsRunning(SessionId(name)))
        with pytest.raises(SessionNotFound, match="no session"):
            await stage.service.submit(SessionId(name), Delete())

    assert kept.read_text() == "of somebody else"


@pytest.mark.parametrize("most", ["many", 0, -4, 1.5, True, [7]])
async def test_an_answer_cannot_be_of_a_length_that_is_none(most: object):
    async with Stage(Play(says("hello"))) as stage:
        with pytest.raises(UsageError, match="max_tokens"):
            await stage.prompt("hi", params={"max_tokens": most})

        assert await stage.kinds() == []


async def test_the_settings_bound_every_answer():
    play = Play(says("one"), says("two"))
    async with Stage(play, settings=ConfigFile(max_output_tokens=50)) as stage:
        await stage.run("hi")
        await stage.run("again", params={"max_tokens": 20})

    assert [request.max_output_tokens for request in play.requests] == [50, 20]


async def test_sessions_in_memory_are_bounded_and_go_on_when_they_are_wanted_again():
    async with Stage(
        Play(says("one"), says("two")), settings=ConfigFile(serve=ServeSettings(max_sessions=2))
    ) as stage:
        sessions = [await stage.service.create(cwd="/") for _ in range(4)]
        for session in [*sessions, *sessions]:
            receipt = await stage.service.submit(session, Prompt(user_message("go")))
            assert receipt.run_id is not None
            assert (await stage.service.wait(session, receipt.run_id)).outcome == "completed"
        # The last run may not have been put away when the next session was opened.
        assert len(stage.service.live()) <= 3


async def test_a_cost_that_the_vendor_reports_counts_instead_of_the_price():
    facts = {"price": Price(1_000_000.0, 1_000_000.0)}
    priced = replace(says("one"), cost=0.25)
    title = replace(says("A title"), cost=0.5)
    async with Stage(
        Play(priced), understudy=Play(title), titles_by="scripted/understudy", facts=facts
    ) as stage:
        ended = await stage.run("hi")
        await stage.until(SessionTitled)
        totals = (await read_session(stage.service, stage.session)).known.totals

    assert (ended.cost, totals.cost) == (0.25, 0.75)


# ---------------------------------------------------------------------------- images


PICTURE = Message("user", (Text("look"), Media("image/png", "iVBORw0KGgo=", "a.png")))
BLIND = {"images": False}


async def test_images_go_only_to_a_model_that_sees():
    play = Play(says("a cat"))
    async with Stage(play, facts={"images": True}) as stage:
        await stage.service.wait(stage.session, await stage.submit_run(Prompt(PICTURE)))
    assert play.requests[0].messages == (PICTURE,)

    for facts, hint in ((BLIND, "without the image)"), ({}, ".images' true)")):
        async with Stage(Play(says("never")), facts=facts) as stage:
            with pytest.raises(UsageError, match="scripted/play cannot see images") as caught:
                await stage.submit_run(Prompt(PICTURE))
            assert str(caught.value).endswith(hint)
            assert await stage.log() == []


async def test_an_active_run_of_a_blind_model_takes_no_images():
    held = Play(says("", call("c", "look")), says("done"))
    tool = SmallTool("look", lambda on: "seen", access="write")
    async with Stage(held, tools=[tool], facts=BLIND) as stage:
        await stage.prompt("go")
        asked = await stage.until(ApprovalRequested)
        for command in (Steer(PICTURE), Prompt(PICTURE)):
            with pytest.raises(UsageError, match="cannot see images"):
                await stage.service.submit(stage.session, command)
        await stage.decide(asked.call_id, "deny")
        await stage.until(RunEnded)


async def test_a_blind_model_gets_a_note_for_an_earlier_image():
    play, understudy = Play(says("a cat")), Play(says("so I hear"))
    models = Cast(play, understudy, window_tokens=10_000)
    async with Stage(play, models=Sighted(models)) as stage:
        await stage.service.wait(stage.session, await stage.submit_run(Prompt(PICTURE)))
        await stage.run("what was it", model="scripted/understudy")

    assert understudy.requests[0].messages[0] == Message(
        "user", (Text("look"), Text("[image/png that this model cannot see]"))
    )


class Sighted:
    """Models of which only the first sees."""

    def __init__(self, models: Cast) -> None:
        self._models = models

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        provider, model = await self._models.resolve(ref)
        return provider, replace(model, images=ref == "scripted/play")

    async def aclose(self) -> None:
        await self._models.aclose()
