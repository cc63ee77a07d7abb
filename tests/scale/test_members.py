"""Which nodes are alive, with a real PostgreSQL."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from bridle.core.errors import SessionTaken
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionCreated, SessionTitled
from bridle.scale import members
from bridle.scale.members import Member, Members
from bridle.sessions.system_clock import SystemClock
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database

S = SessionId("s")
BEAT_S, DEAD_AFTER_S = 0.05, 0.4
_BACKEND = "SELECT 1 FROM pg_stat_activity WHERE pid = %s"
_BEAT = "SELECT beat FROM bridle.workers WHERE id = %s"


class Node:
    """A member with separate connections, as a process has them."""

    def __init__(
        self,
        url: str,
        name: str,
        hand_on: Callable[..., Awaitable[int]] | None = None,
        dead_after_s: float = DEAD_AFTER_S,
    ) -> None:
        self.postgres = Postgres(url, size=2)
        self.claims = PostgresClaims(self.postgres, name)
        self.store = PostgresStore(self.postgres, SystemClock(), name)
        self.members = Members(
            self.postgres,
            self.claims,
            Member(name, f"host-of-{name}", f"{name}:1", ("", "gpu"), "1"),
            beat_s=BEAT_S,
            dead_after_s=dead_after_s,
            hand_on=hand_on,
        )
        self._living: asyncio.Task[None] | None = None

    async def live(self) -> None:
        self._living = asyncio.create_task(self.members.run())

    async def die(self) -> None:
        """End without a word, as a killed process does: its connections are closed."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.wait([self._living])
            self._living = None
        connection = self.members._connection
        backend = connection.info.backend_pid if connection and not connection.closed else 0
        await self.members._drop_connection()
        async with asyncio.timeout(PATIENCE_S):
            # The server frees the lock when it notices the end; nothing tells of it.
            while await self.postgres.rows(_BACKEND, (backend,)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def freeze(self) -> None:
        """Send nothing any more, but keep all connections."""
        assert self._living is not None
        self._living.cancel()


@asynccontextmanager
async def nodes(
    *names: str, hand_on: Callable[..., Awaitable[int]] | None = None, dead_after_s: float = DEAD_AFTER_S
) -> AsyncIterator[list[Node]]:
    url = fresh_database()
    found = [Node(url, name, hand_on, dead_after_s) for name in names]
    try:
        for node in found:
            await node.members.join()
        yield found
    finally:
        for node in found:
            await node.die()
            await node.postgres.aclose()


async def until_beaten(node: Node, times: int = 1) -> None:
    """Wait until a member has said that often that it lives."""
    seen = set()
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) <= times:
            seen.update(await node.postgres.rows(_BEAT, (node.members.me.id,)))
            await asyncio.sleep(0.01)


async def until_gone(here: Node, name: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await here.members.is_gone(name):  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.02)


async def test_members_know_each_other():
    async with nodes("a", "b") as (a, _):
        found = await a.members.list_living()

    assert [(one.id, one.node, one.address, one.labels, one.version) for one in found] == [
        ("a", "host-of-a", "a:1", ("", "gpu"), "1"),
        ("b", "host-of-b", "b:1", ("", "gpu"), "1"),
    ]


async def test_the_claims_of_one_that_died_are_dropped_and_its_legs_handed_on():
    handed: list[bool] = []

    async def hand_on(is_gone: Callable[[str], Awaitable[bool]]) -> int:
        handed.append(await is_gone("b"))
        return 1

    async with nodes("a", "b", hand_on=hand_on) as (a, b):
        await b.store.append(S, 0, [SessionCreated(S, "/", "default")])
        assert await b.claims.claim(S)
        await b.live()
        await a.live()
        await b.die()

        await until_gone(a, "b")

        async with asyncio.timeout(PATIENCE_S):
            while await a.claims.holder(S) or not any(handed):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.02)
        assert await a.claims.claim(S)


async def test_one_that_was_frozen_may_not_write_and_learns_that_it_is_gone():
    async with nodes("a", "b") as (a, b):
        await b.store.append(S, 0, [SessionCreated(S, "/", "default")])
        await b.claims.claim(S)
        await b.live()
        await a.live()
        async with asyncio.timeout(PATIENCE_S):
            while b.members._beaten_since is None:  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
        b.freeze()

        await until_gone(a, "b")
        async with asyncio.timeout(PATIENCE_S):
            while await a.claims.holder(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.02)

        with pytest.raises(SessionTaken):
            await b.store.append(S, 1, [SessionTitled("too late")])
        assert not await b.claims.claim(S)
        await b.live()  # it wakes up
        async with asyncio.timeout(PATIENCE_S):
            await b.members.is_lost.wait()


async def test_a_living_one_is_not_given_up_and_one_that_leaves_is_gone_at_once():
    judged = asyncio.Event()

    async def hand_on(is_gone: Callable[[str], Awaitable[bool]]) -> int:
        judged.set()
        return 0

    async with nodes("a", "b", hand_on=hand_on, dead_after_s=3.0) as (a, b):
        await a.live()
        await b.live()
        async with asyncio.timeout(PATIENCE_S):
            await judged.wait()

        alive = [one.id for one in await a.members.list_living()]
        await b.members.leave()

        assert (alive, await a.members.is_gone("b")) == (["a", "b"], True)
        assert not a.members.is_lost.is_set()


async def test_a_fault_in_handing_on_does_not_end_the_one_who_looks():
    failed = asyncio.Event()

    async def hand_on(is_gone: Callable[[str], Awaitable[bool]]) -> int:
        failed.set()
        raise RuntimeError("the engine is away")

    async with nodes("a", "b", hand_on=hand_on) as (a, b):
        await a.live()
        await b.die()
        await until_gone(a, "b")
        async with asyncio.timeout(PATIENCE_S):
            await failed.wait()
        await until_beaten(a, 3)

        assert not a.members.is_lost.is_set()
        assert a._living is not None
        assert not a._living.done()


async def test_one_that_was_held_up_itself_gives_nobody_up_for_having_been_held_up_too():
    async with nodes("a", "b", dead_after_s=60.0) as (a, _):
        a.members._beaten_since = time.monotonic() - 1000.0  # it has lived for long
        await a.postgres.rows("UPDATE bridle.workers SET beat = beat - interval '1 hour'")  # all have slept
        await a.live()
        await until_beaten(a, 5)

        assert [one.id for one in await a.members.list_living()] == ["a", "b"]


async def test_who_leaves_does_not_wait_for_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(members, "LEAVE_S", 0.05)
    node = Node("postgresql://nobody@127.0.0.1:1/none", "a")

    async with asyncio.timeout(PATIENCE_S):
        await node.members.leave()
        await node.postgres.aclose()


async def test_who_wants_a_session_of_one_that_was_killed_waits_for_its_end():
    async with nodes("a", "b", dead_after_s=60.0) as (a, b):
        await b.live()
        await until_beaten(b)
        alive = await a.members.wait_for_end("b")

        await b.die()
        ended = await a.members.wait_for_end("b")

        assert (alive, ended, await a.members.is_gone("b")) == (False, True, True)
        assert await a.members.wait_for_end("nobody")
