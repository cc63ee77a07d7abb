"""Sub-agents that a process has taken with it when it ended: nobody drives them, and nothing runs twice.

When their parent's run goes on, or is closed, their own runs are ended, the deepest first, and what they
have used is counted. A run that goes on is told what came of those that worked in the background.
"""

from collections.abc import Sequence

from bridle.core.errors import SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    Checkpoint,
    ChildEnded,
    ChildStarted,
    Event,
    QuestionAnswered,
    QueueDropped,
    RunEnded,
    RunStarted,
)
from bridle.core.recovery import INTERRUPTED, NOT_RUN, close_calls, end_of
from bridle.core.session import RunState
from bridle.core.turns import changed_files
from bridle.sessions.bus import Bus
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal, open_journal
from bridle.sessions.relay import ENDED
from bridle.sessions.subagent import changes_for_parent, result_message

CUT_OFF = "the process ended during the run"
CHUNK = 256  # records


async def end_orphans(engine: Engine, bus: Bus, journal: Journal, *, goes_on: bool) -> None:
    """Record the ends of the children that the journal's open run had; raises StoreError.

    A run that does not go on reads no messages any more: what agents have sent it is dropped.
    """
    run = journal.session.run
    if run is None:
        return
    for started in await _open_children(engine, journal.id, run.run_id):
        if engine.claims.claim(started.child):  # else somebody has taken it up on its own
            try:
                ended, *told = await _end(engine, bus, started)
                changes = await changes_for_parent(engine, started.child, journal)
                await journal.record(
                    *_withdrawn(run, started.child),
                    *changed_files(changes, started.call_id),
                    ended,
                    *(told if goes_on else ()),
                )
            finally:
                engine.claims.release(started.child)
    if not goes_on:
        unread = [item for item in journal.session.known.queue if item.source in ("child", "peer")]
        await journal.record(*(QueueDropped(item.item_id) for item in unread))


async def _open_children(engine: Engine, session: SessionId, run_id: RunId) -> list[ChildStarted]:
    """Return the children of a run whose end is not recorded, the first first."""
    started: list[ChildStarted] = []
    ended: set[SessionId] = set()
    before: int | None = None
    while records := await engine.store.read(session, before=before, limit=CHUNK, newest=True):
        for record in reversed(records):
            match record.event:
                case RunStarted(run_id=found) if found == run_id:
                    return started[::-1]
                case ChildEnded() as event:
                    ended.add(event.child)
                case ChildStarted() as event if event.child not in ended:
                    started.append(event)
                case _:
                    pass
        before = records[0].seq
    return started[::-1]


async def _end(engine: Engine, bus: Bus, started: ChildStarted) -> Sequence[Event]:
    """End a child's run, if it is open; returns its end, and the message about it if it has one."""
    last = await _last_of(engine, bus, started.child)
    ended = ChildEnded(
        started.child, last.outcome, last.reason, last.turns, last.tool_calls, last.usage, last.cost
    )
    if not started.background:
        return (ended,)
    return ended, result_message(engine.new_id(), started.name, started.child, last, last.text)


async def _last_of(engine: Engine, bus: Bus, child: SessionId) -> RunEnded:
    try:
        journal = await open_journal(child, engine.store, bus, engine.clock)
    except SessionNotFound:
        return RunEnded(RunId(""), "failed", reason=CUT_OFF)
    await end_orphans(engine, bus, journal, goes_on=False)
    run = journal.session.run
    if run is not None:
        journal.stage(*close_calls(run, begun=INTERRUPTED, not_begun=NOT_RUN))
        journal.stage(Checkpoint(journal.session.known))
        await journal.record(end_of(run, "failed", "", CUT_OFF))
    return journal.session.last or RunEnded(RunId(""), "failed", reason=CUT_OFF)


def _withdrawn(run: RunState, child: SessionId) -> list[Event]:
    """Return the events that end the questions which a child has asked and nobody has answered."""
    below = f"{child}/"
    asked: list[CallId] = [one.call_id for one in run.pending if one.call_id.startswith(below)]
    questions = [call_id for call_id in run.questions if call_id.startswith(below)]
    return [
        *(ApprovalDecided(call_id, "deny", ENDED) for call_id in asked),
        *(QuestionAnswered(call_id) for call_id in questions),
    ]
