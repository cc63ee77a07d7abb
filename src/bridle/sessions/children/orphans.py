"""Ends the sub-agents of an interrupted run that will not resume, deepest first.

Their usage is counted. They are not driven again, and nothing runs twice.
"""

import asyncio
from collections.abc import Sequence

from bridle.core.errors import SessionBusy, SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.ports import FileTracker
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
from bridle.core.recovery import INTERRUPTED, NOT_RUN, close_calls, make_run_end
from bridle.core.revision import FileChange, net_changes
from bridle.core.session import RunState
from bridle.core.turns import file_changes, make_change_events
from bridle.sessions.bus import Bus
from bridle.sessions.children.relay import ENDED
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal, open_journal
from bridle.sessions.resumed_children import read_child_records, read_first_end

# ---------------------------------------------------------------------------- late changes
# File changes that no call has recorded: by a background job, or by an interrupted call.


def keeper_of(engine: Engine, journal: Journal) -> FileTracker | None:
    """Return the `FileTracker` of a session's files; None without revisions."""
    if engine.revisions is None:
        return None
    return engine.revisions.keeper(journal.id, journal.session.known.created.cwd)


async def record_late_changes(engine: Engine, journal: Journal) -> None:
    """Record a session's file changes since its last call, while no run is active; raises StoreError."""
    keeper = keeper_of(engine, journal)
    if keeper is None:
        return
    known = journal.session.changes  # recorded, but perhaps not confirmed before a crash
    is_over = engine.is_at_rest(journal.id)
    found = await asyncio.to_thread(keeper.collect, is_over=is_over)
    await journal.record(*make_change_events([change for change in found if change not in known]))
    await asyncio.to_thread(keeper.confirm)


# ---------------------------------------------------------------------------- orphans


CUT_OFF = "the process ended during the run"


async def end_orphans(engine: Engine, bus: Bus, journal: Journal) -> None:
    """End the sub-agents of the journal's open run and record that; raises StoreError.

    Drop the messages that agents sent to the run: it reads none any more.
    """
    run = journal.session.run
    if run is None:
        return
    for started in (await read_child_records(engine.store, journal.id, run.run_id)).open:
        try:
            last = await end_child(engine, bus, started.child)
        except SessionBusy as error:
            last = RunEnded(RunId(""), "failed", reason=str(error))
        changes = await changes_for_parent(engine, started.child, journal)
        await journal.record(
            *_withdrawn(run, started.child),
            *make_change_events(changes, started.call_id),
            child_ended(started.child, last),
        )
    unread = [item for item in journal.session.known.queue if item.source in ("child", "peer")]
    await journal.record(*(QueueDropped(item.item_id) for item in unread))


async def end_child(
    engine: Engine, bus: Bus, child: SessionId, outcome: Outcome = "failed", reason: str = CUT_OFF
) -> RunEnded:
    """End a sub-agent's abandoned run and those below it, and return its end.

    Raises SessionBusy if another process runs the sub-agent's session, and StoreError.
    """
    if not await engine.claims.claim(child):
        raise SessionBusy(f"session {child} is being run by another process")
    try:
        journal = await open_journal(child, engine.store, bus, engine.clock)
        end = await read_first_end(engine.store, child, journal.session)
        if end is None and (run := journal.session.run) is not None:
            await end_orphans(engine, bus, journal)
            end = make_run_end(run, outcome, "", reason)
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
    """Return the event that a parent records for a sub-agent's end."""
    return ChildEnded(
        child, last.outcome, last.reason, last.turns, last.tool_calls, last.usage, last.cost, duration_ms
    )


async def changes_for_parent(engine: Engine, child: SessionId, parent: Journal) -> Sequence[FileChange]:
    """Return a sub-agent's file changes, so that rewinding its parent's turn undoes them too.

    Empty if the two work in different folders. Raises StoreError.
    """
    records = await engine.store.read(child)
    created = records[0].event if records else None
    is_apart = not isinstance(created, SessionCreated) or created.cwd != parent.session.known.created.cwd
    return () if is_apart else net_changes(file_changes(records))


def _withdrawn(run: RunState, child: SessionId) -> list[Event]:
    """Return the events that close a sub-agent's unanswered approvals and questions."""
    below = f"{child}/"
    asked: list[CallId] = [one.call_id for one in run.pending if one.call_id.startswith(below)]
    questions = [call_id for call_id in run.questions if call_id.startswith(below)]
    return [
        *(ApprovalDecided(call_id, "deny", ENDED) for call_id in asked),
        *(QuestionAnswered(call_id) for call_id in questions),
    ]
