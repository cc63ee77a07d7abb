"""The tools that start a sub-agent, with only a prompt (spawn) or with the conversation so far (fork)."""

import math
import re
from typing import Any

from msgspec.json import encode

from bridle.core.budget import Limits, Share
from bridle.core.errors import ToolError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Role, Text
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.sub_agent import ChildRequest, ChildStatus, Inherited
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.agents.control import children_of, format_end
from bridle.tools.paths import printable
from bridle.tools.tool_support import description, flag_arg, text_arg

MAX_AMOUNT = 10**9
MAX_MESSAGES = 100

_CONTEXT = re.compile(r"(full_history|custom)|(last_turns|summary):([0-9]{1,9})")
_POLICY = re.compile(r"(equal|remaining)|proportional:([0-9.]{1,20})/([0-9.]{1,20})|fixed:([0-9]{1,12})")


class AgentSpawn:
    """The tool that starts a sub-agent whose context is only its prompt."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("agent_spawn", description("agents/agent_spawn"), _SPAWN_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the sub-agent's own calls are checked when it makes them."""
        return _access("agent_spawn", args)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the prompt."""
        return text_arg(args, "prompt")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the sub-agent's answer; for one in the background, only its id and name."""
        return await _start(_spawn_order(args, context.call_id), context)


class AgentFork:
    """The tool that starts a sub-agent with the conversation so far, or a part of it, as its context."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("agent_fork", description("agents/agent_fork"), _FORK_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the sub-agent's own calls are checked when it makes them."""
        return _access("agent_fork", args)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the prompt."""
        return text_arg(args, "prompt")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the sub-agent's answer; for one in the background, only its id and name."""
        return await _start(_fork_order(args, context.call_id), context)


def parse_order(tool: str, args: dict[str, Any], call_id: CallId) -> ChildRequest | None:
    """Return the order of a recorded call; None for another tool or for arguments that cannot be read."""
    make = {"agent_spawn": _spawn_order, "agent_fork": _fork_order}.get(tool)
    try:
        return None if make is None else make(args, call_id)
    except (ToolError, TypeError, ValueError, AttributeError):  # arguments from another version
        return None


def _spawn_order(args: dict[str, Any], call_id: CallId) -> ChildRequest:
    if args.get("context") is not None:
        raise ToolError(
            'agent_spawn takes no "context": its sub-agent knows only the prompt',
            hint="agent_fork passes the conversation",
        )
    return ChildRequest(
        prompt=_prompt(args),
        agent=_text(args, "agent"),
        model=_text(args, "model"),
        system=_text(args, "system_prompt"),
        share=Share(limits=_limits(args.get("budget") or {})),
        background=flag_arg(args, "background"),
        worktree=args.get("isolation") == "worktree",
        call_id=call_id,
        **_tool_access(args),
    )


def _fork_order(args: dict[str, Any], call_id: CallId) -> ChildRequest:
    inherited, amount = parse_context(_text(args, "context"))
    return ChildRequest(
        prompt=_prompt(args),
        inherited=inherited,
        amount=amount,
        messages=_messages(args, inherited),
        model=_text(args, "model"),
        share=parse_budget_policy(_text(args, "budget_policy")),
        background=flag_arg(args, "background"),
        call_id=call_id,
        **_tool_access(args),
    )


def parse_context(text: str) -> tuple[Inherited, int]:
    """Parse `context`: which part of the conversation is inherited, and how much; raises ToolError."""
    match = _CONTEXT.fullmatch(text.strip() or "full_history")
    if match is None or match[3] == "0":
        raise ToolError(
            f'"context" cannot be {text[:80]!r}',
            hint='use "full_history", "last_turns:3", "summary:2000" or "custom"',
        )
    if match[1]:
        return ("custom" if match[1] == "custom" else "full_history"), 0
    return ("last_turns" if match[2] == "last_turns" else "summary"), int(match[3])


def parse_budget_policy(text: str) -> Share:
    """Parse `budget_policy`: which share of the budget the sub-agent gets; raises ToolError."""
    match = _POLICY.fullmatch(text.strip() or "remaining")
    try:
        if match is None:
            raise ValueError
        if match[4]:
            return Share("fixed", limits=Limits(tokens=int(match[4])))
        if match[1]:
            return Share("equal" if match[1] == "equal" else "remaining")
        weight, weights = float(match[2]), float(match[3])
        if not 0 < weight <= weights < math.inf:
            raise ValueError
        return Share("proportional", weight=weight, weights=weights)
    except ValueError:
        raise ToolError(
            f'"budget_policy" cannot be {text[:80]!r}',
            hint='use "equal", "remaining", "proportional:1/3" or "fixed:20000" (tokens)',
        ) from None


