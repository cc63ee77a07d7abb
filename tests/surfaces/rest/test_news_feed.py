"""News of every session: alone, mixed into the events of one, shared by many."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import Rename
from bridle.core.session_api import LiveSession, SessionNews
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.news_feed import NewsFeed, OnlyNews, WithNews
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.rest.client import Watcher, ask, scope_of


class Paper:
    """A session API with prepared answers that counts its readers."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[SessionNews | Exception] = asyncio.Queue()
        self.readers = 0

    async def watch(self, session: None) -> AsyncGenerator[SessionNews, None]:
        self.readers += 1
        try:
            while True:
                item = await self.told.get()
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.readers -= 1

    def say(self, session: str, title: str = "", *, gone: bool = False) -> None:
        live = None if gone else LiveSession(SessionId(session), title, "/", "coder", "idle")
        self.told.put_nowait(SessionNews(SessionId(session), live))


def feed_of(paper: Paper, heartbeat_s: float = 60.0, max_gone: int = 100) -> NewsFeed:
    return NewsFeed(paper, heartbeat_s, max_gone)  # type: ignore[arg-type]


def only(feed: NewsFeed) -> Response:
    return WithNews(feed, OnlyNews(feed))


def titles(watcher: Watcher) -> list[str]:
    told = [json.loads(data) for _, name, data in watcher.events if name == "news"]
    return [one["live"]["title"] if "live" in one else f"{one['session']} is gone" for one in told]


async def has_told(watcher: Watcher, *expected: str) -> None:
    await watcher.until_holds(lambda: len(titles(watcher)) >= len(expected))
    assert titles(watcher) == list(expected)


async def test_news_are_read_once_and_told_to_all():
    paper = Paper()
    feed = feed_of(paper)
    watchers = [Watcher(only(feed)) for _ in range(3)]
    paper.say("a", "first")
    for watcher in watchers:
        await has_told(watcher, "first")

    assert paper.readers == 1
    for watcher in watchers:
        await watcher.leave()
    assert paper.readers == 0


async def test_who_comes_late_hears_how_each_session_is_by_then():
    paper = Paper()
    feed = feed_of(paper)
    early = Watcher(only(feed))
    for session, title in (("a", "one"), ("b", "two"), ("a", "three")):
        paper.say(session, title)
        await early.until_holds(lambda title=title: title in titles(early))
    late = Watcher(only(feed))

    await has_told(late, "two", "three")
    await early.leave()
    await late.leave()


async def test_who_is_slow_hears_of_a_session_once():
    paper = Paper()
    feed = feed_of(paper)
    slow, quick = Watcher(only(feed)), Watcher(only(feed))
    paper.say("a", "0")
    await has_told(slow, "0")
    slow.may_take.clear()
    for number in range(1, 40):
        paper.say("a", str(number))
    await quick.until_holds(lambda: "39" in titles(quick))
    slow.may_take.set()
    await slow.until_holds(lambda: "39" in titles(slow))

    assert len(titles(slow)) <= 4
    await slow.leave()
    await quick.leave()


async def test_sessions_that_are_gone_are_forgotten_one_day():
    paper = Paper()
    feed = feed_of(paper, max_gone=3)
    early = Watcher(only(feed))
    paper.say("stays", "stays")
    for number in range(6):
        paper.say(f"s{number}", gone=True)
    await early.until_holds(lambda: "s5 is gone" in titles(early))
    late = Watcher(only(feed))

    await has_told(late, "stays", "s3 is gone", "s4 is gone", "s5 is gone")
    await early.leave()
    await late.leave()


async def test_a_stream_of_news_lives_until_the_server_ends():
    paper = Paper()
    feed = feed_of(paper, heartbeat_s=0.01)
    watcher = Watcher(only(feed))
    await watcher.until_holds(lambda: b":\n\n" in watcher.data)
    feed.stop()
    await watcher.end()

    assert watcher.data.startswith(b"retry: 2000\n\n")
    assert watcher.data.endswith(b"event: done\ndata: {}\n\n")
    assert paper.readers == 0


async def test_news_that_fail_are_said():
    paper = Paper()
    feed = feed_of(paper)
    watcher = Watcher(only(feed))
    paper.told.put_nowait(StoreCorrupt("the store is broken"))
    await watcher.until("error")

    assert json.loads(watcher.events[0][2])["detail"] == "the store is broken"
    await watcher.leave()
    fresh = Watcher(only(feed))
    paper.say("a", "it is back")
    await has_told(fresh, "it is back")
    await fresh.leave()


async def test_a_head_request_gets_no_news():
    paper = Paper()

    answer = await ask(only(feed_of(paper)), scope_of(method="HEAD"))

    assert (answer.status, answer.headers["content-type"], answer.body) == (
        200,
        "text/event-stream; charset=utf-8",
        b"",
    )
    assert paper.readers == 0


@asynccontextmanager
async def staged() -> AsyncIterator[tuple[Stage, Streams, NewsFeed]]:
    async with Stage(Play(says("Hello."))) as stage:
        yield stage, Streams(stage.service), NewsFeed(stage.service)


async def test_a_session_and_the_news_share_a_stream():
    async with staged() as (stage, streams, feed):
        watcher = Watcher(WithNews(feed, await streams.open(stage.session, 0)))
        await watcher.until("session_created")
        await stage.service.submit(stage.session, Rename("a new name"))
        await watcher.until("session_titled")
        await watcher.until_holds(lambda: "a new name" in titles(watcher))
        other = await stage.service.create(cwd="/", title="another session")
        await watcher.until_holds(lambda: f"{other} is gone" in titles(watcher))
        streams.stop()
        await watcher.end()

    numbers = watcher.ids
    assert numbers == list(range(1, len(numbers) + 1)), "news have no number"
    assert json.loads(watcher.events[-2][2]) == {"session": other}, "it began, and is not in memory yet"
    assert watcher.names().count("done") == 1
    assert watcher.names()[-1] == "done"


async def test_nothing_is_said_after_the_end():
    """A server would take it for the beginning of another answer."""
    paper = Paper()
    feed = feed_of(paper)
    may_leave = asyncio.Event()

    class Ending(Response):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"the end"})
            await may_leave.wait()

    ending, other = Watcher(WithNews(feed, Ending())), Watcher(only(feed))
    paper.say("a", "too late")
    await has_told(other, "too late")
    await asyncio.sleep(0)
    may_leave.set()
    await ending.end()

    assert ending.data == b"the end"
    await other.leave()
