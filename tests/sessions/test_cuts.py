"""One session with all features, cut off after every record: it resumes, and nothing happens twice."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from bridle.core.budget import Limits
from bridle.core.compaction import HEADING
from bridle.core.context import CompactionPolicy, ContextUsage
from bridle.core.errors import ProviderError, SessionNotRunning
from bridle.core.hook import Deny, HookPoint, ToolArgsPatch
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, ToolResult, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest, Price
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    Compact,
    Compacted,
    Decide,
    Delta,
    Event,
    HookCompleted,
    MessageAdded,
    ModelReplied,
    Pin,
    Pinned,
    Prompt,
    Record,
    Resume,
    Rewind,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionCreated,
    Steer,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.queries import PreviewContext, Records
from bridle.core.session import fold
from bridle.sessions.journal import open_session
from bridle.sessions.run import compaction
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import fork_session, read_session
from tests.patience import PATIENCE_S
from tests.sessions.run.test_compaction import Shelf
from tests.sessions.stage import USAGE, FixedClock, Play, SmallTool, Stage, call, says
from tests.sessions.test_hooks import POINTS, Listener

R = RunId("r")
S = SessionId("play")
IS_SUMMARY = compaction.INSTRUCTION_FILE.read_text("utf-8")
LONG = "x" * 1_200
PRICE = Price(1.0, 2.0)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
VALUE = '{"n": 1}'
PARTS = 8  # the cuts of one log are shared out among so many tests
SWITCH_AT = 3  # from this reply on only the understudy answers
REPLIES = (
    *(says(f"turn {n}", call(f"c{n}", "look", str(n))) for n in range(1, 7)),
    says("", call("c7", "change", "7"), call("c8", "look", "8")),
    says("I think I am done"),
    says("", call("c9", "make", "made")),
    says("now I am"),
    says("no value"),
    says(VALUE),
    says("fine", call("c10", "look", "10")),
    says("the end"),
    *(says("fine") for _ in range(4)),
)
OPTIONS: dict[str, Any] = {
    "limits": Limits(tokens=1_000_000, tool_calls=100, cost=10.0, turns=60, duration_s=600.0),
    "output_schema": SCHEMA,
    "until": "test -e made",
}


class Script:
    """The next reply, for any model."""

    def __init__(self, said: int = 0) -> None:
        self.said = said
        self.requests: list[ModelRequest] = []


class Actor:
    """A model that goes on with the script; the first one is gone after some replies."""

    def __init__(self, script: Script, *, leaves: bool) -> None:
        self._script = script
        self._leaves = leaves

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        if request.system == IS_SUMMARY:
            yield says("sum")
            return
        self._script.requests.append(request)
        if self._leaves and self._script.said >= SWITCH_AT:
            raise ProviderError("no such model", kind="model_not_found")
        reply = REPLIES[self._script.said]
        yield TextDelta(reply.message.text)
        self._script.said += 1
        yield reply

    async def aclose(self) -> None:
        pass


class World:
    """A stage whose folder, models and hooks are as they were after some events."""

    def __init__(self, folder: Path, events: Sequence[Event] = ()) -> None:
        self.script = Script(sum(isinstance(event, ModelReplied) for event in events))
        self.listener = Listener(**dict.fromkeys(POINTS, lambda told: None))
        self.ran: list[str] = []
        self._folder = folder
        (folder / "made").unlink(missing_ok=True)
        if any(isinstance(event, ToolStarted) and event.tool == "make" for event in events):
            (folder / "made").touch()

    def _tools(self) -> Iterator[SmallTool]:
        async def look(on: str) -> str:
            self.ran.append(on)
            if on == "2":
                await self.stage.service.submit(S, Steer(user_message("in blue")))
            if on == "5":
                await self.stage.service.submit(S, Compact("the API"))
            return f"{on} {LONG}"

        def change(on: str) -> str:
            self.ran.append(on)
            return "changed"

        def make(on: str) -> str:
            self.ran.append("9")
            (self._folder / on).touch()
            return "made"

        yield SmallTool("look", look)
        yield SmallTool("change", change, access="write")
        yield SmallTool("make", make, access="read")

    @asynccontextmanager
    async def open(self, store: EphemeralStore | None = None) -> AsyncGenerator[Stage, None]:
        play, understudy = Actor(self.script, leaves=True), Actor(self.script, leaves=False)
        models = Shelf(play=(play, 2_000, PRICE), understudy=(understudy, 2_000, PRICE))
        self.stage = Stage(
            play,
            understudy=understudy,
            models=models,
            tools=list(self._tools()),
            store=store,
            cwd=str(self._folder),
            environ={"PATH": os.defpath},
            open_hooks=lambda cwd, override: self.listener,
            compaction=CompactionPolicy(keep_turns=1, clear_outputs=False),
        )
        async with self.stage as stage, asyncio.timeout(PATIENCE_S):
            answering = asyncio.create_task(self._answer(stage))
            try:
                yield stage
            finally:
                answering.cancel()

    async def _answer(self, stage: Stage) -> None:
        async for item in stage.service.watch(S):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                with suppress(SessionNotRunning):
                    await stage.service.submit(S, Decide(item.event.call_id, "once"))


async def whole_log(folder: Path) -> list[Event]:
    async with World(folder).open() as stage:
        first = await stage.run("build it", **OPTIONS)
        assert (first.outcome, first.structured) == ("completed", {"n": 1})
        await stage.service.submit(S, Pin("never push"))
        await stage.service.submit(S, Compact("the colours"))
        second = await stage.run("and now?")
        assert (second.outcome, second.text) == ("completed", "the end")
        return [record.event for record in await stage.service.ask(Records(S))]


async def cut_store(events: Sequence[Event]) -> EphemeralStore:
    store = EphemeralStore(FixedClock())
    await store.append(S, 0, events)
    return store


def check_sent(request: ModelRequest) -> None:
    """No result without its call before it, no call without its result after it."""
    messages = request.messages
    assert messages[0].role == "user"
    for before, after in zip(messages, (*messages[1:], Message("user", ())), strict=True):
        if before.calls:
            assert after.role == "tool"
            assert [part.call_id for part in after.parts] == [one.id for one in before.calls]
        else:
            assert after.role != "tool"


def check_money(ended: RunEnded, events: Sequence[Event]) -> None:
    """The run's totals are those of its records, each counted once."""
    paid = [event for event in events if isinstance(event, ModelReplied | Compacted)]
    usage = sum((event.usage for event in paid), Usage())
    assert ended.usage == usage
    assert ended.cost == pytest.approx(sum(event.cost or 0.0 for event in paid))
    assert ended.turns == sum(isinstance(event, ModelReplied) for event in paid)
    assert ended.tool_calls == sum(isinstance(event, ToolStarted) for event in events)


