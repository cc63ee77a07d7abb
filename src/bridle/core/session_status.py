"""The status of a session without its messages: for a list, a header line or a client that just connected."""

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.ids import RunId
from bridle.core.permission import Mode
from bridle.core.protocol import (
    ApprovalRequested,
    QuestionAsked,
    RunEnded,
    SessionFacts,
    ToolStarted,
)
from bridle.core.session import RunState, Session


class RunStatus(Struct, frozen=True, omit_defaults=True):
    """The status of the session's unfinished run: the newest one, if its end is not recorded."""

    run_id: RunId
    model: str
    mode: Mode
    started_at: int
    turn: int = 0
    tokens: int = 0
    cost: float | None = None
    """Dollars, or None when a price is unknown."""
    running: tuple[ToolStarted, ...] = ()
    """Calls whose end is not recorded."""
    approvals: tuple[ApprovalRequested, ...] = ()
    """Approvals without a decision."""
    questions: tuple[QuestionAsked, ...] = ()


class SessionStatus(Struct, frozen=True, omit_defaults=True):
    """The status of a session without its messages; its size does not grow with the session's length."""

    seq: int
    """Sequence number of its newest record."""
    updated_at: int
    facts: SessionFacts
    """Without the file digests and prompt keys, which only the engine needs."""
    is_running: bool = False
    """True while any process runs it."""
    run: RunStatus | None = None
    last: RunEnded | None = None
    """How the last run ended, if known."""
    context: ContextUsage | None = None


def make_session_status(session: Session, *, is_running: bool = False) -> SessionStatus:
    """Return the status of a folded session."""
    return SessionStatus(
        seq=session.seq,
        updated_at=session.updated_at,
        facts=replace(session.known, seen={}, taken={}),
        is_running=is_running,
        run=None if session.run is None else _run_status(session.run),
        last=session.last,
        context=session.context,
    )


def _run_status(run: RunState) -> RunStatus:
    return RunStatus(
        run_id=run.run_id,
        model=run.model,
        mode=run.mode,
        started_at=run.started_at,
        turn=run.turn,
        tokens=run.usage.context,
        cost=run.cost,
        running=tuple(run.interrupted),
        approvals=tuple(run.pending),
        questions=tuple(run.questions.values()),
    )
