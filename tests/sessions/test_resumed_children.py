"""A run with sub-agents, cut off at every append: all resume, nothing is lost or runs twice."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bridle.core.budget import Budget, Limits, Share, SharePolicy, Spend
from bridle.core.errors import SessionError, StoreError
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Usage, user_message
from bridle.core.model import Price
from bridle.core.permission import Mode
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Decide,
    Event,
    MessageAdded,
    ModelReplied,
    Prompt,
    Record,
    Resume,
    Rewind,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
)
from bridle.core.recovery import INTERRUPTED
from bridle.core.session import RunState, fold
from bridle.core.sub_agent import ChildRequest
from bridle.revisions.file_revisions import FileRevisions
from bridle.sessions.agent_tree import ChildPolicy
from bridle.sessions.children.orphans import CUT_OFF
from bridle.sessions.resumed_children import ResumedChild, charge_resumed_children
from bridle.stores.blobs import MemoryBlobs
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import USAGE, FixedClock, SmallTool, says
from tests.sessions.troupe import Gate, Troupe, behind, child_of, fork, spawn, use

MAIN = SessionId("main")
FIRST = child_of("s")
PARTS = {
    "go": [
        says("", spawn("m", "middle"), spawn("b", "back", background=True), use("w", "write", on="main")),
        *(says("and so on") for _ in range(4)),
    ],
    "middle": [
        says("", use("x", "write", on="middle"), spawn("l", "leaf"), spawn("d", "deep", background=True)),
        *(says("and so on") for _ in range(4)),
    ],
    "back": [says("", use("y", "write", on="back")), says("", fork("f", "forked")), says("back is done")],
    "leaf": [says("", use("z", "look", on="leaf"), use("v", "write", on="leaf")), says("leaf is done")],
    "deep": [says("", use("u", "write", on="deep")), says("deep is done")],
    "forked": [says("forked is done")],
}
CHILDREN = 5
WALKS = 6  # the cuts are shared out among so many tests


class MortalStore(EphemeralStore):
    """Takes a number of appends; then the process that makes them is as good as dead."""

    def __init__(self, seed: int) -> None:
        super().__init__(FixedClock())
        self._pace = Random(seed)
        self.lives = float("inf")
        self.appends = 0

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        for _ in range(self._pace.randrange(5)):  # so that agents come to work in another order each time
            await asyncio.sleep(0)
        if self.appends >= self.lives:
            raise StoreError("dead")
        self.appends += 1
        return await super().append(session, expected_seq, events)

    def revive(self, lives: float = float("inf")) -> None:
        self.appends, self.lives = 0, lives


class World:
    """What outlives a process: the store, and the effects of tools."""

    def __init__(self, seed: int, mode: Mode = "yolo", max_running: int = 32) -> None:
        self.store = MortalStore(seed)
        self.done: list[str] = []
        self.lives = 0
        self._mode: Mode = mode
        self._policy = ChildPolicy(max_running=max_running)

    def open(self) -> Troupe:
        self.lives += 1
        tools = [
            SmallTool("write", lambda on: self._do("write", on), access="write"),
            SmallTool("look", lambda on: self._do("look", on)),
        ]
        return Troupe(
            PARTS,
            tools=tools,
            store=self.store,
            chance=1_000 * self.lives,
            price=Price(1e6, 1e6),
            policy=self._policy,
        )

    def _do(self, tool: str, on: str) -> str:
        self.done.append(f"{tool} {on}")
        return f"{tool} {on}: done"

    async def live(self, lives: float = float("inf")) -> RunEnded | None:
        """Start the run or continue with it, until it ends or the process dies."""
        self.store.revive(lives)
        troupe = self.open()
        try:
            records = await self.store.read(MAIN)
            if not records:
                await troupe.service.create(cwd="/", session_id=MAIN)
            if any(isinstance(record.event, RunStarted) for record in records):
                receipt = await troupe.service.submit(MAIN, Resume())
                assert receipt.run_id is not None
                run_id = receipt.run_id
            else:
                run_id = await troupe.prompt("go", mode=self._mode)
            answering = asyncio.create_task(self._answer(troupe))
            await troupe.service.wait(MAIN, run_id)
            answering.cancel()
        except StoreError:
            return None
        finally:
            await troupe.service.park(0)
            await troupe.service.aclose()
        last = (await self.store.read(MAIN))[-1].event
        return last if isinstance(last, RunEnded) else None

    async def _answer(self, troupe: Troupe) -> None:
        """Approve everything, including requests from before a crash that were not repeated yet."""
        async for item in troupe.service.watch(MAIN):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                with suppress(SessionError):
                    await troupe.service.submit(MAIN, Decide(item.event.call_id, "once"))

    async def logs(self) -> dict[SessionId, list[Event]]:
        return {one: [r.event for r in await self.store.read(one)] for one in await self.store.ids()}


def of(log: Sequence[Event], kind: type[Any]) -> list[Any]:
    return [event for event in log if isinstance(event, kind)]


def check(logs: dict[SessionId, list[Event]], done: list[str], where: str) -> None:
    for session, log in logs.items():
        [created, *_] = log
        assert isinstance(created, SessionCreated), where
        started, ended = of(log, ChildStarted), of(log, ChildEnded)
        assert sorted(one.child for one in started) == sorted(one.child for one in ended), where
        for child in started:
            [end] = [one for one in ended if one.child == child.child]
            assert log.index(child) < log.index(end), where
        behind = sum(child.background for child in started)
        told = [one for one in of(log, MessageAdded) if one.source == "child"]
        assert len(told) == behind, where
        [begun], [end] = of(log, RunStarted), of(log, RunEnded)
        assert (end.run_id, end.outcome, log[-1]) == (begun.run_id, "completed", end), where
        asked, decided = of(log, ApprovalRequested), of(log, ApprovalDecided)
        assert {one.call_id for one in asked} == {one.call_id for one in decided}, where
        folded = fold([Record(seq, 1_000, event, "") for seq, event in enumerate(log, 1)])
        assert (folded.run, folded.known.queue) == (None, ()), where
        results = Counter(one.result.call_id for one in of(log, ToolFinished))
        assert set(results.values()) <= {1}, where
        assert created.parent is None or session in [
            one.child for one in of(logs[created.parent], ChildStarted)
        ], where


def check_money(logs: dict[SessionId, list[Event]], where: str) -> None:
    """Every session counts itself and all below it, each once."""

    def whole(session: SessionId) -> tuple[Usage, float]:
        own = of(logs[session], ModelReplied)
        below = [whole(child.child) for child in of(logs[session], ChildStarted)]
        usage = sum((one.usage for one in own), Usage())
        return (
            sum((one[0] for one in below), usage),
            sum(one.cost for one in own) + sum(one[1] for one in below),
        )

    for session, log in logs.items():
        [end] = of(log, RunEnded)
        usage, cost = whole(session)
        assert (end.usage, end.cost) == (usage, pytest.approx(cost)), where
        for child in of(log, ChildEnded):
            [below] = of(logs[child.child], RunEnded)
            assert (child.usage, child.tool_calls) == (below.usage, below.tool_calls), where


def check_effects(logs: dict[SessionId, list[Event]], done: list[str], where: str) -> None:
    """A call with a result ran once; an interrupted one at most once, unless it only reads."""
    counts = Counter(done)
    for log in logs.values():
        starts = {start.call_id: start for start in of(log, ToolStarted)}
        for finished in of(log, ToolFinished):
            start, result = starts[finished.result.call_id], finished.result
            if start.tool == "write":
                ran = counts[f"write {start.args['on']}"]
                assert ran <= 1, where
                assert ran == 1 or result.output == INTERRUPTED, where
            elif start.tool == "look":
                assert counts[f"look {start.args['on']}"] >= 1, where
            else:
                assert not result.is_error, where


async def whole_run(world: World) -> int:
    ended = await world.live()
    logs = await world.logs()

    assert ended is not None
    assert ended.outcome == "completed"
    assert len(logs) == 1 + CHILDREN
    check(logs, world.done, "uncut")
    check_money(logs, "uncut")
    check_effects(logs, world.done, "uncut")
    return world.store.appends


@pytest.mark.parametrize("part", range(WALKS))
async def test_a_run_cut_off_at_any_append_goes_on_with_all_its_children(part: int):
    mode: Mode = "ask" if part % 2 else "yolo"
    most = 1 if part % 3 == 0 else 32
    for cut in range(2 + part // 2, await whole_run(World(part, mode, most)), WALKS // 2):
        world = World(part, mode, most)
        assert await world.live(cut) is None
        # every other time the one who continues dies too
        again = 1 + cut % 13 if cut % 2 else float("inf")
        ended = await world.live(again) or await world.live()
        logs = await world.logs()

        where = f"cut {cut}, then {again}"
        assert ended is not None, where
        assert ended.outcome == "completed", where
        names = {child.name for log in logs.values() for child in of(log, ChildStarted)}
        assert len(names) == CHILDREN == len(logs) - 1, where
        check(logs, world.done, where)
        check_money(logs, where)
        check_effects(logs, world.done, where)


# ---------------------------------------------------------------------------- one by one


def touch() -> SmallTool:
    return SmallTool("touch", lambda on: f"touched {on}", access="write")


async def go_on(troupe: Troupe) -> RunEnded:
    """Resume the main session's run and wait for its end."""
    receipt = await troupe.service.submit(MAIN, Resume())
    assert receipt.run_id is not None
    return await troupe.service.wait(MAIN, receipt.run_id)


