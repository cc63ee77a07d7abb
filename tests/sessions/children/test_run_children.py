"""Sub-agents: their input, their end, whom they ask, and that nothing outlives the parent."""

import asyncio
import re
from pathlib import Path

import pytest

from bridle.comms.hub import Registry
from bridle.core.agent import Agent
from bridle.core.budget import Limits
from bridle.core.ids import RunId
from bridle.core.messages import ToolResult, Usage, user_message
from bridle.core.model import Price
from bridle.core.permission import parse_rule
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Cancel,
    ChildEnded,
    ChildStarted,
    Decide,
    Delete,
    MessageAdded,
    PromptQueued,
    RunOptions,
    RunStarted,
    SessionCreated,
    SessionOptions,
    Steer,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from bridle.core.queries import ListSessions, Records
from bridle.core.sub_agent import ChildRequest
from bridle.core.tool import Access, ToolSpec
from bridle.sessions.agent_tree import ChildPolicy
from bridle.sessions.children.inheritance import SPAWNING_TOOLS
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import fork_session, read_session
from bridle.tools.file_tools import file_tools
from tests.comms.conftest import make_comms
from tests.patience import PATIENCE_S
from tests.sessions.stage import USAGE, FixedClock, SmallTool, says
from tests.sessions.troupe import Gate, Troupe, behind, child_of, fork, spawn, use

FIRST = child_of("s")
"""The child that the call `s` of the first run starts."""


def touch():
    return SmallTool("touch", lambda on: f"touched {on}", access="write")


# ---------------------------------------------------------------------------- one child


async def test_a_spawned_child_is_a_session_of_its_own_whose_answer_is_the_result():
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [says("three")]}
    async with Troupe(parts) as troupe:
        ended = await troupe.run("go")
        [created, *_] = [record.event for record in await troupe.service.ask(Records(FIRST))]
        child = await troupe.log(FIRST)
        parent = await troupe.log()

    output = f"three\n\n[agent-1 {FIRST}: completed, 1 turn, 15 tokens]"
    kept = SessionOptions(model="scripted/play", mode="ask")
    assert (ended.outcome, ended.text) == ("completed", "done")
    assert created == SessionCreated(FIRST, "/", "default", "agent-1: count", "main", options=kept)
    assert child[0] == RunStarted(
        RunId("00000000-03e8-7000-8000-000000000002"),
        "scripted/play",
        options=RunOptions(model="scripted/play", mode="ask"),
    )
    assert child[1] == MessageAdded(user_message("count"), tokens=6)
    assert [event for event in parent if isinstance(event, ChildStarted | ChildEnded | ToolFinished)] == [
        ChildStarted(FIRST, "agent-1", "count", "s", "default", "scripted/play"),
        ChildEnded(FIRST, "completed", turns=1, usage=USAGE),
        ToolFinished(ToolResult("s", "agent_spawn", output), tokens=parent[7].tokens),
    ]
    assert [type(event).__name__ for event in parent] == [
        "RunStarted", "MessageAdded", "TurnStarted", "ModelReplied", "ToolStarted", "ChildStarted",
        "ChildEnded", "ToolFinished", "TurnEnded", "TurnStarted", "ModelReplied", "TurnEnded", "Checkpoint",
        "RunEnded",
    ]  # fmt: skip
    assert parent[4] == ToolStarted("s", "agent_spawn", {"prompt": "count"}, repeatable=True)


async def test_what_a_child_uses_counts_once_in_its_parents_totals():
    parts = {
        "go": [says("", spawn("s", "middle")), says("done")],
        "middle": [says("", spawn("s", "leaf")), says("up")],
        "leaf": [says("leaf")],
    }
    price = Price(input=1_000_000, output=0)
    async with Troupe(parts, price=price) as troupe:
        ended = await troupe.run("go")
        [child] = await troupe.all_of(ChildEnded)
        totals = (await read_session(troupe.service, troupe.main)).known.totals

    assert child == ChildEnded(
        FIRST, "completed", turns=2, tool_calls=1, usage=Usage(input=30, output=15), cost=30.0
    )
    assert (ended.turns, ended.tool_calls) == (2, 2)
    assert (ended.usage, ended.cost) == (Usage(input=50, output=25), 50.0)
    assert (totals.usage, totals.cost) == (ended.usage, ended.cost)


