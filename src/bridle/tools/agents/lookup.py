"""Helpers of the sub-agent tools: find a sub-agent and describe its end."""

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext
from bridle.core.sub_agent import Children, ChildStatus


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