async def parked(parts: dict[str, Any], gate: Gate, crowd: int = 1, **options: Any) -> EphemeralStore:
    """Return the store of a process that was stopped while so many waited at a gate."""
    troupe_options = {
        key: options.pop(key) for key in ("tools", "policy", "cwd", "environ") if key in options
    }
    async with Troupe(parts, **troupe_options) as troupe:
        await troupe.prompt("go", **options)
        await gate.crowd(crowd)
        await troupe.service.park(0)
    return troupe.store


async def test_the_call_runs_again_and_waits_for_the_child_it_has_started():
    gate = Gate()
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [behind(gate, says("three"))]}
    store = await parked(parts, gate)
    before = len(await store.read(MAIN))
    gate.open()
    async with Troupe(parts, store=store, chance=1_000) as troupe:
        ended = await go_on(troupe)
        new = (await troupe.kinds())[before - 1 :]
        outputs, child = await troupe.outputs(), await troupe.kinds(FIRST)

    assert (ended.text, ended.tool_calls, ended.usage) == ("done", 1, Usage(input=30, output=15))
    assert new[:4] == ["RunResumed", "ChildEnded", "ToolFinished", "TurnEnded"]
    assert outputs == [f"three\n\n[agent-1 {FIRST}: completed, 1 turn, 15 tokens]"]
    assert child.count("RunStarted") == child.count("RunResumed") == 1


