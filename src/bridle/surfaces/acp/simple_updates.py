"""Updates for an editor that are not calls or messages: notes, plan, title, context usage."""

from acp.schema import (
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    PlanEntry,
    SessionInfoUpdate,
    UsageUpdate,
)

from bridle.core.protocol import ModelReplied, Todo
from bridle.surfaces.acp.content import text_block
from bridle.system.dates import rfc3339


def note(text: str) -> AgentThoughtChunk:
    """Return a note that is neither from the model nor from the user."""
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(f"{text}\n"))


def plan(todos: tuple[Todo, ...]) -> AgentPlanUpdate:
    """Return the to-do list as a plan."""
    entries = [PlanEntry(content=todo.text, priority="medium", status=todo.status) for todo in todos]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def info(title: str, at: int) -> SessionInfoUpdate:
    """Return the session's title."""
    return SessionInfoUpdate(session_update="session_info_update", title=title, updated_at=rfc3339(at))


def usage(event: ModelReplied, cost: float | None) -> UsageUpdate:
    """Return how much of the context window is used, and the session's cost so far."""
    return UsageUpdate(
        session_update="usage_update",
        used=min(event.usage.context, event.context.window),
        size=event.context.window,
        cost=Cost(amount=cost, currency="USD") if cost is not None else None,
    )
