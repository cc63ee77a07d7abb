"""Sub-agents of a run that was cut off and does not go on: their own runs are ended, the deepest first.

What they have used is counted. Nobody drives them, and nothing runs twice.
"""

from collections.abc import Sequence

from bridle.core.errors import SessionBusy, SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    Checkpoint,
    ChildEnded,
    Event,
    Outcome,
    QuestionAnswered,
    QueueDropped,
    RunEnded,
    SessionCreated,
)
from bridle.core.recovery import INTERRUPTED, NOT_RUN, close_calls, end_of
from bridle.core.revision import FileChange, net_changes
from bridle.core.session import RunState
from bridle.core.turns import changed_files, file_changes
from bridle.sessions.bus import Bus
from bridle.sessions.engine import Engine
from bridle.sessions.heirs import own_end, read_left
from bridle.sessions.journal import Journal, open_journal
from bridle.sessions.late_changes import record_late_changes
from bridle.sessions.relay import ENDED

CUT_OFF = "the process ended during the run"


async def end_orphans(engine: Engine, bus: Bus, journal: Journal) -> None:
    """Record the ends of the children that the journal's open run had; raises StoreError.

    The run reads no messages any more: what agents have sent it is dropped.
    """
    run = journal.session.run
    if run is None:
        return
    for started in (await read_left(engine.store, journal.id, run.run_id)).open:
        try:
            last = await end_child(engine, bus, started.child)
        except SessionBusy as error:
            last = RunEnded(RunId(""), "failed", reason=str(error))
        changes = await changes_for_parent(engine, started.child, journal)
        await journal.record(
            *_withdrawn(run, started.child),
            *changed_files(changes, started.call_id),
            child_ended(started.child, last),
        )
    unread = [item for item in journal.session.known.queue if item.source in ("child", "peer")]
    await journal.record(*(QueueDropped(item.item_id) for item in unread))


async def end_child(
    engine: Engine, bus: Bus, child: SessionId, outcome: Outcome = "failed", reason: str = CUT_OFF
) -> RunEnded:
    """End the run of a child that nobody drives, and those below it, and return its end.

    Raises SessionBusy where somebody has taken it up on its own, and StoreError.
    """
    if not await engine.claims.claim(child):
        raise SessionBusy(f"session {child} is being run by another process")
    try:
        journal = await open_journal(child, engine.store, bus, engine.clock)
        end = await own_end(engine.store, child, journal.session)
        if end is None and (run := journal.session.run) is not None:
            await end_orphans(engine, bus, journal)
            end = end_of(run, outcome, "", reason)
            journal.stage(*close_calls(run, begun=INTERRUPTED, not_begun=NOT_RUN))
            journal.stage(Checkpoint(journal.session.known))
            await journal.record(end)
            await record_late_changes(engine, journal)
        return end or RunEnded(RunId(""), outcome, reason=reason)
    except SessionNotFound:
        return RunEnded(RunId(""), outcome, reason=reason)
    finally:
        await engine.claims.release(child)


def child_ended(child: SessionId, last: RunEnded, duration_ms: int = 0) -> ChildEnded:
    """Make what a parent records of a child's end."""
    return ChildEnded(
        child, last.outcome, last.reason, last.turns, last.tool_calls, last.usage, last.cost, duration_ms
    )


async def changes_for_parent(engine: Engine, child: SessionId, parent: Journal) -> Sequence[FileChange]:
    """Return what a sub-agent has changed: who takes back its parent's turn takes that back too.

    Not where the two work in different folders. Raises StoreError.
    """
    records = await engine.store.read(child)
    created = records[0].event if records else None
    is_apart = not isinstance(created, SessionCreated) or created.cwd != parent.session.known.created.cwd
    return () if is_apart else net_changes(file_changes(records))


def _withdrawn(run: RunState, child: SessionId) -> list[Event]:
    """Return the events that end the questions which a child has asked and nobody has answered."""
    below = f"{child}/"
    asked: list[CallId] = [one.call_id for one in run.pending if one.call_id.startswith(below)]
    questions = [call_id for call_id in run.questions if call_id.startswith(below)]
    return [
        *(ApprovalDecided(call_id, "deny", ENDED) for call_id in asked),
        *(QuestionAnswered(call_id) for call_id in questions),
    ]
