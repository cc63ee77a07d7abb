"""A run is followed to its end; leaving the stream early cancels the run, and the record says so."""

import asyncio
import contextlib
import gc
from pathlib import Path

import pytest

import bridle
from bridle.core.protocol import QueueDropped, RunEnded
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, call, says
from tests.surfaces.python.opened import events, opened


async def ends(session: bridle.Session) -> list[tuple[str, str]]:
    return [(end.outcome, end.reason) for end in events(await session.records(), RunEnded)]


async def until_idle(session: bridle.Session, runs: int = 1) -> None:
    """Wait until so many runs have ended."""
    async with asyncio.timeout(PATIENCE_S):
        async for item in session.watch():
            runs -= isinstance(item, bridle.Record) and isinstance(item.event, RunEnded)
            if not runs:
                return


async def test_every_record_and_delta_of_the_run_and_nothing_else(tmp_path: Path):
    async with opened(Play(says("one"), says("two")), tmp_path) as b:
        session = await b.session()
        await session.run("first")
        before = await session.records()
        stream = session.stream("second")
        items = [item async for item in stream]
        records = [item for item in items if isinstance(item, bridle.Record)]

        assert records == (await session.records())[len(before) :]
        assert [item for item in items if not isinstance(item, bridle.Record)] == [bridle.TextDelta("two")]
        assert stream.result.text == "two"
        assert stream.run_id == stream.result.run_id


async def test_there_is_no_result_before_the_end(tmp_path: Path):
    async with opened(Play(says("one")), tmp_path) as b:
        stream = (await b.session()).stream("first")

        with pytest.raises(bridle.UsageError, match="the run has not ended"):
            _ = stream.result