async def test_a_child_that_fails_fails_the_call_and_the_parent_goes_on():
    parts = {"go": [says("", spawn("s", "lost", budget={"max_turns": 1})), says("done")]}
    parts["lost"] = [says("half of it", use("x", "touch", on="a")), says("more")]
    async with Troupe(parts, tools=[touch()]) as troupe:
        ended = await troupe.run("go", allow=("touch",))
        [finished] = await troupe.all_of(ToolFinished)

    assert ended.text == "done"
    assert finished.result.is_error
    assert finished.result.output == (
        "budget_exhausted: the turns limit is reached: 1 of 1 used\n\nhalf of it\n\n"
        f"[agent-1 {FIRST}: failed, 1 turn, 15 tokens]"
    )


async def test_children_of_one_reply_run_side_by_side():
    gate = Gate()
    calls = [spawn(f"s{number}", f"part {number}") for number in range(32)]
    parts = {f"part {number}": [behind(gate, says(f"said {number}"))] for number in range(32)}
    parts["go"] = [says("", *calls), says("done")]
    async with Troupe(parts, policy=ChildPolicy(max_running=32)) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(32)
        gate.open()
        ended = await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs()

    assert ended.outcome == "completed"
    assert sorted(int(output.split()[1]) for output in outputs) == list(range(32))


# ---------------------------------------------------------------------------- bounds of its parent


async def test_rules_mode_and_grants_of_the_parent_ride_down():
    parts = {
        "go": [says("", use("t", "touch", on="a")), says("", spawn("s", "count")), says("done")],
        "count": [says("", use("c", "touch", on="b"), use("d", "look", on="secret")), says("three")],
    }
    look = SmallTool("look", lambda on: "seen")
    async with Troupe(parts, tools=[touch(), look]) as troupe:
        run = await troupe.prompt("go", mode="accept-edits", ask=("touch(b)",), deny=("look(secret)",))
        asked = await troupe.until(ApprovalRequested)
        await troupe.service.submit(troupe.main, Decide(asked.call_id, "once"))
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs(FIRST)
        [started] = await troupe.all_of(RunStarted, FIRST)

    assert (asked.child, asked.args) == (FIRST, {"on": "b"})
    assert outputs == ["denied by rule deny look(secret)", "touched b"]
    assert started.options == RunOptions(
        model="scripted/play", mode="accept-edits", ask=("touch(b)",), deny=("look(secret)",)
    )


async def test_another_agent_can_do_no_more_than_its_parent():
    eager = Agent(
        "eager", "You are eager.", "scripted/eager", mode="yolo", rules=(parse_rule("allow", "touch"),)
    )
    parts = {
        "go": [says("", spawn("s", "count", agent="eager")), says("done")],
        "count": [says("", use("c", "touch", on="b")), says("three")],
    }
    async with Troupe(parts, tools=[touch()], agents=[eager]) as troupe:
        run = await troupe.prompt("go")
        asked = await troupe.until(ApprovalRequested)
        await troupe.service.submit(troupe.main, Decide(asked.call_id, "deny", "no"))
        await troupe.service.wait(troupe.main, run)
        [started] = await troupe.all_of(RunStarted, FIRST)
        model, tool = troupe.model.requests["count"][0], troupe.models.asked[-1]

    assert asked.why == "rule ask touch"
    assert (started.model, started.mode) == ("scripted/eager", "ask")
    assert model.system == "You are eager."
    assert tool == "scripted/eager"


