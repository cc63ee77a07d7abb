"""The view model over HTTP: loaded once, updated by patches, and cheap however fast the model writes."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import Delta, Rename, Retrying, Rewind, TextDelta, ToolOutputDelta
from bridle.core.queries import Records, Status
from bridle.core.session_api import SessionApi
from bridle.surfaces.rest.event_format import EventEncoder
from bridle.surfaces.rest.event_log import LogLimits
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.view_format import BOARD, ViewEncoder
from bridle.surfaces.shared.timeline import Timeline
from bridle.surfaces.shared.view_model.loader import open_view
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Call,
    Grow,
    HeadChanged,
    Patch,
    Put,
    Reset,
    ViewPage,
    ViewSnapshot,
)
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.rest.client import Watcher
from tests.surfaces.rest.house import opened
from tests.surfaces.shared.view_model.screen import DictScreen, S, stage_of, turns

PATCH = msgspec.json.Decoder(Patch)


class Writer:
    """A model that sends the test's texts until told to end."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        text = ""
        while (word := await self.words.get()) is not None:
            text += word
            yield TextDelta(word)
        yield says(text)

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def staged(provider: Any, bounds: LogLimits | None = None, **options: Any) -> AsyncIterator[Any]:
    async with Stage(provider, **options) as stage:
        streams = Streams(stage.service, bounds)
        yield stage, streams
        assert streams.watched == 0, "a watch was left open"


def patches(watcher: Watcher) -> list[Patch]:
    """Return the patches that came, which are named by their types."""
    told = [event for event in watcher.events if event[1] not in ("done", "error")]
    assert [name for _, name, _ in told] == [json.loads(data)["type"] for _, _, data in told]
    return [PATCH.decode(data) for _, _, data in told]


async def screen_of(stage: Stage, at: int | None = None) -> DictScreen:
    return DictScreen((await open_view(stage.service, stage.session, at)).view)


# ---------------------------------------------------------------------------- following


async def test_what_is_loaded_and_followed_is_what_is_loaded_later():
    tool = SmallTool("look", str.upper)
    async with staged(Play(says("I look.", call("c1", "look")), says("Done.")), tools=[tool]) as (
        stage,
        streams,
    ):
        screen = await screen_of(stage)
        watcher = Watcher(await streams.open(stage.session, screen.head.seq, BOARD))
        await watcher.until("head_changed")
        await stage.run("Hi.")
        last = (await stage.service.ask(Status(stage.session))).seq
        await watcher.until_id(last)
        await watcher.leave()

        screen.apply(patches(watcher))

        later = await screen_of(stage)
        assert screen.items == later.items
        assert replace(screen.head, seq=last) == later.head


async def test_a_client_that_resumes_goes_on_from_the_board_it_has():
    async with staged(Play(says("One."), says("Two."))) as (stage, streams):
        await stage.run("1")
        screen = await screen_of(stage)
        await stage.run("2")
        later = await screen_of(stage)

        watcher = Watcher(await streams.open(stage.session, screen.head.seq, BOARD))
        await watcher.until_id(later.head.seq)
        await watcher.leave()

        screen.apply(patches(watcher))
        assert screen.items == later.items


async def test_what_is_stored_can_be_had_without_waiting_for_more():
    async with staged(Play(says("One."))) as (stage, streams):
        await stage.run("1")
        watcher = Watcher(await streams.open(stage.session, 0, BOARD, live=False))
        await watcher.end()

        screen = await screen_of(stage, 1)
        screen.apply(patches(watcher))
        assert screen.items == (await screen_of(stage)).items


async def test_a_client_that_comes_in_the_middle_of_an_answer_gets_what_there_is_of_it():
    model = Writer()
    async with staged(model) as (stage, streams):
        early = Watcher(await streams.open(stage.session, None, BOARD))
        run = await stage.prompt("Hi.")
        model.words.put_nowait("Half of ")
        await early.until("put", count=2)

        screen = await screen_of(stage)
        late = Watcher(await streams.open(stage.session, screen.head.seq, BOARD))
        await late.until("put")
        model.words.put_nowait("it.")
        model.words.put_nowait(None)
        await stage.service.wait(stage.session, run)
        last = (await stage.service.ask(Status(stage.session))).seq
        await late.until_id(last)
        await early.leave()
        await late.leave()

        told = patches(late)
        first = next(patch.item for patch in told if isinstance(patch, Put))
        assert isinstance(first, Answer)
        assert (first.text, first.is_live) == ("Half of ", True)
        screen.apply(told)
        assert screen.items == (await screen_of(stage)).items


