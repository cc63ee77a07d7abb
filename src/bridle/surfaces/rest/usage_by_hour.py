"""Usage over time, summed by hour and cached per session: only new records are read.

```
session ──▶ 13:00 Account   14:00 Account   …    one Account per hour
```
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal

from msgspec import Struct

from bridle.core.errors import SessionNotFound, StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import Outcome, Record
from bridle.core.queries import ListSessions, Records
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.core.usage import ToolStats, UsageCollector, UsageCounts, add_counts
from bridle.system.dates import calendar_s

SlotOf = Callable[[int], int]
Step = Literal["hour", "day"]

HOUR_MS = 3_600_000
HOURS_UP_TO_MS = 8 * 24 * HOUR_MS  # a week by the hour is 168 slots; more would be indistinguishable
MAX_SLOTS = 1_500  # four years by the day
MAX_NAMED = 10
MAX_KEPT = 2_000  # sessions, a few kilobytes each
READ_AT_ONCE = 1_000
BEFORE_ALL = -1


class SlotUse(Struct, frozen=True):
    """The usage of a model in one time slot."""

    at: int
    """The start of the slot, in milliseconds since 1970."""
    model: str
    use: UsageCounts


class SessionUse(Struct, frozen=True):
    """The usage of a session, including its sub-agents."""

    id: SessionId
    title: str
    use: UsageCounts


class UsePlots(Struct, frozen=True, kw_only=True):
    """The usage of all sessions over time."""

    since: int
    """The start of the first slot, in milliseconds since 1970; 0 for no limit."""
    step: Step
    """The length of a slot; a day begins at local midnight."""
    times: list[int]
    """The start of every slot, including unused ones; oldest first."""
    slots: list[SlotUse]
    """Oldest first."""
    sessions: int
    runs: dict[Outcome, int]
    """By outcome."""
    total: UsageCounts
    models: dict[str, UsageCounts]
    agents: dict[str, UsageCounts]
    tools: dict[str, ToolStats]
    named: list[SessionUse]
    """The sessions with the highest usage, highest first."""
    others: int
    """How many more sessions have used something."""
    others_use: UsageCounts
    """The usage of those."""
    left_out: list[SessionId]
    """Sessions that cannot be read."""


class UsageHistory:
    """Reads each session once, and later only its new records."""

    def __init__(
        self, api: SessionApi, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self._api = api
        self._now_ms = now_ms
        self._usage: dict[SessionId, _SessionUsage] = {}
        self._reading = asyncio.Lock()  # so that no record is counted twice

    async def plots(self, since: int = 0, *, archived: bool = False) -> UsePlots:
        """Return the usage since a time in milliseconds since 1970; archived sessions are optional."""
        now = self._now_ms()
        step: Step = "hour" if since > now - HOURS_UP_TO_MS else "day"
        slot_of = _hour if step == "hour" else _day
        since = slot_of(since) if since else 0
        sessions = {session.id: session for session in await self._api.ask(ListSessions(archived=archived))}
        plotting = _Plotting(slot_of, since)
        left_out = []
        async with self._reading:
            for session in sessions.values():
                if session.updated_at < since:
                    continue
                try:
                    session_usage = await self._updated(session)
                except StoreCorrupt:
                    left_out.append(session.id)
                    continue
                plotting.add(session_usage, root_of(session, sessions))
            self._let_go()
        return plotting.result(now, step, {one.id: one.title for one in sessions.values()}, left_out)

    async def _updated(self, session: SessionSummary) -> "_SessionUsage":
        """Return a session's book with all records counted; a session that is gone has no more."""
        session_usage = self._usage.pop(session.id, None)
        if (
            session_usage is None or session_usage.seq > session.last_seq
        ):  # deleted, and created again under the same name
            session_usage = _SessionUsage(session.agent)
        while session_usage.seq < session.last_seq:
            try:
                records = await self._api.ask(Records(session.id, session_usage.seq, READ_AT_ONCE))
            except SessionNotFound:
                break
            if not records:
                break
            await asyncio.to_thread(session_usage.add, records)
        self._usage[session.id] = session_usage  # only now, so that a partly read book is not kept
        return session_usage

    def _let_go(self) -> None:
        for oldest in list(self._usage)[:-MAX_KEPT]:
            del self._usage[oldest]


