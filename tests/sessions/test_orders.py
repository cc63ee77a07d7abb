"""The real service under a scheduler that tries many orders: its record is right in all of them."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import pytest

from bridle.core.errors import BridleError, ProviderError, SessionError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolResult, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    Decide,
    ModelReplied,
    Prompt,
    Record,
    Resume,
    RunEnded,
    RunOptions,
    ToolFinished,
    ToolStarted,
)
from bridle.core.queries import IsRunning
from bridle.core.session import fold
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.shuffled import Stuck, run_shuffled
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says

SEEDS = 60
BUSY = ProviderError("busy", kind="server_overloaded")
PLAY = SessionId("play")


def play() -> Play:
    return Play(
        [BUSY, says("", call("a", "look", "1"), call("b", "change", "2"), call("c", "look", "3"))],
        says("", call("d", "change", "4"), call("e", "change", "5")),
        [BUSY, says("done")],
        says("done again"),
        says("and again"),
        says("at last"),
    )


def tools(chance: random.Random) -> list[SmallTool]:
    async def work(on: str) -> str | Exception:
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(chance.choice((0.0, 0.01)))
        return ValueError("no") if chance.random() < 0.2 else f"did {on}"

    return [SmallTool("look", work), SmallTool("change", work, access="write")]


def check_log(records: list[Record]) -> None:
    """Check what must hold of every record, in whatever order things happened."""
    events = [record.event for record in records]
    kinds = Counter(type(event).__name__ for event in events)
    session = fold(records)

    assert kinds["RunStarted"] == kinds["RunEnded"]
    assert session.run is None
    finished = Counter(event.result.call_id for event in events if isinstance(event, ToolFinished))
    called = Counter(
        made.id for event in events if isinstance(event, ModelReplied) for made in event.message.calls
    )
    assert finished == called
    started = [event.call_id for event in events if isinstance(event, ToolStarted)]
    asked = Counter(event.call_id for event in events if isinstance(event, ApprovalRequested))
    decided = Counter(event.call_id for event in events if isinstance(event, ApprovalDecided))
    assert set(started) <= set(called)
    assert decided <= asked
    _check_begun_in_turn(events)
    messages = [item.message for item in session.messages]
    for said, then in pairwise(messages):
        if said.calls:
            results = [part.call_id for part in then.parts if isinstance(part, ToolResult)]
            assert results == [made.id for made in said.calls]
    assert not messages[-1].calls


def _check_begun_in_turn(events: list[object]) -> None:
    """Check that a call which changes something runs alone."""
    open_calls: dict[CallId, str] = {}
    for event in events:
        if isinstance(event, ToolStarted):
            assert not open_calls or {event.tool, *open_calls.values()} == {"look"}
            open_calls[event.call_id] = event.tool
        if isinstance(event, ToolFinished):
            open_calls.pop(event.result.call_id, None)


async def _answer(stage: Stage, chance: random.Random) -> None:
    """Answer whatever is asked, sometimes twice, late, or for the whole session."""
    async for item in stage.service.watch(stage.session):
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
            answer = chance.choice(("once", "once", "session", "deny", "stop"))
            for _ in range(chance.choice((1, 1, 2))):
                with suppress(SessionError):  # it has ended meanwhile
                    await stage.service.submit(stage.session, Decide(item.event.call_id, answer))


async def _disturb(stage: Stage, chance: random.Random) -> None:
    """Steer, queue and cancel at odd moments."""
    for _ in range(chance.randrange(4)):
        for _ in range(chance.randrange(60)):
            await asyncio.sleep(0)
        command = chance.choice(
            (
                Prompt(user_message("also"), if_busy="steer"),
                Prompt(user_message("then"), if_busy="queue"),
                Cancel("enough"),
            )
        )
        try:
            await stage.service.submit(stage.session, command)
        except BridleError:
            return


async def perform(chance: random.Random) -> list[Record]:
    async with Stage(play(), tools=tools(chance)) as stage:
        async with asyncio.timeout(60):
            answering = asyncio.create_task(_answer(stage, chance))
            run = await stage.submit_run(Prompt(user_message("hi"), RunOptions()))
            disturbing = asyncio.create_task(_disturb(stage, chance))
            await stage.service.wait(stage.session, run)
            await disturbing
            while await stage.service.ask(IsRunning(stage.session)):  # noqa: ASYNC110  a queued run begins and ends
                await asyncio.sleep(0.01)
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
        return await stage.store.read(stage.session)


async def resume(chance: random.Random, log: list[Record]) -> list[Record]:
    """Let the process die after some event and another one continue."""
    cut = chance.randrange(3, len(log))
    store = EphemeralStore(FixedClock())
    await store.append(PLAY, 0, [record.event for record in log[:cut]])
    if fold(log[:cut]).run is None:
        return log
    async with Stage(play(), tools=tools(chance), store=store) as stage:
        async with asyncio.timeout(60):
            answering = asyncio.create_task(_answer(stage, chance))
            await stage.service.wait(stage.session, await stage.submit_run(Resume()))
            while await stage.service.ask(IsRunning(stage.session)):  # noqa: ASYNC110  a queued run begins and ends
                await asyncio.sleep(0.01)
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
        return await store.read(PLAY)


@pytest.mark.parametrize("block", range(4))
def test_any_order_of_wake_ups_gives_a_right_record(block: int):
    outcomes: set[str] = set()
    for seed in range(block * SEEDS // 4, (block + 1) * SEEDS // 4):
        log = run_shuffled(seed, perform)
        check_log(log)
        check_log(run_shuffled(seed, lambda chance, log=log: resume(chance, log)))
        outcomes |= {record.event.outcome for record in log if isinstance(record.event, RunEnded)}

    assert len(outcomes) > 1


def test_the_same_seed_gives_the_same_order():
    first, second, other = (
        [type(record.event).__name__ for record in run_shuffled(seed, perform)] for seed in (5, 5, 6)
    )

    assert first == second != other


def test_a_wait_for_nothing_is_found():
    async def wait(chance: random.Random) -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Stuck):
        run_shuffled(1, wait)
