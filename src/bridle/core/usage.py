"""Usage statistics by agent, sub-agent, tool and hook: a fold over the records of a run or of sessions.

| user | counted from |
|---|---|
| the agent itself | ModelReplied, ModelSampled, ReplyLost, SessionTitled, Compacted, RunStarted to RunEnded |
| its sub-agents | ChildStarted, ChildEnded: each with all sub-agents below it |
| tools | ToolFinished |
| hooks | HookCompleted, HookFailed, HookDenied |
| compaction | Compacted, CompactionFailed; it also counts as the agent's own use |

Rewound turns still count: they were paid for.
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


class UsageCounts(Struct):
    """Turns, calls, tokens, dollars and time used."""

    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    """Sent and received, including those read from a cache."""
    cost: float = 0.0
    unpriced: int = 0
    """Requests whose price is unknown and therefore missing from `cost`."""
    duration_ms: int = 0

    def take(self, usage: Usage, cost: float | None, requests: int = 1) -> None:
        """Add the usage and cost of one or more requests."""
        self.tokens += usage.context
        self.cost += cost or 0.0
        if cost is None and usage.context:
            self.unpriced += requests


class ToolStats(Struct):
    """Statistics of one tool's calls."""

    calls: int = 0
    """All calls, including denied ones."""
    failed: int = 0
    denied: int = 0
    duration_ms: int = 0
    tokens: int = 0
    """Tokens of the results that the model got."""


class HookStats(Struct):
    """Statistics of one hook: how often it ran, denied and failed."""

    asked: int = 0
    denied: int = 0
    failed: int = 0
    duration_ms: int = 0


class CompactionStats(Struct):
    """What compaction summaries cost; the agent's own use includes it."""

    count: int = 0
    failed: int = 0
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """Summaries whose price is unknown and therefore missing from `cost`."""


CountsT = TypeVar("CountsT", UsageCounts, ToolStats, HookStats, CompactionStats)


class UsageBreakdown(Struct):
    """Usage by name, the largest users first."""

    own: UsageCounts
    """The agent itself, without its sub-agents."""
    children: dict[str, UsageCounts]
    tools: dict[str, ToolStats]
    hooks: dict[str, HookStats]
    compaction: CompactionStats


class UsageCollector:
    """Collect usage from records.

    Several sessions may be added one after the other, each after a `begin`. The use of a sub-agent is in
    `children`; it is in the other tables only if the sub-agent's own session is added too.
    """

    def __init__(self, *, since: int = 0, day_of: Callable[[int], str] | None = None) -> None:
        self.sessions = 0
        self.outcomes: dict[Outcome, int] = {}
        self.own = UsageCounts()
        self.models: dict[str, UsageCounts] = {}
        self.agents: dict[str, UsageCounts] = {}
        self.days: dict[str, UsageCounts] = {}
        self.children: dict[str, UsageCounts] = {}
        self.tools: dict[str, ToolStats] = {}
        self.hooks: dict[str, HookStats] = {}
        self.compaction = CompactionStats()
        self._since = since
        """Milliseconds since 1970; earlier records do not count."""
        self._day_of = day_of
        self._names: dict[SessionId, str] = {}
        self._agent = self._model = ""
        self._began: int | None = None
        """When the active run began, moved forward by the time in which no process ran it."""
        self._last_at = 0

    @property
    def blame(self) -> UsageBreakdown:
        """Usage so far, by name."""
        return UsageBreakdown(
            self.own,
            dict(sorted(self.children.items(), key=lambda child: -child[1].tokens)),
            dict(sorted(self.tools.items(), key=lambda tool: (-tool[1].calls, tool[0]))),
            dict(sorted(self.hooks.items(), key=lambda hook: -hook[1].asked)),
            self.compaction,
        )

    def begin(self, agent: str) -> None:
        """Start with the records of another session."""
        self.sessions += 1
        self._agent, self._model, self._began, self._last_at = agent, "", None, 0

    def page(self) -> "UsageCollector":
        """Return an empty account that continues after this one's last record; their sum is the whole."""
        after = UsageCollector(since=self._since, day_of=self._day_of)
        after._names, after._agent, after._model = self._names, self._agent, self._model
        after._began, after._last_at = self._began, self._last_at
        return after

    def include(self, other: "UsageCollector") -> None:
        """Add the counts of another account."""
        self.sessions += other.sessions
        for outcome, number in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + number
        add_counts(self.own, other.own)
        add_counts(self.compaction, other.compaction)
        _include(self.models, other.models, UsageCounts)
        _include(self.agents, other.agents, UsageCounts)
        _include(self.days, other.days, UsageCounts)
        _include(self.children, other.children, UsageCounts)
        _include(self.tools, other.tools, ToolStats)
        _include(self.hooks, other.hooks, HookStats)

    def add_all(self, records: Iterable[Record]) -> None:
        """Count records, oldest first."""
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Count the next record."""
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
            case ReplyLost() as event:
                for use in self._users(self._model, record.at):
                    use.take(event.usage, event.cost)
            case ModelSampled() as event:
                for use in self._users(event.model or self._model, record.at):
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
                child = self.children.setdefault(self._names.get(event.child, event.child), UsageCounts())
                child.turns += event.turns
                child.tool_calls += event.tool_calls
                child.duration_ms += event.duration_ms
                child.take(event.usage, event.cost, max(1, event.turns))
            case RunEnded() as event:
                self._end_run(event, record.at)
            case _:
                pass

    def _users(self, model: str, at: int) -> list[UsageCounts]:
        """Return the counters that a request adds to."""
        users = [self.own]
        if model:
            users.append(self.models.setdefault(model, UsageCounts()))
        if self._agent:
            users.append(self.agents.setdefault(self._agent, UsageCounts()))
        if self._day_of is not None:
            users.append(self.days.setdefault(self._day_of(at), UsageCounts()))
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
        tool = self.tools.setdefault(event.result.name, ToolStats())
        tool.calls += 1
        tool.denied += event.denied
        tool.failed += event.result.is_error and not event.denied
        tool.duration_ms += event.duration_ms
        tool.tokens += event.tokens if event.parent is None else 0

    def _count_hook(self, event: HookCompleted | HookFailed | HookDenied) -> None:
        hook = self.hooks.setdefault(event.hook_id, HookStats())
        if isinstance(event, HookDenied):
            hook.denied += 1  # the event before it, HookCompleted or HookFailed, counts in `asked`
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


def add_counts(sum_: CountsT, more: CountsT) -> None:
    """Add every number of `more` to `sum_`."""
    for name in sum_.__struct_fields__:
        setattr(sum_, name, getattr(sum_, name) + getattr(more, name))


def _include(all_: dict[str, CountsT], more: dict[str, CountsT], empty: Callable[[], CountsT]) -> None:
    for name, counts in more.items():
        add_counts(all_.setdefault(name, empty()), counts)
