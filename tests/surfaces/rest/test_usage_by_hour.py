import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from bridle.core.errors import SessionNotFound, StoreCorrupt
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolResult, Usage
from bridle.core.protocol import Event, ModelReplied, Record, RunEnded, RunStarted, ToolFinished
from bridle.core.queries import ListSessions, Records
from bridle.core.summary import SessionSummary
from bridle.core.usage import ToolStats, UsageCounts
from bridle.surfaces.rest.usage_by_hour import (
    HOUR_MS,
    MAX_NAMED,
    MAX_SLOTS,
    SessionUse,
    SlotUse,
    UsageHistory,
)
from tests.patience import PATIENCE_S

NOW = int(time.time() * 1000)
HOUR = NOW - NOW % HOUR_MS
RUN = RunId("run")


class Shelf:
    """Stored sessions, and how many of their records were asked for."""

    def __init__(self) -> None:
        self.stored: dict[SessionId, list[Record]] = {}
        self.parents: dict[SessionId, SessionId] = {}
        self.broken: set[SessionId] = set()
        self.gone: set[SessionId] = set()
        self.reads = 0
        self.reading = asyncio.Event()
        self.hold: asyncio.Event | None = None

    def put(self, name: str, at: int, *events: Event, of: str = "") -> None:
        session = SessionId(name)
        records = self.stored.setdefault(session, [])
        records.extend(Record(seq, at, event, "") for seq, event in enumerate(events, len(records) + 1))
        if of:
            self.parents[session] = SessionId(of)

    async def ask(self, query: Records | ListSessions) -> Any:
        if isinstance(query, ListSessions):
            return self._list(archived=query.archived)
        return await self._records(query.session, query.after, query.limit or 0)

    async def _records(self, session: SessionId, after: int, limit: int) -> list[Record]:
        if session in self.broken:
            raise StoreCorrupt("edited")
        if session in self.gone:
            raise SessionNotFound("gone")
        if self.hold is not None and after:
            await self.hold.wait()
        page = self.stored[session][after : after + limit]
        self.reads += len(page)
        self.reading.set()
        return page

    def _list(self, *, archived: bool) -> Sequence[SessionSummary]:
        return [
            SessionSummary(
                *(session, session.title(), "/", "coder", 0, records[-1].at, len(records)),
                parent=self.parents.get(session),
                sub_agent=session in self.parents,
            )
            for session, records in self.stored.items()
            if archived or session != "archived"
        ]


@pytest.fixture
def shelf() -> Any:
    return Shelf()


def run(model: str, tokens: int) -> tuple[Event, ...]:
    """Return a run of one answer: a cent for each hundred tokens."""
    said = Message("assistant", (Text("hi"),))
    cost = None if model == "m/?" else tokens / 1e4
    replied = ModelReplied(RUN, 1, said, "end_turn", Usage(tokens), cost)
    return RunStarted(RUN, model), replied, RunEnded(RUN, "completed")


def used(tokens: int, cost: float | None = None) -> UsageCounts:
    if cost is None:
        return UsageCounts(turns=1, tokens=tokens, unpriced=1)
    return UsageCounts(turns=1, tokens=tokens, cost=cost)


async def test_a_day_is_plotted_by_the_hour_and_by_model(shelf: Any):
    shelf.put("old", HOUR - 30 * HOUR_MS, *run("m/a", 1))
    shelf.put("one", HOUR - 30 * HOUR_MS, *run("m/a", 5))
    shelf.put("one", HOUR - 2 * HOUR_MS, *run("m/a", 100))
    shelf.put("two", HOUR - 2 * HOUR_MS + 5, *run("m/?", 300))
    shelf.put("three", HOUR, *run("m/a", 200))

    plots = await UsageHistory(shelf, lambda: NOW).plots(HOUR - 24 * HOUR_MS + 7)

    assert (plots.since, plots.step) == (HOUR - 24 * HOUR_MS, "hour")
    assert plots.times == [HOUR - hours * HOUR_MS for hours in range(24, -1, -1)]
    assert plots.slots == [
        SlotUse(HOUR - 2 * HOUR_MS, "m/?", used(300)),
        SlotUse(HOUR - 2 * HOUR_MS, "m/a", used(100, 0.01)),
        SlotUse(HOUR, "m/a", used(200, 0.02)),
    ]
    assert plots.named == [
        SessionUse(SessionId("two"), "Two", used(300)),
        SessionUse(SessionId("three"), "Three", used(200, 0.02)),
        SessionUse(SessionId("one"), "One", used(100, 0.01)),
    ]
    assert (plots.sessions, plots.runs, plots.others) == (3, {"completed": 3}, 0)
    assert plots.total == plots.agents["coder"] == UsageCounts(turns=3, tokens=600, cost=0.03, unpriced=1)