def of_last_run(events: Sequence[Event]) -> list[Event]:
    first = max(index for index, event in enumerate(events) if type(event).__name__ == "RunStarted")
    return list(events[first:])


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_run_cut_off_anywhere_goes_on_to_the_same_end(part: int, tmp_path: Path):
    log = await whole_log(tmp_path)
    kinds = {type(event).__name__ for event in log}
    assert {"ModelSwitched", "ApprovalDecided", "PromptQueued", "Pinned", "Compacted"} <= kinds
    assert [e.source for e in log if isinstance(e, MessageAdded)].count("extract") == 2
    for cut in range(3 + part, len(log), PARTS):
        session = fold([Record(seq, 1_000, event, "") for seq, event in enumerate(log[:cut], 1)])
        is_whole = not isinstance(log[cut - 1], Checkpoint)  # which an end follows in the same append
        if session.run is not None and session.run.prompt is not None and is_whole:
            await resume_after(tmp_path, log, cut)


async def resume_after(folder: Path, log: list[Event], cut: int) -> None:
    before = log[:cut]
    world = World(folder, before)
    async with world.open(await cut_store(before)) as stage:
        run_id = await stage.submit_run(Resume())
        ended = await stage.service.wait(S, run_id)
        events = [record.event for record in await stage.service.ask(Records(S))]

    of_run = of_last_run(events)
    where = f"cut {cut} after {type(before[-1]).__name__}"
    [end] = [event for event in log if isinstance(event, RunEnded) and event.run_id == run_id]
    assert (ended.outcome, ended.text, ended.structured) == ("completed", end.text, end.structured), where
    assert (ended.turns, events[:cut]) == (end.turns, before), where
    check_money(ended, of_run)
    finished = [e.result.call_id.removeprefix("c") for e in before if isinstance(e, ToolFinished)]
    assert not set(world.ran) & set(finished), where
    results = [e.result.call_id for e in events if isinstance(e, ToolFinished)]
    assert len(results) == len(set(results)), where
    extracted = sum(isinstance(e, MessageAdded) and e.source == "extract" for e in of_run)
    assert extracted == (2 if end.structured else 0), where
    for request in world.script.requests:
        check_sent(request)


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_new_prompt_after_any_cut_is_answered(part: int, tmp_path: Path):
    log = await whole_log(tmp_path)
    for cut in range(1 + part, len(log), PARTS):
        world = World(tmp_path, log[:cut])
        world.script.said = len(REPLIES) - 3
        async with world.open(await cut_store(log[:cut])) as stage:
            ended = await stage.run("go on")
            records = await stage.service.ask(Records(S))
        events = [record.event for record in records]
        assert (ended.outcome, ended.text) == ("completed", "fine"), cut
        assert (
            isinstance(log[cut - 1], Checkpoint)
            or sum(isinstance(e, RunEnded) for e in events) == fold(records).known.totals.runs
        ), cut
        for request in world.script.requests:
            check_sent(request)


