"""Streams of a session: nothing missing or doubled for clients that are late, slow or leaving."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Message

from bridle.core.errors import SessionNotFound, StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import Delete, Delta, Record, Rename, SessionTitled, TextDelta
from bridle.core.queries import Records
from bridle.surfaces.rest.event_format import OURS, EventFormat, Frame, Translate
from bridle.surfaces.rest.event_log import LogLimits
from bridle.surfaces.rest.event_stream import Streams
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.rest.client import Watcher, ask, scope_of, until


@asynccontextmanager
async def staged(
    play: Play | None = None, bounds: LogLimits | None = None
) -> AsyncIterator[tuple[Stage, Streams]]:
    """Yield a session of one record, and the streams of it."""
    async with Stage(play or Play(says("Hello."))) as stage:
        streams = Streams(stage.service, bounds)
        yield stage, streams
        assert streams.watched == 0, "a watch was left open"
        assert stage.service._bus.watchers(stage.session) == 0


async def rename(stage: Stage, count: int) -> None:
    for number in range(count):
        await stage.service.submit(stage.session, Rename(f"title {number}"))


def tagged(session: SessionId) -> Translate:
    """Number the records: each says how many came before it in its session."""
    seen = 0

    def translate(item: Record | Delta) -> list[Frame]:
        nonlocal seen
        if not isinstance(item, Record):
            return [("delta", b"{}")]
        seen += 1
        return [("first", b"%d" % seen), ("second", b"%d" % seen)]

    return translate


COUNTING = EventFormat("counting", tagged, remembers=True)


async def test_a_stream_tells_what_is_stored_and_then_what_happens():
    async with staged() as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, 0))
        await watcher.until("session_created")
        ended = await stage.run("Hi.")
        await watcher.until("run_ended")
        records = await stage.service.ask(Records(stage.session))

        stored = [
            (str(record.seq), json.loads(data)["hash"])
            for record, (_, _, data) in zip(
                records, [event for event in watcher.events if event[0]], strict=True
            )
        ]
        assert stored == [(str(record.seq), record.hash) for record in records]
        assert ended.outcome == "completed"
        assert ("", "text_delta", '{"type":"text_delta","text":"Hello."}') in watcher.events
        assert watcher.data.startswith(b"retry: 2000\n\nid: 1\nevent: session_created\ndata: {")
        await watcher.leave()


async def test_a_client_can_watch_before_the_first_run_has_begun_and_while_it_goes_on():
    play = Play(says("Hello."), hold=True)
    async with staged(play) as (stage, streams):
        early = Watcher(await streams.open(stage.session, None))
        await early.until_holds(lambda: early.data)
        await stage.prompt("Hi.")
        await play.streaming.wait()
        late = Watcher(await streams.open(stage.session, 0))
        await early.until("text_delta")
        await late.until("message_added")
        play.go.set()
        for watcher in (early, late):
            await watcher.until("run_ended")

        last = (await stage.service.ask(Records(stage.session)))[-1].seq
        assert early.ids == list(range(2, last + 1))
        assert late.ids == list(range(1, last + 1))
        for watcher in (early, late):
            await watcher.leave()


@pytest.mark.parametrize("after", [0, 1, 3, 5, 6, 10**9])
async def test_a_resumed_stream_goes_on_after_the_record_that_was_seen(after: int):
    async with staged() as (stage, streams):
        await rename(stage, 5)
        watcher = Watcher(await streams.open(stage.session, after))
        await watcher.until_holds(lambda: watcher.data)
        await rename(stage, 1)
        await watcher.until_id(7)

        assert watcher.ids == list(range(min(after, 6) + 1, 8))
        await watcher.leave()


async def test_many_watchers_share_one_watch_and_the_encoded_bytes():
    told = 0

    def counting(session: SessionId) -> Translate:
        def translate(item: Record | Delta) -> list[Frame]:
            nonlocal told
            told += 1
            return [("x", b"{}")]

        return translate

    async with staged() as (stage, streams):
        speech = EventFormat("counted", counting)
        watchers = [Watcher(await streams.open(stage.session, None, speech)) for _ in range(20)]
        for watcher in watchers:
            await watcher.until_holds(lambda watcher=watcher: watcher.data)
        assert stage.service._bus.watchers(stage.session) == 1
        await rename(stage, 10)
        for watcher in watchers:
            await watcher.until("x", count=10)

        assert told == 10
        for watcher in watchers:
            await watcher.leave()


async def test_what_comes_within_a_moment_is_sent_in_one_write():
    async with staged(bounds=LogLimits(gather_s=0.2)) as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, None))
        await watcher.until_holds(lambda: watcher.data)
        for number in range(300):
            stage.service._bus.publish(stage.session, [TextDelta(str(number))])
            await asyncio.sleep(0)
        await watcher.until("text_delta", count=300)

        assert watcher.writes < 30
        await watcher.leave()


async def test_nothing_is_missed_that_happens_while_the_first_bytes_are_sent():
    async with staged() as (stage, streams):
        other = Watcher(await streams.open(stage.session, None))
        await other.until_holds(lambda: other.data)
        watcher = Watcher(await streams.open(stage.session, None))
        watcher.may_take.clear()
        await until(lambda: watcher.is_stuck)
        await rename(stage, 2)
        await other.until_id(3)
        watcher.may_take.set()
        await rename(stage, 1)
        await watcher.until_id(4)

        assert watcher.ids == [2, 3, 4]
        for one in (other, watcher):
            await one.leave()


async def test_a_slow_client_is_told_and_gets_every_record_without_holding_up_others():
    async with staged(bounds=LogLimits(entries=8, gather_s=0.0)) as (stage, streams):
        slow = Watcher(await streams.open(stage.session, 0))
        quick = Watcher(await streams.open(stage.session, 0))
        await slow.until_id(1)
        slow.may_take.clear()
        for number in range(40):
            stage.service._bus.publish(stage.session, [TextDelta(str(number))])
            await rename(stage, 1)
            await quick.until_id(2 + number)
        assert slow.ids == [1]
        slow.may_take.set()
        await slow.until_id(41)

        assert (slow.ids, quick.ids) == (list(range(1, 42)), list(range(1, 42)))
        assert quick.names().count("text_delta") == 40
        [(_, _, lagged)] = [event for event in slow.events if event[1] == "lagged"]
        dropped = json.loads(lagged)["dropped"]
        assert slow.names().count("text_delta") + dropped == 40
        for watcher in (slow, quick):
            await watcher.leave()


async def test_a_translator_with_a_memory_is_right_after_a_resume_and_after_falling_behind():
    async with staged(bounds=LogLimits(entries=4, gather_s=0.0)) as (stage, streams):
        await rename(stage, 5)
        late = Watcher(await streams.open(stage.session, 3, COUNTING))
        await late.until_id(6)
        late.may_take.clear()
        other = Watcher(await streams.open(stage.session, None, COUNTING))
        await other.until_holds(lambda: other.data)
        for number in range(12):
            await rename(stage, 1)
            await other.until_id(7 + number)
        late.may_take.set()
        await late.until_id(18)

        told = [(event_id, name, data) for event_id, name, data in late.events if name != "delta"]
        assert told == [
            event
            for seq in range(4, 19)
            for event in (("", "first", str(seq)), (str(seq), "second", str(seq)))
        ]
        assert "delta" in late.names()  # it was told that it lagged, in this speech's words
        for watcher in (late, other):
            await watcher.leave()


async def test_the_number_of_a_record_comes_with_its_last_event():
    """Or a client that leaves in between would never get the others."""
    async with staged() as (stage, streams):
        answer = await ask(await streams.open(stage.session, 0, COUNTING, live=False), scope_of())

        assert answer.body == (
            b"retry: 2000\n\nevent: first\ndata: 1\n\nid: 1\nevent: second\ndata: 1\n\n"
            b"event: done\ndata: {}\n\n"
        )


async def test_a_stream_that_is_not_live_ends_after_what_is_stored():
    async with staged() as (stage, streams):
        await rename(stage, 700)  # more than are read at once
        watcher = Watcher(await streams.open(stage.session, 1, preface=[("hello", b"{}")], live=False))
        await watcher.end()

        assert watcher.ids == list(range(2, 702))
        assert (watcher.names()[0], watcher.names()[-1]) == ("hello", "done")


async def test_streams_end_with_a_last_word_when_the_server_stops():
    async with staged() as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, 0))
        await watcher.until_id(1)
        await rename(stage, 1)
        streams.stop()
        await watcher.end()
        after = Watcher(await streams.open(stage.session, 0))
        await after.end()

        for one in (watcher, after):
            assert (one.ids, one.names()[-1]) == ([1, 2], "done")


async def test_silence_is_filled_with_heartbeats():
    async with staged(bounds=LogLimits(heartbeat_s=0.01)) as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, None))
        await watcher.until_holds(lambda: watcher.data.count(b":\n\n") >= 2)

        assert watcher.events == []
        await watcher.leave()


async def test_a_client_that_leaves_while_it_is_stuck_leaves_nothing_behind():
    async with staged() as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, 0))
        await watcher.until_id(1)
        watcher.may_take.clear()
        await rename(stage, 3)
        await watcher.leave()


@pytest.mark.parametrize("sends", range(6))
async def test_a_client_may_leave_at_each_step(sends: int):
    async with staged() as (stage, streams):
        await rename(stage, 3)
        gone = asyncio.Event()
        seen = 0

        async def receive() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            nonlocal seen
            seen += 1
            if seen > sends:
                gone.set()
            await asyncio.sleep(0)

        serving = asyncio.create_task((await streams.open(stage.session, 0))(scope_of(), receive, send))
        while not gone.is_set() and not serving.done():
            await rename(stage, 1)
        async with asyncio.timeout(PATIENCE_S):
            await serving


async def test_a_session_that_is_not_there_is_said_before_anything_is_answered():
    async with staged() as (_, streams):
        with pytest.raises(SessionNotFound):
            await streams.open(SessionId("ghost"), 0)


async def test_a_stream_ends_when_its_session_is_deleted(caplog: pytest.LogCaptureFixture):
    async with staged() as (stage, streams):
        watcher = Watcher(await streams.open(stage.session, 0))
        await watcher.until("session_created")
        await stage.service.submit(stage.session, Delete())
        await watcher.until("done")

        [error] = [json.loads(data) for _, event, data in watcher.events if event == "error"]
        assert (error["code"], caplog.records) == ("SESSION_NOT_FOUND", [])
        await watcher.leave()


async def test_only_the_headers_are_asked_for():
    async with staged() as (stage, streams):
        answer = await ask(await streams.open(stage.session, 0), scope_of(method="HEAD"))

        assert (answer.status, answer.body) == (200, b"")
        assert answer.headers == {
            "x-accel-buffering": "no",
            "content-type": "text/event-stream; charset=utf-8",
        }


async def test_a_watch_that_fails_is_told_and_the_next_one_begins_anew():
    def broken(session: SessionId) -> Translate:
        def translate(item: Record | Delta) -> list[Frame]:
            if isinstance(item, TextDelta) and item.text == "secret":
                raise StoreCorrupt("the journal is not readable")
            return [("x", b"{}")]

        return translate

    async with staged() as (stage, streams):
        speech = EventFormat("broken", broken)
        watcher, stuck = [Watcher(await streams.open(stage.session, 0, speech)) for _ in range(2)]
        for one in (watcher, stuck):
            await one.until("x")
        stuck.may_take.clear()
        stage.service._bus.publish(stage.session, [TextDelta("secret")])
        await watcher.end()
        again = Watcher(await streams.open(stage.session, 0, speech))
        await again.until("x")

        stuck.may_take.set()
        await stuck.end()
        assert watcher.names() == stuck.names() == ["x", "error", "done"]
        assert json.loads(watcher.events[1][2])["detail"] == "the journal is not readable"
        await again.leave()


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_clients_do_each_gets_every_record_once_and_in_order(seed: int):
    chance = random.Random(seed)
    async with staged(bounds=LogLimits(entries=6, gather_s=0.0)) as (stage, streams):
        watchers: list[tuple[int, Watcher]] = []
        newest = 1
        for _ in range(120):
            match chance.randrange(5):
                case 0:
                    after = chance.randrange(newest + 1)
                    speech = chance.choice((OURS, COUNTING))
                    watchers.append((after, Watcher(await streams.open(stage.session, after, speech))))
                case 1 if watchers:
                    chance.choice(watchers)[1].may_take.clear()
                case 2 if watchers:
                    chance.choice(watchers)[1].may_take.set()
                case 3:
                    stage.service._bus.publish(stage.session, [TextDelta("…")])
                case _:
                    await rename(stage, 1)
                    newest += 1
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
        await rename(stage, 1)
        newest += 1
        for after, watcher in watchers:
            watcher.may_take.set()
            await watcher.until_id(newest)
            assert watcher.ids == list(range(after + 1, newest + 1))
            await watcher.leave()


async def test_a_stream_of_what_another_process_records_beats_and_ends_with_the_server():
    async with staged(bounds=LogLimits(heartbeat_s=0.01)) as (stage, streams):
        first = Watcher(await streams.open(stage.session, 0))
        await first.until("session_created")
        await stage.store.append(stage.session, 1, [SessionTitled("elsewhere")])
        second = Watcher(await streams.open(stage.session, 0))
        await second.until("session_titled")
        await second.until_holds(lambda: second.data.endswith(b"\n:\n\n"))
        streams.stop()
        for watcher in (first, second):
            await watcher.until("done")
            await watcher.leave()
