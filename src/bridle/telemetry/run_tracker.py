"""Turns the records of runs into facts: finished units of work with a start and an end.

```
records ──Runs.take──▶ ModelCall, ToolUse, Wait, RunOver      for traces and metrics
                       Spent                                  tokens outside any unit of work
```

This module does not use OpenTelemetry and does no I/O. A process that resumes another process's run first
passes the run's earlier records to `recall`.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Event,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ReplyLost,
    Retrying,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionCreated,
    SessionTitled,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.core.trace import find_parent_trace
from bridle.telemetry.facts import (
    ExtraUsage,
    Fact,
    FinishedRun,
    ModelCall,
    StartedRun,
    ToolUse,
    TrackedRun,
    UserWait,
)

MAX_SESSIONS = 4_096  # in memory; for a session that was dropped, the records are read from the store again
MAX_PROMPT_CHARS = 16_384
CANCELLED = "cancelled"
UNNAMED = "_OTHER"
"""The error type of a failure without one."""


class _SessionState(Struct):
    """The agent and the open run of a session."""

    agent: str | None = None
    run: TrackedRun | None = None


class RunTracker:
    """Follows the runs of many sessions."""

    def __init__(self, max_sessions: int = MAX_SESSIONS) -> None:
        self._max_sessions = max_sessions
        self._known: OrderedDict[SessionId, _SessionState] = OrderedDict()

    def run(self, session: SessionId) -> TrackedRun | None:
        """Return the open run of a session; None if there is none."""
        known = self._known.get(session)
        return None if known is None else known.run

    def needs_history(self, session: SessionId, first: Event) -> bool:
        """Return True if earlier records are needed to interpret records that start with `first`."""
        if session not in self._known:
            return not isinstance(first, SessionCreated)
        return isinstance(first, RunResumed)  # our state may be older than what another process did

    def recall(self, session: SessionId, records: Sequence[Record]) -> None:
        """Restore a session's state from earlier records, without returning facts."""
        self._known.pop(session, None)
        for record in records:
            self._take(session, record)

    def take(self, session: SessionId, records: Sequence[Record]) -> list[Fact]:
        """Process new records and return the facts they complete."""
        return [fact for record in records for fact in self._take(session, record)]

    def _take(self, session: SessionId, record: Record) -> Sequence[Fact]:
        step = _STEPS.get(type(record.event))
        if step is None:
            return ()
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = _SessionState()
            if len(self._known) > self._max_sessions:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(session)
        return step(session, known, record.at, record.event)


_Step = Callable[[SessionId, _SessionState, int, Any], Sequence[Fact]]


def _created(session: SessionId, known: _SessionState, at: int, event: SessionCreated) -> Sequence[Fact]:
    known.agent = event.agent
    return ()


def _checkpoint(session: SessionId, known: _SessionState, at: int, event: Checkpoint) -> Sequence[Fact]:
    known.agent = event.facts.created.agent
    return ()


def _started(session: SessionId, known: _SessionState, at: int, event: RunStarted) -> Sequence[Fact]:
    agent = event.options.agent or known.agent or ""
    trace = find_parent_trace(event.run_id, event.options.trace)
    known.run = TrackedRun(session, event.run_id, trace, agent, event.model, at)
    return (StartedRun(known.run),)


def _resumed(session: SessionId, known: _SessionState, at: int, event: RunResumed) -> Sequence[Fact]:
    if known.run is None or known.run.id != event.run_id:  # its start is not in the store any more
        known.run = TrackedRun(
            session, event.run_id, find_parent_trace(event.run_id), known.agent or "", "", at
        )
    elif not known.run.is_answered:  # the request to the model died with the process
        known.run.asked = at
        known.run.tries += 1
    return ()


def _ended(session: SessionId, known: _SessionState, at: int, event: RunEnded) -> Sequence[Fact]:
    run, known.run = known.run, None
    if run is None:
        return ()
    error = "" if event.outcome == "completed" else event.error or event.outcome
    cut_off = run.cut_off if run.asked is None else _failed_call(run, at, "")
    failed = () if cut_off is None else (replace(cut_off, error=error or UNNAMED),)
    return (*failed, FinishedRun(run, min(run.began, at), at, error, end=event))


def _in_run(step: Callable[[TrackedRun, int, Any], Sequence[Fact]]) -> _Step:
    """Wrap a step so that it does nothing without an open run."""

    def taken(session: SessionId, known: _SessionState, at: int, event: Any) -> Sequence[Fact]:
        return () if known.run is None else step(known.run, at, event)

    return taken


# ---------------------------------------------------------------------------- the model


def _turn(run: TrackedRun, at: int, event: TurnStarted) -> Sequence[Fact]:
    run.turn, run.tries, run.asked, run.is_answered, run.lost = event.turn, 1, at, False, None
    return ()


def _replied(run: TrackedRun, at: int, event: ModelReplied) -> Sequence[Fact]:
    began, run.asked, run.is_answered = run.asked, None, True
    run.names = {call.id: call.name for call in event.message.calls}
    call = ModelCall(
        run,
        at if began is None else min(began, at),
        at,
        name=_call_name(run),
        model=run.model,
        usage=event.usage,
        cost=event.cost,
        stop_reason=event.stop_reason,
        message=event.message,
    )
    if event.stop_reason == CANCELLED:  # the RunEnded that follows says why
        run.cut_off = call
        return ()
    return (call,)


def _lost(run: TrackedRun, at: int, event: ReplyLost) -> Sequence[Fact]:
    run.lost = event
    return ()