async def test_a_grant_for_the_session_stays_in_the_child():
    parts = {
        "go": [says("", spawn("s", "count")), says("", use("t", "touch", on="c")), says("done")],
        "count": [says("", use("c", "touch", on="a")), says("", use("d", "touch", on="b")), says("three")],
    }
    async with Troupe(parts, tools=[touch()]) as troupe:
        run = await troupe.prompt("go")
        asked = await troupe.until(ApprovalRequested)
        await troupe.service.submit(troupe.main, Decide(asked.call_id, "session"))
        own = await troupe.until(ApprovalRequested, 2)
        granted = [(await read_session(troupe.service, one)).known.granted for one in (troupe.main, FIRST)]
        await troupe.service.submit(troupe.main, Decide(own.call_id, "once"))
        await troupe.service.wait(troupe.main, run)

    assert granted == [(), ("touch(*)",)]
    assert (own.child, own.args) == (None, {"on": "c"})


@pytest.mark.parametrize(
    ("access", "there"),
    [
        ({"policy": "inherit"}, {"touch", "look"}),
        ({"policy": "allow_list", "tools": ["look"]}, {"look"}),
        ('{"policy": "deny_list", "tools": ["look"]}', {"touch"}),
    ],
)
async def test_a_child_has_tools_of_its_parent(access, there):
    look = SmallTool("look", lambda on: "seen")
    parts = {"go": [says("", spawn("s", "count", tool_access=access)), says("done")], "count": [says("3")]}
    async with Troupe(parts, tools=[touch(), look]) as troupe:
        await troupe.run("go")
        [request] = troupe.model.requests["count"]

    assert {spec.name for spec in request.tools} & {"touch", "look"} == there


async def test_tools_that_the_parent_lacks_cannot_be_given():
    wanted = spawn("s", "count", tool_access={"policy": "allow_list", "tools": ["look"]})
    look = SmallTool("look", lambda on: "seen")
    async with Troupe({"go": [says("", wanted), says("done")]}, tools=[touch(), look]) as troupe:
        await troupe.run("go", without_tools=("look",))
        [output] = await troupe.outputs()
        kinds = await troupe.kinds()

    assert output.startswith("no tool is named 'look' (hint: available tools: agent_cancel, ")
    assert "ChildStarted" not in kinds


async def test_a_child_gets_its_own_instructions_and_model():
    wanted = spawn("s", "count", model="other/small", system_prompt="Be short.")
    async with Troupe({"go": [says("", wanted), says("done")], "count": [says("3")]}) as troupe:
        await troupe.run("go")
        [request] = troupe.model.requests["count"]
        [started] = await troupe.all_of(ChildStarted)

    assert (request.model, request.system) == ("small", "Be short.")
    assert started.model == "other/small"


async def test_a_model_must_be_in_the_list():
    wanted = spawn("s", "count", model="other/large")
    policy = ChildPolicy(models=("other/small", "other/tiny"))
    async with Troupe({"go": [says("", wanted), says("done")]}, policy=policy) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()

    why = "Model 'other/large' is not in allowlist for provider 'other'."
    assert outputs == [f"{why} Allowed models: other/small, other/tiny"]


# ---------------------------------------------------------------------------- limits


async def test_the_lowest_level_cannot_start_more():
    parts = {
        "go": [says("", spawn("s", "middle")), says("done")],
        "middle": [says("", spawn("s", "leaf")), says("up")],
        "leaf": [says("leaf")],
    }
    async with Troupe(parts, policy=ChildPolicy(max_depth=2)) as troupe:
        await troupe.run("go")
        specs = [spec for name in parts for spec in troupe.model.requests[name][0].tools]

    named = [set(re.findall(r"agent_\w+|send_message", spec.description)) for spec in specs]
    assert [spec.name for spec in specs] == ["tool_call"] * 3
    assert named == [{*SPAWNING_TOOLS, "send_message"}] * 2 + [{"send_message"}]