async def test_a_failure_is_raised_after_the_last_record_unless_nobody_wants_it(tmp_path: Path):
    play = Play(says("x"), says("y"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        stream = session.stream("go")
        seen = []

        async def follow() -> None:
            async for item in stream:
                seen.append(item)
                if isinstance(item, bridle.TextDelta):
                    await stream.cancel("enough")

        with pytest.raises(bridle.RunCancelled, match="enough"):
            await follow()
        assert isinstance(seen[-1], bridle.Record)
        assert isinstance(seen[-1].event, RunEnded)
        assert stream.result.outcome == "cancelled"

        async with session.stream("go", check=False) as quiet:
            async for item in quiet:
                if isinstance(item, bridle.TextDelta):
                    await session.cancel("again")
        assert quiet.result.reason == "again"


LEFT = ("cancelled", "the program left the run")


async def test_leaving_the_block_cancels_the_run(tmp_path: Path):
    async with opened(Play(says("x"), hold=True), tmp_path) as b:
        session = await b.session()
        async with session.stream("go") as run:
            async for item in run:
                if isinstance(item, bridle.TextDelta):
                    break

        assert await ends(session) == [LEFT]
        with pytest.raises(bridle.UsageError):
            _ = run.result


async def test_a_stream_that_is_dropped_cancels_the_run(tmp_path: Path):
    async with opened(Play(says("x"), hold=True), tmp_path) as b:
        session = await b.session()
        async for item in session.stream("go"):
            if isinstance(item, bridle.TextDelta):
                break
        del item
        gc.collect()
        await until_idle(session)

        assert await ends(session) == [LEFT]


async def test_who_is_cancelled_cancels_the_run(tmp_path: Path):
    play = Play(says("x"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        task = asyncio.create_task(session.run("go"))
        await play.streaming.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert await ends(session) == [LEFT]


async def test_who_is_cancelled_again_and_again_cancels_the_run_too(tmp_path: Path):
    """As anyio does it, and with it Starlette."""
    play = Play(says("x"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        task = asyncio.create_task(session.run("go"))
        await play.streaming.wait()
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        await until_idle(session)

        assert await ends(session) == [LEFT]


@pytest.mark.parametrize("steps", range(12))
async def test_who_is_cancelled_at_any_step_leaves_no_run_behind(tmp_path: Path, steps: int):
    async with opened(Play(says("x"), hold=True), tmp_path) as b:
        session = await b.session()
        task = asyncio.create_task(session.run("go"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

        assert not await session.is_running()
        assert await ends(session) in ([], [LEFT])


async def test_runs_of_one_session_wait_for_each_other(tmp_path: Path):
    async with opened(Play(says("one"), says("two"), says("three")), tmp_path) as b:
        session = await b.session()
        results = await asyncio.gather(*(session.run(text) for text in "abc"))

        assert [result.text for result in results] == ["one", "two", "three"]
        assert len({result.run_id for result in results}) == 3


async def test_a_run_that_is_stopped_does_not_stop_those_that_wait(tmp_path: Path):
    play = Play(says("one"), says("two"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        first, second = (asyncio.create_task(session.run(text)) for text in "ab")
        await play.streaming.wait()
        play.streaming.clear()
        first.cancel()
        await play.streaming.wait()
        play.go.set()

        assert (await second).text == "two"
        assert [outcome for outcome, _ in await ends(session)] == ["cancelled", "completed"]


async def test_a_prompt_behind_another_program_is_taken_out_when_nobody_wants_it(tmp_path: Path):
    play = Play(says("one"), says("two"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        await session.queue("a")
        await play.streaming.wait()
        async with session.stream("b") as second:
            assert second.run_id is None
        play.go.set()
        await until_idle(session)

        assert len(events(await session.records(), QueueDropped)) == 1
        assert await ends(session) == [("completed", "")]


async def test_a_prompt_behind_a_run_that_is_stopped_is_not_waited_for(tmp_path: Path):
    play = Play(says("one"), says("two"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        await session.queue("a")
        await play.streaming.wait()
        async with session.stream("b") as second:
            await session.cancel()
            with pytest.raises(bridle.SessionNotRunning, match="the run before it was stopped"):
                await anext(aiter(second))

        assert (await session.state()).known.queue == ()


async def test_a_prompt_that_waited_and_has_begun_unseen_is_cancelled(tmp_path: Path):
    reached, go = asyncio.Queue[str](), asyncio.Event()

    async def wait(on: str) -> None:
        """Wait; the first one may continue."""
        await reached.put(on)
        await (go.wait() if on == "first" else asyncio.Event().wait())

    play = Play(says("", call("1", "wait", "first")), says("one"), says("", call("2", "wait", "second")))
    async with opened(play, tmp_path, tools=[wait]) as b:
        session = await b.session()
        await session.queue("a")
        await reached.get()
        async with session.stream("b") as second:
            go.set()
            assert await reached.get() == "second"
            assert second.run_id is None
        await until_idle(session, runs=2)

        assert [outcome for outcome, _ in await ends(session)] == ["completed", "cancelled"]


async def test_closing_bridle_ends_runs_and_records_it(tmp_path: Path):
    play = Play(says("x"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        task = asyncio.create_task(session.run("go"))
        await play.streaming.wait()
    with pytest.raises(bridle.RunCancelled):
        await task

    with pytest.raises(bridle.UsageError, match="this Bridle is closed"):
        await session.records()
    with pytest.raises(bridle.UsageError, match="this Bridle is not open"):
        await b.session()


async def test_nothing_is_left_running(tmp_path: Path):
    before = asyncio.all_tasks()
    play = Play(says("x"), says("y"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        async with session.stream("go") as run:
            async for _ in run:
                break
        play.streaming.clear()
        task = asyncio.create_task(session.run("again"))
        await play.streaming.wait()
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)

    assert asyncio.all_tasks() == before


async def test_a_stream_that_waits_for_its_turn_does_not_cancel_the_run_before_it(tmp_path: Path):
    play = Play(says("one"), says("two"), hold=True)
    async with opened(play, tmp_path) as b:
        session = await b.session()
        first = asyncio.create_task(session.run("a"))
        await play.streaming.wait()
        second = session.stream("b")
        waiting = asyncio.create_task(second.wait())
        await asyncio.sleep(0)
        with pytest.raises(bridle.UsageError, match="waits for another one"):
            await second.cancel()
        play.go.set()

        assert ((await first).text, (await waiting).text) == ("one", "two")


async def test_leaving_a_run_of_the_past_leaves_the_present_one_alone(tmp_path: Path):
    play = Play(says("one"), says("two"), hold=True)
    play.go.set()
    async with opened(play, tmp_path) as b:
        session = await b.session()
        await session.run("a", key="k")
        play.go.clear()
        play.streaming.clear()
        other = await session.queue("b")
        await play.streaming.wait()
        async with session.stream("a", key="k") as past:
            async for _ in past:
                break
        play.go.set()
        assert other.run_id is not None
        end = await wait_for_run(b.api, session.id, other.run_id)

    assert end.outcome == "completed"
