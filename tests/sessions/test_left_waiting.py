"""Prompts that a crash left in the queue, and runs that start while the engine shuts down."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from bridle.core.errors import SessionNotRunning
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    Event,
    MessageAdded,
    Prompt,
    PromptQueued,
    Record,
    RunEnded,
    RunOptions,
    RunStarted,
    TextDelta,
)
from bridle.core.queries import Records
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock, Play, Stage, says

S = SessionId("play")


async def left_waiting() -> EphemeralStore:
    """Return the record of a session whose process ended between two runs."""
    store = EphemeralStore(FixedClock())
    async with Stage(Play(says("one")), store=store) as stage:
        await stage.run("first")
        seq = len(await stage.service.ask(Records(S)))
    queued = PromptQueued("item", user_message("second"), RunOptions())
    await store.append(S, seq, [queued])
    return store


async def prompts(stage: Stage) -> list[str]:
    return [event.message.text for event in await stage.log() if isinstance(event, MessageAdded)]


async def test_what_was_left_waiting_runs_when_it_is_asked_for():
    async with Stage(Play(says("one"), says("two")), store=await left_waiting()) as stage:
        await stage.service.begin_queued(S)
        await stage.until(RunEnded, 2)
        await stage.service.begin_queued(S)

        assert await prompts(stage) == ["first", "second"]


async def test_what_another_process_has_left_waiting_runs_too():
    """This process has the session in memory, as it was before."""
    store = EphemeralStore(FixedClock())
    async with Stage(Play(says("one"), says("two"), says("three")), store=store) as stage:
        await stage.run("first")
        seq = len(await stage.service.ask(Records(S)))
        await store.append(S, seq, [PromptQueued("item", user_message("second"), RunOptions())])
        await stage.service.begin_queued(S)
        await stage.until(RunEnded, 2)

        assert await prompts(stage) == ["first", "second"]


async def test_what_waits_behind_a_prompt_that_was_begun_elsewhere_runs():
    store = await left_waiting()
    async with Stage(Play(says("one"), says("two"), says("three")), store=store) as stage:
        runs = (await stage.service._roster.open(S)).runs
        begun = await store.read(S, limit=2)
        begun_elsewhere = [
            replace(begun[1].event, run_id=RunId("other")),
            MessageAdded(user_message("second"), "prompt", item_id="item"),
            RunEnded(RunId("other"), "completed"),
            PromptQueued("next", user_message("third"), RunOptions()),
        ]
        await store.append(S, (await store.read(S))[-1].seq, begun_elsewhere)
        async with runs.claim.starting:
            await runs._begin_next()
        await stage.until(RunEnded, 3)

        assert await prompts(stage) == ["first", "second", "third"]


async def test_a_new_prompt_does_not_overtake_what_was_left_waiting():
    async with Stage(Play(says("one"), says("two"), says("three")), store=await left_waiting()) as stage:
        receipt = await stage.service.submit(S, Prompt(user_message("third")))
        await stage.until(RunEnded, 3)

        assert (receipt.run_id, receipt.item_id is not None) == (None, True)
        assert await prompts(stage) == ["first", "second", "third"]


async def test_what_waits_stays_where_it_is_after_a_run_that_was_stopped():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("first")
        await play.streaming.wait()
        await stage.service.submit(S, Prompt(user_message("second")))
        await stage.service.interrupt(S, "enough")
        await stage.until(RunEnded)
        await stage.service.begin_queued(S)

        assert await prompts(stage) == ["first"]


async def test_nothing_begins_once_the_engine_is_about_to_end():
    async with Stage(Play(says("one"))) as stage:
        await stage.service.park(0)

        with pytest.raises(SessionNotRunning, match="its engine is shutting down"):
            await stage.prompt("too late")

        assert await stage.log() == []


class SlowStore(EphemeralStore):
    """Stores the start of a run some time before it reports it."""

    def __init__(self) -> None:
        super().__init__(FixedClock())
        self.is_stored = asyncio.Event()
        self.go = asyncio.Event()

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        records = await super().append(session, expected_seq, events)
        if any(isinstance(event, RunStarted) for event in events):
            self.is_stored.set()
            await self.go.wait()
        return records


async def test_a_run_that_is_just_beginning_is_left_as_it_is_recorded():
    """It would be cancelled at the end of the process otherwise."""
    store = SlowStore()
    async with Stage(Play(says("one"), hold=True), store=store) as stage:
        beginning = asyncio.create_task(stage.prompt("first"))
        await store.is_stored.wait()
        parking = asyncio.create_task(stage.service.park(0))
        runs = (await stage.service._roster.open(S)).runs
        while not runs.is_closing:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)
        for _ in range(10):  # it would be over by now if it did not wait
            await asyncio.sleep(0)
        store.go.set()
        await asyncio.wait([beginning, parking])

    kinds = [type(record.event) for record in await store.read(S)]
    assert (kinds.count(RunStarted), kinds.count(RunEnded)) == (1, 0)


async def test_a_piece_of_what_was_read_as_a_whole_is_not_shown_after_it():
    store = await left_waiting()
    async with Stage(Play(says("one"), says("two")), store=store) as stage:
        records = await store.read(S)
        watching = stage.service.watch(S)
        seen = [await anext(watching) for _ in records]
        stage.service._bus.publish(S, [records[1], TextDelta("late"), records[-1], TextDelta("new")])

        assert (seen, await anext(watching)) == (records, TextDelta("new"))
        await watching.aclose()


async def test_a_piece_that_came_before_what_was_read_belongs_before_it():
    """The record is slightly ahead of the report."""
    store = await left_waiting()
    async with Stage(Play(says("one"), says("two")), store=store) as stage:
        records = await store.read(S)
        bus = stage.service._bus
        bus.publish(S, records[:2])
        watching = stage.service.watch(S)
        seen = [await anext(watching) for _ in records]
        bus.publish(S, [TextDelta("late"), records[-1], TextDelta("new")])

        assert (seen, await anext(watching)) == (records, TextDelta("new"))
        await watching.aclose()
