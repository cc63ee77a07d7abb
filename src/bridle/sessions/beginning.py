"""The start of a sub-agent: its options, its folder, and its session, new or found after a crash."""

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
    """The run that starts sub-agents, and what it works with."""

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
        """The rules that the user granted for its session."""
        return self.journal.session.known.granted


# ---------------------------------------------------------------------------- options


def first_options(
    parent: Parent, member: Member, order: ChildOrder, agent: Agent, worktree: Worktree | None
) -> RunOptions:
    """Return a new sub-agent's run options; raises ToolError for tools that its parent does not have."""
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
    """Return the bounds of a resumed sub-agent, which apply on top of the options it has."""
    return _apart(bounds_after_cut(order, run, parent.setup, parent.granted), parent, worktree)


def _apart(options: RunOptions, parent: Parent, worktree: Worktree | None) -> RunOptions:
    """Add the parent folder's ask and deny rules, rewritten for the worktree the sub-agent works in."""
    if worktree is None:
        return options
    copy = Copy(worktree.top, worktree.path, worktree.cwd)
    there = rules_elsewhere(parent.setup.rules_with(parent.granted), parent.setup.cwd, copy)
    ask = tuple(str(rule) for rule in there if rule.action == "ask")
    deny = tuple(str(rule) for rule in there if rule.action == "deny")
    return replace(options, ask=options.ask + ask, deny=options.deny + deny)


# ---------------------------------------------------------------------------- worktree


async def new_worktree(parent: Parent, child: SessionId) -> Worktree:
    """Create a git worktree for a sub-agent; raises ToolError if it cannot be created."""
    environ = {**parent.engine.environ, **parent.setup.env}
    return await add_worktree(
        parent.setup.cwd, parent.policy.worktrees, child, environ, writable=parent.policy.writable
    )


async def old_worktree(parent: Parent, heir: Heir) -> Worktree | None:
    """Find an interrupted sub-agent's worktree; None if it had none; raises ToolError if it is not here."""
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


# ---------------------------------------------------------------------------- session


async def make_session(
    parent: Parent,
    member: Member,
    order: ChildOrder,
    inherited: Sequence[Counted],
    *,
    cwd: str,
    agent: str,
) -> int:
    """Create a sub-agent's session and return the number of its last record; raises StoreError.

    The session may exist already: an earlier process may have created it and died before it recorded
    `ChildStarted`.
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
