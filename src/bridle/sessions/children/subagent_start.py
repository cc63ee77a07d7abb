"""The start of a sub-agent: its options, its folder, and its session, new or found after a crash."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.budget import Limits
from bridle.core.context import Counted
from bridle.core.errors import SessionConflict, SessionTaken
from bridle.core.ids import SessionId
from bridle.core.messages import quote_headers, user_message
from bridle.core.protocol import (
    Event,
    KernelSaved,
    MessageAdded,
    Outcome,
    PromptQueued,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionCreated,
    SessionOptions,
)
from bridle.core.session import RunState
from bridle.core.sub_agent import ChildRequest, ChildStage
from bridle.core.summary import title_from
from bridle.sessions.agent_tree import AgentNode, ChildPolicy, Sessions
from bridle.sessions.bus import Bus
from bridle.sessions.children.inheritance import (
    FolderCopy,
    child_options,
    resumed_bounds,
    rules_in_copy,
    trace_of_call,
)
from bridle.sessions.children.worktree import Worktree, add_worktree, find_worktree
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.resumed_children import ResumedChild
from bridle.sessions.setup import Setup

# ---------------------------------------------------------------------------- results
# The message and status that a parent gets when a sub-agent ends.


MAX_RESULT_CHARS = 32_000  # in the message; agent_status returns the full text

STAGES: dict[Outcome, ChildStage] = {"completed": "completed", "cancelled": "cancelled"}
"""Every other outcome is a failure."""


def make_result_message(
    item_id: str, name: str, child: SessionId, ended: RunEnded, said: str
) -> PromptQueued:
    """Return the message that gives the parent's model the result of a background sub-agent."""
    text = quote_headers("\n\n".join(filter(None, (failure_reason(ended), said)))) or "(no answer)"
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[cut off here: agent_status has all of it]"
    message = user_message(f"[result of {name} ({child}): {stage_of(ended)}]\n{text}")
    return PromptQueued(item_id, message, delivery="steer", source="child")


def stage_of(ended: RunEnded) -> ChildStage:
    """Return the stage that an ended sub-agent is in."""
    return STAGES.get(ended.outcome, "failed")


def failure_reason(ended: RunEnded) -> str:
    """Return why a run has no result or only part of one; empty for a completed run."""
    if ended.outcome == "completed":
        return ""
    return ended.reason if ended.outcome == "failed" else f"{ended.outcome}: {ended.reason}".rstrip(": ")


# ---------------------------------------------------------------------------- subagent start


class ParentRun(Struct, frozen=True):
    """The run that starts sub-agents, and what it works with."""

    engine: Engine
    sessions: Sessions
    bus: Bus
    policy: ChildPolicy
    member: AgentNode
    journal: Journal
    run: RunState
    setup: Setup

    @property
    def granted(self) -> tuple[str, ...]:
        """The rules that the user granted for its session."""
        return self.journal.session.known.granted


# ---------------------------------------------------------------------------- options


def first_options(
    parent: ParentRun, member: AgentNode, order: ChildRequest, agent: Agent, worktree: Worktree | None
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
    return _with_copied_rules(options, parent, worktree)


def options_after_cut(
    parent: ParentRun, order: ChildRequest, run: RunState, worktree: Worktree | None
) -> RunOptions:
    """Return the bounds of a resumed sub-agent, which apply on top of the options it has."""
    return _with_copied_rules(resumed_bounds(order, run, parent.setup, parent.granted), parent, worktree)


def options_of_child_session(options: RunOptions) -> SessionOptions:
    """Return what a sub-agent's session keeps of its run: if a person prompts it later, it may do no more.

    It keeps neither the rules that its parent was allowed nor its share of the budget.
    """
    off = tuple(dict.fromkeys(options.without_builtins + options.without_tools))
    on = options.builtins if options.tools is None else options.tools
    return replace(options.of_session, allow=(), limits=Limits(), builtins=on, without_builtins=off)


def _with_copied_rules(options: RunOptions, parent: ParentRun, worktree: Worktree | None) -> RunOptions:
    """Add the parent folder's ask and deny rules, rewritten for the worktree the sub-agent works in."""
    if worktree is None:
        return options
    copy = FolderCopy(worktree.top, worktree.path, worktree.cwd)
    there = rules_in_copy(parent.setup.rules_with(parent.granted), parent.setup.cwd, copy)
    ask = tuple(str(rule) for rule in there if rule.action == "ask")
    deny = tuple(str(rule) for rule in there if rule.action == "deny")
    return replace(options, ask=options.ask + ask, deny=options.deny + deny)


# ---------------------------------------------------------------------------- worktree


async def create_child_worktree(parent: ParentRun, child: SessionId) -> Worktree:
    """Create a git worktree for a sub-agent; raises ToolError if it cannot be created."""
    environ = {**parent.engine.environ, **parent.setup.env}
    return await add_worktree(
        parent.setup.cwd, parent.policy.worktrees, child, environ, writable=parent.policy.writable
    )


async def find_child_worktree(parent: ParentRun, resumed: ResumedChild) -> Worktree | None:
    """Find an interrupted sub-agent's worktree; None if it had none; raises ToolError if it is not here."""
    started = resumed.started
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
        within=resumed.cwd,
        writable=parent.policy.writable,
    )


# ---------------------------------------------------------------------------- session


async def make_session(
    parent: ParentRun,
    member: AgentNode,
    order: ChildRequest,
    inherited: Sequence[Counted],
    *,
    cwd: str,
    agent: str,
    options: SessionOptions,
) -> int:
    """Create a sub-agent's session and return the number of its last record; raises StoreError.

    The session may exist already: an earlier process may have created it and died before it recorded
    `ChildStarted`.
    """
    title = f"{member.name}: {title_from(order.prompt)}"
    events: list[Event] = [
        SessionCreated(member.id, cwd, agent, title, parent.journal.id, options=options),
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
