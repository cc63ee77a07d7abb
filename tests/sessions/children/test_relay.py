"""Questions of sub-agents: they appear wherever a client watches, and are answered once."""

import asyncio

import pytest

from bridle.core.ids import SessionId
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    ChildEnded,
    ChildStarted,
    Decide,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    Resume,
    RunEnded,
    TurnEnded,
    TurnStarted,
)
from bridle.core.tool import Access, ToolSpec
from bridle.sessions.bus import Bus
from bridle.sessions.children.relay import QuestionRelay
from bridle.sessions.journal import open_journal
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import FixedClock, SmallTool, says
from tests.sessions.troupe import Gate, Troupe, behind, child_of, spawn, use

FIRST = child_of("s")
"""The child that the call `s` of the first run starts."""


def touch():
    return SmallTool("touch", lambda on: f"touched {on}", access="write")


DEEP = {
    "go": [says("", spawn("s", "middle")), says("done")],
    "middle": [says("", spawn("m", "leaf")), says("up")],
    "leaf": [says("", use("c", "touch", on="a")), says("leaf")],
}


async def deep_question(troupe):
    """Start three levels and return the run, and what the lowest asks as its parents show it."""
    run = await troupe.prompt("go")
    shown = await troupe.until(ApprovalRequested)
    middle = (await troupe.all_of(ChildStarted))[0].child
    leaf = (await troupe.all_of(ChildStarted, middle))[0].child
    return run, shown, middle, leaf


@pytest.mark.parametrize("level", [0, 1, 2])
async def test_a_question_shows_at_every_level_and_is_answered_once_at_any(level):
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, middle, leaf = await deep_question(troupe)
        sessions = [troupe.main, middle, leaf]
        keys = [f"{middle}/{leaf}/c", f"{leaf}/c", "c"]
        stages = [live.state for live in troupe.service.live()]
        await troupe.service.submit(sessions[level], Decide(keys[level], "once", "fine"))
        await troupe.service.wait(troupe.main, run)
        asked = [(await troupe.all_of(ApprovalRequested, session))[0] for session in sessions]
        decided = [await troupe.all_of(ApprovalDecided, session) for session in sessions]

    assert shown == asked[0]
    assert [(one.call_id, one.child, one.preview) for one in asked] == [
        (keys[0], leaf, "would touch a"),
        (keys[1], leaf, "would touch a"),
        (keys[2], None, "would touch a"),
    ]
    assert decided == [[ApprovalDecided(key, "once", "fine")] for key in keys]
    assert stages == ["waiting"] * 3


async def test_the_second_answer_does_not_count():
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, _, leaf = await deep_question(troupe)
        await troupe.service.submit(leaf, Decide("c", "once"))
        await troupe.service.submit(troupe.main, Decide(shown.call_id, "deny"))
        await troupe.service.wait(troupe.main, run)
        decided = await troupe.all_of(ApprovalDecided)
        outputs = await troupe.outputs(leaf)

    assert decided == [ApprovalDecided(shown.call_id, "once")]
    assert outputs == ["touched a"]


async def test_stop_at_a_childs_question_stops_everything():
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, middle, leaf = await deep_question(troupe)
        await troupe.service.submit(troupe.main, Decide(shown.call_id, "stop", "enough"))
        ended = await troupe.service.wait(troupe.main, run)
        outcomes = [(await troupe.all_of(RunEnded, one))[0].outcome for one in (middle, leaf)]

    assert (ended.outcome, ended.reason) == ("denied", "enough")
    assert outcomes == ["denied", "denied"]


class Asking:
    """Asks the user what to do."""

    spec = ToolSpec("asking", "Asks.", {"type": "object", "properties": {}, "required": []})
    parallel = False

    def access(self, args, context):
        return Access("asking", "read")

    async def preview(self, args, context):
        return ""

    async def run(self, args, context):
        return ToolOutput(", ".join(await context.ask(Question("which?", ("red", "blue")))))


async def test_a_question_of_the_model_goes_up_and_its_answer_down():
    parts = {
        "go": [says("", spawn("s", "count")), says("done")],
        "count": [says("", use("q", "asking")), says("three")],
    }
    async with Troupe(parts, tools=[Asking()]) as troupe:
        run = await troupe.prompt("go")
        asked = await troupe.until(QuestionAsked)
        await troupe.service.submit(troupe.main, Reply(asked.call_id, ("blue",)))
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs(FIRST)
        answered = [await troupe.all_of(QuestionAnswered, one) for one in (troupe.main, FIRST)]

    key = f"{FIRST}/q"
    assert asked == QuestionAsked(key, Question("which?", ("red", "blue")), FIRST)
    assert outputs == ["blue"]
    assert answered == [[QuestionAnswered(key, ("blue",))], [QuestionAnswered("q", ("blue",))]]


