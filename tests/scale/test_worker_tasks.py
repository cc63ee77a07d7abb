"""Tasks for every worker: started once on each, also on later ones; their results are merged."""

import asyncio
from collections.abc import Callable
from typing import Any

from bridle.core.ids import SessionId
from bridle.core.protocol import Rename
from bridle.core.session_api import LiveSession, SessionApi, SessionNews
from bridle.scale.cluster_api import NewsMerger, WorkerTasks
from bridle.scale.members import Member, MemberCache
from bridle.scale.peer_connections import PeerConnections
from bridle.sessions.service import SessionService
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage

A, B = SessionId("a"), SessionId("b")


class Book:
    """The living members, as set by the test."""

    def __init__(self, *members: Member) -> None:
        self.members = list(members)
        self.reads = 0

    async def list_living(self) -> list[Member]:
        self.reads += 1
        return list(self.members)


class Reached:
    """A service as a peer: reached at every address, and gone when a test says so."""

    def __init__(self, service: SessionService) -> None:
        self._service = service
        self.addresses: list[str] = []
        self.is_gone = False

    async def __call__(self, address: str) -> Any:
        self.addresses.append(address)
        self.is_gone = False
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def aclose(self) -> None:
        pass


def member(name: str, *, draining: bool = False, address: str = "x") -> Member:
    return Member(name, "host", address and f"{name}:1", draining=draining)


def live(session: SessionId, state: str = "running") -> SessionNews:
    return SessionNews(session, LiveSession(session, "", "/", "default", state))


async def test_work_begins_at_every_other_worker_and_at_those_that_come():
    book = Book(member("me"), member("one"), member("gateway", address=""))
    now = [0.0]
    async with Stage(Play()) as stage:
        peers = PeerConnections(Reached(stage.service))
        at: list[str] = []

        async def work(worker: str, api: SessionApi, in_place: Callable[[], None]) -> None:
            at.append(worker)
            in_place()
            await asyncio.Event().wait()

        everywhere = WorkerTasks(MemberCache(book, lambda: now[0]), peers, "me", work)
        keeping = asyncio.create_task(everywhere.keep())
        await everywhere.settled()
        assert at == ["one"]

        book.members.append(member("two"))
        now[0] += 10
        async with asyncio.timeout(PATIENCE_S):
            while len(at) < 2:  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
        keeping.cancel()
        await asyncio.wait([keeping])

        assert at == ["one", "two"]


async def test_work_is_in_place_at_a_worker_that_joined_a_moment_ago():
    book = Book(member("one"))
    async with Stage(Play()) as stage:
        at: list[str] = []

        async def work(worker: str, api: SessionApi, in_place: Callable[[], None]) -> None:
            at.append(worker)
            in_place()
            await asyncio.Event().wait()

        roster = MemberCache(book, lambda: 0.0)  # no time passes
        await roster.workers()
        book.members.append(member("two"))
        everywhere = WorkerTasks(roster, PeerConnections(Reached(stage.service)), "me", work)
        keeping = asyncio.create_task(everywhere.keep())
        await everywhere.settled()
        keeping.cancel()
        await asyncio.wait([keeping])

        assert sorted(at) == ["one", "two"]


async def test_a_connection_is_kept_until_it_is_lost():
    async with Stage(Play()) as stage:
        reached = Reached(stage.service)
        peers = PeerConnections(reached)

        await asyncio.gather(peers.api("a:1"), peers.api("a:1"), peers.api("b:1"))
        assert sorted(reached.addresses) == ["a:1", "b:1"]

        reached.is_gone = True
        await peers.api("a:1")
        assert sorted(reached.addresses) == ["a:1", "a:1", "b:1"]
        await peers.aclose()


async def test_a_worker_that_cannot_be_reached_holds_nobody_up():
    async def reach(address: str) -> Any:
        raise ConnectionError("nobody")

    async def work(worker: str, api: SessionApi, in_place: Callable[[], None]) -> None:
        raise AssertionError("it was reached")

    everywhere = WorkerTasks(MemberCache(Book(member("one"))), PeerConnections(reach), "me", work)
    keeping = asyncio.create_task(everywhere.keep())

    async with asyncio.timeout(PATIENCE_S):
        await everywhere.settled()

    keeping.cancel()
    await asyncio.wait([keeping])


def test_news_are_of_the_worker_that_has_the_session_by_now():
    heard = NewsMerger()

    heard._add("one", live(A))
    heard._add("two", live(A, "waiting"))
    heard._add("one", SessionNews(A))  # it has let go, after another took it
    heard._add("one", live(B))
    heard._add("one", SessionNews(B))

    assert list(heard._news.values()) == [live(A, "waiting"), SessionNews(B)]


async def test_the_sessions_of_a_worker_that_is_gone_are_in_memory_no_more():
    async with Stage(Play()) as stage:
        heard = NewsMerger()
        await stage.service.submit(stage.session, Rename("a name"))
        listening = asyncio.create_task(heard.listen("one", stage.service, lambda: None))
        assert [news.live is not None for news in await heard.take()] == [True]

        listening.cancel()
        await asyncio.wait([listening])

        assert await heard.take() == [SessionNews(stage.session)]


async def test_the_roster_is_read_once_a_second_and_at_once_for_somebody_unknown():
    now = [0.0]
    book = Book(member("one"), member("two", draining=True), member("gate", address=""))
    roster = MemberCache(book, lambda: now[0])

    names = [one.id for one in await roster.workers()]
    await roster.all()
    assert (names, book.reads) == (["one", "two"], 1)

    now[0] += 0.6
    book.members.append(member("three"))
    found = await roster.find("three")
    assert (found and found.id, book.reads) == ("three", 2)
    assert await roster.find("nobody") is None
