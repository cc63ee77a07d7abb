"""Who used how much: a fold over records, of one run, of a session or of many.

| who | is found in |
|---|---|
| the agent itself | ModelReplied, ModelSampled, ReplyLost, SessionTitled, Compacted, RunStarted to RunEnded |
| its sub-agents | ChildStarted, ChildEnded: each with all that is below it |
| tools | ToolFinished |
| hooks | HookCompleted, HookFailed, HookDenied |
| compaction | Compacted, CompactionFailed; it is also part of what the agent used |

What was rewound was used all the same.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import (
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    HookCompleted,
    HookDenied,
    HookFailed,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    Outcome,
    Record,
    ReplyLost,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionTitled,
    ToolFinished,
    ToolStarted,
)


class Use(Struct):
    """What somebody has used."""

    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    """Sent and received, with what came from a cache."""
    cost: float = 0.0
    unpriced: int = 0
    """Requests whose price is not known and therefore missing from `cost`."""
    duration_ms: int = 0

    def take(self, usage: Usage, cost: float | None, requests: int = 1) -> None:
        """Add what requests have used."""
        self.tokens += usage.context
        self.cost += cost or 0.0
        if cost is None and usage.context:
            self.unpriced += requests


class ToolUse(Struct):
    """What the calls of a tool came to."""

    calls: int = 0
    """Also those that were refused."""
    failed: int = 0
    denied: int = 0
    duration_ms: int = 0
    tokens: int = 0
    """Of the results that the model got."""


class HookUse(Struct):
    """How often a hook was asked, and what it did."""

    asked: int = 0
    denied: int = 0
    failed: int = 0
    duration_ms: int = 0


class CompactionUse(Struct):
    """What summaries have cost; it is part of what the agent used."""

    count: int = 0
    failed: int = 0
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """How many have an unknown price."""


CountsT = TypeVar("CountsT", Use, ToolUse, HookUse, CompactionUse)


class Blame(Struct):
    """Who has used what, by name, who has used most first."""

    own: Use
    """The agent itself, without its sub-agents."""
    children: dict[str, Use]
    tools: dict[str, ToolUse]
    hooks: dict[str, HookUse]
    compaction: CompactionUse


class Account:
    """Collects who uses what.

    Several sessions may be added one after the other, each after a `begin`. What a sub-agent used is in
    `children`, and wherever else it counts once its own session is added.
    """

    def __init__(self, *, since: int = 0, day_of: Callable[[int], str] | None = None) -> None:
        self.sessions = 0
        self.outcomes: dict[Outcome, int] = {}
        self.own = Use()
        self.models: dict[str, Use] = {}
        self.agents: dict[str, Use] = {}
        self.days: dict[str, Use] = {}
        self.children: dict[str, Use] = {}
        self.tools: dict[str, ToolUse] = {}
        self.hooks: dict[str, HookUse] = {}
        self.compaction = CompactionUse()
        self._since = since
        """What was recorded before, in milliseconds since 1970, does not count."""
        self._day_of = day_of
        self._names: dict[SessionId, str] = {}
        self._agent = self._model = ""
        self._began: int | None = None
        """When the active run began, moved forward by the time that nobody drove it."""
        self._last_at = 0

    @property
    def blame(self) -> Blame:
        """Return who has used what so far."""
        return Blame(
            self.own,
            dict(sorted(self.children.items(), key=lambda child: -child[1].tokens)),
            dict(sorted(self.tools.items(), key=lambda tool: (-tool[1].calls, tool[0]))),
            dict(sorted(self.hooks.items(), key=lambda hook: -hook[1].asked)),
            self.compaction,
        )

    def begin(self, agent: str) -> None:
        """Go on with the records of another session."""
        self.sessions += 1
        self._agent, self._model, self._began, self._last_at = agent, "", None, 0

    def page(self) -> "Account":
        """Return an empty account that goes on where this one stops: together they hold all."""
        after = Account(since=self._since, day_of=self._day_of)
        after._names, after._agent, after._model = self._names, self._agent, self._model
        after._began, after._last_at = self._began, self._last_at
        return after

    def include(self, other: "Account") -> None:
        """Add what another account holds."""
        self.sessions += other.sessions
        for outcome, number in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + number
        add_up(self.own, other.own)
        add_up(self.compaction, other.compaction)
        _include(self.models, other.models, Use)
        _include(self.agents, other.agents, Use)
        _include(self.days, other.days, Use)
        _include(self.children, other.children, Use)
        _include(self.tools, other.tools, ToolUse)
        _include(self.hooks, other.hooks, HookUse)

    def add_all(self, records: Iterable[Record]) -> None:
        """Take in records, oldest first."""
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.event:
            case RunStarted() as event:
                self._model, self._began = event.model, record.at
            case ModelSwitched() as event:
                self._model = event.model
            case RunResumed() if self._began is not None:
                self._began += max(0, record.at - self._last_at)
            case ChildStarted() as event:
                self._names[event.child] = event.name
            case _ if record.at >= self._since:
                self._count(record)
            case _:
                pass
        self._last_at = record.at

    def _count(self, record: Record) -> None:
        match record.event:
            case ModelReplied() as event:
                for use in self._users(self._model, record.at):
                    use.turns += 1
                    use.take(event.usage, event.cost)
            case ModelSampled() | ReplyLost() as event:
                for use in self._users(self._model, record.at):
                    use.take(event.usage, event.cost)
            case SessionTitled() as event:
                for use in self._users(event.model, record.at):
                    use.take(event.usage, event.cost)
            case Compacted() | CompactionFailed() as event:
                self._count_compaction(event, record.at)
            case ToolStarted():
                for use in self._users("", record.at):
                    use.tool_calls += 1
            case ToolFinished() as event:
                self._count_call(event)
            case HookCompleted() | HookFailed() | HookDenied() as event:
                self._count_hook(event)
            case ChildEnded() as event:
                child = self.children.setdefault(self._names.get(event.child, event.child), Use())
                child.turns += event.turns
                child.tool_calls += event.tool_calls
                child.duration_ms += event.duration_ms
                child.take(event.usage, event.cost, max(1, event.turns))
            case RunEnded() as event:
                self._end_run(event, record.at)
            case _:
                pass

    def _users(self, model: str, at: int) -> list[Use]:
        """Return whoever a request counts for."""
        users = [self.own]
        if model:
            users.append(self.models.setdefault(model, Use()))
        if self._agent:
            users.append(self.agents.setdefault(self._agent, Use()))
        if self._day_of is not None:
            users.append(self.days.setdefault(self._day_of(at), Use()))
        return users

    def _count_compaction(self, event: Compacted | CompactionFailed, at: int) -> None:
        model = event.model if isinstance(event, Compacted) else ""
        for use in self._users(model, at):
            use.take(event.usage, event.cost)
        self.compaction.count += isinstance(event, Compacted)
        self.compaction.failed += isinstance(event, CompactionFailed)
        self.compaction.tokens += event.usage.context
        self.compaction.cost += event.cost or 0.0
        self.compaction.unpriced += event.cost is None and event.usage.context > 0

    def _count_call(self, event: ToolFinished) -> None:
        tool = self.tools.setdefault(event.result.name, ToolUse())
        tool.calls += 1
        tool.denied += event.denied
        tool.failed += event.result.is_error and not event.denied
        tool.duration_ms += event.duration_ms
        tool.tokens += event.tokens if event.parent is None else 0

    def _count_hook(self, event: HookCompleted | HookFailed | HookDenied) -> None:
        hook = self.hooks.setdefault(event.hook_id, HookUse())
        if isinstance(event, HookDenied):
            hook.denied += 1  # that it was asked is said by the event before
            return
        hook.asked += 1
        hook.failed += isinstance(event, HookFailed)
        hook.duration_ms += event.duration_ms

    def _end_run(self, event: RunEnded, at: int) -> None:
        self.outcomes[event.outcome] = self.outcomes.get(event.outcome, 0) + 1
        if self._began is not None:
            began = max(self._began, self._since)
            for use in self._users(self._model, at):
                use.duration_ms += max(0, at - began)
        self._began = None


def add_up(sum_: CountsT, more: CountsT) -> None:
    """Add every number of one value to those of another."""
    for name in sum_.__struct_fields__:
        setattr(sum_, name, getattr(sum_, name) + getattr(more, name))


def _include(all_: dict[str, CountsT], more: dict[str, CountsT], empty: Callable[[], CountsT]) -> None:
    for name, counts in more.items():
        add_up(all_.setdefault(name, empty()), counts)