async def test_a_limit_of_calls_that_is_reached_does_not_keep_a_call_from_its_child():
    gate = Gate()
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [behind(gate, says("three"))]}
    store = await parked(parts, gate, limits=Limits(tool_calls=1))
    gate.open()
    async with Troupe(parts, store=store, chance=1_000) as troupe:
        await go_on(troupe)
        [output] = await troupe.outputs()

    assert output.startswith("three\n")


async def test_a_budget_reaches_as_far_as_without_a_cut():
    gate = Gate()
    usage = Usage(input=10_000)
    looks = [says("", use(f"c{n}", "look", on=str(n)), usage=usage) for n in range(9)]
    parts: dict[str, Any] = {
        "go": [says("", spawn("s", "count"), usage=usage), says("done")],
        "count": [looks[0], behind(gate, looks[1]), *looks[2:]],
    }
    limits = Limits(tokens=45_000)
    look = SmallTool("look", str)
    store = await parked(parts, gate, tools=[look], limits=limits)
    gate.open()
    async with Troupe(parts, store=store, chance=1_000, tools=[look]) as troupe:
        again = await go_on(troupe)
        [child] = await troupe.all_of(RunEnded, FIRST)
    async with Troupe(parts, tools=[look]) as troupe:
        uncut = await troupe.run("go", limits=limits)
        [same] = await troupe.all_of(RunEnded, FIRST)

    assert (child.outcome, child.turns, child.usage) == (same.outcome, same.turns, same.usage)
    assert (again.outcome, again.usage) == (uncut.outcome, uncut.usage)
    assert (child.outcome, child.turns) == ("budget_exhausted", 4)


