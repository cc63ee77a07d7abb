"""A run that is cancelled, or whose store fails, at any point: it ends, and the next one starts normally."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bridle.core.budget import Limits
from bridle.core.context import CompactionPolicy
from bridle.core.errors import BridleError, SessionConflict, StoreFull
from bridle.core.hook import HookInvocation
from bridle.core.ids import SessionId
from bridle.core.messages import Usage
from bridle.core.model import ModelReply, ModelRequest, Price
from bridle.core.ports import HookRound, ToolContext
from bridle.core.protocol import (
    Cancel,
    Compact,
    Compacted,
    CompactionFailed,
    Delta,
    Event,
    HookStarted,
    ModelReplied,
    Record,
    RunEnded,
    TextDelta,
)
from bridle.sessions.run import compaction
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.sessions.run.test_compaction import Shelf
from tests.sessions.stage import USAGE, FixedClock, Play, SmallTool, Stage, call, says
from tests.sessions.test_cuts import OPTIONS, REPLIES, World, wait_for
from tests.sessions.test_hooks import POINTS, Listener

IS_SUMMARY = compaction.INSTRUCTION_FILE.read_text("utf-8")
LONG = "x" * 1_200
PRICE = Price(1.0, 2.0)
BOUND_S = 5.0


class Halt:
    """Blocks the first task that reaches a point."""

    def __init__(self, where: str) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self._where = where

    def move_to(self, where: str) -> None:
        self.go.set()
        self.go, self._where = asyncio.Event(), where

    async def pass_by(self, where: str) -> None:
        if where == self._where:
            self._where = ""
            self.reached.set()
            await self.go.wait()


class HeldListener(Listener):
    def __init__(self, halt: Halt) -> None:
        super().__init__(**dict.fromkeys(POINTS, lambda told: None))
        self._halt = halt

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        await self._halt.pass_by(invocation.point)
        return await super().ask(invocation, show)


class HeldTool(SmallTool):
    def __init__(self, halt: Halt) -> None:
        async def work(on: str) -> str:
            await halt.pass_by("tool")
            return f"{on} {LONG}"

        super().__init__("look", work, access="write")
        self._halt = halt

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        await self._halt.pass_by("preview")
        return "would look"


class HeldModel:
    """Looks six times, sums up when asked, then is done."""

    def __init__(self, halt: Halt) -> None:
        self._halt = halt
        self._said = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        if request.system == IS_SUMMARY:
            await self._halt.pass_by("summary")
            yield says("sum")
            return
        self._said += 1
        yield TextDelta(f"turn {self._said}")
        await self._halt.pass_by("stream")
        calls = [call(f"c{self._said}", "look", str(self._said))] if self._said <= 6 else []
        yield says(f"turn {self._said}", *calls)

    async def aclose(self) -> None:
        pass


def held_stage(halt: Halt, folder: Path, **more: Any) -> Stage:
    model, listener = HeldModel(halt), HeldListener(halt)
    return Stage(
        model,
        models=Shelf(play=(model, 2_000, PRICE)),
        tools=[HeldTool(halt)],
        cwd=str(folder),
        environ={"PATH": os.defpath},
        open_hooks=lambda cwd, override: listener,
        compaction=CompactionPolicy(keep_turns=1, clear_outputs=False),
        **more,
    )


def paid(log: list[Event]) -> Usage:
    events = [e for e in log if isinstance(e, ModelReplied | Compacted | CompactionFailed)]
    return sum((event.usage for event in events), Usage())


async def left_of(quiet: set[asyncio.Task[Any]]) -> set[str]:
    """Return the tasks that there were not before, once runs that have ended are put away."""
    tasks = asyncio.all_tasks() - quiet
    if runs := [task for task in tasks if task.get_name().startswith("run ")]:
        await asyncio.wait(runs, timeout=BOUND_S)
    return {task.get_name() for task in tasks if not task.done()}


PLACES = (*(point for point in POINTS if point != "run_failed"), "stream", "preview", "tool", "summary")


@pytest.mark.parametrize("where", PLACES)
async def test_a_cancel_ends_the_run_wherever_it_is(where: str, tmp_path: Path):
    halt = Halt(where)
    mode = "ask" if where == "preview" else "yolo"
    async with held_stage(halt, tmp_path) as stage, asyncio.timeout(PATIENCE_S):
        quiet = asyncio.all_tasks()
        run_id = await stage.prompt("hi", mode=mode)
        await halt.reached.wait()
        await stage.service.submit(stage.session, Cancel("enough"))
        async with asyncio.timeout(BOUND_S):
            ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()
        again = await stage.run("go on", mode="yolo")
        left = await left_of(quiet)
        ends = [event for event in await stage.log() if isinstance(event, RunEnded)]

    assert (ended.outcome, ended.reason) == ("cancelled", "enough")
    assert ended.usage == paid(log)
    assert again.outcome == "completed"
    assert ends == [ended, again]
    assert left <= {"session play"}


async def test_a_cancel_ends_the_check(tmp_path: Path):
    async with held_stage(Halt(""), tmp_path) as stage, asyncio.timeout(PATIENCE_S):
        run_id = await stage.prompt("hi", mode="yolo", until="touch checking; exec sleep 600")
        await asyncio.to_thread(wait_for, tmp_path / "checking")
        await stage.service.submit(stage.session, Cancel("enough"))
        ended = await stage.service.wait(stage.session, run_id)
        again = await stage.run("go on", mode="yolo")

    assert (ended.outcome, again.outcome) == ("cancelled", "completed")


# ---------------------------------------------------------------------------- compaction


class PartScribe:
    """Is paid for the first part of a summary and held at the second."""

    def __init__(self) -> None:
        self.asked = 0
        self.reached = asyncio.Event()
        self.is_held = True

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        if request.system == IS_SUMMARY:
            self.asked += 1
            if self.asked == 2 and self.is_held:
                self.reached.set()
                await asyncio.Event().wait()
            yield says("sum")
            return
        made = sum(message.role == "assistant" for message in request.messages)
        yield says("", call(f"c{made}", "look", str(made))) if made < 8 else says("done")

    async def aclose(self) -> None:
        pass


def part_stage(scribe: PartScribe, look: Callable[[str], Any] = lambda on: f"{on} {LONG}") -> Stage:
    shelf = Shelf(play=(scribe, 20_000, PRICE), understudy=(scribe, 1_400, PRICE))
    return Stage(
        scribe,
        understudy=scribe,
        titles_by="scripted/understudy",
        models=shelf,
        tools=[SmallTool("look", look)],
        compaction=CompactionPolicy(keep_turns=1),
    )


async def test_a_summary_that_is_cancelled_is_paid_for_as_far_as_it_got():
    scribe = PartScribe()
    async with part_stage(scribe) as stage, asyncio.timeout(PATIENCE_S):
        await stage.run("hi")
        before = (await read_session(stage.service, stage.session)).known.totals
        asking = asyncio.create_task(stage.service.submit(stage.session, Compact()))
        await scribe.reached.wait()
        await stage.service.submit(stage.session, Cancel())
        [error] = await asyncio.gather(asking, return_exceptions=True)
        log = await stage.log()
        after = (await read_session(stage.service, stage.session)).known.totals
        ended = await stage.run("go on")

    assert "was not compacted: cancelled" in str(error)
    assert log[-1] == CompactionFailed("it was cancelled", USAGE, log[-1].cost)
    assert after.usage == before.usage + USAGE
    assert after.cost > before.cost
    assert ended.outcome == "completed"


async def test_a_summary_that_is_cancelled_with_its_run_is_paid_for_too():
    scribe = PartScribe()

    async def look(on: str) -> str:
        if on == "7":
            await stage.service.submit(stage.session, Compact("the API"))
        return f"{on} {LONG}"

    async with part_stage(scribe, look) as stage, asyncio.timeout(PATIENCE_S):
        run_id = await stage.prompt("hi")
        await scribe.reached.wait()
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    [failed] = [event for event in log if isinstance(event, CompactionFailed)]
    assert failed == CompactionFailed("it was cancelled", USAGE, failed.cost)
    assert (ended.outcome, ended.usage) == ("cancelled", paid(log))


async def test_a_cancel_reaches_a_compaction_that_a_prompt_waits_for():
    scribe = PartScribe()
    async with part_stage(scribe) as stage, asyncio.timeout(PATIENCE_S):
        await stage.run("hi")
        compacting = asyncio.create_task(stage.service.submit(stage.session, Compact()))
        await scribe.reached.wait()
        prompting = asyncio.create_task(stage.prompt("go on"))
        await asyncio.sleep(0)
        await stage.service.submit(stage.session, Cancel())
        await asyncio.gather(compacting, return_exceptions=True)
        ended = await stage.service.wait(stage.session, await prompting)

    assert ended.outcome == "completed"


async def test_a_compaction_asked_for_in_the_last_turn_comes_after_the_run():
    halt = asyncio.Event()
    reached = asyncio.Event()

    class Last(PartScribe):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
            async for item in super().stream(request):
                if isinstance(item, ModelReply) and item.message.text == "done":
                    reached.set()
                    await halt.wait()
                yield item

    scribe = Last()
    scribe.is_held = False
    async with part_stage(scribe) as stage, asyncio.timeout(PATIENCE_S):
        run_id = await stage.prompt("hi")
        await reached.wait()
        await stage.service.submit(stage.session, Compact("the API"))
        halt.set()
        ended = await stage.service.wait(stage.session, run_id)
        await stage.until(Compacted)
        kinds = await stage.kinds()
        pins = (await read_session(stage.service, stage.session)).known.pins

    assert ended.outcome == "completed"
    assert kinds.index("RunEnded") < kinds.index("CompactionStarted")
    assert pins == ("the API",)


# ---------------------------------------------------------------------------- a store that fails


class FailingStore(EphemeralStore):
    """Fails one append, number `fails_at` of those to come."""

    def __init__(self, fails_at: int, error: BridleError) -> None:
        super().__init__(FixedClock())
        self.appended = 0
        self._fails_at = fails_at
        self._error = error

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        self.appended += 1
        if self.appended == self._fails_at:
            raise self._error
        return await super().append(session, expected_seq, events)


@pytest.mark.parametrize("error", [StoreFull("the disk is full"), SessionConflict("somebody else wrote")])
async def test_a_store_that_fails_once_ends_the_run_and_the_next_is_as_ever(
    error: BridleError, tmp_path: Path
):
    fails_at, failed, aborted = 2, 0, 0
    while True:
        store = FailingStore(fails_at, error)
        world = World(tmp_path)
        async with world.open(store) as stage:
            quiet = asyncio.all_tasks()
            try:
                ended = await stage.run("build it", **OPTIONS)
            except BridleError:
                failed += 1
            else:
                if store.appended < fails_at:
                    break
                aborted += ended.outcome == "failed"
                assert world.listener.is_closed, fails_at
            world.script.said = len(REPLIES) - 3
            again = await stage.run("go on")
            assert (again.outcome, again.text) == ("completed", "fine"), fails_at
            assert await left_of(quiet) <= {"session play"}, fails_at
        fails_at += 1

    assert (failed, aborted) == (1, fails_at - 3)


# ---------------------------------------------------------------------------- the last hooks


async def test_a_cancel_before_the_last_hooks_are_asked_is_not_lost(tmp_path: Path):
    """While hooks see a reply, the run accepts no input."""
    halt = Halt("post_llm_response")
    listener = HeldListener(halt)
    limits = Limits(duration_s=0.3)
    model = Play(says("half"), hold=True)
    async with Stage(model, open_hooks=lambda cwd, override: listener) as stage, asyncio.timeout(PATIENCE_S):
        run_id = await stage.prompt("hi", limits=limits)
        await halt.reached.wait()
        await stage.service.submit(stage.session, Cancel("enough"))
        halt.move_to("run_completed")
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.reason) == ("cancelled", "enough")