async def test_fragments_that_came_to_nothing_while_a_client_was_away_are_dropped():
    failed = ProviderError("slow down", kind="rate_limited")
    stage = await stage_of(
        [*turns(1)[:4], Retrying(RunId("run-0"), 1, 1, 3, "rate_limited", str(failed), 10)]
    )
    board = await open_view(stage.service, S, 4)
    screen = DictScreen(board.view)
    screen.apply(board.add(TextDelta("Never")))
    streams = Streams(stage.service)

    back = Watcher(await streams.open(S, 4, BOARD))
    await back.until_id(5)
    await back.leave()

    screen.apply(patches(back))
    assert screen.items == (await screen_of(stage)).items
    assert screen.head.state == "cut_off"


async def test_a_run_that_died_with_its_process_is_cut_off_for_a_client_that_comes_back():
    stage = await stage_of(turns(1)[:4])
    board = await open_view(stage.service, S, 3)
    screen = DictScreen(board.view)
    screen.apply(board.add((await stage.service.ask(Records(S)))[3]))
    screen.apply(board.add(TextDelta("Never")))
    assert screen.head.state == "running"
    streams = Streams(stage.service)

    back = Watcher(await streams.open(S, 4, BOARD))
    await back.until("head_changed")
    await back.leave()

    screen.apply(patches(back))
    assert (screen.items, screen.head.state) == ((await screen_of(stage)).items, "cut_off")


async def test_who_joins_hears_nothing_twice_that_was_held_back():
    model, slow = Writer(), replace(BOARD, hold_s=60.0)
    async with staged(model) as (stage, streams):
        plain = Watcher(await streams.open(stage.session, None))
        await plain.until_holds(lambda: plain.writes > 0)
        first = Watcher(await streams.open(stage.session, None, slow))
        await first.until("head_changed")
        await stage.prompt("Hi.")
        watchers, screens = [first], [await screen_of(stage)]
        for count, word in enumerate(["one ", "two ", "three "], 1):
            model.words.put_nowait(word)
            await plain.until("text_delta", count=count)
            screens.append(await screen_of(stage))
            watchers.append(Watcher(await streams.open(stage.session, screens[-1].head.seq, slow)))
            await watchers[-1].until("put")
        await first.until_holds(lambda: b"three" in first.data)
        for watcher in (plain, *watchers):
            await watcher.leave()

        for watcher, screen in zip(watchers, screens, strict=True):
            screen.apply(patches(watcher))
        assert [screen.items[-1].text for screen in screens[1:]] == ["one two three "] * 3
        model.words.put_nowait(None)


async def test_going_back_voids_what_is_shown_and_what_it_was_told_by():
    opened_at = []

    async def counting(api: SessionApi, session: SessionId, upto: int) -> EventEncoder:
        opened_at.append(upto)
        return await BOARD.open(api, session, upto)

    async with staged(Play(says("One."), says("Two."))) as (stage, streams):
        await stage.run("1")
        watcher = Watcher(await streams.open(stage.session, None, replace(BOARD, open=counting)))
        await watcher.until("head_changed")
        last = (await stage.service.ask(Status(stage.session))).seq
        await stage.service.submit(stage.session, Rewind(1, "conversation"))
        await watcher.until("reset")
        await stage.service.submit(stage.session, Rename("Anew"))
        await watcher.until_holds(lambda: b"Anew" in watcher.data)
        await watcher.leave()

        rewound = int(next(seq for seq, name, _ in watcher.events if name == "reset"))
        assert opened_at == [last, rewound]


async def test_who_resumes_from_before_a_rewind_is_told_so_and_goes_on_from_there():
    async with staged(Play(says("One."), says("Two."))) as (stage, streams):
        await stage.run("1")
        seen = (await stage.service.ask(Status(stage.session))).seq
        await stage.service.submit(stage.session, Rewind(1, "conversation"))
        await stage.run("2")
        later = await screen_of(stage)
        watcher = Watcher(await streams.open(stage.session, seen, BOARD))
        await watcher.until_id(later.head.seq)
        await watcher.leave()

        told = patches(watcher)
        reset = told.index(Reset())
        screen = await screen_of(stage, int(next(seq for seq, name, _ in watcher.events if name == "reset")))
        screen.apply(told[reset + 1 :])
        assert screen.items == later.items