async def test_who_waited_for_its_turn_begins():
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("s", "one", background=True), spawn("t", "two", background=True)),
            *(says("well") for _ in range(3)),
        ],
        "one": [behind(gate, says("first"))],
        "two": [says("second")],
    }
    policy = ChildPolicy(max_running=1)
    store = await parked(parts, gate, policy=policy)
    second = child_of("t")
    before = [type(record.event) for record in await store.read(second)]
    gate.open()
    async with Troupe(parts, store=store, chance=1_000, policy=policy) as troupe:
        await go_on(troupe)
        told = [one.message.text for one in await troupe.all_of(MessageAdded) if one.source == "child"]

    assert before == [SessionCreated]
    assert sorted(told) == sorted(
        [
            f"[result of agent-1 ({FIRST}): completed]\nfirst",
            f"[result of agent-2 ({second}): completed]\nsecond",
        ]
    )


async def test_a_child_whose_session_is_gone_has_failed():
    gate = Gate()
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [behind(gate, says("never"))]}
    store = await parked(parts, gate)
    await store.delete(FIRST)
    async with Troupe(parts, store=store, chance=1_000) as troupe:
        ended = await go_on(troupe)
        [child], [output] = await troupe.all_of(ChildEnded), await troupe.outputs()

    assert ended.text == "done"
    assert child == ChildEnded(FIRST, "failed", CUT_OFF)
    assert output.startswith(CUT_OFF)


async def test_a_child_that_somebody_else_drives_is_not_driven_twice():
    gate, claims = Gate(), LocalClaims()
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [behind(gate, says("never"))]}
    store = await parked(parts, gate)
    await claims.claim(FIRST)
    async with Troupe(parts, store=store, chance=1_000, claims=claims) as troupe:
        await go_on(troupe)
        [output] = await troupe.outputs()
        child = await read_session(troupe.service, FIRST)

    assert output.startswith(f"session {FIRST} is being run by another process")
    assert child.run is not None


async def test_a_child_that_is_about_to_be_let_go_is_waited_for():
    """A process that suspends a run releases the run and its sub-agents, but not at the same moment."""
    gate, claims = Gate(), LocalClaims()
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [behind(gate, says("three"))]}
    store = await parked(parts, gate)
    gate.open()
    await claims.claim(FIRST)
    async with Troupe(parts, store=store, chance=1_000, claims=claims) as troupe:
        going_on = asyncio.create_task(go_on(troupe))
        await asyncio.sleep(0.1)
        await claims.release(FIRST)
        await going_on
        [output] = await troupe.outputs()

    assert output.startswith("three\n")


