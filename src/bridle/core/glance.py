"""How a session is, without its messages: what a list, a head line or a client that has just come needs."""

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


class RunGlance(Struct, frozen=True, omit_defaults=True):
    """How the run is that was begun last and whose end is not recorded."""

    run_id: RunId
    model: str
    mode: Mode
    started_at: int
    turn: int = 0
    tokens: int = 0
    cost: float | None = None
    """Dollars, or None when a price is unknown."""
    running: tuple[ToolStarted, ...] = ()
    """The calls whose end is not recorded."""
    approvals: tuple[ApprovalRequested, ...] = ()
    """What nobody has decided about yet."""
    questions: tuple[QuestionAsked, ...] = ()


class Glance(Struct, frozen=True, omit_defaults=True):
    """How a session is, without its messages: that costs the same however long it is."""

    seq: int
    """Its newest record."""
    updated_at: int
    facts: SessionFacts
    """Without what only the engine needs: digests of files, keys of prompts."""
    is_running: bool = False
    """Somebody drives a run of it, in whichever process."""
    run: RunGlance | None = None
    last: RunEnded | None = None
    """How the last run ended, as far as that is known."""
    context: ContextUsage | None = None


def glance_of(session: Session, *, is_running: bool = False) -> Glance:
    """Say how a folded session is."""
    return Glance(
        seq=session.seq,
        updated_at=session.updated_at,
        facts=replace(session.known, seen={}, taken={}),
        is_running=is_running,
        run=None if session.run is None else _run_glance(session.run),
        last=session.last,
        context=session.context,
    )


def _run_glance(run: RunState) -> RunGlance:
    return RunGlance(
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
