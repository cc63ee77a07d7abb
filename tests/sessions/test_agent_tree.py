"""What the agents of a tree share: running slots and messages."""

import asyncio

from bridle.core.messages import Usage, user_message
from bridle.core.protocol import (
    ChildEnded,
    ChildStarted,
    MessageAdded,
    RunEnded,
    ToolFinished,
)
from bridle.sessions.agent_tree import ChildPolicy
from tests.patience import PATIENCE_S
from tests.sessions.stage import says
from tests.sessions.troupe import Gate, Troupe, behind, spawn, use


async def test_only_so_many_run_at_once_and_waiting_parents_do_not_count():
    """Three levels with one slot: were a waiting parent to hold it, nothing would ever end."""
    running = most = 0

    def counted(reply):
        async def answer():
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(20):
                await asyncio.sleep(0)
            running -= 1
            return reply

        return answer

    parts = {"go": [says("", spawn("a", "middle 0"), spawn("b", "middle 1")), says("done")]}
    for number in range(2):
        calls = (spawn("s", f"leaf {number}"), spawn("t", f"leaf {number}"))
        parts[f"middle {number}"] = [counted(says("", *calls)), counted(says("up"))]
        parts[f"leaf {number}"] = [counted(says("leaf"))]
    async with Troupe(parts, policy=ChildPolicy(max_running=1)) as troupe:
        async with asyncio.timeout(PATIENCE_S):
            ended = await troupe.run("go")

    assert (ended.outcome, most) == ("completed", 1)


async def test_a_child_that_waits_for_its_turn_can_be_cancelled():
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("a", "first", background=True), spawn("b", "second", background=True)),
            says("", use("c", "agent_cancel", agent_id="agent-2")),
            says("done"),
            says("all done"),
        ],
        "first": [behind(gate, says("first"))],
        "second": [says("second")],
    }
    async with Troupe(parts, policy=ChildPolicy(max_running=1)) as troupe:
        run = await troupe.prompt("go")
        ended = await troupe.until(ChildEnded)
        gate.open()
        await troupe.service.wait(troupe.main, run)
        requests = troupe.model.requests["second"]

    assert (ended.outcome, ended.reason, ended.usage) == ("cancelled", "cancelled by its parent", Usage())
    assert requests == []


# ---------------------------------------------------------------------------- messages


async def test_agents_of_a_tree_send_each_other_messages():
    gate, later = Gate(), Gate()
    parts = {
        "go": [
            says("", spawn("a", "one", background=True), spawn("b", "two", background=True)),
            says("wait"),
        ],
        "one": [behind(gate, says("", use("s", "send_message", to="agent-2", text="hello"))), says("sent")],
        "two": [
            behind(later, says("", use("s", "send_message", to="parent", text="heard"))),
            says("two"),
        ],
    }
    parts["go"] += [says("one more"), says("and one"), says("all")]
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await gate.crowd(1)
        await later.crowd(1)
        one, two = [event.child for event in await troupe.all_of(ChildStarted)]
        gate.open()
        await troupe.until(RunEnded, session=one)
        later.open()
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs(one)
        heard = [event for event in await troupe.all_of(MessageAdded, two) if event.source == "peer"]
        main = [event for event in await troupe.all_of(MessageAdded) if event.source == "peer"]

    assert outputs == ["Sent to agent-2, which reads it before its next turn"]
    assert [event.message for event in heard] == [user_message("[message from agent-1]\nhello")]
    assert [event.message for event in main] == [user_message("[message from agent-2]\nheard")]


async def test_messages_that_nobody_can_read_are_refused():
    parts = {
        "go": [
            says("", spawn("a", "one")),
            says(
                "",
                use("s1", "send_message", to="agent-1", text="hello"),
                use("s2", "send_message", to="nobody", text="hello"),
                use("s3", "send_message", to="main", text="hello"),
                use("s4", "send_message", to="agent-1", text=" "),
                use("s5", "send_message", to="agent-1", text="x" * 32_001),
            ),
            says("done"),
        ],
        "one": [says("one")],
    }
    async with Troupe(parts) as troupe:
        await troupe.run("go")
        outputs = await troupe.outputs()

    assert sorted(outputs[1:]) == sorted([
        "agent-1 has ended and reads no messages",
        "no agent is named 'nobody' (hint: there are no other agents)",
        "a message to itself (hint: there are no other agents)",
        "the message is empty",
        "the message has more than 32,000 characters",
    ])  # fmt: skip


async def test_agents_cannot_talk_for_ever():
    gate, done = Gate(), Gate()
    parts = {
        "go": [
            says("", spawn("a", "one", background=True)),
            behind(
                gate, says("", *(use(f"s{n}", "send_message", to="agent-1", text=f"{n}") for n in range(33)))
            ),
            says("done"),
            says("all"),
        ],
        "one": [behind(done, says("one")), says("read")],
    }
    async with Troupe(parts) as troupe:
        run = await troupe.prompt("go")
        await done.crowd(1)
        gate.open()
        await troupe.until(ToolFinished, 34)
        done.open()
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs()

    assert sum(output.startswith("Sent to agent-1") for output in outputs) == 32
    assert "agent-1 has 32 unread messages" in outputs