async def test_with_no_depth_there_are_none():
    async with Troupe(
        {"go": [says("", spawn("s", "count")), says("done")]}, policy=ChildPolicy(max_depth=0)
    ) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()

    assert outputs == ["sub-agents may be nested 0 levels deep (hint: do the work yourself)"]


async def test_a_run_starts_a_limited_number():
    calls = [spawn(f"s{number}", "count") for number in range(3)]
    parts = {"go": [says("", *calls), says("done")], "count": [says("3")]}
    async with Troupe(parts, policy=ChildPolicy(max_children=2)) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()

    assert "this run has started 2 sub-agents, the maximum" in outputs
    assert sum("completed" in output for output in outputs) == 2


async def test_no_child_without_budget():
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [says("3")]}
    usage = Usage(input=5_000, output=5)
    parts["go"][0] = says("", spawn("s", "count"), usage=usage)
    async with Troupe(parts) as troupe:
        ended = await troupe.run("go", limits=Limits(tokens=5_000))
        [output] = await troupe.outputs()

    assert output == "no budget is left for a sub-agent: 5005 of 5000 tokens used (hint: finish without it)"
    assert ended.outcome == "budget_exhausted"


async def test_a_fixed_share_ends_the_child_and_not_its_parent():
    parts = {
        "go": [says("", fork("s", "count", budget_policy="fixed:700")), says("done")],
        "count": [says("", use("c", "look", on="a"), usage=Usage(input=690)), says("3")],
    }
    async with Troupe(parts, tools=[SmallTool("look", lambda on: "seen")]) as troupe:
        ended = await troupe.run("go", limits=Limits(tokens=50_000))
        [child] = await troupe.all_of(ChildEnded)

    assert child.outcome == "budget_exhausted"
    assert (ended.outcome, ended.text) == ("completed", "done")


async def test_what_a_child_has_not_used_goes_back():
    calls = [fork(f"s{number}", "count", budget_policy="fixed:30000") for number in range(2)]
    parts = {"go": [*(says("", call) for call in calls), says("done")], "count": [says("3")]}
    async with Troupe(parts) as troupe:
        await troupe.run("go", limits=Limits(tokens=40_000))
        shares = [
            (await troupe.all_of(RunStarted, child.child))[0].limits.tokens
            for child in await troupe.all_of(ChildStarted)
        ]

    assert shares == [30_000, 30_000]


async def test_equal_shares_of_one_reply_are_equal():
    calls = [fork(f"s{number}", f"part {number}", budget_policy="equal") for number in range(4)]
    parts = {f"part {number}": [says("fine")] for number in range(4)}
    gate = Gate()
    parts = {prompt: [behind(gate, says("fine"))] for prompt in parts}
    parts["go"] = [says("", *calls), says("done")]
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go", limits=Limits(tokens=40_015))
        await gate.crowd(4)
        gate.open()
        await troupe.service.wait(troupe.main, run)
        shares = [
            (await troupe.all_of(RunStarted, child.child))[0].limits.tokens
            for child in await troupe.all_of(ChildStarted)
        ]

    assert shares == [10_000] * 4


async def test_weights_are_of_the_whole():
    calls = [
        fork("a", "part a", budget_policy="proportional:1/4"),
        fork("b", "part b", budget_policy="proportional:3/4"),
    ]
    gate = Gate()
    parts = {f"part {one}": [behind(gate, says("fine"))] for one in "ab"}
    parts["go"] = [says("", *calls), says("done")]
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go", limits=Limits(tokens=40_015))
        await gate.crowd(2)
        gate.open()
        await troupe.service.wait(troupe.main, run)
        shares = [
            (await troupe.all_of(RunStarted, child.child))[0].limits.tokens
            for child in await troupe.all_of(ChildStarted)
        ]

    assert shares == [10_000, 30_000]


