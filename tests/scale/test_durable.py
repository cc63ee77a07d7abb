"""The engine itself, on a real PostgreSQL: queues, limits, steps, and interrupted assignments."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import psycopg
import pytest
import pytest_asyncio

from bridle.core.errors import SessionBusy, SessionNotRunning
from bridle.core.ids import SessionId
from bridle.core.protocol import Cancel
from bridle.scale import durable
from bridle.scale.durable import Executor, JobQueue, QueueSpec
from bridle.scale.jobs import Job, decode_job
from bridle.system.current_tenant import current
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAIN, SINGLE, SLOW = QueueSpec("plain"), QueueSpec("single", runs=1), QueueSpec("slow", starts=(2, 3600.0))
SHARED = QueueSpec("shared", tenant_runs=1)
UNSERVED = QueueSpec("unserved")


STATUS = "SELECT status FROM dbos.workflow_status WHERE workflow_uuid = %s"


class Yard:
    """One executor, and a driver that tests tell what to do."""

    def __init__(self) -> None:
        self.url = fresh_database()
        self.dispatch = JobQueue(self.url)
        self.executor = Executor(self.url, "worker-1")
        self.begun: list[str] = []
        self.running = 0
        self.most = 0
        self.go = asyncio.Event()
        self.work: Callable[[SessionId], Awaitable[None]] | None = None

    async def drive(self, leg: str, text: str, tell: Callable[[str], Awaitable[None]]) -> str:
        session = decode_job(text).session
        self.begun.append(session)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await tell(f"taken {session}")
            self.executor.begin(session)
            if self.work is not None:
                await self.work(session)
            await self.go.wait()
            return "done"
        finally:
            self.executor.end(session)
            self.running -= 1

    async def order(self, leg: str, lane: QueueSpec, *, tenant: str = "", priority: int = 5) -> None:
        await self.dispatch.enqueue(
            leg, Job(SessionId(leg), Cancel()), lane, tenant=tenant, priority=priority
        )

    async def until_begun(self, *names: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not set(names) <= set(self.begun):  # noqa: ASYNC110  the engine's threads tell no one
                await asyncio.sleep(0.01)

    async def until_free(self) -> None:
        self.go.set()
        async with asyncio.timeout(PATIENCE_S):
            while self.running:  # noqa: ASYNC110  the engine's threads tell no one
                await asyncio.sleep(0.01)
        self.begun, self.most, self.work = [], 0, None
        self.go = asyncio.Event()

    async def until_written(self, name: str) -> None:
        """Wait until the end of a leg is in the database, which is after it ran."""
        async with asyncio.timeout(PATIENCE_S):
            while self.rows(STATUS, name) != [("SUCCESS",)]:  # noqa: ASYNC110  the engine tells no one
                await asyncio.sleep(0.01)

    def rows(self, statement: str, *params: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard() -> AsyncIterator[Yard]:
    yard = Yard()
    await durable.migrate(yard.url)
    await yard.dispatch.open()
    lanes = [PLAIN, SINGLE, SLOW, SHARED]
    await yard.executor.launch(yard.drive, lanes, runs=4, poll_s=0.02)
    yield yard
    yard.go.set()
    await yard.executor.aclose(5)
    await yard.dispatch.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def free(yard: Yard) -> AsyncIterator[Yard]:
    yield yard
    await yard.until_free()


async def test_a_leg_is_done_once_and_whoever_ordered_it_hears_that_it_is_taken(free: Yard):
    await free.order("once", PLAIN)
    await free.order("once", PLAIN)

    taken = await free.dispatch.taken("once", 30)
    free.go.set()
    await free.until_free()

    assert (taken, await free.dispatch.waiting(SessionId("once"))) == ("taken once", [])
    await free.until_written("once")


async def test_a_worker_does_no_more_at_once_than_it_may(free: Yard):
    names = [f"many-{number}" for number in range(7)]
    for name in names:
        await free.order(name, PLAIN)

    await free.until_begun(*names[:4])
    assert free.most == 4
    free.go.set()
    await free.until_begun(*names)

    assert free.most == 4


async def test_a_lane_with_a_limit_runs_no_more_and_the_lowest_number_goes_first(free: Yard):
    await free.order("first", SINGLE)
    await free.until_begun("first")
    await free.order("late", SINGLE, priority=9)
    await free.order("urgent", SINGLE, priority=1)
    assert sorted(await free.dispatch.waiting(SessionId("late"))) == ["late"]

    free.go.set()
    await free.until_begun("first", "urgent", "late")

    assert (free.begun, free.most) == (["first", "urgent", "late"], 1)


async def test_no_more_begin_in_a_time_than_may(free: Yard):
    for name in ("a", "b", "c"):
        await free.order(f"slow-{name}", SLOW)

    await free.until_begun("slow-a", "slow-b")
    with pytest.raises(SessionBusy, match="no worker accepted this within"):
        await free.dispatch.taken("slow-c", 0.0)

    assert free.begun == ["slow-a", "slow-b"]


async def test_each_tenant_has_its_own_part_of_a_lane(free: Yard):
    await free.order("acme-1", SHARED, tenant="acme")
    await free.order("acme-2", SHARED, tenant="acme")
    await free.order("other-1", SHARED)

    await free.until_begun("acme-1", "other-1")
    assert await free.dispatch.waiting(SessionId("acme-2")) == ["acme-2"]
    free.go.set()

    await free.until_begun("acme-2")


async def test_what_nobody_has_begun_with_can_be_called_off(free: Yard):
    await free.order("unwanted", UNSERVED)

    assert await free.dispatch.call_off(await free.dispatch.waiting(SessionId("unwanted")))

    with pytest.raises(SessionNotRunning, match="cancelled before"):
        await free.dispatch.taken("unwanted", 30)


async def test_it_is_told_when_what_was_called_off_had_begun_meanwhile(free: Yard):
    await free.order("too-late", PLAIN)
    await free.until_begun("too-late")

    assert not await free.dispatch.call_off(["too-late"])


async def test_a_leg_that_a_worker_had_begun_with_is_not_called_off_when_it_waits_again(free: Yard):
    """Its progress is in the journal, and only the assignment continues from there."""
    await free.order("waits-again", UNSERVED)
    free.rows("UPDATE dbos.workflow_status SET executor_id = 'gone' WHERE workflow_uuid = 'waits-again'")

    waiting = asyncio.create_task(free.dispatch.taken("waits-again", 0.0))
    done, _ = await asyncio.wait([waiting], timeout=2.5 * durable.LOOK_S)

    assert (done, await free.dispatch.waiting(SessionId("waits-again"))) == (set(), ["waits-again"])
    await free.dispatch.call_off(["waits-again"])
    with pytest.raises(SessionNotRunning):
        await waiting


async def test_the_work_of_a_leg_is_steps_of_a_stint_and_a_sub_agents_is_one_below(free: Yard):
    done: list[str] = []

    async def noted(what: str) -> None:
        done.append(what)

    async def work(session: SessionId) -> None:
        steps = free.executor
        await steps.perform(session, "model m", lambda: noted("model"))
        await asyncio.gather(
            steps.perform(session, "tool a", lambda: noted("a")),
            steps.perform(session, "tool b", lambda: noted("b")),
        )
        await steps.pause(session, 0.001)
        child = SessionId(f"{session}-child")
        await steps.child(session, child, lambda: steps.perform(child, "tool c", lambda: noted("c")))

    free.work = work
    free.go.set()
    await free.order("steps", PLAIN)
    await free.dispatch.taken("steps", 30)
    await free.until_free()

    assert sorted(done) == ["a", "b", "c", "model"]
    stints = free.rows(
        "SELECT workflow_uuid, parent_workflow_id FROM dbos.workflow_status"
        " WHERE name = 'bridle.stint' AND workflow_uuid LIKE 'steps%%' ORDER BY created_at"
    )
    (own, above), (below, parent) = stints
    assert (above, parent) == (None, own)
    names = "SELECT function_name FROM dbos.operation_outputs WHERE workflow_uuid = %s ORDER BY function_id"
    found = [str(name) for (name,) in free.rows(names, own)]
    assert found[:3] == ["model m", "tool a", "tool b"]
    assert free.rows(names, below) == [("tool c",)]


async def test_a_step_is_done_in_the_name_of_the_tenant_whose_run_it_is(free: Yard):
    seen: list[str] = []

    async def note() -> None:
        seen.append(current.get())

    async def work(session: SessionId) -> None:
        current.set("acme")
        await free.executor.perform(session, "tool one", note)

        async def life() -> None:
            await free.executor.perform(SessionId("acme.child"), "model", note)

        await free.executor.child(session, SessionId("acme.child"), life)

    free.work = work
    await free.order("acme.steps", PLAIN)
    await free.until_begun("acme.steps")
    await free.until_free()

    assert seen == ["acme", "acme"]


async def test_a_step_that_is_cancelled_is_cancelled_and_work_without_a_leg_is_just_done(free: Yard):
    began, ended = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def work(session: SessionId) -> None:
        step = asyncio.create_task(free.executor.perform(session, "tool x", endless))
        await began.wait()
        step.cancel()
        await asyncio.wait([step])

    free.work = work
    free.go.set()
    await free.order("cancelled", PLAIN)
    await free.dispatch.taken("cancelled", 30)
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()
    done: list[int] = []

    async def plain() -> None:
        done.append(1)

    await free.executor.perform(SessionId("nobody"), "tool y", plain)
    await free.executor.pause(SessionId("nobody"), 0.0)

    assert done == [1]


async def test_the_legs_of_one_that_is_gone_are_done_again_by_another(free: Yard):
    await free.order("cut-off", PLAIN)
    await free.until_begun("cut-off")
    await free.until_free()
    await free.until_written("cut-off")
    free.rows(
        "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = 'dead', output = NULL"
        " WHERE workflow_uuid = 'cut-off'"
    )

    async def is_gone(executor: str) -> bool:
        return executor == "dead"

    moved = await free.dispatch.requeue_lost(is_gone)
    await free.until_begun("cut-off")

    assert (moved, await free.dispatch.requeue_lost(is_gone)) == (1, 0)


async def test_what_ended_long_ago_is_forgotten(free: Yard):
    free.go.set()
    await free.order("old", PLAIN)
    await free.dispatch.taken("old", 30)
    await free.until_free()
    async with asyncio.timeout(PATIENCE_S):
        while not await free.dispatch.forget("2100-01-01T00:00:00+00:00"):  # noqa: ASYNC110  its end is written soon
            await asyncio.sleep(0.01)

    assert free.rows("SELECT 1 FROM dbos.workflow_status WHERE workflow_uuid = 'once'") == []