# ---------------------------------------------------------------------------- what the cut came before

DENIED = ("denied", "hook h refused (policy_violation): no")


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


async def log_of(stage: Stage) -> list[Event]:
    return [record.event for record in await stage.service.ask(Records(S))]


async def resumed(listener: Listener, before: Sequence[Event], *replies: Any, **more: Any) -> RunEnded:
    play = Play(*replies)
    store = await cut_store(before)
    hooks: Any = {"open_hooks": lambda cwd, override: listener}
    async with Stage(play, store=store, tools=[SmallTool("look", str)], **hooks, **more) as stage:
        run_id = await stage.submit_run(Resume())
        return await stage.service.wait(S, run_id)


async def test_a_run_cut_off_before_its_first_hook_was_heard_does_not_get_around_it():
    before = [SessionCreated(S, "/"), RunStarted(R, "scripted/play"), MessageAdded(user_message("hi"))]
    ended = await resumed(Listener(run_started=lambda told: Deny("no")), before, says("done"))

    assert (ended.outcome, ended.reason, ended.turns) == (*DENIED, 0)


async def test_a_turn_cut_off_before_its_boundary_was_heard_does_not_get_around_it():
    quiet = Listener(turn_boundary=lambda told: None)
    replies = (says("", call("c1", "look")), says("done"))
    async with Stage(
        Play(*replies), tools=[SmallTool("look", str)], open_hooks=lambda cwd, override: quiet
    ) as stage:
        await stage.run("hi")
        log = await log_of(stage)
    cut = next(index for index, event in enumerate(log) if isinstance(event, HookCompleted))
    assert isinstance(log[cut - 1], TurnEnded)

    ended = await resumed(Listener(turn_boundary=lambda told: Deny("no")), log[:cut], *replies)

    assert (ended.outcome, ended.reason, ended.turns) == (*DENIED, 1)


@pytest.mark.parametrize("point", ["run_started", "pre_llm_request", "post_llm_response", "turn_boundary"])
async def test_what_a_hook_has_refused_stays_refused_after_a_cut(point: HookPoint):
    listener = Listener(**{point: lambda told: Deny("no")})
    replies = (says("secret", call("c1", "look")), says("done"))
    async with Stage(
        Play(*replies), tools=[SmallTool("look", str)], open_hooks=lambda cwd, override: listener
    ) as stage:
        whole = await stage.run("hi")
        log = await log_of(stage)
    cut = next(index for index, event in enumerate(log) if isinstance(event, Checkpoint))

    ended = await resumed(Listener(run_failed=lambda told: None), log[:cut], *replies)

    assert ended == whole
    assert (ended.outcome, ended.reason) == DENIED