async def test_a_tree_of_fifteen_under_one_cost_limit_stops_within_one_reservation():
    """Each request may cost its input and 100 tokens of output; of that the end may be short or over."""
    parts = {"go": [says("", spawn("a", "left"), spawn("b", "right")), says("done")]}
    for side in ("left", "right"):
        parts[side] = [says("", *(spawn(f"{n}", f"{side} {n}") for n in range(2))), says("up")]
        for n in range(2):
            parts[f"{side} {n}"] = [
                says("", *(spawn(f"{m}", f"{side} {n} {m}") for m in range(2))), says("up")
            ]  # fmt: skip
            for m in range(2):
                parts[f"{side} {n} {m}"] = [
                    says("", use(f"c{turn}", "look", on=f"{turn}"), usage=Usage(input=600, output=90))
                    for turn in range(50)
                ]
    look = SmallTool("look", lambda on: f"seen {on}")
    async with Troupe(parts, tools=[look], price=Price(input=1.0, output=1.0)) as troupe:
        async with asyncio.timeout(PATIENCE_S):
            ended = await troupe.run("go", limits=Limits(cost=0.02))
        children = len(await troupe.service.ask(ListSessions())) - 1

    assert children == 14
    assert ended.cost is not None
    assert 0.015 < ended.cost <= 0.02 + 0.002


# ---------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("how", ["parent", "child"])
async def test_cancel_stops_the_model_the_tools_and_all_below(how):
    gate, stuck = Gate(), Gate()
    parts = {
        "go": [says("", spawn("s", "middle")), says("done")],
        "middle": [says("", spawn("a", "leaf"), spawn("b", "busy")), says("up")],
        "leaf": [behind(gate, says("leaf"))],
        "busy": [says("", use("w", "stick", on="x")), says("busy")],
    }
    stick = SmallTool("stick", lambda on: stuck.passing())
    async with Troupe(parts, tools=[stick]) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(1)
        await stuck.crowd(1)
        middle = (await troupe.all_of(ChildStarted))[0].child
        session = troupe.main if how == "parent" else middle
        await troupe.service.submit(session, Cancel("enough"))
        ended = await troupe.service.wait(troupe.main, run)
        below = [await troupe.all_of(ChildEnded, one) for one in (troupe.main, middle)]
        live = [one.id for one in troupe.service.live()]

    assert (gate.there, stuck.there) == (0, 0)
    assert ended.outcome == ("cancelled" if how == "parent" else "completed")
    assert [[end.outcome for end in ends] for ends in below] == [["cancelled"], ["cancelled", "cancelled"]]
    assert live == [troupe.main]


async def test_agent_cancel_waits_and_says_what_it_was():
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("s", "count", background=True)),
            behind(gate, says("", use("c", "agent_cancel", agent_id=FIRST))),
            says("", use("d", "agent_cancel", agent_id="agent-1"), use("e", "agent_status", agent_id=FIRST)),
            says("done"),
        ],
        "count": [behind(held := Gate(), says("never"))],
    }
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await held.crowd(1)
        gate.open()
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs()
        queued = await troupe.all_of(PromptQueued)

    assert outputs[1] == (
        f'{{"agent_id":"{FIRST}","success":true,"previous_state":"running","message":"agent-1 was stopped"}}'
    )
    assert outputs[2].endswith('"previous_state":"cancelled","message":"agent-1 had already ended"}')
    assert '"state":"cancelled","is_final":true' in outputs[3]
    assert '"error":"cancelled: cancelled by its parent"' in outputs[3]
    assert queued == []


class Hasty:
    """Starts a sub-agent and stops waiting for it as soon as it works."""

    spec = ToolSpec("hasty", "Hurries.", {"type": "object", "properties": {}, "required": []})
    parallel = False

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def access(self, args, context):
        return Access("hasty", "read")

    async def preview(self, args, context):
        return ""

    async def run(self, args, context):
        begun = await context.children.start(ChildRequest("count"))
        waiting = asyncio.create_task(context.children.wait(begun.id))
        await self._gate.crowd(1)
        waiting.cancel()
        await asyncio.wait([waiting])
        return ToolOutput(" ".join(view.stage for view in context.children.views()))