class _SessionUsage:
    """The usage of one session, with one page per hour."""

    def __init__(self, agent: str) -> None:
        first = UsageCollector()
        first.begin(agent)
        self.seq = 0
        """The newest counted record."""
        self.pages: list[tuple[int, UsageCollector]] = [(BEFORE_ALL, first)]

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            hour, page = self.pages[-1]
            if _hour(record.at) != hour:
                hour, page = _hour(record.at), page.page()
                self.pages.append((hour, page))
            page.add(record)
            self.seq = record.seq


class _Plotting:
    """Sums up the pages of all books."""

    def __init__(self, slot_of: SlotOf, since: int) -> None:
        self._slot_of = slot_of
        self._since = since
        self._account = UsageCollector()
        self._sessions = 0
        self._slots: dict[int, dict[str, UsageCounts]] = {}
        self._roots: dict[SessionId, UsageCounts] = {}

    def add(self, session_usage: _SessionUsage, root: SessionId) -> None:
        pages = [(hour, page) for hour, page in session_usage.pages if hour >= self._since]
        self._sessions += bool(pages)
        for hour, page in pages:
            self._account.include(page)
            add_counts(self._roots.setdefault(root, UsageCounts()), page.own)
            for model, use in page.models.items():
                slot = self._slots.setdefault(self._slot_of(hour), {})
                add_counts(slot.setdefault(model, UsageCounts()), use)

    def result(
        self, now: int, step: Step, titles: Mapping[SessionId, str], left_out: list[SessionId]
    ) -> UsePlots:
        account = self._account
        times = _times(self._since or min(self._slots, default=now), now, self._slot_of)
        used = {root: use for root, use in self._roots.items() if use.tokens or use.tool_calls}
        ranked = sorted(used.items(), key=lambda one: (-one[1].tokens, one[0]))
        others_use = UsageCounts()
        for _, use in ranked[MAX_NAMED:]:
            add_counts(others_use, use)
        return UsePlots(
            since=self._since,
            step=step,
            times=times,
            slots=[
                SlotUse(at, model, use)
                for at in times
                for model, use in sorted(self._slots.get(at, {}).items())
            ],
            sessions=self._sessions,
            runs=account.outcomes,
            total=account.own,
            models=account.models,
            agents=account.agents,
            tools=account.tools,
            named=[SessionUse(root, titles.get(root, ""), use) for root, use in ranked[:MAX_NAMED]],
            others=len(ranked[MAX_NAMED:]),
            others_use=others_use,
            left_out=left_out,
        )


def root_of(session: SessionSummary, known: Mapping[SessionId, SessionSummary]) -> SessionId:
    """Return the session that a person started: this one, or the root of its sub-agent tree."""
    seen = {session.id}
    while session.sub_agent and session.parent is not None and session.parent not in seen:
        seen.add(session.parent)
        session = known.get(session.parent, session)
    return session.id


def _times(first: int, now: int, slot_of: SlotOf) -> list[int]:
    """Return the start of each slot up to now; if there are too many, only the newest."""
    times = [slot_of(now)]
    while times[-1] > first and len(times) < MAX_SLOTS:
        times.append(slot_of(times[-1] - 1))
    return times[::-1]


def _hour(at_ms: int) -> int:
    return at_ms - at_ms % HOUR_MS


def _day(at_ms: int) -> int:
    midnight = datetime.fromtimestamp(calendar_s(at_ms)).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ006  the user's day
    return int(midnight.timestamp() * 1000)
