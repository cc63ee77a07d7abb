"""What a sub-agent inherits from its parent: messages, and rules, mode, tools and limits as bounds.

A sub-agent can do nothing that its parent cannot. The parent's rules and mode apply to it; where its own
agent profile would allow more, the user is asked; its tools are a subset of its parent's.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.budget import Limits, Share
from bridle.core.context import Counted, estimate_message
from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.permission import SHELL_TOOL, Mode, Rule
from bridle.core.protocol import ModelReplied, RunOptions
from bridle.core.session import RunState
from bridle.core.sub_agent import ChildRequest
from bridle.core.tool import is_among
from bridle.core.trace import TRACE
from bridle.sessions.engine import Engine
from bridle.sessions.setup import Setup

MODES_BY_STRICTNESS: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "yolo")
MAX_NAMED = 50
SPAWNING_TOOLS = ("agent_spawn", "agent_fork", "agent_status", "agent_list", "agent_cancel")


class FolderCopy(Struct, frozen=True):
    """A copy of a folder: the sub-agent's worktree."""

    of: str
    path: str
    cwd: str
    """The working directory inside the copy."""


# ---------------------------------------------------------------------------- messages


def inherited_messages(order: ChildRequest, messages: Sequence[Counted]) -> list[Counted]:
    """Return the messages a sub-agent starts with: whole exchanges, beginning with a user message."""
    past = list(messages)
    while past and past[-1].message.calls:
        past.pop()  # the turn that starts the sub-agent has no results yet
    match order.inherited:
        case "nothing":
            return []
        case "full_history":
            return past
        case "last_turns":
            return _last_turns(past, order.amount)
        case "summary":
            return _newest(past, order.amount)
        case "custom":
            return [Counted(message, estimate_message(message)) for message in order.messages]


def _last_turns(past: list[Counted], turns: int) -> list[Counted]:
    starts = [place for place, item in enumerate(past) if item.message.role == "assistant"]
    if turns <= 0:
        return []
    if not starts:  # in the first turn there is only the task
        return past
    return _led_by_user(past, starts[max(0, len(starts) - turns)])


def _newest(past: list[Counted], tokens: int) -> list[Counted]:
    """Return the longest end of the conversation that fits, at four characters per token."""
    sizes = [estimate_message(item.message) for item in past]
    asked: list[int] = []  # the size in tokens of the user message before each message
    for item, size in zip(past, sizes, strict=True):
        asked.append(size if item.message.role == "user" else asked[-1] if asked else 0)
    taken, first = 0, len(past)
    for start in range(len(past) - 1, -1, -1):
        taken += sizes[start]
        role = past[start].message.role
        if taken + (0 if role == "user" else asked[start]) > tokens:
            break
        if role != "tool":  # keep a result with its call
            first = start
    return _led_by_user(past, first) if first < len(past) else []


def _led_by_user(past: list[Counted], start: int) -> list[Counted]:
    """Return the messages from `start`, preceded by the user message that they answer."""
    if past[start].message.role == "user":
        return past[start:]
    asked = next((item for item in reversed(past[:start]) if item.message.role == "user"), None)
    return past[start:] if asked is None else [asked, *past[start:]]


# ---------------------------------------------------------------------------- bounds


def child_options(
    order: ChildRequest,
    run: RunState,
    setup: Setup,
    agent: Agent,
    granted: tuple[str, ...],
    *,
    limits: Limits,
    without: tuple[str, ...],
    may_spawn: bool,
    trace: str = "",
) -> RunOptions:
    """Return a sub-agent's run options; raises ToolError for tools that its parent does not have."""
    rules = setup.rules_with(granted)
    same_agent = not order.agent
    left_out = [*run.options.without_tools, *order.without_tools, *without]
    left_out += () if may_spawn else SPAWNING_TOOLS
    return RunOptions(
        model=order.model or (run.model if same_agent else agent.model),
        mode=stricter(setup.mode, setup.mode if same_agent else agent.mode),
        allow=_texts(rules, "allow"),
        ask=_texts(rules, "ask") + (() if same_agent else _extra_allowances(agent.rules, rules)),
        deny=_texts(rules, "deny"),
        limits=limits,
        params=run.options.params if same_agent and not order.model else {},
        effort=run.options.effort if same_agent and not order.model else None,
        code=run.options.code if same_agent else None,
        approve_each=run.options.approve_each,
        env=setup.env,
        system=order.system or (run.options.system if same_agent else None),
        builtins=run.options.builtins,
        without_builtins=run.options.without_builtins,
        tools=_tools(order, run, setup),
        without_tools=tuple(dict.fromkeys(left_out)),
        hooks=run.options.hooks,
        trace=trace,
    )