async def test_the_questions_of_a_child_outlast_turns_and_go_with_it():
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("s", "count", background=True), spawn("t", "wonder", background=True)),
            behind(gate, says("", use("l", "look", on="a"))),
            says("waiting"),
        ],
        "count": [says("", use("c", "touch", on="a")), says("three")],
        "wonder": [says("", use("q", "asking")), says("three")],
    }
    look = SmallTool("look", lambda on: "seen")
    async with Troupe(parts, tools=[touch(), Asking(), look]) as troupe:
        run = await troupe.prompt("go")
        approval, question = await troupe.until(ApprovalRequested), await troupe.until(QuestionAsked)
        gate.open()
        await troupe.until(TurnStarted, 3)
        state = (await read_session(troupe.service, troupe.main)).run
        await troupe.service.submit(troupe.main, Cancel("no more"))
        await troupe.service.wait(troupe.main, run)
        ends = [
            event for event in await troupe.log() if isinstance(event, ApprovalDecided | QuestionAnswered)
        ]

    assert [one.call_id for one in state.pending] == [approval.call_id]
    assert list(state.questions) == [question.call_id]
    assert sorted(ends, key=lambda end: type(end).__name__) == [
        ApprovalDecided(approval.call_id, "deny", "the sub-agent has ended"),
        QuestionAnswered(question.call_id),
    ]


async def test_what_is_still_open_can_be_withdrawn():
    async with Troupe({}) as troupe:
        journal = await open_journal(troupe.main, troupe.store, Bus(), troupe.clock)
        relay = QuestionRelay(FIRST, journal, troupe.service)
        await relay.see(ApprovalRequested("c", "touch", {}, "mode ask", parent="code"))
        await relay.see(QuestionAsked("q", Question("which?")))
        was_open, withdrawn = relay.is_open, relay.withdraw()
        shown = await troupe.log()

    assert shown == [
        ApprovalRequested(f"{FIRST}/c", "touch", {}, "mode ask", child=FIRST),
        QuestionAsked(f"{FIRST}/q", Question("which?"), FIRST),
    ]
    assert withdrawn == [
        ApprovalDecided(f"{FIRST}/c", "deny", "the sub-agent has ended"),
        QuestionAnswered(f"{FIRST}/q"),
    ]
    assert (was_open, relay.is_open, relay.withdraw()) == (True, False, [])


class SlowStore(EphemeralStore):
    """Delays one append on demand."""

    gate: Gate | None = None

    async def append(self, session, after, events):
        if self.gate is not None:
            gate, self.gate = self.gate, None
            await gate.passing()
        return await super().append(session, after, events)


async def test_who_is_cancelled_while_a_question_is_repeated_leaves_the_journal_whole():
    store, clock, gate = SlowStore(FixedClock()), FixedClock(), Gate()
    async with Troupe({"go": [says("done")]}, store=store) as troupe:
        journal = await open_journal(troupe.main, store, Bus(), clock)
        store.gate = gate
        relay = QuestionRelay(SessionId("child"), journal, troupe.service)
        seeing = asyncio.create_task(relay.see(ApprovalRequested("c", "touch", {}, "why")))
        await gate.crowd(1)
        seeing.cancel()
        gate.open()
        await asyncio.wait([seeing])
        is_stale = journal.is_stale
        kinds = await troupe.kinds()

    assert seeing.cancelled()
    assert (is_stale, kinds) == (False, ["ApprovalRequested"])


# ---------------------------------------------------------------------------- after a cut


async def test_a_question_of_before_a_cut_can_be_answered_before_it_is_asked_again():
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, _, leaf = await deep_question(troupe)
        await troupe.service.park(0)
    async with Troupe(DEEP, tools=[touch()], store=troupe.store, chance=1_000) as troupe:
        await troupe.service.submit(troupe.main, Resume())
        asked = len(await troupe.all_of(ApprovalRequested))
        await troupe.service.submit(troupe.main, Decide(shown.call_id, "once", "fine"))
        ended = await troupe.service.wait(troupe.main, run)
        decided = await troupe.all_of(ApprovalDecided)
        outputs = await troupe.outputs(leaf)

    assert asked == 1
    assert ended.text == "done"
    assert decided[-1] == ApprovalDecided(shown.call_id, "once", "fine")
    assert outputs == ["touched a"]