async def test_a_child_that_a_person_has_gone_on_with_keeps_its_own_end():
    gate = Gate()
    parts = {
        "go": [says("", spawn("s", "count")), says("done")],
        "count": [behind(gate, says("three"))],
        "more": [says("a person's own")],
    }
    store = await parked(parts, gate)
    gate.open()
    async with Troupe(parts, store=store, chance=1_000) as troupe:
        for command in (Resume(), Prompt(user_message("more"))):
            receipt = await troupe.service.submit(FIRST, command)
            await troupe.service.wait(FIRST, receipt.run_id)
        await go_on(troupe)
        [child], [output] = await troupe.all_of(ChildEnded), await troupe.outputs()

    assert child == ChildEnded(FIRST, "completed", turns=1, usage=USAGE)
    assert output.startswith("three\n")


class Loner(SmallTool):
    """Starts a sub-agent whose caller cannot be found again, and waits for it."""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert context.children is not None
        begun = await context.children.start(ChildRequest("count"))
        return ToolOutput((await context.children.wait(begun.id)).text)


async def test_a_child_that_no_call_waits_for_any_more_is_ended():
    gate = Gate()
    parts = {
        "go": [says("", use("s", "loner", on="x")), says("done")],
        "count": [behind(gate, says("three"))],
    }
    store = await parked(parts, gate, tools=[Loner("loner", str, access="write")], mode="yolo")
    async with Troupe(
        parts, store=store, chance=1_000, tools=[Loner("loner", str, access="write")]
    ) as troupe:
        await go_on(troupe)
        [started], [ended] = await troupe.all_of(ChildStarted), await troupe.all_of(ChildEnded)
        child = await read_session(troupe.service, started.child)
        outputs = await troupe.outputs()

    assert outputs == [INTERRUPTED]
    assert (ended.outcome, ended.reason) == ("failed", CUT_OFF)
    assert (child.run, child.last and child.last.reason) == (None, CUT_OFF)


class Calling(SmallTool):
    """Runs code that starts a sub-agent."""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert context.call is not None
        return ToolOutput((await context.call("agent_spawn", {"prompt": "count"})).output)


async def test_a_child_of_code_that_does_not_go_on_is_ended_at_once():
    gate = Gate()
    parts: dict[str, Any] = {
        "go": [says("", use("s", "code", on="x")), says("", use("l", "agent_list")), says("done")],
        "count": [behind(gate, says("three"))],
    }
    tools = [Calling("code", str, access="write")]
    store = await parked(parts, gate, tools=tools, mode="yolo")
    async with Troupe(parts, store=store, chance=1_000, tools=tools) as troupe:
        await go_on(troupe)
        [ended], outputs = await troupe.all_of(ChildEnded), await troupe.outputs()

    assert (ended.outcome, ended.reason) == ("failed", CUT_OFF)
    assert outputs[:2] == [INTERRUPTED, INTERRUPTED]
    assert '"running_count":0,"completed_count":0,"failed_count":1' in outputs[2]


async def limits_of(troupe: Troupe) -> list[Limits]:
    started = await troupe.all_of(ChildStarted)
    return [(await troupe.all_of(RunStarted, one.child))[0].limits for one in started]


async def test_shares_are_what_they_would_have_been():
    gate = Gate()
    equal: dict[str, Any] = {"budget_policy": "equal", "context": "last_turns:1"}
    parts: dict[str, Any] = {
        "go": [says("", fork("s", "one", **equal), fork("t", "two", **equal)), says("done")],
        "one": [behind(gate, says("first"))],
        "two": [says("second")],
    }
    policy, limits = ChildPolicy(max_running=1), Limits(tokens=100_000)
    store = await parked(parts, gate, policy=policy, limits=limits)
    gate.open()
    async with Troupe(parts, store=store, chance=1_000, policy=policy) as troupe:
        await go_on(troupe)
        again = await limits_of(troupe)
    async with Troupe(parts, policy=policy) as troupe:
        await troupe.run("go", limits=limits)
        uncut = await limits_of(troupe)

    assert again == uncut == [Limits(tokens=49_992), Limits(tokens=49_993)]