def resumed_bounds(order: ChildRequest, run: RunState, setup: Setup, granted: tuple[str, ...]) -> RunOptions:
    """Return the bounds that a resumed sub-agent gets: its parent may have resumed with other options."""
    rules = setup.rules_with(granted)
    return RunOptions(
        model=run.model,
        mode=stricter(run.mode, setup.mode) if order.agent else setup.mode,
        allow=_texts(setup.rules, "allow"),  # rules granted since do not apply to it
        ask=_texts(rules, "ask"),
        deny=_texts(rules, "deny"),
        env=setup.env,
    )


def trace_of_call(engine: Engine, session: SessionId, call_id: CallId | None) -> str:
    """Return the trace context of the call that starts a sub-agent; empty without tracing."""
    return "" if engine.observer is None else engine.observer.environment(session, call_id).get(TRACE, "")


def stricter(one: Mode, other: Mode) -> Mode:
    """Return the stricter of two modes."""
    return min(one, other, key=MODES_BY_STRICTNESS.index)


def related_share(order: ChildRequest, reply: ModelReplied | None, given: Sequence[ChildRequest]) -> Share:
    """Adjust a share to the shares of the other calls in the same reply."""
    calls = {call.id: call for call in reply.message.calls} if reply is not None else {}
    others = [other for other in given if other.call_id in calls]
    share = order.share
    if share.policy == "equal":
        begun = {other.call_id for other in others}
        equal = [call for call in calls.values() if call.args.get("budget_policy") == "equal"]
        return replace(share, among=max(1, sum(call.id not in begun for call in equal)))
    if share.policy == "proportional":
        weighed = sum(
            other.share.weight
            for other in others
            if other.share.policy == "proportional" and other.share.weights == share.weights
        )
        return replace(share, weights=max(share.weight, share.weights - weighed))
    return share


def bounded_share(share: Share, agent: Agent, max_tokens: int | None) -> Share:
    """Return a share within the agent's own limits, with the default token limit where none is set."""
    own, wanted = agent.limits, share.limits
    if wanted.tokens is None and share.policy == "remaining":
        wanted = replace(wanted, tokens=max_tokens)
    tightest: dict[str, Any] = {}
    for name in own.__struct_fields__:
        amounts = [limit for limit in (getattr(own, name), getattr(wanted, name)) if limit is not None]
        if share.policy != "fixed" or getattr(wanted, name) is not None:  # else the agent's is reserved
            tightest[name] = min(amounts, default=None)
    return replace(share, limits=Limits(**tightest))


def rules_in_copy(rules: Sequence[Rule], cwd: str, copy: FolderCopy) -> list[Rule]:
    """Return ask and deny path rules rewritten for a copy of the folder, so that they hold in both."""
    against = [
        rule
        for rule in rules
        if rule.action != "allow"
        and rule.pattern
        and rule.tool != SHELL_TOOL
        and not rule.pattern.startswith("domain:")
    ]
    patterns = [_pattern_in_copy(rule.pattern, cwd, copy) for rule in against]
    return [replace(rule, pattern=text) for rule, text in zip(against, patterns, strict=True) if text]


def _pattern_in_copy(pattern: str, cwd: str, copy: FolderCopy) -> str:
    """Return a pattern for use in the copy; empty if it applies unchanged."""
    if not pattern.startswith("/"):
        return f"{cwd.rstrip('/')}/{pattern}"
    if not pattern.startswith(f"{copy.of}/"):
        return ""
    return (copy.path + pattern[len(copy.of) :]).removeprefix(f"{copy.cwd}/")


def _texts(rules: Sequence[Rule], action: str) -> tuple[str, ...]:
    """Return the parent's rules of an action, all of them: the sub-agent's folder may define others."""
    return tuple(dict.fromkeys(str(rule) for rule in rules if rule.action == action))


def _extra_allowances(own: Sequence[Rule], rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return as ask rules, which win over allow, what only the sub-agent's profile allows."""
    general = {rule.tool for rule in rules if rule.action == "allow" and not rule.pattern}
    return tuple(
        str(rule) for rule in own if rule.action == "allow" and rule not in rules and rule.tool not in general
    )


def _tools(order: ChildRequest, run: RunState, setup: Setup) -> tuple[str, ...] | None:
    there = setup.dispatcher.names
    for name in (*(order.tools or ()), *order.without_tools):
        if name not in there:
            more = ", …" if len(there) > MAX_NAMED else ""
            listed = f"available tools: {', '.join(there[:MAX_NAMED])}{more}"
            raise ToolError(f"no tool is named {name[:80]!r}", hint=listed)
    bounds = [run.options.tools, order.tools, setup.agent.tools if order.agent else None]
    given = [set(names) for names in bounds if names is not None]
    return tuple(name for name in there if all(is_among(name, names) for names in given)) if given else None
