"""The sub-agents of an interrupted run, read from the journals.

| found for a sub-agent | when the run resumes |
|---|---|
| ChildEnded in the parent's journal | nothing to do; a call that runs again gets its result |
| only the end of its run | ChildEnded is recorded, its result delivered |
| a run without an end | the run resumes, with the rest of its budget |
| a session without a run | it starts |
| no session any more | it has failed |
"""

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.budget import Budget, Limits, Spend
from bridle.core.errors import SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.ports import Store
from bridle.core.protocol import ChildEnded, ChildStarted, MessageAdded, RunEnded, RunStarted, ToolStarted
from bridle.core.session import RunState, Session
from bridle.core.sub_agent import ChildRequest
from bridle.sessions.journal import open_without_messages
from bridle.tools.agents.spawn import parse_order

CHUNK = 256  # records


class ResumedChild(Struct):
    """A sub-agent that was started before the process died."""

    started: ChildStarted
    order: ChildRequest
    """Its order; with an empty prompt if that is unknown."""
    is_recorded: bool = False
    """True if the parent's journal records its end."""
    ended: RunEnded | None = None
    """The end of its run, if it has ended."""
    run: RunState | None = None
    """Its run, if it has not ended."""
    used_ms: int = 0
    """How long it has run, in milliseconds."""
    seq: int = 0
    """The number of its last record; 0 if there is no session."""
    cwd: str = ""
    inherited: int = 0
    """How many messages it inherited."""
    children: "tuple[ResumedChild, ...]" = ()
    """Its own sub-agents."""
    budget: Budget | None = None
    """What it may still use; None until computed."""
    lost: str = ""
    """Why it cannot resume; empty if it can."""

    @property
    def is_new(self) -> bool:
        """True if its session exists, but its run has not started."""
        return self.seq > 0 and self.run is None and self.ended is None


class ChildRecords(Struct):
    """What a run's journal records about its sub-agents, oldest first."""

    started: list[ChildStarted]
    ended: dict[SessionId, ChildEnded]
    calls: dict[CallId, ToolStarted]

    @property
    def open(self) -> list[ChildStarted]:
        """The sub-agents whose end is not recorded."""
        return [one for one in self.started if one.child not in self.ended]


async def read_child_records(store: Store, session: SessionId, run_id: RunId) -> ChildRecords:
    """Read what a run's records say about its sub-agents; raises StoreError."""
    left = ChildRecords([], {}, {})
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


async def read_resumed_children(
    store: Store, session: SessionId, run_id: RunId, above: tuple[SessionId, ...] = ()
) -> tuple[ResumedChild, ...]:
    """Return the sub-agents of a run, ended ones too, and those below them; raises StoreError."""
    left = await read_child_records(store, session, run_id)
    path = (*above, session)
    return tuple([await _read_child(store, one, left, path) for one in left.started])


async def _read_child(
    store: Store, started: ChildStarted, left: ChildRecords, path: tuple[SessionId, ...]
) -> ResumedChild:
    resumed = ResumedChild(started, _order(started, left), is_recorded=started.child in left.ended)
    session = await _session_of(store, started.child, path)
    if session is None:
        if resumed.is_recorded:
            resumed.ended = _as_recorded(left.ended[started.child])
        return resumed
    resumed.seq, resumed.cwd = session.seq, session.known.created.cwd
    resumed.ended = await read_first_end(store, started.child, session)
    if resumed.order.inherited != "nothing":
        records = await store.read(started.child)
        forked = [
            one for one in records if isinstance(one.event, MessageAdded) and one.event.source == "fork"
        ]
        resumed.inherited = len(forked)
    if resumed.is_recorded:
        resumed.ended = resumed.ended or _as_recorded(left.ended[started.child])
    elif resumed.ended is None and session.run is not None:
        resumed.run = session.run
        resumed.used_ms = max(0, session.updated_at - session.run.started_at)
        resumed.children = await read_resumed_children(store, started.child, session.run.run_id, path)
    return resumed


async def _session_of(store: Store, child: SessionId, path: tuple[SessionId, ...]) -> Session | None:
    """Return a sub-agent's session; None if it is gone, or its parent is not the last session of the path."""
    if child in path:  # our journals never contain a cycle, and following one would not end
        return None
    try:
        session = await open_without_messages(store, child)
    except SessionNotFound:
        return None
    return session if session.known.created.parent == path[-1] else None


async def read_first_end(store: Store, child: SessionId, session: Session) -> RunEnded | None:
    """Return the end of a sub-agent's first run; a person may have continued its session since."""
    if session.known.totals.runs <= 1:
        return session.last if session.run is None else None
    ends = [one.event for one in await store.read(child) if isinstance(one.event, RunEnded)]
    return ends[0] if ends else None


def _order(started: ChildStarted, left: ChildRecords) -> ChildRequest:
    call = left.calls.get(started.call_id) if started.call_id is not None else None
    order = parse_order(call.tool, call.args, call.call_id) if call is not None else None
    unknown = ChildRequest("", agent=started.agent, model=started.model, call_id=started.call_id)
    return replace(order or unknown, background=started.background)


def _as_recorded(ended: ChildEnded) -> RunEnded:
    """Rebuild the end of a sub-agent's run from its parent's record."""
    return RunEnded(
        RunId(""),
        ended.outcome,
        reason=ended.reason,
        turns=ended.turns,
        tool_calls=ended.tool_calls,
        usage=ended.usage,
        cost=ended.cost,
    )


def charge_resumed_children(budget: Budget, children: tuple[ResumedChild, ...], now_s: float) -> None:
    """Charge what sub-agents and those below them used to the budgets above them; idempotent."""
    for resumed in children:
        if resumed.is_recorded or resumed.budget is not None:
            continue
        started_s = now_s - resumed.used_ms / 1000
        is_part = resumed.order.share.policy != "remaining"
        if resumed.run is not None:
            limits, used = resumed.run.limits, resumed.run.spent
            resumed.budget = budget.take_up(limits, started_s, used, set_aside=is_part)
            charge_resumed_children(resumed.budget, resumed.children, now_s)
        elif (end := resumed.ended) is not None:
            used = Spend(end.usage.context, end.tool_calls, end.cost or 0.0, end.turns)
            resumed.budget = budget.take_up(Limits(), started_s, used, set_aside=False)