def test_what_was_set_aside_for_a_child_is_kept_for_it():
    def heir(policy: SharePolicy) -> ResumedChild:
        run = RunState(RunId("r"), "m/x", "ask", Limits(tokens=60), 0, 0, spent=Spend(tokens=20))
        started = ChildStarted(SessionId(policy), "agent-1", "x")
        return ResumedChild(started, ChildRequest("x", share=Share(policy)), run=run, seq=3)

    left = {}
    for policy in ("fixed", "equal", "remaining"):
        budget = Budget(Limits(tokens=100), 0.0)
        heirs = (heir(policy),)
        charge_resumed_children(budget, heirs, 0.0)
        charge_resumed_children(budget, heirs, 0.0)
        left[policy] = budget.remaining_tokens()

    assert left == {"fixed": 40, "equal": 40, "remaining": 80}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (RunOptions(deny=("touch",)), "denied by rule deny touch"),
        (RunOptions(allow=("touch",)), "touched a"),
        (RunOptions(mode="yolo"), "touched a"),
        (RunOptions(mode="plan"), "denied by mode plan: no write access"),
    ],
)
async def test_what_a_parent_goes_on_with_holds_for_its_children(changed: RunOptions, expected: str):
    gate = Gate()
    parts: dict[str, Any] = {
        "go": [says("", spawn("s", "count")), says("done")],
        "count": [behind(gate, says("", use("c", "touch", on="a"))), says("three")],
    }
    store = await parked(parts, gate, tools=[touch()])
    gate.open()
    async with Troupe(parts, store=store, chance=1_000, tools=[touch()]) as troupe:
        receipt = await troupe.service.submit(MAIN, Resume(changed))
        await troupe.service.wait(MAIN, receipt.run_id)
        [output] = await troupe.outputs(FIRST)

    assert output == expected


async def test_all_are_known_by_name_and_none_is_named_twice():
    gate = Gate()
    parts: dict[str, Any] = {
        "go": [
            says("", spawn("s", "count")),
            behind(gate, says("", use("l", "agent_status", agent_id="agent-1"), spawn("t", "more"))),
            says("done"),
        ],
        "count": [says("three")],
        "more": [says("four")],
    }
    store = await parked(parts, gate)
    gate.open()
    async with Troupe(parts, store=store, chance=1_000) as troupe:
        await go_on(troupe)
        status = (await troupe.outputs())[1]
        names = [one.name for one in await troupe.all_of(ChildStarted)]

    assert '"state":"completed","is_final":true' in status
    assert '"output":"three"' in status
    assert names == ["agent-1", "agent-2"]


class Torn(EphemeralStore):
    """Fails an append to the main session on demand."""

    is_torn = False

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        if self.is_torn and session == MAIN:
            raise StoreError("no answer")
        return await super().append(session, expected_seq, events)


async def test_a_run_that_cannot_record_anything_leaves_its_children_to_be_resumed():
    gate, quick, store = Gate(), Gate(), Torn(FixedClock())
    parts: dict[str, Any] = {
        "go": [says("", spawn("s", "count"), use("q", "wait", on="x")), says("done")],
        "count": [says("", spawn("m", "leaf")), says("three")],
        "leaf": [behind(gate, says("leaf"))],
    }

    async def wait(on: str) -> str:
        await quick.passing()
        return on

    async with Troupe(parts, store=store, tools=[SmallTool("wait", wait)]) as troupe:
        run_id = await troupe.prompt("go")
        await gate.crowd(1)
        await quick.crowd(1)
        store.is_torn = True
        quick.open()
        aborted = await troupe.service.wait(MAIN, run_id)
        store.is_torn = False
        runs = [(await read_session(troupe.service, one)).run for one in await store.ids()]
        there = gate.there
    gate.open()
    async with Troupe(parts, store=store, chance=1_000, tools=[SmallTool("wait", wait)]) as troupe:
        ended = await go_on(troupe)

    assert (aborted.outcome, aborted.reason) == ("failed", "no answer")
    assert None not in runs
    assert there == 0
    assert (ended.outcome, ended.text) == ("completed", "done")