async def test_the_answer_of_code_is_the_end_although_the_cut_came_before_it_was_recorded():
    message = Message("assistant", (call("c1", "look"),))
    before = [
        SessionCreated(S, "/"),
        RunStarted(R, "scripted/play"),
        MessageAdded(user_message("hi")),
        TurnStarted(R, 1),
        ModelReplied(R, 1, message, "tool_use", USAGE, 0.0, 5, ContextUsage(run=7, window=10_000)),
        ToolStarted(CallId("c1"), "look", {"on": "a"}, True),
        ToolFinished(ToolResult(CallId("c1"), "look", "a"), answer="42"),
        TurnEnded(R, 1, USAGE, ContextUsage(run=7, window=10_000)),
    ]
    ended = await resumed(Listener(run_completed=lambda told: None), before, says("x"), says("again"))

    assert (ended.outcome, ended.text, ended.turns) == ("completed", "42", 1)


async def test_a_turn_that_ends_after_a_cut_tells_what_it_sent_before():
    quiet = Listener(run_completed=lambda told: None)
    async with Stage(Play(says("done")), open_hooks=lambda cwd, override: quiet) as stage:
        await stage.run("hi")
        log = await log_of(stage)
    cut = next(index for index, event in enumerate(log) if isinstance(event, TurnEnded))
    store = await cut_store(log[:cut])
    async with Stage(Play(says("done")), store=store, open_hooks=lambda cwd, override: quiet) as stage:
        await stage.service.wait(S, await stage.submit_run(Resume()))
        [ended] = [event for event in await log_of(stage) if isinstance(event, TurnEnded)]

    assert ended == log[cut]


async def test_an_approval_counts_only_for_what_was_approved():
    tool = SmallTool("change", lambda on: f"changed {on}", access="write")
    milder = Listener(pre_tool_execution=lambda told: ToolArgsPatch({"on": "one"}))
    replies = (says("", call("c1", "change", "all")), says("done"))
    async with Stage(Play(*replies), tools=[tool], open_hooks=lambda cwd, override: milder) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        log = await log_of(stage)
    store = await cut_store([*log, ApprovalDecided(CallId("c1"), "once")])
    tool = SmallTool("change", lambda on: f"changed {on}", access="write")
    async with Stage(Play(*replies), tools=[tool], store=store) as stage:
        await stage.submit_run(Resume())
        asked = await stage.until(ApprovalRequested, 2)
        await stage.decide("c1", "deny")
        await stage.service.wait(S, run_id)

    assert (asked.args, tool.calls) == ({"on": "all"}, [])


async def test_what_comes_after_the_check_has_passed_is_checked_too(tmp_path: Path):
    """A steer during the check makes the model continue, and its further work counts."""
    (tmp_path / "good").touch()

    async def spoil(on: str) -> str:
        (tmp_path / "good").unlink()
        return "spoilt"

    def fix(on: str) -> str:
        (tmp_path / "good").touch()
        return "fixed"

    play = Play(
        says("done"), says("", call("c1", "spoil")), says("done"), says("", call("c2", "fix")), says("done")
    )
    tools = [SmallTool("spoil", spoil), SmallTool("fix", fix)]
    until = "test -e go || { touch checking; while [ ! -e go ]; do sleep 0.01; done; }; test -e good"
    async with Stage(play, tools=tools, cwd=str(tmp_path), environ={"PATH": os.defpath}) as stage:
        run_id = await stage.prompt("hi", until=until)
        await asyncio.to_thread(wait_for, tmp_path / "checking")
        await stage.service.submit(S, Steer(user_message("more")))
        (tmp_path / "go").touch()
        ended = await stage.service.wait(S, run_id)

    assert (ended.outcome, ended.turns) == ("completed", 5)


# ---------------------------------------------------------------------------- going back, and forks


