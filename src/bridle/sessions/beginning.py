"""How a sub-agent comes to its session: a new one is made, or that of before a cut is found again."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.child import ChildOrder
from bridle.core.context import Counted
from bridle.core.errors import SessionConflict, SessionTaken
from bridle.core.ids import SessionId
from bridle.core.protocol import Event, KernelSaved, MessageAdded, RunOptions, RunStarted, SessionCreated
from bridle.core.session import RunState
from bridle.core.summary import title_from
from bridle.sessions.bus import Bus
from bridle.sessions.engine import Engine
from bridle.sessions.family import ChildPolicy, Member, Sessions
from bridle.sessions.heirs import Heir
from bridle.sessions.inherit import Copy, bounds_after_cut, child_options, rules_elsewhere, trace_of_call
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup
from bridle.sessions.worktree import Worktree, add_worktree, find_worktree


class Parent(Struct, frozen=True):
    """The run that sub-agents work for."""

    engine: Engine
    sessions: Sessions
    bus: Bus
    policy: ChildPolicy
    member: Member
    journal: Journal
    run: RunState
    setup: Setup

    @property
    def granted(self) -> tuple[str, ...]:
        """What the user has granted for its session."""
        return self.journal.session.known.granted


# ---------------------------------------------------------------------------- how it runs


def first_options(
    parent: Parent, member: Member, order: ChildOrder, agent: Agent, worktree: Worktree | None
) -> RunOptions:
    """Return how a child runs; raises ToolError for tools that its parent does not have."""
    assert member.budget is not None
    options = child_options(
        order,
        parent.run,
        parent.setup,
        agent,
        parent.granted,
        limits=member.budget.limits,
        without=parent.policy.without_tools,
        may_spawn=member.depth < parent.policy.max_depth,
        trace=trace_of_call(parent.engine, parent.journal.id, order.call_id),
    )
    return _apart(options, parent, worktree)


def options_after_cut(
    parent: Parent, order: ChildOrder, run: RunState, worktree: Worktree | None
) -> RunOptions:
    """Return what holds for a child that goes on beside what it had."""
    return _apart(bounds_after_cut(order, run, parent.setup, parent.granted), parent, worktree)


def _apart(options: RunOptions, parent: Parent, worktree: Worktree | None) -> RunOptions:
    """Keep forbidden what is so in the parent's folder, where the child works elsewhere."""
    if worktree is None:
        return options
    copy = Copy(worktree.top, worktree.path, worktree.cwd)
    there = rules_elsewhere(parent.setup.rules_with(parent.granted), parent.setup.cwd, copy)
    ask = tuple(str(rule) for rule in there if rule.action == "ask")
    deny = tuple(str(rule) for rule in there if rule.action == "deny")
    return replace(options, ask=options.ask + ask, deny=options.deny + deny)


# ---------------------------------------------------------------------------- where it works


async def new_worktree(parent: Parent, child: SessionId) -> Worktree:
    """Make a place of a child's own; raises ToolError where that cannot be."""
    environ = {**parent.engine.environ, **parent.setup.env}
    return await add_worktree(
        parent.setup.cwd, parent.policy.worktrees, child, environ, writable=parent.policy.writable
    )


async def old_worktree(parent: Parent, heir: Heir) -> Worktree | None:
    """Find the place that a child has had, if that was its own; raises ToolError when it is not here."""
    started = heir.started
    if not started.base:
        return None
    environ = {**parent.engine.environ, **parent.setup.env}
    cwd, folder = parent.setup.cwd, parent.policy.worktrees
    return await find_worktree(
        cwd,
        folder,
        started.child,
        started.base,
        environ,
        within=heir.cwd,
        writable=parent.policy.writable,
    )


# ---------------------------------------------------------------------------- its session


async def make_session(
    parent: Parent,
    member: Member,
    order: ChildOrder,
    inherited: Sequence[Counted],
    *,
    cwd: str,
    agent: str,
) -> int:
    """Make a child's session and return the number of its last record; raises StoreError.

    A process may have made it that ended before it could tell anybody.
    """
    title = f"{member.name}: {title_from(order.prompt)}"
    events: list[Event] = [
        SessionCreated(member.id, cwd, agent, title, parent.journal.id),
        *(MessageAdded(item.message, "fork", item.tokens) for item in inherited),
    ]
    snapshot = parent.journal.session.known.snapshot
    if order.inherited == "full_history" and snapshot:
        events.append(KernelSaved(snapshot))
    store = parent.engine.store
    try:
        return len(await store.append(member.id, 0, events))
    except SessionTaken:
        raise
    except SessionConflict:
        records = await store.read(member.id)
        created = records[0].event if records else None
        is_ours = isinstance(created, SessionCreated) and created.parent == parent.journal.id
        if not is_ours or any(isinstance(record.event, RunStarted) for record in records):
            raise
        return len(records)
