"""Usage statistics: over many sessions, or of one with its sub-agents."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from bridle.config.duration import parse_duration
from bridle.core.errors import SessionNotFound, StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import ChildStarted, Outcome, Record
from bridle.core.queries import ListSessions, Records
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.core.usage import CompactionStats, HookStats, ToolStats, UsageCollector, UsageCounts
from bridle.system.dates import calendar_s

Read = Callable[[SessionId], Awaitable[Sequence[Record]]]
LeftOut = Callable[[SessionId, StoreCorrupt], None]


class Stats(Struct, frozen=True):
    """The usage of sessions."""

    sessions: int
    runs: dict[Outcome, int]
    """By outcome."""
    total: UsageCounts
    models: dict[str, UsageCounts]
    agents: dict[str, UsageCounts]
    tools: dict[str, ToolStats]
    hooks: dict[str, HookStats]
    compaction: CompactionStats
    days: dict[str, UsageCounts]


class AllStats(Stats, frozen=True, kw_only=True):
    """The usage of all sessions."""

    left_out: list[SessionId]
    """Sessions that cannot be read."""


def time_before(text: str) -> int:
    """Return the time a duration ago, in milliseconds since 1970; raises ConfigError."""
    return int((time.time() - parse_duration(text)) * 1000)


class UsageCounter:
    """Counts sessions; one that cannot be read is reported and left out."""

    def __init__(self, read: Read, left_out: LeftOut, *, since: int = 0) -> None:
        self._read = read
        self._left_out = left_out
        self._since = since
        self._account = UsageCollector(since=since, day_of=_day_of)

    async def add_all(self, sessions: Iterable[SessionSummary]) -> None:
        """Count the sessions that were used since the start time."""
        for session in sessions:
            if session.updated_at >= self._since:
                await self._add(session.id, session.agent)

    async def add_tree(self, root: SessionSummary) -> None:
        """Count a session and its sub-agents."""
        names = {root.id: root.agent}
        waiting = [root.id]
        while waiting:
            session = waiting.pop()
            for record in await self._add(session, names[session]):
                if isinstance(record.event, ChildStarted) and record.event.child not in names:
                    names[record.event.child] = record.event.name
                    waiting.append(record.event.child)

    @property
    def stats(self) -> Stats:
        """The statistics so far."""
        account, blame = self._account, self._account.blame
        return Stats(
            sessions=account.sessions,
            runs=dict(sorted(account.outcomes.items(), key=lambda outcome: -outcome[1])),
            total=account.own,
            models=_dearest_first(account.models),
            agents=_dearest_first(account.agents),
            tools=blame.tools,
            hooks=blame.hooks,
            compaction=account.compaction,
            days=dict(sorted(account.days.items(), reverse=True)),
        )

    async def _add(self, session: SessionId, agent: str) -> Sequence[Record]:
        try:
            records = await self._read(session)
        except StoreCorrupt as error:
            self._left_out(session, error)
            return ()
        except SessionNotFound:  # deleted meanwhile
            return ()
        if records:
            self._account.begin(agent)
            self._account.add_all(records)
        return records


async def count_all_usage(api: SessionApi, *, since: int = 0, archived: bool = False) -> AllStats:
    """Count all sessions since a time in milliseconds since 1970; archived ones only if requested."""
    left_out: list[SessionId] = []

    def unreadable(session: SessionId, error: StoreCorrupt) -> None:
        left_out.append(session)

    counting = UsageCounter(lambda session: api.ask(Records(session)), unreadable, since=since)
    await counting.add_all(await api.ask(ListSessions(archived=archived)))
    return AllStats(left_out=left_out, **asdict(counting.stats))


async def count_session_usage(api: SessionApi, session: SessionId) -> Stats:
    """Count a session and its sub-agents; raises SessionNotFound, and StoreCorrupt for its own records."""

    def unreadable(found: SessionId, error: StoreCorrupt) -> None:
        if found == session:
            raise error

    root = next((one for one in await api.ask(ListSessions(archived=True)) if one.id == session), None)
    if root is None:
        raise SessionNotFound(f'no session "{session}"')
    counting = UsageCounter(lambda session: api.ask(Records(session)), unreadable)
    await counting.add_tree(root)
    return counting.stats


def _day_of(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(calendar_s(at_ms)))


def _dearest_first(users: Mapping[str, UsageCounts]) -> dict[str, UsageCounts]:
    return dict(sorted(users.items(), key=lambda user: (-user[1].cost, -user[1].tokens)))