def _access(tool: str, args: dict[str, Any]) -> Access:
    profile = _text(args, "agent")
    subjects = (Subject("text", printable(profile)),) if profile else ()
    return Access(tool, "read", subjects)  # a call that runs again finds the sub-agent that it started


async def _start(order: ChildRequest, context: ToolContext) -> ToolOutput:
    children = children_of(context)
    view = await children.start(order)
    if order.background:
        return ToolOutput(_begun(view, order))
    view = await children.wait(view.id)
    said = "\n\n".join(filter(None, (view.error, view.text, format_end(view))))
    return ToolOutput(said, is_error=view.stage != "completed")


def _begun(view: ChildStatus, order: ChildRequest) -> str:
    told: dict[str, Any] = {"agent_id": view.id, "name": view.name, "state": view.stage, "model": view.model}
    if order.inherited != "nothing":
        told["messages_inherited"] = view.inherited
    return encode(told).decode()


# ---------------------------------------------------------------------------- arguments


def _prompt(args: dict[str, Any]) -> str:
    prompt = text_arg(args, "prompt")
    if not prompt.strip():
        raise ToolError("the prompt is empty", hint="say what the sub-agent should do")
    return prompt


def _messages(args: dict[str, Any], inherited: Inherited) -> tuple[Message, ...]:
    """Return the messages of `context: custom`, of the user and the assistant in turn; raises ToolError."""
    given = args.get("messages") or ()
    if bool(given) != (inherited == "custom"):
        raise ToolError('"messages" and "context": "custom" go together', hint="give both or none")
    if len(given) > MAX_MESSAGES or not all(text.strip() for text in given):
        raise ToolError(f'"messages" are up to {MAX_MESSAGES} texts, none of them empty')
    roles: tuple[Role, Role] = ("user", "assistant")
    return tuple(Message(roles[place % 2], (Text(text),)) for place, text in enumerate(given))


def _text(args: dict[str, Any], key: str) -> str:
    return text_arg(args, key).strip() if args.get(key) is not None else ""


def _tool_access(args: dict[str, Any]) -> dict[str, Any]:
    access = args.get("tool_access") or {}
    policy, tools = access.get("policy", "inherit"), tuple(access.get("tools", ()))
    if policy == "inherit":
        return {}
    if policy == "allow_list":
        return {"tools": tools}
    return {"without_tools": tools}


def _limits(budget: dict[str, Any]) -> Limits:
    for name, amount in budget.items():
        if not 0 < amount <= MAX_AMOUNT:
            raise ToolError(f'"budget.{name}" must be more than 0 and at most {MAX_AMOUNT:,}')
    return Limits(
        tokens=budget.get("max_tokens"),
        tool_calls=budget.get("max_tool_calls"),
        cost=budget.get("max_cost"),
        turns=budget.get("max_turns"),
    )


# ---------------------------------------------------------------------------- schemas sent to the model

_STRING: dict[str, Any] = {"type": "string"}
_TOOL_ACCESS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "policy": {"type": "string", "enum": ["inherit", "allow_list", "deny_list"]},
        "tools": {"type": "array", "items": _STRING},
    },
    "required": ["policy"],
}
_SPAWN_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "prompt": _STRING,
        "agent": _STRING,
        "model": _STRING,
        "system_prompt": _STRING,
        "tool_access": _TOOL_ACCESS,
        "budget": {
            "type": "object",
            "properties": {
                "max_tokens": {"type": "integer"},
                "max_turns": {"type": "integer"},
                "max_tool_calls": {"type": "integer"},
                "max_cost": {"type": "number"},
            },
        },
        "background": {"type": "boolean"},
        "isolation": {"type": "string", "enum": ["none", "worktree"]},
    },
    "required": ["prompt"],
}
_FORK_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "prompt": _STRING,
        "context": {"type": "string", "pattern": "^(full_history|custom|(last_turns|summary):[0-9]+)$"},
        "messages": {"type": "array", "items": _STRING},
        "model": _STRING,
        "tool_access": _TOOL_ACCESS,
        "budget_policy": {
            "type": "string",
            "pattern": "^(remaining|equal|proportional:[0-9.]+/[0-9.]+|fixed:[0-9]+)$",
        },
        "background": {"type": "boolean"},
    },
    "required": ["prompt"],
}