async def test_all_time_is_plotted_by_the_day_and_of_very_many_days_the_newest(shelf: Any):
    shelf.put("wrong clock", 1_000, *run("m/a", 5))
    shelf.put("now", NOW, *run("m/a", 7))

    plots = await UsageHistory(shelf, lambda: NOW).plots()

    today = time.localtime(plots.times[-1] / 1000)
    assert (plots.step, len(plots.times), plots.times) == ("day", MAX_SLOTS, sorted(set(plots.times)))
    assert (today.tm_hour, today.tm_min, today.tm_sec) == (0, 0, 0)
    assert plots.times[-1] <= NOW
    assert plots.slots == [SlotUse(plots.times[-1], "m/a", used(7, 0.0007))]
    assert plots.total.tokens == 12


async def test_a_sub_agent_counts_for_the_session_it_works_for_and_what_is_left_is_summed_up(shelf: Any):
    for number in range(MAX_NAMED + 2):
        shelf.put(f"session {number:02}", NOW, *run("m/a", 100 + number))
    shelf.put("child", NOW, *run("m/a", 1000), of="session 00")
    shelf.put("grandchild", NOW, *run("m/?", 500), of="child")
    shelf.put("orphan", NOW, *run("m/a", 1), of="deleted")
    shelf.put("loop", NOW, *run("m/a", 1), of="loop")
    shelf.put("broken", NOW, *run("m/a", 9999))
    shelf.broken.add("broken")

    plots = await UsageHistory(shelf, lambda: NOW).plots()

    assert plots.named[0] == SessionUse(
        SessionId("session 00"), "Session 00", UsageCounts(turns=3, tokens=1600, cost=0.11, unpriced=1)
    )
    assert [one.id for one in plots.named[1:]] == [f"session {number:02}" for number in range(11, 2, -1)]
    assert (plots.others, plots.others_use.tokens, plots.others_use.turns) == (4, 205, 4)
    assert plots.left_out == ["broken"]


async def test_only_what_is_new_is_read(shelf: Any):
    books = UsageHistory(shelf, lambda: NOW)
    result = ToolFinished(ToolResult(CallId("c"), "bash", "x"), duration_ms=4)
    shelf.put("one", NOW, *run("m/a", 5))
    shelf.put("archived", NOW, *run("m/a", 50))
    first = await books.plots()
    shelf.put("one", NOW, *run("m/b", 6), result)
    again = await books.plots()

    assert shelf.reads == 7
    assert (first.total.tokens, again.total.tokens) == (5, 11)
    assert again.tools == {"bash": ToolStats(calls=1, duration_ms=4)}
    assert (await books.plots(archived=True)).total.tokens == 61


async def test_a_session_that_is_begun_anew_under_its_name_is_read_anew(shelf: Any):
    books = UsageHistory(shelf, lambda: NOW)
    shelf.put("one", NOW, *run("m/a", 5), *run("m/a", 5))
    shelf.put("gone", NOW, *run("m/a", 5))
    shelf.gone.add("gone")
    await books.plots()
    shelf.stored.clear()
    shelf.put("one", NOW, *run("m/a", 7))

    assert (await books.plots()).total.tokens == 7


async def test_nothing_is_counted_twice_when_two_ask_or_one_leaves(shelf: Any):
    books = UsageHistory(shelf, lambda: NOW)
    for _ in range(500):
        shelf.put("one", NOW, *run("m/a", 1))
    shelf.hold = asyncio.Event()
    leaves, stays = asyncio.create_task(books.plots()), asyncio.create_task(books.plots())
    async with asyncio.timeout(PATIENCE_S):
        await shelf.reading.wait()
    leaves.cancel()
    shelf.hold.set()

    assert (await stays).total.tokens == (await books.plots()).total.tokens == 500


async def test_nothing_used_is_an_empty_plot(shelf: Any):
    plots = await UsageHistory(shelf, lambda: NOW).plots()

    assert (plots.slots, plots.named, plots.total, len(plots.times)) == ([], [], UsageCounts(), 1)
