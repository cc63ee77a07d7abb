"""Names of a session's sub-agents, and lines about their start, end and questions."""

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, ChildEnded, ChildStarted, Event, QuestionAsked
from bridle.surfaces.shared.text_format import describe_cost, format_count, format_elapsed, short_id

_WORDS = {"completed": "is done", "budget_exhausted": "ran out of budget", "limit": "reached a limit"}


class SubAgentNames:
    """The names of the sub-agents of one session."""

    def __init__(self) -> None:
        self._names: dict[SessionId, str] = {}

    def line(self, event: Event) -> str:
        """Return the line for an event about a sub-agent; empty for any other event."""
        match event:
            case ChildStarted():
                self._names[event.child] = event.name
                return f"{event.name} started: {event.task}"
            case ChildEnded():
                why = f": {event.reason}" if event.reason else ""
                used = [
                    f"{self.name(event.child)} {_WORDS.get(event.outcome, event.outcome)}{why}",
                    format_elapsed(event.duration_ms),
                    format_count(event.turns, "turn"),
                    format_count(event.usage.context, "token"),
                    describe_cost(event.cost),
                ]
                return " · ".join(used)
            case _:
                return ""

    def name(self, child: SessionId | None) -> str:
        """Return the name of a sub-agent, or its id if it belongs to another sub-agent; empty for None."""
        return "" if child is None else self._names.get(child, f"sub-agent {short_id(child)}")

    def format_asker(self, asked: ApprovalRequested | QuestionAsked) -> str:
        """Return the asking sub-agent's name and that of its parent; empty for the session itself."""
        above = self._names.get(SessionId(asked.call_id.partition("/")[0]))
        name = self.name(asked.child)
        return f"{name} (under {above})" if above and name != above else name
