"""The tools that inspect and cancel background sub-agents, and that send messages to other agents."""

from collections import Counter
from typing import Any

from msgspec.json import encode

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.sub_agent import Children, ChildStatus
from bridle.core.tool import Access, ToolSpec
from bridle.tools.tool_support import WithoutPreview, description, parameters, text_arg

# ---------------------------------------------------------------------------- lookup
# Helpers of the sub-agent tools: find a sub-agent and describe its end.


def children_of(context: ToolContext) -> Children:
    """Return the run's sub-agents; raises ToolError where none are possible."""
    if context.children is None:
        raise ToolError("sub-agents are not available here", hint="do the work yourself")
    return context.children


def find_child(children: Children, wanted: str) -> ChildStatus:
    """Return the sub-agent with a name or id; raises ToolError that lists the existing ones."""
    views = children.views()
    found = next((view for view in views if wanted.strip() in (view.id, view.name)), None)
    if found is None:
        names = ", ".join(view.name for view in views)
        there = f"there are {names}" if names else "no sub-agents were started"
        raise ToolError(f"unknown sub-agent {wanted[:80]!r}", hint=there)
    return found


def format_end(view: ChildStatus) -> str:
    """Return one line about how a sub-agent ended and what it used."""
    turns = f"{view.turns} turn{'s' * (view.turns != 1)}"
    return f"[{view.name} {view.id}: {view.stage}, {turns}, {view.usage.context:,} tokens]"


# ---------------------------------------------------------------------------- control


_AGENT = parameters(1, agent_id=("string", "Or its name"))


class AgentStatus(WithoutPreview):
    """The tool that returns a sub-agent's state and its answer so far."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("agent_status", description("agents/agent_status"), _AGENT)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access("agent_status", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the sub-agent's state, usage and output as JSON."""
        view = find_child(children_of(context), text_arg(args, "agent_id"))
        told = {
            "agent_id": view.id,
            "name": view.name,
            "state": view.stage,
            "is_final": _is_over(view),
            "duration_ms": view.running_ms,
            "tokens_used": view.usage.context,
        }
        said = {"output": view.text, "error": view.error, "worktree": view.worktree}
        return ToolOutput(_json(told | {name: text for name, text in said.items() if text}))


class AgentList(WithoutPreview):
    """The tool that lists the sub-agents."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("agent_list", description("agents/agent_list"), parameters(0))

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access("agent_list", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return all sub-agents as JSON, including those that have ended."""
        views = children_of(context).views()
        stages = Counter(view.stage for view in views)
        agents = [
            {
                "id": view.id,
                "name": view.name,
                "state": view.stage,
                "depth": view.depth,
                "running_ms": view.running_ms,
            }
            for view in views
        ]
        told = {
            "agents": agents,
            "running_count": stages["running"] + stages["waiting"],
            "completed_count": stages["completed"],
            "failed_count": stages["failed"] + stages["cancelled"],
            "total_count": len(views),
        }
        return ToolOutput(_json(told))


class AgentCancel(WithoutPreview):
    """The tool that cancels a sub-agent and all that it has started."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("agent_cancel", description("agents/agent_cancel"), _AGENT)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the call affects only the run's own sub-agents."""
        return Access("agent_cancel", "read", once=True)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Cancel the sub-agent and return after it has stopped."""
        children = children_of(context)
        before = find_child(children, text_arg(args, "agent_id"))
        if _is_over(before):
            message = f"{before.name} had already ended"
        else:
            message = f"{(await children.cancel(before.id)).name} was stopped"
        told = {
            "agent_id": before.id,
            "success": not _is_over(before),
            "previous_state": before.stage,
            "message": message,
        }
        return ToolOutput(_json(told))


class SendMessage:
    """The tool that sends a message to another agent."""

    parallel = True
    seldom = True

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("send_message", description("agents/send_message"), _MESSAGE)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the message stays among the agents of one run."""
        return Access("send_message", "read", once=True)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the message."""
        return text_arg(args, "text")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Send the message; return without waiting for the receiver to read it."""
        to, text = text_arg(args, "to").strip(), text_arg(args, "text")
        receiver = await children_of(context).send(to, text)
        return ToolOutput(f"Sent to {receiver}, which reads it before its next turn")


def _is_over(view: ChildStatus) -> bool:
    return view.stage not in ("running", "waiting")


def _json(told: dict[str, Any]) -> str:
    return encode(told).decode()


_MESSAGE = parameters(2, to=("string", 'Its name, or "parent"'), text=("string", ""))
