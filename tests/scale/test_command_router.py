"""Where a command goes: to the worker that drives its session, or to a queue; PostgreSQL is real."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.duration import Duration
from bridle.config.scale_keys import ModelLimits, Placement, ScaleSettings, TenantLimits
from bridle.core.errors import (
    DaemonGone,
    NotDrivenHere,
    SessionBusy,
    SessionNotFound,
    UsageError,
    WorkspaceLost,
)
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    Cancel,
    Command,
    Event,
    Prompt,
    PromptQueued,
    Rename,
    RunOptions,
    SessionCreated,
    Steer,
)
from bridle.core.session import fold
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.session_status import SessionStatus, make_session_status
from bridle.scale import command_router, members
from bridle.scale.command_router import CommandRouter, choose_label, choose_queue, list_queues
from bridle.scale.durable import QueueSpec
from bridle.scale.jobs import Job, encode_outcome
from bridle.scale.members import Member, MemberCache
from bridle.scale.peer_connections import PeerConnections
from bridle.sessions.system_clock import SystemClock
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database

PLACES = (
    Placement("gpu", agent="trainer"),
    Placement("big", folder="/repos/big"),
    Placement("acme", tenant="acme", folder="/repos"),
)


def label(agent: str = "default", folder: str = "/x", tenant: str = "") -> str:
    return choose_label(ScaleSettings(placement=PLACES), agent=agent, folder=folder, tenant=tenant)


def test_the_first_placement_that_fits_counts():
    found = [
        label(agent="trainer", folder="/repos/big"),
        label(folder="/repos/big"),
        label(folder="/repos/big/src"),
        label(folder="/repos/bigger"),
        label(folder="/repos/bigger", tenant="acme"),
        label(tenant="acme"),
    ]

    assert found == ["gpu", "big", "big", "", "acme", ""]


def test_a_lane_is_named_by_label_machine_and_a_model_that_has_limits():
    scale = ScaleSettings(models={"openai/gpt 5": ModelLimits(runs=3, starts=10, period=Duration(30))})

    found = [
        choose_queue(scale, label="", node="", model="other/one"),
        choose_queue(scale, label="gpu", node="", model=""),
        choose_queue(scale, label="gpu", node="build-3", model=""),
        choose_queue(scale, label="gpu", node="", model="openai/gpt 5"),
    ]

    assert found == [
        QueueSpec("bridle"),
        QueueSpec("bridle.gpu"),
        QueueSpec("bridle@build-3"),
        QueueSpec("bridle.gpu:openai-gpt-5", runs=3, starts=(10, 30.0)),
    ]


def test_limits_of_tenants_hold_in_every_lane():
    scale = ScaleSettings(tenants=TenantLimits(runs=2, starts=5, period=Duration(60)))

    lane = choose_queue(scale, label="", node="", model="")

    assert lane == QueueSpec("bridle", tenant_runs=2, tenant_starts=(5, 60.0))
    assert lane.is_shared
    assert not QueueSpec("bridle").is_shared


@given(
    labels=st.lists(st.sampled_from(["gpu", "big", "acme"]), unique=True).map(tuple),
    only=st.booleans(),
    local=st.booleans(),
    limited=st.booleans(),
)
def test_a_worker_serves_the_lane_of_every_session_that_it_may_run(
    labels: tuple[str, ...], only: bool, local: bool, limited: bool
):
    models = {"p/m": ModelLimits(runs=1)} if limited else {}
    scale = ScaleSettings(
        labels=labels, only_labels=only, workspaces="local" if local else "shared", models=models
    )

    served = {lane.name for lane in list_queues(scale, "here")}

    wanted = {*labels, *(() if only else ("",))}
    for one in ("", "gpu", "big", "acme"):
        for model in ("", "p/m", "q/n"):
            assert (choose_queue(scale, label=one, node="", model=model).name in served) == (one in wanted)
            assert (choose_queue(scale, label=one, node="here", model=model).name in served) == local
            assert choose_queue(scale, label=one, node="there", model=model).name not in served


S = SessionId("acme.s")
PROMPT = Prompt(user_message("hi"), RunOptions(env={"PATH": "/mine"}))


class Engine:
    """Takes assignments as the durable engine does, and answers as it is told."""

    def __init__(self) -> None:
        self.legs: list[tuple[str, Job, QueueSpec, dict[str, Any]]] = []
        self.outcome: Receipt | BaseException = Receipt(5)
        self.queued: list[str] = []
        self.called_off: list[str] = []
        self.begin_late: Callable[[], Awaitable[object]] | None = None

    async def enqueue(self, leg: str, order: Job, lane: QueueSpec, **options: Any) -> None:
        self.legs.append((leg, order, lane, options))

    async def taken(self, leg: str, timeout_s: float) -> str:
        return encode_outcome(self.outcome)

    async def waiting(self, session: SessionId) -> list[str]:
        return self.queued

    async def call_off(self, legs: list[str]) -> bool:
        self.called_off += legs
        if self.begin_late is None:
            return True
        self.queued = []
        await self.begin_late()
        return False


class Driver:
    """The session API of a worker."""

    def __init__(self, *outcomes: Receipt | Exception) -> None:
        self.outcomes = list(outcomes)
        self.taken: list[tuple[SessionId, Command]] = []

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        self.taken.append((session, command))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        pass


class World:
    """One routing and all around it."""

    def __init__(self, scale: ScaleSettings) -> None:
        self.postgres = Postgres(fresh_database(), size=2)
        self.store = PostgresStore(self.postgres, SystemClock(), "w1")
        self.claims = PostgresClaims(self.postgres, "w1")
        self.engine = Engine()
        self.members = [Member("w1", "host-1", "w1:1"), Member("w2", "host-2", "w2:1")]
        self.driver = Driver()
        self.reached: list[str] = []
        numbers = iter(range(1, 100))
        engine: Any = self.engine
        self.routing = CommandRouter(
            self.postgres,
            scale,
            engine,
            MemberCache(self),
            PeerConnections(self.reach),
            me="gate",
            new_id=lambda: f"id{next(numbers)}",
            model_of=lambda agent, cwd: "p/of-the-agent",
        )

    async def list_living(self) -> list[Member]:
        return self.members

    async def reach(self, address: str) -> SessionApi:
        self.reached.append(address)
        api: Any = self.driver
        return api

    async def begin(self, *events: Event, folder: str = "/proj") -> SessionStatus:
        records = await self.store.append(S, 0, [SessionCreated(S, folder, "default"), *events])
        return make_session_status(fold(records))


@pytest.fixture
async def make() -> AsyncIterator[Callable[..., World]]:
    made: list[World] = []

    def world(**settings: Any) -> World:
        made.append(World(ScaleSettings(**settings)))
        return made[-1]

    yield world
    for one in made:
        await one.postgres.aclose()


async def test_a_prompt_to_a_session_that_nobody_drives_is_a_leg(make: Callable[..., World]):
    world = make(placement=(Placement("gpu", folder="/proj"),), priority=7)
    glance = await world.begin()

    receipt = await world.routing.submit(S, PROMPT, glance)

    [(leg, order, lane, options)] = world.engine.legs
    assert receipt == Receipt(5)
    assert leg.startswith(f"{S}:")
    assert order == Job(S, Prompt(PROMPT.message, RunOptions(), key="leg-id1"), 1)
    assert (lane, options) == (QueueSpec("bridle.gpu"), {"tenant": "acme", "priority": 7, "delay_s": 0.0})


async def test_a_key_of_the_sender_is_kept_and_answers_go_before_new_prompts(make: Callable[..., World]):
    world = make()
    glance = await world.begin()

    await world.routing.submit(S, Prompt(user_message("a"), key="mine"), glance)
    await world.routing.submit(S, Rename("b"), glance)

    assert [order.command for _, order, _, _ in world.engine.legs] == [
        Prompt(user_message("a"), key="mine"),
        Rename("b"),
    ]
    assert [options["priority"] for *_, options in world.engine.legs] == [100, 1]


async def test_what_the_leg_meets_is_what_the_sender_meets(make: Callable[..., World]):
    world = make()
    glance = await world.begin()
    world.engine.outcome = UsageError("no such thing")

    with pytest.raises(UsageError, match="no such thing"):
        await world.routing.submit(S, PROMPT, glance)


async def test_a_command_goes_to_the_worker_that_drives(make: Callable[..., World]):
    world = make()
    glance = await world.begin()
    await world.claims.claim(S)
    world.driver = Driver(Receipt(9))

    receipt = await world.routing.submit(S, Steer(user_message("left")), glance)

    assert (receipt, world.engine.legs, world.reached) == (Receipt(9), [], ["w1:1"])
    assert world.driver.taken == [(S, Steer(user_message("left"), key="leg-id1"))]


@pytest.mark.parametrize("fault", [NotDrivenHere("not any more"), DaemonGone("it ended"), ConnectionError()])
async def test_a_worker_that_lets_go_meanwhile_makes_a_leg_of_it(
    make: Callable[..., World], fault: Exception
):
    world = make()
    glance = await world.begin()
    await world.claims.claim(S)
    world.driver = Driver(fault, fault)
    submitting = asyncio.create_task(world.routing.submit(S, Cancel(), glance))
    while not world.driver.taken:  # noqa: ASYNC110  nothing tells of it
        await asyncio.sleep(0)

    await world.claims.release(S)

    assert await submitting == Receipt(5)
    assert [order.command for _, order, _, _ in world.engine.legs] == [Cancel()]


async def test_a_worker_that_is_declared_gone_while_it_has_a_command_is_not_waited_for(
    make: Callable[..., World], monkeypatch: pytest.MonkeyPatch
):
    """It was frozen, or its machine lost its power: the connection looks as ever."""
    monkeypatch.setattr(command_router, "LOOK_S", 0.02)
    monkeypatch.setattr(members, "FRESH_S", 0.02)
    world = make()
    glance = await world.begin()
    await world.claims.claim(S)
    handed = asyncio.Event()

    async def frozen(session: SessionId, command: Command) -> Receipt:
        handed.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(world.driver, "submit", frozen)
    async with asyncio.timeout(PATIENCE_S):
        submitting = asyncio.create_task(world.routing.submit(S, PROMPT, glance))
        await handed.wait()
        world.members = [world.members[1]]
        await world.claims.clear("w1")
        receipt = await submitting

    assert (receipt, len(world.engine.legs)) == (Receipt(5), 1)


async def test_a_worker_that_never_answers_is_named(make: Callable[..., World]):
    world = make(take_timeout=Duration(0.2))
    glance = await world.begin()
    await world.claims.claim(S)
    world.members = []

    with pytest.raises(SessionBusy, match="held by w1, which does not answer"):
        await world.routing.submit(S, Cancel(), glance)


async def test_a_cancel_calls_off_what_no_worker_has_begun_with(make: Callable[..., World]):
    world = make()
    glance = await world.begin()
    world.engine.queued = ["leg-1"]

    receipt = await world.routing.submit(S, Cancel(), glance)

    assert (receipt, world.engine.called_off, world.engine.legs) == (Receipt(1), ["leg-1"], [])


async def test_a_cancel_leaves_nothing_waiting_that_the_leg_was_to_begin(make: Callable[..., World]):
    world = make()
    glance = await world.begin(PromptQueued("item", user_message("next"), RunOptions()))
    world.engine.queued = ["leg-1"]

    await world.routing.submit(S, Cancel(), glance)

    assert [order.command for _, order, _, _ in world.engine.legs] == [Cancel()]


async def test_a_cancel_follows_a_leg_that_a_worker_has_begun_with_just_now(make: Callable[..., World]):
    world = make()
    glance = await world.begin()
    world.engine.queued = ["leg-1"]
    world.engine.begin_late = lambda: world.claims.claim(S)
    world.driver = Driver(Receipt(9))

    receipt = await world.routing.submit(S, Cancel(), glance)

    assert (receipt, world.engine.called_off, world.driver.taken) == (Receipt(9), ["leg-1"], [(S, Cancel())])


async def test_a_session_stays_with_its_machine_and_says_when_that_is_gone(make: Callable[..., World]):
    world = make(workspaces="local")
    glance = await world.begin()
    await world.routing.bind(S, "host-2")
    await world.routing.bind(S, "host-1")  # it has one already

    await world.routing.submit(S, PROMPT, glance)
    assert [lane for _, _, lane, _ in world.engine.legs] == [QueueSpec("bridle@host-2")]

    world.members = world.members[:1]
    world.routing._roster = MemberCache(world)
    with pytest.raises(WorkspaceLost, match="folder on the machine host-2, which has no worker"):
        await world.routing.submit(S, PROMPT, glance)


async def test_a_model_with_limits_has_a_lane_of_its_own(make: Callable[..., World]):
    limits = {"p/of-the-agent": ModelLimits(runs=2), "p/wanted": ModelLimits(runs=3)}
    world = make(models=limits)
    glance = await world.begin()

    await world.routing.submit(S, PROMPT, glance)
    wanted = Prompt(user_message("a"), RunOptions(model="p/wanted"))
    await world.routing.submit(S, wanted, glance)

    assert [lane for _, _, lane, _ in world.engine.legs] == [
        QueueSpec("bridle:p-of-the-agent", runs=2),
        QueueSpec("bridle:p-wanted", runs=3),
    ]


async def test_a_session_that_is_not_there_is_not_found(make: Callable[..., World]):
    world = make()
    glance = await world.begin()

    with pytest.raises(SessionNotFound):
        await world.routing.submit(SessionId("other"), PROMPT, glance)
    with pytest.raises(SessionNotFound):
        await world.routing.holder(SessionId("other"))


async def test_some_worker_is_one_that_answers_or_nobody(make: Callable[..., World]):
    world = make()
    await world.begin()

    found = await world.routing.find_worker(S)
    world.members = []
    world.routing._roster = MemberCache(world)

    assert found is world.driver
    with pytest.raises(SessionBusy, match="no worker is running"):
        await world.routing.find_worker()
