"""What a run that was cut off has left of its sub-agents, as the journals tell it.

| of a child there is | when the run goes on |
|---|---|
| ChildEnded in the parent's journal | it is known, and its result is at hand for a call that runs again |
| the end of its run only | ChildEnded is recorded, its result delivered |
| a run without an end | the run goes on, with what is left of its budget |
| a session without a run | it begins |
| no session any more | it has failed |
"""

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.budget import Budget, Limits, Spend
from bridle.core.child import ChildOrder
from bridle.core.errors import SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.ports import Store
from bridle.core.protocol import ChildEnded, ChildStarted, MessageAdded, RunEnded, RunStarted, ToolStarted
from bridle.core.session import RunState, Session
from bridle.sessions.journal import open_brief
from bridle.tools.agents.starting import order_of

CHUNK = 256  # records


class Heir(Struct):
    """A child of before the cut."""

    started: ChildStarted
    order: ChildOrder
    """What it was to do; without a prompt where that is not known."""
    is_recorded: bool = False
    """Its parent's journal has its end."""
    ended: RunEnded | None = None
    """The end of its run."""
    run: RunState | None = None
    """Its run, where that has no end."""
    used_ms: int = 0
    """How long it has worked."""
    seq: int = 0
    """Its last record; 0 when there is no session."""
    cwd: str = ""
    inherited: int = 0
    """How many messages it began with."""
    heirs: "tuple[Heir, ...]" = ()
    """Its own children."""
    budget: Budget | None = None
    """What it may still use, once that is counted."""
    lost: str = ""
    """Why it cannot go on."""

    @property
    def is_new(self) -> bool:
        """Tell whether its session is there, and its run has not begun."""
        return self.seq > 0 and self.run is None and self.ended is None


class Left(Struct):
    """What the journal of a run tells of its children, the first first."""

    started: list[ChildStarted]
    ended: dict[SessionId, ChildEnded]
    calls: dict[CallId, ToolStarted]

    @property
    def open(self) -> list[ChildStarted]:
        """Return those whose end is not recorded."""
        return [one for one in self.started if one.child not in self.ended]


async def read_left(store: Store, session: SessionId, run_id: RunId) -> Left:
    """Look through a run's records for its children; raises StoreError."""
    left = Left([], {}, {})
    before: int | None = None
    while records := await store.read(session, before=before, limit=CHUNK, newest=True):
        for record in reversed(records):
            match record.event:
                case RunStarted(run_id=found) if found == run_id:
                    left.started.reverse()
                    return left
                case ChildEnded() as event:
                    left.ended[event.child] = event
                case ChildStarted() as event:
                    left.started.append(event)
                case ToolStarted() as event:
                    left.calls[event.call_id] = event
                case _:
                    pass
        before = records[0].seq
    left.started.reverse()
    return left


async def read_heirs(
    store: Store, session: SessionId, run_id: RunId, above: tuple[SessionId, ...] = ()
) -> tuple[Heir, ...]:
    """Return the children of a run, those that have ended too, and theirs; raises StoreError."""
    left = await read_left(store, session, run_id)
    path = (*above, session)
    return tuple([await _heir(store, one, left, path) for one in left.started])


async def _heir(store: Store, started: ChildStarted, left: Left, path: tuple[SessionId, ...]) -> Heir:
    heir = Heir(started, _order(started, left), is_recorded=started.child in left.ended)
    session = await _session_of(store, started.child, path)
    if session is None:
        if heir.is_recorded:
            heir.ended = _as_recorded(left.ended[started.child])
        return heir
    heir.seq, heir.cwd = session.seq, session.known.created.cwd
    heir.ended = await own_end(store, started.child, session)
    if heir.order.inherited != "nothing":
        records = await store.read(started.child)
        forked = [
            one for one in records if isinstance(one.event, MessageAdded) and one.event.source == "fork"
        ]
        heir.inherited = len(forked)
    if heir.is_recorded:
        heir.ended = heir.ended or _as_recorded(left.ended[started.child])
    elif heir.ended is None and session.run is not None:
        heir.run = session.run
        heir.used_ms = max(0, session.updated_at - session.run.started_at)
        heir.heirs = await read_heirs(store, started.child, session.run.run_id, path)
    return heir


async def _session_of(store: Store, child: SessionId, path: tuple[SessionId, ...]) -> Session | None:
    """Return a child's session; None when it is gone, or is no child of the last one on the path."""
    if child in path:  # no journal of ours says so, and it would have no end
        return None
    try:
        session = await open_brief(store, child)
    except SessionNotFound:
        return None
    return session if session.known.created.parent == path[-1] else None


async def own_end(store: Store, child: SessionId, session: Session) -> RunEnded | None:
    """Return the end of the run that was its parent's; a person may have gone on with it since."""
    if session.known.totals.runs <= 1:
        return session.last if session.run is None else None
    ends = [one.event for one in await store.read(child) if isinstance(one.event, RunEnded)]
    return ends[0] if ends else None


def _order(started: ChildStarted, left: Left) -> ChildOrder:
    call = left.calls.get(started.call_id) if started.call_id is not None else None
    order = order_of(call.tool, call.args, call.call_id) if call is not None else None
    unknown = ChildOrder("", agent=started.agent, model=started.model, call_id=started.call_id)
    return replace(order or unknown, background=started.background)


def _as_recorded(ended: ChildEnded) -> RunEnded:
    """Say what is known of an end where the session is gone."""
    return RunEnded(
        RunId(""),
        ended.outcome,
        reason=ended.reason,
        turns=ended.turns,
        tool_calls=ended.tool_calls,
        usage=ended.usage,
        cost=ended.cost,
    )


def count_heirs(budget: Budget, heirs: tuple[Heir, ...], now_s: float) -> None:
    """Let what children and theirs have used count in the budgets above them; twice is once."""
    for heir in heirs:
        if heir.is_recorded or heir.budget is not None:
            continue
        started_s = now_s - heir.used_ms / 1000
        is_part = heir.order.share.policy != "remaining"
        if heir.run is not None:
            limits, used = heir.run.limits, heir.run.spent
            heir.budget = budget.take_up(limits, started_s, used, set_aside=is_part)
            count_heirs(heir.budget, heir.heirs, now_s)
        elif (end := heir.ended) is not None:
            used = Spend(end.usage.context, end.tool_calls, end.cost or 0.0, end.turns)
            heir.budget = budget.take_up(Limits(), started_s, used, set_aside=False)
