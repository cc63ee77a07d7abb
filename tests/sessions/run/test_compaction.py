"""Compaction: the request to the model, the recorded events, and that a failure changes nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.budget import Budget, Limits, Spend
from bridle.core.compaction import HEADING, compose, plan
from bridle.core.context import CompactionPolicy, ContextUsage, estimate_tokens
from bridle.core.errors import ConfigError, ProviderError, UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.core.ports import Provider
from bridle.core.protocol import (
    Compact,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Delta,
    Event,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Pin,
    Pinned,
    Record,
    Rewind,
    RunOptions,
    RunStarted,
    SessionCreated,
    Steer,
    TextDelta,
    ToolFinished,
    TurnEnded,
    TurnStarted,
)
from bridle.core.queries import PreviewContext
from bridle.core.session import Session, fold
from bridle.core.transcript import CLEARED
from bridle.sessions.engine import Engine
from bridle.sessions.run import compaction
from bridle.sessions.run.compaction import compact, plan_compaction
from bridle.sessions.run.metered_calls import MeteredCalls
from bridle.sessions.setup import Setup, set_up
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import fork_session, read_session
from tests.sessions.stage import USAGE, FixedClock, Play, SmallTool, Stage, call, says

R = RunId("r")
S = SessionId("play")
POLICY = CompactionPolicy(keep_turns=1)

Answer = str | ModelReply | ProviderError
IS_SUMMARY = compaction.INSTRUCTION_FILE.read_text("utf-8")


class Scribe:
    """A model whose answers a function computes from the request."""

    def __init__(self, answer: Callable[[ModelRequest], Answer] = lambda request: "sum") -> None:
        self.requests: list[ModelRequest] = []
        self.began = asyncio.Event()
        self.closed = 0
        self.hold: asyncio.Event | None = None
        self._answer = answer

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        self.requests.append(request)
        self.began.set()
        try:
            if self.hold is not None:
                await self.hold.wait()
            answer = self._answer(request)
            yield TextDelta("…")
            if isinstance(answer, ProviderError):
                raise answer
            yield says(answer) if isinstance(answer, str) else answer
        finally:
            self.closed += 1

    @property
    def questions(self) -> list[str]:
        """The input of its last summary."""
        return [one.messages[0].text for one in self.requests if one.system == IS_SUMMARY]

    async def aclose(self) -> None:
        pass


def scribe(*answers: Answer) -> Scribe:
    """Answer one after the other."""
    rest = list(answers)
    return Scribe(lambda request: rest.pop(0))


class Shelf:
    """Models by their names, each with its own window and price."""

    def __init__(self, **models: tuple[Provider, int, Price | None]) -> None:
        self._models = models

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        if (name := ref.removeprefix("scripted/")) not in self._models:
            raise ConfigError(f"no model {ref}")
        provider, window, price = self._models[name]
        return provider, Model("scripted", name, window, max_output_tokens=1_000, price=price)

    async def aclose(self) -> None:
        pass


def talk(turns: int, tokens: int = 500, **more: Any) -> list[Event]:
    """A run of so many turns, each with a result of so many tokens."""
    events: list[Event] = [RunStarted(R, "scripted/play"), MessageAdded(user_message("build it"), tokens=5)]
    for number in range(1, turns + 1):
        made = ToolCall(CallId(f"c{number}"), "look", {"at": number})
        reply = Message("assistant", (Text(f"turn {number}"), made))
        result = ToolResult(made.id, "look", f"seen {number} " + "x" * (4 * tokens - 10))
        events += [
            TurnStarted(R, number),
            ModelReplied(R, number, reply, "tool_use", Usage(), None, 10),
            ToolFinished(result, tokens=tokens),
            TurnEnded(R, number, Usage(), ContextUsage()),
        ]
    return events


def folded(*events: Event) -> Session:
    created = SessionCreated(S, "/")
    return fold([Record(seq, 0, event, "") for seq, event in enumerate((created, *events), 1)])


@asynccontextmanager
async def world(
    provider: Scribe,
    session: Session,
    *,
    small: Scribe | None = None,
    window: int = 4_096,
    small_window: int = 4_096,
    price: Price | None = None,
    small_ref: str = "",
    **engine: Any,
) -> AsyncGenerator[tuple[Engine, Setup], None]:
    shelf = {"play": (provider, window, price)}
    if small is not None:
        shelf["understudy"] = (small, small_window, price)
    ref: Any = small_ref or ("scripted/understudy" if small is not None else "")
    options = {"compaction": POLICY, "titles_by": ref, **engine}
    async with Stage(provider, models=Shelf(**shelf), understudy=small, **options) as stage:
        made = stage.service._engine
        yield made, await set_up(made, S, session, RunOptions())


async def done(provider: Scribe, session: Session, *, keep: str = "", trigger: Any = "manual", **more: Any):
    """Compact a session, and return the events to record."""
    async with world(provider, session, **more) as (engine, setup):
        return await compact(
            engine, setup, setup.backend, session, trigger=trigger, bill=MeteredCalls(), keep=keep
        )


def after(session: Session, *events: Event) -> Session:
    for event in events:
        session.apply(Record(session.seq + 1, 0, event, ""))
    return session


# ---------------------------------------------------------------------------- the summary


async def test_a_summary_takes_the_place_of_all_but_the_newest_turn():
    session = folded(Pinned("never push"), *talk(4))
    model = Scribe(lambda request: "Built half of it.")
    before = sum(item.tokens for item in session.messages)

    [compacted] = await done(model, session)

    planned = plan(session, (await backend_window(session)), POLICY, "manual")
    assert planned is not None
    message = compose("Built half of it.", planned.carried, can_recall=False)
    tokens = estimate_tokens(message.text) + 12
    assert compacted == Compacted(
        message,
        2,
        tokens,
        messages_before=9,
        messages_after=3,
        tokens_before=before,
        tokens_after=tokens + 510,
        model="scripted/play",
        usage=USAGE,
        summary="Built half of it.",
    )
    assert "<pinned>\nnever push\n</pinned>" in message.text
    assert "<prompt>\nbuild it" in message.text
    after(session, compacted)
    assert [item.message.text for item in session.messages] == [message.text, "turn 4", ""]


async def backend_window(session: Session) -> Any:
    async with world(Scribe(), session) as (_, setup):
        return setup.backend.window


async def test_the_model_is_asked_without_tools_and_gets_the_old_messages_as_a_record():
    model = Scribe()

    await done(model, folded(Pinned("never push"), *talk(4)), keep="the API")

    [request] = model.requests
    assert (request.system, request.tools, request.params) == (IS_SUMMARY, (), {})
    [question] = model.questions
    for text in (
        "[user] build it",
        "[assistant] turn 1",
        '[call] look {"at":3}',
        "[result of look] seen 3 ",
        "characters left out …]",
        "<pinned>\nnever push\n\nthe API\n</pinned>",
        "The user asks that this is not left out: the API",
        "in at most ",
    ):
        assert text in question
    assert "turn 4" not in question


async def test_what_the_user_wants_kept_is_pinned():
    pinned, compacted = await done(Scribe(), folded(*talk(4)), keep="keep the API")

    assert pinned == Pinned("keep the API")
    assert "<pinned>\nkeep the API\n</pinned>" in compacted.message.text
    [only] = await done(Scribe(), folded(Pinned("keep the API"), *talk(4)), keep="keep the API")
    assert isinstance(only, Compacted)


async def test_what_is_pinned_while_the_summary_is_written_is_told_after_it():
    session, model = folded(*talk(4)), Scribe()
    model.hold = asyncio.Event()
    async with world(model, session) as (engine, setup), asyncio.TaskGroup() as group:
        task = group.create_task(
            compact(engine, setup, setup.backend, session, trigger="manual", bill=MeteredCalls())
        )
        await model.began.wait()
        after(session, Pinned("late"))
        model.hold.set()

    assert [type(event) for event in task.result()] == [Compacted, Pinned]
    after(session, *task.result(), MessageAdded(user_message("go on")))
    assert "late" in session.messages[-1].message.text


async def test_the_next_summary_goes_on_from_the_last_one():
    session, model = folded(Pinned("never push"), *talk(4)), scribe("first", "second")
    after(session, *await done(model, session), *talk(4)[2:])

    [compacted] = await done(model, session)

    assert "<summary>\nfirst\n</summary>" in model.questions[1]
    assert HEADING not in model.questions[1]
    assert compacted.summary == "second"
    assert compacted.message.text.count("never push") == 1
    assert "first" not in compacted.message.text


async def test_the_small_model_is_asked_where_there_is_one():
    own, small = Scribe(), Scribe()

    [compacted] = await done(own, folded(*talk(4)), small=small)

    assert (len(own.requests), len(small.requests), compacted.model) == (0, 1, "scripted/understudy")


async def test_a_history_that_does_not_fit_is_summed_up_part_by_part():
    own = Scribe()
    small = Scribe(lambda request: f"so far {len(small.requests)}")
    session = folded(*talk(60, 400))

    [compacted] = await done(own, session, window=40_000, small=small, small_window=2_048)

    assert 2 < len(small.requests) <= 16
    for request in small.requests:
        sent = estimate_tokens(request.system + request.messages[0].text)
        assert sent + request.max_output_tokens <= 2_048
    for number, question in enumerate(small.questions[1:], 1):
        assert f"<summary>\nso far {number}\n</summary>" in question
    assert compacted.summary == f"so far {len(small.requests)}"
    assert compacted.usage == Usage(input=10 * len(small.requests), output=5 * len(small.requests))


async def test_parts_that_a_vendor_finds_too_long_are_halved():
    too_long = ProviderError("too long", kind="context_length_exceeded")
    model = Scribe(lambda request: too_long if len(request.messages[0].text) > 20_000 else "sum")

    [compacted] = await done(model, folded(*talk(30, 400)), window=20_000)

    assert isinstance(compacted, Compacted)
    assert len(model.requests) == 5  # two were too long, then there are three parts
    assert compacted.usage == USAGE + USAGE + USAGE


async def test_a_summary_that_is_too_long_ends_with_a_paragraph():
    long = "\n\n".join(f"Paragraph {number}: " + "word " * 40 + "end" for number in range(100))

    [compacted] = await done(Scribe(lambda request: long), folded(*talk(6)))

    assert estimate_tokens(compacted.summary) <= 800
    assert long.startswith(compacted.summary + "\n\n")


async def test_secrets_are_taken_out_of_the_summary():
    model = Scribe(lambda request: "the key is hunter2")

    [compacted] = await done(model, folded(*talk(4)), mask=lambda text: text.replace("hunter2", "[masked]"))

    assert compacted.summary == "the key is [masked]"


async def test_a_correction_that_no_longer_fits_is_told_to_the_model():
    session = folded(*talk(4))
    long = Compacted(user_message("s"), 0, 900, 0, 0, 0, 0, summary="s", corrections=("red " * 500, "blue"))
    model = Scribe()
    after(session, long, *talk(4)[2:])

    [compacted] = await done(model, session)

    assert compacted.corrections == ("blue",)
    assert compacted.left_out == ("1 of 2 things said during runs, now part of the summary",)
    assert "[user] red red" in model.questions[0]


async def test_where_memory_can_be_searched_the_message_says_so():
    tool = SmallTool("memory_search", lambda on: on)

    [compacted] = await done(Scribe(), folded(*talk(4)), tools=[tool])

    assert "can be found with the tool memory_search" in compacted.message.text


# ---------------------------------------------------------------------------- when it fails

LIMITED = ProviderError("slow down", kind="rate_limited")
BROKEN = ProviderError("no such key", kind="invalid_api_key")
EMPTY = says(" \n")


async def test_a_failure_that_may_pass_is_tried_again_once():
    model = scribe(LIMITED, "sum")

    [compacted] = await done(model, folded(*talk(4)))

    assert isinstance(compacted, Compacted)
    assert compacted.usage == USAGE


async def test_a_vendor_that_wants_a_long_wait_is_not_waited_for():
    model = scribe(ProviderError("slow down", kind="rate_limited", retry_after_s=3_600))

    assert await done(model, folded(*talk(4))) == (CompactionFailed("slow down"),)


async def test_when_the_small_model_fails_the_run_s_own_is_asked():
    own, small = Scribe(), scribe(LIMITED, EMPTY)

    [compacted] = await done(own, folded(*talk(4)), small=small, price=Price(1.0, 2.0))

    assert compacted.model == "scripted/play"
    assert compacted.usage == USAGE + USAGE  # an empty answer is paid for too
    assert compacted.cost == pytest.approx(2 * (10 * 1.0 + 5 * 2.0) / 1_000_000)


async def test_a_small_model_that_does_not_exist_is_no_hindrance():
    [compacted] = await done(Scribe(), folded(*talk(4)), small_ref="scripted/gone")

    assert isinstance(compacted, Compacted)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((BROKEN,), CompactionFailed("no such key")),
        ((LIMITED, LIMITED), CompactionFailed("slow down")),
        ((EMPTY, EMPTY), CompactionFailed("the summary is empty", USAGE + USAGE)),
        ((ProviderError("too long", kind="context_length_exceeded"),) * 3, CompactionFailed("too long")),
    ],
)
async def test_a_failure_says_what_happened_and_what_it_cost(
    answers: Sequence[Answer], expected: CompactionFailed
):
    model, session = scribe(*answers), folded(*talk(4))
    before = list(session.messages)

    assert await done(model, session) == (expected,)
    assert len(model.requests) == len(answers)
    assert after(session, expected).messages == before


async def test_a_summary_longer_than_what_it_replaces_changes_nothing():
    session = folded(*talk(2, 120))

    assert await done(Scribe(lambda request: "long " * 500), session) == (
        CompactionFailed("the summary is longer than what it would replace", USAGE),
    )


async def test_what_is_too_long_to_pin_is_refused_before_anything_is_paid():
    model = Scribe()

    [failed] = await done(model, folded(*talk(4)), keep="x" * 20_000)

    assert isinstance(failed, CompactionFailed)
    assert "16 KiB" in failed.error
    assert model.requests == []


async def test_a_summary_that_never_comes_ends_in_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compaction, "TIMEOUT_S", 0.05)
    model = Scribe()
    model.hold = asyncio.Event()

    assert await done(model, folded(*talk(4))) == (CompactionFailed("the summary took longer than 0.05 s"),)
    assert model.closed == 1


async def test_cancelling_closes_the_stream():
    session, model = folded(*talk(4)), Scribe()
    model.hold = asyncio.Event()
    async with world(model, session) as (engine, setup):
        task = asyncio.create_task(
            compact(engine, setup, setup.backend, session, trigger="manual", bill=MeteredCalls())
        )
        await model.began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert model.closed == 1


async def test_messages_without_words_cannot_be_summed_up():
    blank = [MessageAdded(user_message(" "), tokens=500) for _ in range(3)]
    session = folded(*blank, *talk(1, 10)[1:])

    [failed] = await done(Scribe(lambda request: " "), session)

    assert isinstance(failed, CompactionFailed)


# ---------------------------------------------------------------------------- without a summary


async def test_old_outputs_are_cleared_without_asking_anybody():
    session, model = folded(*talk(12, 180), *talk(3, 1_000)[2:]), Scribe()
    long = folded(*talk(7, 1_200))

    cleared = await done(model, long, trigger="automatic", window=10_000)

    assert isinstance(cleared[0], OutputsCleared)
    assert len(cleared) == 1
    assert cleared[0].tokens_after < cleared[0].tokens_before
    assert cleared[0].call_ids[0] == "c1"
    assert model.requests == []
    parts = after(long, *cleared).messages[2].message.parts
    assert parts == (ToolResult(CallId("c1"), "look", CLEARED),)
    assert session.messages  # short outputs are not worth it
    assert isinstance((await done(model, session, trigger="automatic"))[-1], Compacted)


async def test_where_nothing_would_go_nothing_is_done():
    session = folded(*talk(1, 10))
    async with world(model := Scribe(), session) as (engine, setup):
        for trigger in ("automatic", "manual"):
            started = plan_compaction(session, setup.backend, POLICY, trigger=trigger, turn=1, last_turn=0)
            assert started is None
            assert (
                await compact(engine, setup, setup.backend, session, trigger=trigger, bill=MeteredCalls())
                == ()
            )

    assert model.requests == []


async def test_what_is_due_is_told_in_numbers():
    session = folded(*talk(6))
    async with world(Scribe(), session) as (_, setup):
        started = plan_compaction(session, setup.backend, POLICY, trigger="automatic", turn=1, last_turn=0)

    assert started == CompactionStarted("automatic", 0, 3_065, 13)


# ---------------------------------------------------------------------------- plays

LOOK = "x" * 1_200  # 300 tokens
SUMMED_UP = CompactionPolicy(keep_turns=1, clear_outputs=False)


def player(turns: int, *, fails_at: int = 0, summary: Answer = "sum") -> Scribe:
    """Looks at something in every turn, then is done; request number `fails_at` is too long for it, once."""
    made = 0

    def answer(request: ModelRequest) -> Answer:
        nonlocal made, fails_at
        if request.system == IS_SUMMARY:
            return summary
        if made + 1 == fails_at:
            fails_at = 0
            return ProviderError("prompt is too long", kind="context_length_exceeded")
        made += 1
        return says(f"turn {made}", call(f"c{made}", "look", str(made))) if made <= turns else says("done")

    return Scribe(answer)


def looking() -> SmallTool:
    return SmallTool("look", lambda on: f"{on} {LOOK}")


async def test_play_a_long_run_compacts_before_its_window_is_full():
    model = player(20)
    async with Stage(model, tools=[looking()], window_tokens=2_000, compaction=SUMMED_UP) as stage:
        ended = await stage.run("build it")
        log = await stage.log()
        facts = (await read_session(stage.service, stage.session)).known

    done = [event for event in log if isinstance(event, Compacted)]
    assert (ended.outcome, ended.text, ended.turns, ended.tool_calls) == ("completed", "done", 21, 20)
    assert len(done) >= 3
    assert ended.usage == sum((event.usage for event in done), Usage(input=10 * 21, output=5 * 21))
    assert facts.totals.usage == ended.usage
    for event in done:
        assert event.tokens_after < event.tokens_before
        assert "<prompt>\nbuild it\n</prompt>" in event.message.text
    kinds = [type(event).__name__ for event in log]
    first = kinds.index("CompactionStarted")
    assert kinds[first - 1 : first + 3] == ["TurnEnded", "CompactionStarted", "Compacted", "TurnStarted"]
    assert not any(event.context.dropped_messages for event in log if isinstance(event, ModelReplied))


async def test_play_old_outputs_go_before_anybody_is_asked():
    model = player(20)
    async with Stage(model, tools=[looking()], window_tokens=4_000, compaction=POLICY) as stage:
        ended = await stage.run("build it")
        log = await stage.log()

    cleared = [event for event in log if isinstance(event, OutputsCleared)]
    assert ended.outcome == "completed"
    assert len(cleared) >= 2
    assert sum(request.system == IS_SUMMARY for request in model.requests) == sum(
        isinstance(event, Compacted) for event in log
    )
    results = [
        part for one in model.requests[-1].messages for part in one.parts if isinstance(part, ToolResult)
    ]
    assert results[0].output == CLEARED
    assert results[-1].output == f"20 {LOOK}"


async def test_play_short_runs_compact_too():
    usage = Usage(input=10, output=75)
    model = Scribe(lambda request: "sum" if request.system == IS_SUMMARY else says("word " * 60, usage=usage))
    async with Stage(model, window_tokens=1_500, compaction=POLICY) as stage:
        for number in range(12):
            assert (await stage.run(f"prompt {number} " + "x" * 100)).outcome == "completed"
        kinds = await stage.kinds()

    assert kinds.count("Compacted") >= 1


async def test_play_a_user_compacts_between_runs_and_says_what_to_keep():
    model = player(6)
    async with Stage(model, tools=[looking()], compaction=POLICY) as stage:
        await stage.run("build it")
        await stage.service.submit(stage.session, Compact("the API"))
        started, pinned, compacted = (await stage.log())[-3:]
        await stage.run("go on")
        state = await read_session(stage.service, stage.session)

    assert started == CompactionStarted("manual", 10, started.history_tokens, 14)
    assert pinned == Pinned("the API")
    assert isinstance(compacted, Compacted)
    assert model.requests[-1].messages[0] == compacted.message
    assert model.requests[-1].messages[-1] == user_message("go on")
    assert state.known.pins == ("the API",)
    assert state.known.totals.messages == 2 + 2 * 6 + 2  # a summary is no one's message


async def test_play_there_may_be_nothing_to_compact():
    async with Stage(Play(says("hello")), compaction=POLICY) as stage:
        await stage.run("hi")
        with pytest.raises(UsageError, match="nothing to compact"):
            await stage.service.submit(stage.session, Compact())


async def test_play_a_user_compacts_a_run_that_is_active():
    reached, go = asyncio.Event(), asyncio.Event()

    async def look(on: str) -> str:
        if on == "5":
            reached.set()
            await go.wait()
        return f"{on} {LOOK}"

    model = player(6)
    async with Stage(model, tools=[SmallTool("look", look)], compaction=POLICY) as stage:
        run = await stage.prompt("build it")
        await reached.wait()
        await stage.service.submit(stage.session, Compact("the API"))
        go.set()
        ended = await stage.service.wait(stage.session, run)
        kinds = await stage.kinds()

    assert ended.outcome == "completed"
    first = kinds.index("CompactionStarted")
    assert kinds[first - 1 : first + 4] == [
        "TurnEnded",
        "CompactionStarted",
        "Pinned",
        "Compacted",
        "TurnStarted",
    ]
    assert model.requests[-1].messages[0].text.startswith(HEADING)


async def test_play_a_request_that_a_vendor_finds_too_long_is_shortened_and_sent_once_more():
    model = player(5, fails_at=5)
    async with Stage(model, tools=[looking()], compaction=SUMMED_UP) as stage:
        ended = await stage.run("build it")
        log = await stage.log()

    assert ended.outcome == "completed"
    [started] = [event for event in log if isinstance(event, CompactionStarted)]
    assert started.trigger == "overflow"
    [at] = [number for number, request in enumerate(model.requests) if request.system == IS_SUMMARY]
    assert len(model.requests[at + 1].messages) < len(model.requests[at - 1].messages)


async def test_play_what_is_too_long_twice_fails():
    too_long = ProviderError("prompt is too long", kind="context_length_exceeded")

    def answer(request: ModelRequest) -> Answer:
        if request.system == IS_SUMMARY:
            return "sum"
        turn = sum(one.role == "assistant" for one in request.messages) + 1
        is_long = len(request.messages) > 8 or request.messages[0].text.startswith(HEADING)
        return too_long if is_long else says("", call(f"c{turn}", "look"))

    async with Stage(Scribe(answer), tools=[looking()], compaction=SUMMED_UP) as stage:
        ended = await stage.run("build it")
        kinds = await stage.kinds()

    assert (ended.outcome, ended.reason) == ("failed", "prompt is too long")
    assert kinds.count("Compacted") == 1


async def test_play_a_run_goes_on_when_its_summary_fails():
    model = player(16, summary=BROKEN)
    async with Stage(model, tools=[looking()], window_tokens=2_000, compaction=POLICY) as stage:
        ended = await stage.run("build it")
        log = await stage.log()

    failed = [event for event in log if isinstance(event, CompactionFailed)]
    assert (ended.outcome, ended.turns) == ("completed", 17)
    assert 1 <= len(failed) <= 6  # it is not tried before every turn
    assert set(failed) == {CompactionFailed("no such key")}
    assert any(event.context.dropped_messages for event in log if isinstance(event, ModelReplied))


async def test_play_nothing_is_compacted_unasked_where_that_is_switched_off():
    model = player(12)
    policy = replace(POLICY, auto=False)
    async with Stage(model, tools=[looking()], window_tokens=2_000, compaction=policy) as stage:
        ended = await stage.run("build it")
        kinds = await stage.kinds()

    assert ended.outcome == "completed"
    assert "CompactionStarted" not in kinds


async def test_play_a_correction_during_a_run_is_kept_word_for_word():
    reached, go = asyncio.Event(), asyncio.Event()

    async def look(on: str) -> str:
        if on == "2":
            reached.set()
            await go.wait()
        return f"{on} {LOOK}"

    model = player(20)
    async with Stage(
        model, tools=[SmallTool("look", look)], window_tokens=2_000, compaction=SUMMED_UP
    ) as stage:
        run = await stage.prompt("build it")
        await reached.wait()
        await stage.service.submit(stage.session, Steer(user_message("no, in blue")))
        go.set()
        await stage.service.wait(stage.session, run)
        log = await stage.log()

    done = [event for event in log if isinstance(event, Compacted)]
    assert len(done) >= 3
    assert all(event.corrections == ("no, in blue",) for event in done)
    assert "<said>\nno, in blue\n</said>" in model.requests[-1].messages[0].text


async def test_play_going_back_brings_the_old_messages_back():
    model = player(6)
    async with Stage(model, tools=[looking()], compaction=POLICY) as stage:
        await stage.run("build it")
        before = (await read_session(stage.service, stage.session)).messages
        seq = (await read_session(stage.service, stage.session)).seq
        await stage.service.submit(stage.session, Pin("never push"))
        await stage.service.submit(stage.session, Compact())
        compacted = (await read_session(stage.service, stage.session)).messages
        await stage.service.submit(stage.session, Rewind(seq))
        await stage.run("go on")
        state = await read_session(stage.service, stage.session)

    assert len(compacted) < len(before)
    assert state.messages[: len(before)] == before
    assert state.known.pins == ("never push",)
    assert "never push" in model.requests[-1].messages[-1].text


async def test_play_a_session_opened_anew_sends_the_same_and_a_fork_has_the_pins():
    model, clock = player(20), FixedClock()
    store = EphemeralStore(clock)
    shape: Any = {"tools": [looking()], "window_tokens": 2_000, "compaction": SUMMED_UP}
    async with Stage(model, store=store, clock=clock, **shape) as stage:
        await stage.service.submit(stage.session, Pin("never push"))
        await stage.run("build it")
        expected = await stage.service.ask(PreviewContext(stage.session))
        child = await fork_session(stage.service, stage.session)
        forked = await read_session(stage.service, child)
    async with Stage(player(1), store=store, clock=clock, **shape) as stage:
        found = await stage.service.ask(PreviewContext(stage.session))

    assert found == expected
    assert "<pinned>\nnever push\n</pinned>" in found.messages[0].text
    assert forked.known.pins == ("never push",)
    assert [item.message for item in forked.messages] == list(expected.messages)


# ---------------------------------------------------------------------------- what it may cost


async def test_a_summary_that_cannot_be_paid_for_is_not_asked_for():
    session, model, small = folded(*talk(4)), Scribe(), Scribe()
    budget = Budget(Limits(cost=0.001), 0.0)
    async with world(model, session, small=small, price=Price(10.0, 10.0)) as (engine, setup):
        [failed] = await compact(
            engine, setup, setup.backend, session, trigger="manual", bill=MeteredCalls(budget)
        )

    reason = "the answer may need more than is left of the cost limit: 0 of 0.001 used"
    assert failed == CompactionFailed(reason)
    assert (model.requests, small.requests) == ([], [])
    assert (budget.used, budget.reserved) == (Spend(), Spend())


async def test_a_summary_is_paid_for_out_of_what_is_left():
    session, model = folded(*talk(4)), Scribe()
    budget = Budget(Limits(tokens=10_000), 0.0)
    async with world(model, session) as (engine, setup):
        [compacted] = await compact(
            engine, setup, setup.backend, session, trigger="manual", bill=MeteredCalls(budget)
        )

    assert compacted.usage == USAGE
    assert (budget.used, budget.reserved) == (Spend(tokens=15), Spend())