def _retrying(run: TrackedRun, at: int, event: Retrying) -> Sequence[Fact]:
    failed = _failed_call(run, at, event.error)
    run.tries += 1
    run.asked, run.lost = at + event.delay_ms, None
    return (failed,)


def _switched(run: TrackedRun, at: int, event: ModelSwitched) -> Sequence[Fact]:
    facts = () if run.asked is None else (_failed_call(run, at, UNNAMED),)
    run.tries += 1
    run.model, run.asked, run.lost = event.model, at, None
    return facts


def _failed_call(run: TrackedRun, at: int, error: str) -> ModelCall:
    began = at if run.asked is None else min(run.asked, at)
    usage, cost = (None, None) if run.lost is None else (run.lost.usage, run.lost.cost)
    return ModelCall(run, began, at, error, name=_call_name(run), model=run.model, usage=usage, cost=cost)


def _call_name(run: TrackedRun) -> str:
    return f"chat {run.turn}.{run.tries}"


def _compacting(run: TrackedRun, at: int, event: CompactionStarted) -> Sequence[Fact]:
    facts: Sequence[Fact] = ()
    if run.asked is not None and event.trigger == "overflow":
        facts = (_failed_call(run, at, "context_length_exceeded"),)
        run.tries += 1
    run.compacting, run.asked = at, None
    return facts


def _compacted(session: SessionId, known: _SessionState, at: int, event: Compacted) -> Sequence[Fact]:
    return _compaction(known, at, event.model, event.usage, event.cost, "")


def _compaction_failed(
    session: SessionId, known: _SessionState, at: int, event: CompactionFailed
) -> Sequence[Fact]:
    return _compaction(known, at, "", event.usage, event.cost, UNNAMED)


def _compaction(
    known: _SessionState, at: int, model: str, usage: Usage, cost: float | None, error: str
) -> Sequence[Fact]:
    run = known.run
    if run is None or run.compacting is None:
        return (ExtraUsage(model, usage, cost),) if usage != Usage() else ()
    began, run.compacting = run.compacting, None
    run.asked = None if run.is_answered else at
    if usage == Usage():  # clearing old outputs was enough
        return ()
    name = f"compaction {began}"
    began = min(began, at)
    return (ModelCall(run, began, at, error, name=name, model=model or run.model, usage=usage, cost=cost),)


def _titled(session: SessionId, known: _SessionState, at: int, event: SessionTitled) -> Sequence[Fact]:
    return (ExtraUsage(event.model, event.usage, event.cost),) if event.model else ()


def _sampled(run: TrackedRun, at: int, event: ModelSampled) -> Sequence[Fact]:
    return (ExtraUsage(event.model or run.model, event.usage, event.cost),)


# ---------------------------------------------------------------------------- the calls


def _message(run: TrackedRun, at: int, event: MessageAdded) -> Sequence[Fact]:
    if not run.prompt and event.source == "prompt":
        run.prompt = event.message.text[:MAX_PROMPT_CHARS]
    return ()


def _tool_started(run: TrackedRun, at: int, event: ToolStarted) -> Sequence[Fact]:
    run.tools[event.call_id] = at, event
    return ()


def _tool_finished(run: TrackedRun, at: int, event: ToolFinished) -> Sequence[Fact]:
    result = event.result
    began, started = run.tools.pop(result.call_id, (at, None))
    run.waits.pop(result.call_id, None)
    error = "denied" if event.denied else "tool_error" if result.is_error else ""
    return (
        ToolUse(
            run,
            min(began, at),
            at,
            error,
            call_id=result.call_id,
            tool=result.name,
            parent=event.parent if started is None else started.parent,
            args=None if started is None else started.args,
            output=result.output,
            denied=event.denied,
        ),
    )


def _wait_started(run: TrackedRun, at: int, event: ApprovalRequested | QuestionAsked) -> Sequence[Fact]:
    if event.child is None:  # a sub-agent's wait is reported in its own session
        tool = event.tool if isinstance(event, ApprovalRequested) else run.names.get(event.call_id, "")
        run.waits[event.call_id] = at, tool
    return ()


def _wait_ended(run: TrackedRun, at: int, event: ApprovalDecided | QuestionAnswered) -> Sequence[Fact]:
    wait = run.waits.pop(event.call_id, None)
    if wait is None:
        return ()
    began, tool = wait
    answer = event.answer if isinstance(event, ApprovalDecided) else ""
    return (UserWait(run, min(began, at), at, call_id=event.call_id, tool=tool, answer=answer),)


_STEPS: dict[type[Event], _Step] = {
    SessionCreated: _created,
    Checkpoint: _checkpoint,
    RunStarted: _started,
    RunResumed: _resumed,
    RunEnded: _ended,
    TurnStarted: _in_run(_turn),
    ModelReplied: _in_run(_replied),
    ReplyLost: _in_run(_lost),
    Retrying: _in_run(_retrying),
    ModelSwitched: _in_run(_switched),
    CompactionStarted: _in_run(_compacting),
    Compacted: _compacted,
    CompactionFailed: _compaction_failed,
    SessionTitled: _titled,
    ModelSampled: _in_run(_sampled),
    MessageAdded: _in_run(_message),
    ToolStarted: _in_run(_tool_started),
    ToolFinished: _in_run(_tool_finished),
    ApprovalRequested: _in_run(_wait_started),
    ApprovalDecided: _in_run(_wait_ended),
    QuestionAsked: _in_run(_wait_started),
    QuestionAnswered: _in_run(_wait_ended),
}
"""The step for each event type; other events are ignored."""