class Tracking:
    """Keeps track of the lives of sub-agents."""

    def __init__(self) -> None:
        self.lived: list[tuple[SessionId, SessionId]] = []

    async def perform(self, session: SessionId, name: str, work: Any) -> None:
        await work()

    async def pause(self, session: SessionId, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def child(self, parent: SessionId, child: SessionId, life: Any) -> None:
        await life()
        self.lived.append((parent, child))


class Lost(Tracking):
    """Cannot keep track of anything."""

    async def child(self, parent: SessionId, child: SessionId, life: Any) -> None:
        raise StoreError("no answer")


async def test_a_life_that_nobody_could_keep_track_of_is_lived():
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [says("three")]}
    async with Troupe(parts, steps=Lost()) as troupe:
        ended = await troupe.run("go")
        children = await troupe.all_of(ChildEnded)

    assert ended.text == "done"
    assert children == [ChildEnded(FIRST, "completed", turns=1, usage=USAGE)]


async def test_whoever_keeps_track_lives_each_life_that_is_left():
    gate, steps = Gate(), Tracking()
    parts = {
        "go": [says("", spawn("q", "quick"), spawn("s", "count")), says("done")],
        "quick": [says("at once")],
        "count": [behind(gate, says("three"))],
    }
    async with Troupe(parts) as troupe:
        await troupe.prompt("go")
        await troupe.until(ChildEnded)
        await gate.crowd(1)
        await troupe.service.park(0)
    gate.open()
    async with Troupe(parts, store=troupe.store, chance=1_000, steps=steps) as troupe:
        await go_on(troupe)

    assert steps.lived == [(MAIN, FIRST)]


class Forgetful(EphemeralStore):
    """Cannot store how a sub-agent ends, once."""

    has_failed = False

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        if session != MAIN and not self.has_failed and any(isinstance(one, RunEnded) for one in events):
            self.has_failed = True
            raise StoreError("input/output error")
        return await super().append(session, expected_seq, events)


async def test_a_child_whose_end_could_not_be_stored_has_failed_and_is_ended():
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [says("three")]}
    async with Troupe(parts, store=Forgetful(FixedClock())) as troupe:
        await troupe.run("go")
        [ended] = await troupe.all_of(ChildEnded)
        last = (await troupe.log(FIRST))[-1]

    assert (ended.outcome, ended.reason) == ("failed", "input/output error")
    assert isinstance(last, RunEnded)
    assert (last.outcome, last.reason) == ("failed", "input/output error")


async def test_what_a_child_was_changing_when_it_was_cut_off_is_taken_back_with_its_parents_turn(
    tmp_path: Path,
):
    """Also if the run is not resumed, and the user sends a new prompt."""
    project, gate = tmp_path / "project", Gate()
    project.mkdir()
    revisions = FileRevisions(tmp_path / "revisions", MemoryBlobs())

    async def change(on: str) -> str:
        revisions.keeper(FIRST, str(project)).keep(str(project / on))
        (project / on).write_text("half")
        await gate.passing()
        return "changed"

    parts: dict[str, Any] = {
        "go": [says("", spawn("s", "count"))],
        "count": [says("", use("c", "change", on="a"))],
        "again": [says("done")],
    }
    options: dict[str, Any] = {"cwd": str(project), "revisions": revisions}
    tool = SmallTool("change", change, access="write")
    async with Troupe(parts, tools=[tool], **options) as troupe:
        await troupe.prompt("go", mode="yolo")
        await gate.crowd(1)
        await troupe.service.park(0)
    async with Troupe(parts, store=troupe.store, chance=1_000, **options) as troupe:
        await troupe.run("again")
        await troupe.service.submit(MAIN, Rewind(1))

    assert list(project.iterdir()) == []