@pytest.mark.parametrize("part", range(PARTS))
async def test_going_back_to_anywhere_leaves_a_session_that_goes_on(part: int, tmp_path: Path):
    log = await whole_log(tmp_path)
    for seq in range(1 + part, len(log) + 1, PARTS):
        world = World(tmp_path, log)
        world.script.said = len(REPLIES) - 3
        store = await cut_store(log)
        async with world.open(store) as stage:
            await stage.service.submit(S, Rewind(seq, "conversation"))
            context = await stage.service.ask(PreviewContext(S))
            ended = await stage.run("go on")
            state, opened = await read_session(stage.service, S), await open_session(store, S)

        sent = world.script.requests[0].messages
        assert (ended.outcome, ended.text) == ("completed", "fine"), seq
        was_compacted = sent[0] not in context.messages and sent[0].text.startswith(HEADING)
        assert was_compacted or context.messages == sent[: len(context.messages)], seq
        assert state.known.pins == ("the API", "never push", "the colours"), seq
        said = "\n".join(message.text for message in sent)
        assert all(pin in said for pin in state.known.pins), seq
        assert [item.message for item in opened.messages] == [item.message for item in state.messages], seq
        assert opened.known == state.known, seq
        check_sent(world.script.requests[0])


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_fork_at_anywhere_goes_on(part: int, tmp_path: Path):
    log = await whole_log(tmp_path)
    for seq in range(1 + part, len(log) + 1, PARTS):
        world = World(tmp_path, log)
        world.script.said = len(REPLIES) - 3
        async with world.open(await cut_store(log)) as stage:
            child = await fork_session(stage.service, S, seq)
            context = await stage.service.ask(PreviewContext(child))
            receipt = await stage.service.submit(child, Prompt(user_message("go on")))
            assert receipt.run_id is not None
            ended = await stage.service.wait(child, receipt.run_id)
            pins = (await read_session(stage.service, child)).known.pins
            totals = (await read_session(stage.service, child)).known.totals

        sent = world.script.requests[0].messages
        assert (ended.outcome, ended.text) == ("completed", "fine"), seq
        was_compacted = sent[0] not in context.messages and sent[0].text.startswith(HEADING)
        assert was_compacted or context.messages == sent[: len(context.messages)], seq
        assert pins == tuple(e.text for e in log[:seq] if isinstance(e, Pinned)), seq
        said = "\n".join(message.text for message in sent)
        assert all(pin in said for pin in pins), seq
        assert totals.turns == 1, seq
        check_sent(world.script.requests[0])


async def test_a_resumed_run_tries_no_more_often_for_its_value_than_it_was_told():
    before = [
        SessionCreated(S, "/"),
        RunStarted(R, "scripted/play", options=RunOptions(output_schema=SCHEMA, output_retries=0)),
        MessageAdded(user_message("hi")),
    ]
    ended = await resumed(Listener(), before, *[says("no value")] * 5)

    assert (ended.outcome, ended.turns) == ("failed", 2)


async def test_a_second_step_back_does_not_bring_open_calls_back():
    tool = SmallTool("look", str)
    async with Stage(Play(says("", call("c1", "look")), *[says("done")] * 4), tools=[tool]) as stage:
        await stage.run("hi")
        log = await log_of(stage)
        middle = next(seq for seq, event in enumerate(log, 1) if isinstance(event, ToolStarted))
        await stage.service.submit(S, Rewind(middle, "conversation"))
        await stage.run("again")
        last = (await stage.service.ask(Records(S)))[-1].seq
        await stage.run("more")
        await stage.service.submit(S, Rewind(last, "conversation"))
        state = await read_session(stage.service, S)

    roles = [item.message.role for item in state.messages]
    assert roles == ["user", "user", "assistant", "tool", "assistant"]


async def test_a_run_that_is_parked_closes_its_hooks():
    listener, held = Listener(turn_boundary=lambda told: None), Play(says("done"), hold=True)
    async with Stage(held, open_hooks=lambda cwd, override: listener) as stage:
        await stage.prompt("hi")
        await held.streaming.wait()
        await stage.service.park(0.0)
        kinds = await stage.kinds()

    assert listener.is_closed
    assert "RunEnded" not in kinds
