"""Folds records and deltas into the head of a view: the session without its messages."""

from collections.abc import Iterable

from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.context import ContextUsage
from bridle.core.messages import Usage
from bridle.core.permission import Mode
from bridle.core.protocol import (
    Aborted,
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Delta,
    FilesChanged,
    HookStarted,
    Lagged,
    ModelReplied,
    ModelSwitched,
    Notice,
    ReasoningDelta,
    Record,
    ReplyLost,
    Retrying,
    RunResumed,
    RunStarted,
    SessionConfigured,
    SessionOptions,
    TextDelta,
    ToolCallDelta,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.core.session import RunState, Session
from bridle.core.session_status import RunStatus, SessionStatus
from bridle.surfaces.shared.terminal import cut, one_line
from bridle.surfaces.shared.text_format import describe_args
from bridle.surfaces.shared.view_model.bounded_text import LINE_CHARS
from bridle.surfaces.shared.view_model.view_types import Head, RunHead, State

DOING_CELLS = 120


class HeadBuilder:
    """Folds the head of a view."""

    def __init__(self, status: SessionStatus) -> None:
        self._session = _session_of(status)
        self._is_running = status.is_running
        self._mode: Mode = (status.facts.options.mode or "ask") if status.run is None else status.run.mode
        self._files_seq = self._children_seq = 0
        self._now = ""
        """The current activity of the run, if only deltas show it."""

    def read_earlier(self, records: Iterable[Record]) -> None:
        """Take details from the newest earlier records that the session status does not contain."""
        transcript = self._session.transcript
        for record in records:
            transcript.take(record.event)
            self._notice(record)

    def add(self, record: Record) -> None:
        """Apply the next record."""
        self._session.apply(record)
        self._session.transcript.messages.clear()  # not shown here, and would grow without bound
        self._notice(record)
        match record.event:
            case RunStarted() | RunResumed() | TurnStarted() | ModelReplied() | ToolStarted():
                self._is_running, self._now = True, ""  # a status may precede the driver, a record never does
            case Retrying() as event:
                self._now = f"retries in {event.delay_ms / 1000:.0f} s"
            case CompactionStarted():
                self._now = "compacts the conversation"
            case ReplyLost() | ModelSwitched() | Compacted() | CompactionFailed():
                self._now = ""
            case _:
                pass

    def add_delta(self, delta: Delta) -> None:
        """Update the current activity from a delta."""
        match delta:
            case TextDelta():
                self._now = "writes"
            case ReasoningDelta():
                self._now = "thinks"
            case ToolCallDelta():
                self._now = "writes a call"
            case Notice(is_wait=True):
                self._now = cut(one_line(delta.text[:LINE_CHARS]), DOING_CELLS)
            case Aborted():
                self._is_running, self._now = False, ""
            case Notice() | ToolOutputDelta() | HookStarted() | Lagged():
                pass

    def _notice(self, record: Record) -> None:
        match record.event:
            case FilesChanged():
                self._files_seq = record.seq
            case ChildStarted() | ChildEnded():
                self._children_seq = record.seq
            case RunStarted() as event:
                self._mode = event.mode
            case SessionConfigured(options=SessionOptions(mode=str(mode))):
                self._mode = mode
            case _:
                pass

    @property
    def head(self) -> Head:
        """The current head."""
        session = self._session
        facts, run, last = session.known, session.run, session.last
        created = facts.created
        head = Head(
            session=created.session_id,
            seq=session.seq,
            title=facts.title,
            cwd=created.cwd,
            agent=created.agent,
            state=self._state(run),
            model=facts.model,
            mode=self._mode,
            parent=created.parent,
            is_sub_agent=created.parent is not None and created.forked_at is None,
            archived=facts.archived,
            created_at=facts.created_at,
            updated_at=session.updated_at,
            queue=facts.queue,
            todos=facts.todos,
            pins=facts.pins,
            granted=facts.granted,
            context=session.context or ContextUsage(),
            totals=facts.totals,
            files_seq=self._files_seq,
            children_seq=self._children_seq,
        )
        if run is not None:
            return replace(
                head,
                run=self._run_head(run),
                approvals=tuple(run.pending),
                questions=tuple(run.questions.values()),
            )
        return head if last is None else replace(head, outcome=last.outcome, reason=last.reason)

    def _state(self, run: RunState | None) -> State:
        if run is None:
            return "idle"
        if not self._is_running:
            return "cut_off"
        return "waiting" if run.pending or run.questions else "running"

    def _run_head(self, run: RunState) -> RunHead:
        return RunHead(
            run_id=run.run_id,
            model=run.model,
            mode=run.mode,
            started_at=run.started_at,
            turn=run.turn,
            tokens=run.usage.context,
            cost=run.cost,
            running=tuple(call.call_id for call in run.interrupted),
            doing=self._doing(run),
        )

    def _doing(self, run: RunState) -> str:
        """Return the current activity of a run, on one line."""
        if not self._is_running:
            return ""
        if run.pending or run.questions:
            return "waits for you"
        if self._now:
            return self._now
        match run.interrupted:
            case []:
                return "waits for the model"
            case [call]:
                return cut(
                    f"runs {one_line(call.tool)} {describe_args(call.args)[:LINE_CHARS]}".rstrip(),
                    DOING_CELLS,
                )
            case calls:
                names = dict.fromkeys(one_line(call.tool) for call in calls)
                return cut(f"runs {len(calls)} calls: {', '.join(names)}", DOING_CELLS)


def _session_of(status: SessionStatus) -> Session:
    """Return a session that continues from a session status, without its messages."""
    session = Session()
    session.facts, session.context, session.last = status.facts, status.context, status.last
    session.seq, session.updated_at = status.seq, status.updated_at
    session.run = None if status.run is None else _run_of(status.run)
    return session


def _run_of(run: RunStatus) -> RunState:
    return RunState(
        run_id=run.run_id,
        model=run.model,
        mode=run.mode,
        limits=Limits(),
        started_at=run.started_at,
        first_message=0,
        turn=run.turn,
        usage=Usage(input=run.tokens),
        spent=Spend(cost=run.cost or 0.0),
        priced=run.cost is not None,
        requested={asked.call_id: asked for asked in run.approvals},
        questions={asked.call_id: asked for asked in run.questions},
        started={call.call_id: call for call in run.running},
    )
