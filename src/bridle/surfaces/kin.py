"""Sub-agents by name: their beginning and end on a line each, and who it is that asks."""

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, ChildEnded, ChildStarted, Event, QuestionAsked
from bridle.surfaces.render import count, describe_cost, short_id, took

_WORDS = {"completed": "is done", "budget_exhausted": "is out of budget", "limit": "has reached a limit"}


class Kin:
    """Knows what the sub-agents of one session are called."""

    def __init__(self) -> None:
        self._names: dict[SessionId, str] = {}

    def line(self, event: Event) -> str:
        """Say what an event means if it is about a sub-agent; empty for any other."""
        match event:
            case ChildStarted():
                self._names[event.child] = event.name
                return f"{event.name} begins: {event.task}"
            case ChildEnded():
                why = f": {event.reason}" if event.reason else ""
                used = [
                    f"{self.name(event.child)} {_WORDS.get(event.outcome, event.outcome)}{why}",
                    took(event.duration_ms),
                    count(event.turns, "turn"),
                    count(event.usage.context, "token"),
                    describe_cost(event.cost),
                ]
                return " · ".join(used)
            case _:
                return ""

    def name(self, child: SessionId | None) -> str:
        """Return what a sub-agent is called; those of sub-agents have only an id here; empty for None."""
        return "" if child is None else self._names.get(child, f"sub-agent {short_id(child)}")

    def asker(self, asked: ApprovalRequested | QuestionAsked) -> str:
        """Say who asks, and for one further down below whom it works; empty for the session itself."""
        above = self._names.get(SessionId(asked.call_id.partition("/")[0]))
        name = self.name(asked.child)
        return f"{name}, below {above}" if above and name != above else name