async def test_a_question_of_the_model_can_be_answered_before_it_is_asked_again():
    parts = {
        "go": [says("", spawn("s", "ask")), says("done")],
        "ask": [says("", use("q", "asking")), says("thanks")],
    }
    async with Troupe(parts, tools=[Asking()]) as troupe:
        run = await troupe.prompt("go")
        asked = await troupe.until(QuestionAsked)
        await troupe.service.park(0)
    async with Troupe(parts, tools=[Asking()], store=troupe.store, chance=1_000) as troupe:
        await troupe.service.submit(troupe.main, Resume())
        await troupe.service.submit(troupe.main, Reply(asked.call_id, ("blue",)))
        await troupe.service.submit(troupe.main, Reply(asked.call_id, ("red",)))
        await troupe.service.wait(troupe.main, run)
        outputs = await troupe.outputs(FIRST)
        answered = [await troupe.all_of(QuestionAnswered, one) for one in (troupe.main, FIRST)]

    assert outputs == ["blue"]
    assert answered == [[QuestionAnswered(asked.call_id, ("blue",))], [QuestionAnswered("q", ("blue",))]]


class SlowlyAsking(Asking):
    """Asks when a gate opens."""

    def __init__(self, gate):
        self._gate = gate

    async def run(self, args, context):
        await self._gate.passing()
        return await super().run(args, context)


async def test_a_run_that_asks_again_takes_the_answer_that_came_before():
    gate = Gate()
    parts = {"go": [says("", use("q", "asking")), says("thanks")]}
    async with Troupe(parts, tools=[Asking()]) as troupe:
        run = await troupe.prompt("go")
        await troupe.until(QuestionAsked)
        await troupe.service.park(0)
    async with Troupe(parts, tools=[SlowlyAsking(gate)], store=troupe.store, chance=1_000) as troupe:
        await troupe.service.submit(troupe.main, Resume())
        await gate.crowd(1)
        await troupe.service.submit(troupe.main, Reply("q", ("blue",)))
        gate.open()
        await troupe.service.wait(troupe.main, run)
        outputs, asked = await troupe.outputs(), await troupe.all_of(QuestionAsked)

    assert outputs == ["blue"]
    assert len(asked) == 1


async def test_an_answer_that_only_the_child_had_heard_is_told_above():
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, middle, leaf = await deep_question(troupe)
        await troupe.service.park(0)
    store = troupe.store
    await store.append(leaf, len(await store.read(leaf)), [ApprovalDecided("c", "once", "fine")])
    async with Troupe(DEEP, tools=[touch()], store=store, chance=1_000) as troupe:
        await troupe.service.submit(troupe.main, Resume())
        await troupe.service.wait(troupe.main, run)
        decided = [await troupe.all_of(ApprovalDecided, one) for one in (troupe.main, middle)]
        asked = await troupe.all_of(ApprovalRequested)

    assert decided == [[ApprovalDecided(key, "once", "fine")] for key in (shown.call_id, f"{leaf}/c")]
    assert len(asked) == 1


async def test_a_run_rests_while_all_that_work_for_it_wait_for_a_person():
    async with Troupe(DEEP, tools=[touch()]) as troupe:
        run, shown, middle, leaf = await deep_question(troupe)
        resting = [troupe.service.rests(one) for one in (troupe.main, middle, leaf)]
        await troupe.service.set_aside(troupe.main)
        live = troupe.service.live()
        await troupe.service.submit(troupe.main, Resume())
        await troupe.service.submit(troupe.main, Decide(shown.call_id, "once"))
        ended = await troupe.service.wait(troupe.main, run)

    assert resting == [True, True, True]
    assert live == []
    assert ended.text == "done"


async def passes(is_so):
    """Let all other tasks run until a condition holds that no event announces."""
    for _ in range(1_000):
        if is_so():
            return
        await asyncio.sleep(0)


@pytest.mark.parametrize("works", [False, True])
async def test_a_run_that_waits_for_the_background_rests_when_nobody_works(works):
    gate = Gate()
    parts = {
        "go": [
            says("", spawn("s", "ask", background=True), spawn("t", "work", background=True)),
            *(says("I wait") for _ in range(3)),
        ],
        "ask": [says("", use("c", "touch", on="a")), says("asked")],
        "work": [behind(gate, says("worked")) if works else says("worked")],
    }
    async with Troupe(parts, tools=[touch()]) as troupe:
        run = await troupe.prompt("go")
        shown = await troupe.until(ApprovalRequested)
        await (gate.crowd(1) if works else troupe.until(ChildEnded))
        await troupe.until(TurnEnded, 2 if works else 3)
        await passes(lambda: works or troupe.service.rests(troupe.main))
        rests = troupe.service.rests(troupe.main)
        gate.open()
        await troupe.service.submit(troupe.main, Decide(shown.call_id, "once"))
        await troupe.service.wait(troupe.main, run)

    assert rests is not works
