"""Sub-agents of a run that is closed after a crash are closed too, and their usage counts once."""

from bridle.core.ids import SessionId
from bridle.core.messages import Usage, user_message
from bridle.core.protocol import (
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    MessageAdded,
    Prompt,
    PromptQueued,
    RunEnded,
    ToolFinished,
    TurnEnded,
)
from bridle.core.recovery import INTERRUPTED
from bridle.sessions.bus import Bus
from bridle.sessions.children.orphans import CUT_OFF, end_orphans
from bridle.sessions.engine import Engine
from bridle.sessions.journal import open_journal
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import CountingChance, FixedClock, SmallTool, says
from tests.sessions.troupe import Gate, OneModel, Parts, Troupe, behind, spawn, use

MAIN = SessionId("main")


async def cut_off() -> EphemeralStore:
    """Return the store of a process that ended while a sub-agent of a sub-agent was at work."""
    gate = Gate()
    parts = {
        "go": [says("", spawn("q", "quick"), spawn("s", "middle"))],
        "quick": [says("quick")],
        "middle": [says("", spawn("m", "leaf"))],
        "leaf": [behind(gate, says("never"))],
    }
    async with Troupe(parts) as troupe:
        await troupe.prompt("go")
        await troupe.until(ChildEnded)
        await gate.crowd(1)
        await troupe.service.park(0)
    return troupe.store


def engine_on(store: EphemeralStore) -> Engine:
    return Engine(
        store=store,
        claims=LocalClaims(),
        models=OneModel(Parts({})),
        load_agent=lambda name, cwd: None,  # no one runs anything here
        tools=(),
        clock=FixedClock(),
        chance=CountingChance(1_000),
    )


async def events_of(store: EphemeralStore, session: SessionId, *kinds: type) -> list:
    return [record.event for record in await store.read(session) if isinstance(record.event, kinds)]


async def test_open_children_are_ended_the_deepest_first_and_counted():
    store = await cut_off()
    engine = engine_on(store)
    journal = await open_journal(MAIN, store, Bus(), engine.clock)

    await end_orphans(engine, Bus(), journal)
    await end_orphans(engine, Bus(), journal)  # nothing is left to do

    quick, middle = await events_of(store, MAIN, ChildStarted)
    [leaf] = await events_of(store, middle.child, ChildStarted)
    used = Usage(input=10, output=5)
    ends = [await events_of(store, one, ChildEnded) for one in (MAIN, middle.child)]
    assert ends[0][0].child == quick.child
    assert ends[0][1:] == [ChildEnded(middle.child, "failed", CUT_OFF, 1, 1, used)]
    assert ends[1] == [ChildEnded(leaf.child, "failed", CUT_OFF, cost=0.0)]
    for one in (middle.child, leaf.child):
        [end] = await events_of(store, one, RunEnded)
        assert (end.outcome, end.reason) == ("failed", CUT_OFF)
    [closed] = await events_of(store, middle.child, ToolFinished)
    assert closed.result.output == INTERRUPTED
    assert journal.session.run is not None
    assert journal.session.run.usage == Usage(input=30, output=15)


async def test_a_child_that_somebody_else_drives_is_left_alone_and_given_up():
    store = await cut_off()
    engine = engine_on(store)
    _, middle = await events_of(store, MAIN, ChildStarted)
    await engine.claims.claim(middle.child)
    journal = await open_journal(MAIN, store, Bus(), engine.clock)

    await end_orphans(engine, Bus(), journal)

    why = f"session {middle.child} is being run by another process"
    assert (await events_of(store, MAIN, ChildEnded))[1:] == [ChildEnded(middle.child, "failed", why)]
    assert await events_of(store, middle.child, RunEnded) == []


async def test_what_a_person_did_with_a_child_since_is_not_its_parents():
    store = await cut_off()
    engine = engine_on(store)
    _, middle = await events_of(store, MAIN, ChildStarted)
    async with Troupe({"on": [says("on my own")]}, store=store, chance=1_000) as troupe:
        receipt = await troupe.service.submit(middle.child, Prompt(user_message("on")))
        await troupe.service.wait(middle.child, receipt.run_id)
    journal = await open_journal(MAIN, store, Bus(), engine.clock)

    await end_orphans(engine, Bus(), journal)

    used = Usage(input=10, output=5)
    assert (await events_of(store, MAIN, ChildEnded))[1:] == [
        ChildEnded(middle.child, "failed", CUT_OFF, 1, 1, used)
    ]


async def test_a_session_without_an_open_run_has_no_orphans():
    store = EphemeralStore(FixedClock())
    async with Troupe({"go": [says("done")]}, store=store) as troupe:
        await troupe.run("go")
    engine = engine_on(store)
    journal = await open_journal(MAIN, store, Bus(), engine.clock)
    before = await store.read(MAIN)

    await end_orphans(engine, Bus(), journal)

    assert await store.read(MAIN) == before


async def cut_off_in_the_background() -> EphemeralStore:
    """Return the store of a process that ended while a child in the background asked."""
    parts = {
        "go": [says("", spawn("a", "asks", background=True)), says("waiting")],
        "asks": [says("", use("c", "touch", on="a")), says("touched")],
    }
    touch = SmallTool("touch", lambda on: f"touched {on}", access="write")
    async with Troupe(parts, tools=[touch]) as troupe:
        await troupe.prompt("go")
        await troupe.until(ApprovalRequested)
        await troupe.until(TurnEnded, 2)
        await troupe.service.park(0)
    return troupe.store


async def test_a_run_that_is_closed_leaves_no_messages_for_the_next():
    store = await cut_off_in_the_background()
    item = PromptQueued(
        "late", user_message("[message from agent-1]\nhello"), delivery="steer", source="peer"
    )
    await store.append(MAIN, len(await store.read(MAIN)), [item])
    async with Troupe({"again": [says("new")]}, store=store, chance=1_000) as troupe:
        ended = await troupe.run("again")
        known = (await read_session(troupe.service, troupe.main)).known
        added = [one.message.text for one in await troupe.all_of(MessageAdded)]

    assert (ended.outcome, ended.text) == ("completed", "new")
    assert known.queue == ()
    assert added == ["go", "again"]
