"""Single things that an editor is told: notes, the plan, the title, the use of the window."""

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
    """Say something that is neither the model's nor the user's."""
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(f"{text}\n"))


def plan(todos: tuple[Todo, ...]) -> AgentPlanUpdate:
    """Show the list of things to do."""
    entries = [PlanEntry(content=todo.text, priority="medium", status=todo.status) for todo in todos]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def info(title: str, at: int) -> SessionInfoUpdate:
    """Say what the session is called."""
    return SessionInfoUpdate(session_update="session_info_update", title=title, updated_at=rfc3339(at))


def usage(event: ModelReplied, cost: float | None) -> UsageUpdate:
    """Say how much of the window is used, and what the session has cost so far."""
    return UsageUpdate(
        session_update="usage_update",
        used=min(event.usage.context, event.context.window),
        size=event.context.window,
        cost=Cost(amount=cost, currency="USD") if cost is not None else None,
    )
