"""Many sub-agents, few slots, and a stop of everything: nothing waits forever, nothing is left."""

import asyncio
import random

import pytest

from bridle.core.protocol import Cancel, ChildEnded, ChildStarted, RunEnded
from bridle.core.queries import ListSessions
from bridle.sessions.agent_tree import ChildPolicy
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.sessions.stage import SmallTool, says
from tests.sessions.troupe import Gate, Troupe, behind, spawn, use


async def test_one_place_is_enough_for_a_deep_tree_with_many_branches():
    """Each level starts one that it waits for and one in the background, and talks to its parent."""
    leaf = [says("", use("m", "send_message", to="parent", text="hello")), says("leaf")]
    parts = {"go": [says("", spawn("a", "1a"), spawn("b", "1b", background=True)), *[says("up")] * 9]}
    for level in (1, 2):
        for name in "ab":
            below = (spawn("a", f"{level + 1}a"), spawn("b", f"{level + 1}b", background=True))
            tell = use("m", "send_message", to="parent", text="hello")
            parts[f"{level}{name}"] = [says("", tell, *below), *[says("up")] * 9]
    parts |= {"3a": leaf, "3b": leaf}
    async with Troupe(parts, policy=ChildPolicy(max_running=1)) as troupe:
        async with asyncio.timeout(PATIENCE_S):
            ended = await troupe.run("go")
        sessions = await troupe.service.ask(ListSessions())
        live = troupe.service.live()

    assert (ended.outcome, ended.text) == ("completed", "up")
    assert len(sessions) == 1 + 2 + 4 + 8
    assert [one.unfinished for one in sessions] == [False] * 15
    assert [one.id for one in live] == [troupe.main]


async def test_fifty_in_the_background_are_all_heard():
    calls = [spawn(f"s{at}", f"task {at}", background=True) for at in range(50)]
    parts = {"go": [says("", *calls), *[says("waiting")] * 60]}
    parts |= {f"task {at}": [says(f"answer {at}")] for at in range(50)}
    policy = ChildPolicy(max_children=50, max_running=3)
    async with Troupe(parts, policy=policy) as troupe:
        async with asyncio.timeout(PATIENCE_S):
            ended = await troupe.run("go")
        ends = await troupe.all_of(ChildEnded)
        messages = (await read_session(troupe.service, troupe.main)).messages

    said = "\n".join(item.message.text for item in messages)
    assert ended.outcome == "completed"
    assert len(ends) == 50
    assert all(f"\nanswer {at}" in said for at in range(50))


@pytest.mark.parametrize("seed", range(8))
async def test_a_storm_of_cancels_leaves_nothing(seed: int):
    chance, gate = random.Random(seed), Gate()
    names = [f"{a}{b}" for a in range(4) for b in range(4)]
    touch = SmallTool("touch", lambda on: "touched", access="write")
    parts = {
        "go": [
            says("", *(spawn(f"s{a}", f"m{a}", background=a % 2 == 0) for a in range(4))),
            *[says("up")] * 20,
        ]
    }
    for a in range(4):
        below = [spawn(f"t{b}", f"l{a}{b}", background=b % 2 == 0) for b in range(4)]
        parts[f"m{a}"] = [says("", *below), *[says("up")] * 20]
    for at, name in enumerate(names):
        parts[f"l{name}"] = [
            behind(gate, says("leaf")) if at % 3 else says("", use("c", "touch", on="a")),
            says("leaf"),
        ]
    policy = ChildPolicy(max_running=chance.choice([1, 3, 40]))
    async with Troupe(parts, tools=[touch], policy=policy) as troupe:
        run = await troupe.prompt("go")
        for _ in range(chance.randrange(200)):
            await asyncio.sleep(0)
        victims = [one.id for one in troupe.service.live()]
        chance.shuffle(victims)
        gone = [
            troupe.service.submit(one, Cancel(f"storm {seed}")) for one in victims[: chance.randint(0, 9)]
        ]
        await asyncio.gather(*gone, return_exceptions=True)
        async with asyncio.timeout(PATIENCE_S):
            await troupe.service.interrupt(troupe.main, "enough")
            ended = await troupe.service.wait(troupe.main, run)
        sessions = await troupe.service.ask(ListSessions())
        live = [one.id for one in troupe.service.live()]
        started = {event.child for one in sessions for event in await troupe.all_of(ChildStarted, one.id)}
        over = {event.child for one in sessions for event in await troupe.all_of(ChildEnded, one.id)}
        ends = [len(await troupe.all_of(RunEnded, one.id)) for one in sessions]
        left = [task for task in asyncio.all_tasks() if (task.get_name() or "").startswith("sub-agent")]

    assert ended.outcome == "cancelled"
    assert [one.unfinished for one in sessions] == [False] * len(sessions)
    assert live == [troupe.main]
    assert started == over
    assert max(ends) == 1
    assert left == []