async def test_who_waits_no_more_stops_the_child():
    gate = Gate()
    parts = {"go": [says("", use("h", "hasty")), says("done")], "count": [behind(gate, says("never"))]}
    async with Troupe(parts, tools=[Hasty(gate)]) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()

    assert outputs == ["cancelled"]


class Fickle(Hasty):
    """Changes its mind while the sub-agent it wants is being announced."""

    async def run(self, args, context):
        starting = asyncio.create_task(context.children.start(ChildRequest("count")))
        await self._gate.crowd(1)
        starting.cancel()
        self._gate.open()
        await asyncio.wait([starting])
        return ToolOutput(" ".join(view.stage for view in context.children.views()))


class SlowStore(EphemeralStore):
    """Lets the beginning of a sub-agent be recorded when a gate opens."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(FixedClock())
        self._gate = gate

    async def append(self, session, after, events):
        if any(isinstance(event, ChildStarted) for event in events):
            await self._gate.passing()
        return await super().append(session, after, events)


async def test_who_is_announced_ends_too():
    gate = Gate()
    parts = {"go": [says("", use("h", "hasty")), says("done")], "count": [says("never")]}
    async with Troupe(parts, tools=[Fickle(gate)], store=SlowStore(gate)) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()
        [started] = await troupe.all_of(ChildStarted)
        ended = await troupe.all_of(ChildEnded)

    assert outputs == ["cancelled"]
    assert ended == [ChildEnded(started.child, "cancelled", "its start was cancelled")]


async def test_shutting_down_ends_children_and_records_it():
    gate = Gate()
    parts = {"go": [says("", spawn("s", "count"))], "count": [behind(gate, says("never"))]}
    async with Troupe(parts) as troupe:
        await troupe.prompt("go")
        await gate.crowd(1)
        await troupe.service.aclose()
        records = [[record.event for record in await troupe.store.read(one)] for one in (troupe.main, FIRST)]

    assert gate.there == 0
    assert [log[-1].outcome for log in records] == ["cancelled", "cancelled"]
    assert [event.outcome for event in records[0] if isinstance(event, ChildEnded)] == ["cancelled"]


@pytest.mark.parametrize("background", [False, True])
async def test_parked_runs_are_left_as_they_are_and_nothing_runs_on(background):
    gate = Gate()
    parts = {
        "go": [says("", spawn("s", "count", background=background)), says("waiting"), says("done")],
        "count": [behind(gate, says("never"))],
    }
    async with Troupe(parts) as troupe:
        await troupe.prompt("go")
        await gate.crowd(1)
        await troupe.service.park(0)
        there = gate.there
        main = await read_session(troupe.service, troupe.main)
        child = await read_session(troupe.service, FIRST)
        kinds = await troupe.kinds()
        tasks = [task for task in asyncio.all_tasks() if "sub-agent" in task.get_name()]

    assert there == 0
    assert tasks == []
    assert main.run is not None
    assert child.run is not None
    assert "ChildEnded" not in kinds


# ---------------------------------------------------------------------------- in the background


async def test_the_result_of_a_background_child_comes_at_a_turn_boundary_as_a_message():
    parts = {
        "go": [says("", spawn("s", "count", background=True)), says("I wait"), says("got it")],
        "count": [behind(gate := Gate(), says("three"))],
    }
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(1)
        gate.open()
        ended = await troupe.service.wait(troupe.main, run)
        [output] = await troupe.outputs()
        [queued] = await troupe.all_of(PromptQueued)
        added = [event for event in await troupe.all_of(MessageAdded) if event.source == "child"]

    told = user_message(f"[result of agent-1 ({FIRST}): completed]\nthree")
    assert output == f'{{"agent_id":"{FIRST}","name":"agent-1","state":"running","model":"scripted/play"}}'
    assert (queued.message, queued.delivery, queued.source) == (told, "steer", "child")
    assert [(event.message, event.item_id) for event in added] == [(told, queued.item_id)]
    assert (ended.outcome, ended.text) == ("completed", "got it")


async def test_a_long_result_is_cut_and_whole_in_the_status():
    long = "x" * 40_000
    parts = {
        "go": [
            says("", spawn("s", "count", background=True)),
            says("I wait"),
            says("", use("t", "agent_status", agent_id="agent-1")),
            says("got it"),
        ],
        "count": [says(long)],
    }
    async with Troupe(parts) as troupe:
        await troupe.run("go")
        [queued] = await troupe.all_of(PromptQueued)
        outputs = await troupe.outputs()

    assert len(queued.message.text) < 33_000
    assert queued.message.text.endswith("[cut off here: agent_status has all of it]")
    assert long in outputs[1]


async def test_who_waits_for_children_can_be_steered():
    gate = Gate()
    parts = {
        "go": [says("", spawn("s", "count", background=True)), says("I wait"), says("I see"), says("done")],
        "count": [behind(gate, says("three"))],
    }
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(1)
        await troupe.until(TurnEnded, 2)
        await troupe.service.submit(troupe.main, Steer(user_message("and?")))
        await troupe.until(MessageAdded, 2)
        there = gate.there
        gate.open()
        ended = await troupe.service.wait(troupe.main, run)
        sources = [event.source for event in await troupe.all_of(MessageAdded)]

    assert there == 1
    assert sources == ["prompt", "steer", "child"]
    assert ended.text == "done"


async def test_who_waits_for_children_hears_peers(tmp_path: Path):
    gate, registry = Gate(), Registry()
    ours = make_comms(tmp_path / "ours", registry, name="ours", wired=False)
    anna = make_comms(tmp_path / "anna", registry, name="anna", wired=False)
    parts = {
        "go": [says("", spawn("s", "count", background=True)), says("I wait"), says("I see"), says("done")],
        "count": [behind(gate, says("three"))],
    }
    peer_send = SmallTool("peer_send", lambda text: "sent", access="network")
    async with Troupe(parts, tools=[peer_send], peers=ours) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(1)
        await troupe.until(TurnEnded, 2)
        await anna.send("ours", "and?")
        await troupe.until(MessageAdded, 2)
        there = gate.there
        gate.open()
        ended = await troupe.service.wait(troupe.main, run)
        sources = [event.source for event in await troupe.all_of(MessageAdded)]

    assert there == 1
    assert sources == ["prompt", "peer", "child"]
    assert ended.text == "done"


async def test_the_list_counts_by_state():
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("a", "quick"), spawn("b", "slow", background=True)),
            says("", use("l", "agent_list")),
            says("done"),
            says("all"),
        ],
        "quick": [says("quick")],
        "slow": [behind(gate, says("slow"))],
    }
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await troupe.until(ToolFinished, 3)
        gate.open()
        await troupe.service.wait(troupe.main, run)
        listed = (await troupe.outputs())[2]

    assert '"name":"agent-1","state":"completed","depth":1' in listed
    assert '"name":"agent-2","state":"running","depth":1' in listed
    assert listed.endswith('"running_count":1,"completed_count":1,"failed_count":0,"total_count":2}')


# ---------------------------------------------------------------------------- forks


async def forked(context, *, turns=2):
    """Return what a fork got of a conversation of some turns, and how many messages it says it has."""
    talk = {f"question {n}": [says(f"answer {n}")] for n in range(turns)}
    last = [says("", use("l", "look", on="a")), says("", fork("f", "count", **context)), says("done")]
    parts = {**talk, "go": last, "count": [says("three")]}
    async with Troupe(parts, tools=[SmallTool("look", lambda on: "seen")]) as troupe:
        for n in range(turns):
            await troupe.run(f"question {n}")
        await troupe.run("go")
        [request] = troupe.model.requests["count"]
        [started] = await troupe.all_of(ChildStarted)
        sources = [event.source for event in await troupe.all_of(MessageAdded, started.child)]
    shown = [
        (message.role, message.text or next(part.name for part in message.parts if hasattr(part, "name")))
        for message in request.messages
    ]
    assert sources == ["fork"] * (len(shown) - 1) + ["prompt"]
    return shown


TURN = [("assistant", "look"), ("tool", "look")]


@pytest.mark.parametrize(
    ("context", "kept"),
    [
        ({}, [("user", "question 0"), ("assistant", "answer 0"), ("user", "question 1"),
              ("assistant", "answer 1"), ("user", "go"), *TURN]),
        ({"context": "last_turns:1"}, [("user", "go"), *TURN]),
        ({"context": "last_turns:2"},
         [("user", "question 1"), ("assistant", "answer 1"), ("user", "go"), *TURN]),
        ({"context": "summary:1"}, []),
        ({"context": "custom", "messages": ["2 and 1", "what of them?"]},
         [("user", "2 and 1"), ("assistant", "what of them?")]),
        ({"context": "summary:40"}, [("user", "go"), *TURN]),
        ({"context": "summary:50"},
         [("user", "question 1"), ("assistant", "answer 1"), ("user", "go"), *TURN]),
    ],
)  # fmt: skip
async def test_a_fork_knows_what_was_asked_for(context, kept):
    assert await forked(context) == [*kept, ("user", "count")]


# ---------------------------------------------------------------------------- one file, two writers


async def test_two_children_cannot_undo_each_others_edits(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    both_read = asyncio.Barrier(2)

    def part(new):
        async def meet():
            await both_read.wait()
            return says("", use("e", "edit_file", path="a.txt", old_str="one", new_str=new))

        return [says("", use("r", "read_file", path="a.txt")), meet, says(new)]

    parts = {"go": [says("", spawn("a", "x"), spawn("b", "y")), says("done")], "x": part("x"), "y": part("y")}
    async with Troupe(parts, tools=file_tools(10_000, None), cwd=str(tmp_path)) as troupe:
        await troupe.run("go", mode="accept-edits")
        children = [event.child for event in await troupe.all_of(ChildStarted)]
        edits = [(await troupe.all_of(ToolFinished, child))[1].result for child in children]

    [won] = [edit for edit in edits if not edit.is_error]
    [lost] = [edit for edit in edits if edit.is_error]
    assert (tmp_path / "a.txt").read_text() == ("x\n" if edits[0] is won else "y\n")
    assert "changed" in lost.output


# ---------------------------------------------------------------------------- time and crashes


async def test_the_time_of_a_tool_does_not_run_while_a_child_works():
    async def slowly():
        await asyncio.sleep(1.2)  # longer than any tool may take
        return says("three")

    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [slowly]}
    async with Troupe(parts, tool_timeout_s=1.0) as troupe:
        await troupe.run("go")
        [output] = await troupe.outputs()

    assert output.startswith("three\n")


async def test_sub_agents_are_deleted_with_their_session():
    parts = {
        "go": [says("", spawn("s", "middle")), says("done")],
        "middle": [says("", spawn("m", "leaf")), says("up")],
        "leaf": [says("leaf")],
    }
    async with Troupe(parts) as troupe:
        other = await troupe.service.create(cwd="/")
        await troupe.run("go")
        before = len(await troupe.service.ask(ListSessions()))
        copy = await fork_session(troupe.service, troupe.main)
        await troupe.service.submit(troupe.main, Delete())
        left = {one.id for one in await troupe.service.ask(ListSessions())}

    assert before == 4
    assert left == {other, copy}  # a fork of a person's own is no sub-agent