async def test_a_client_that_was_too_slow_is_told_to_begin_anew():
    bounds = LogLimits(entries=8, gather_s=0.0)
    async with staged(Play(), bounds) as (stage, streams):
        slow = Watcher(await streams.open(stage.session, None, BOARD))
        await slow.until("head_changed")
        slow.may_take.clear()
        for number in range(40):
            await stage.service.submit(stage.session, Rename(f"title {number}"))
        await slow.until_holds(lambda: True)
        slow.may_take.set()
        await slow.until("reset")
        await stage.service.submit(stage.session, Rename("last"))
        await slow.until_holds(lambda: b'"last"' in slow.data)
        await slow.leave()


# ---------------------------------------------------------------------------- how much is told


async def test_thousands_of_fragments_are_few_events():
    stage = await stage_of(turns(1)[:-3])
    board = await open_view(stage.service, S, 4)
    encoder = ViewEncoder(board)
    written = [f"{number} " for number in range(5_000)]

    told = [encoder.encode_item(TextDelta(word)) for word in written]
    released = [PATCH.decode(data) for _, data in encoder.release()]
    encoder.encode_item(TextDelta("x"))
    again = [PATCH.decode(data) for _, data in encoder.release()]

    assert not any(told)
    assert [type(patch) for patch in released] == [Put, HeadChanged, Grow]
    assert released[0].item.text + released[2].text == "".join(written)
    assert again == [Grow("run-0.1.text0", "x")]


async def test_a_record_is_told_at_once_with_all_that_was_held_before_it():
    stage = await stage_of(turns(1))
    records = await stage.service.ask(Records(S))
    encoder = ViewEncoder(await open_view(stage.service, S, 4))

    encoder.encode_item(TextDelta("loo"))
    encoder.encode_item(TextDelta("k"))
    told = [PATCH.decode(data) for _, data in encoder.encode_item(records[4])]

    assert [type(patch) for patch in told] == [Put, Grow, Put, Put, HeadChanged]
    assert told[0].item.key == told[2].item.key
    assert encoder.release() == []


async def test_what_a_board_holds_for_others_stays_bounded():
    stage = await stage_of(turns(700))
    records = await stage.service.ask(Records(S))
    board = await open_view(stage.service, S, 4)
    encoder = ViewEncoder(board)

    for record in records[4:]:
        encoder.encode_item(record)

    assert 500 <= board.count <= 1_001
    assert board.items[-1].key == f"n{records[-1].seq}"
    assert board.view.before is not None


async def test_output_of_a_call_is_live_for_who_comes_late():
    stage = await stage_of([*turns(1)[:5], *turns(1)[5:6]])
    encoder = ViewEncoder(await open_view(stage.service, S, 5))
    encoder.encode_item((await stage.service.ask(Records(S)))[5])
    encoder.encode_item(ToolOutputDelta(CallId("c0_1"), "one\n"))
    encoder.encode_item(ToolOutputDelta(CallId("c0_1"), "two\n"))

    told = [PATCH.decode(data) for _, data in encoder.welcome()]

    calls = [patch.item for patch in told if isinstance(patch, Put)]
    assert [(item.key, item.state, item.output) for item in calls if isinstance(item, Call)] == [
        ("c0_1", "running", "one\ntwo\n")
    ]


# ---------------------------------------------------------------------------- operations


async def test_a_board_its_pages_and_its_timeline_over_http(home: Any, tmp_path: Any, env: dict[str, str]):
    replies = [{"text": "Done."}]
    async with opened(home, tmp_path, env, replies) as house:
        session = await house.session("Hi.")

        view = msgspec.json.decode((await house.get(f"/sessions/{session}/board")).content, type=ViewSnapshot)
        then = await house.get(f"/sessions/{session}/board", params={"at": 1})
        items = await house.get(f"/sessions/{session}/board/items", params={"before": view.head.seq})
        line = await house.get(f"/sessions/{session}/timeline")
        no_run = await house.get(f"/sessions/{session}/timeline", params={"run": "x"})
        nobody = await house.get("/sessions/nobody/board")
        no_page = await house.get("/sessions/nobody/board/items", params={"before": 3})

        assert view == (await open_view(house.service, session)).view
        assert [type(item).__name__ for item in view.items] == ["Said", "Answer", "Note"]
        assert msgspec.json.decode(then.content, type=ViewSnapshot).items == ()
        assert msgspec.json.decode(items.content, type=ViewPage).items == view.items
        told = msgspec.json.decode(line.content, type=Timeline)
        assert [(run.run_id, run.brief, run.outcome) for run in told.runs] == [
            (told.run_id, "Hi.", "completed")
        ]
        assert [span.kind for span in told.spans] == ["turn", "model"]
        assert (no_run.status_code, nobody.status_code, no_page.status_code) == (400, 404, 404)
