"""Sample data: two weeks of sessions of a daily user."""

import random
import uuid
from collections.abc import Iterator
from itertools import islice

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Event,
    MessageAdded,
    ModelReplied,
    RunEnded,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.stores.sqlite import SqliteStore

SEED = 7
DAYS = 14
DAY_MS = 24 * 3600 * 1000
WINDOW = 200_000
PRICES = {"anthropic/claude-sonnet-4-5": (3.0, 15.0), "anthropic/claude-haiku-4-5": (1.0, 5.0)}
"""Dollars per million tokens of input and output."""
TITLES = (
    "Name the columns of the report",
    "Why is the nightly build slow",
    "Retry uploads that time out",
    "Settings in one file",
    "Dates in any time zone",
    "A test for the invoices",
    "Remove old mail templates",
    "How thumbnails are cached",
    "Sort names by their letters",
    "Close files after reading",
    "One place for all colours",
    "Which queries are slow",
    "Less memory for big tables",
    "Errors that say what to do",
    "Find links that are dead",
    "Types for the parser",
    "A page for the changelog",
    "Count words in a folder",
)
TOOLS = ("read_file", "grep", "edit_file", "bash", "write_file")


class Then:
    """A clock that shows the time it is set to."""

    def __init__(self) -> None:
        self.at_ms = 0

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


async def write_past(store: SqliteStore, clock: Then, now_ms: int, cwd: str) -> None:
    """Fill a store with sessions: always the same ones, except for the date."""
    chance = random.Random(SEED)
    titles = iter(TITLES)
    for day in range(DAYS, 0, -1):
        for title in islice(titles, chance.choice((0, 1, 1, 2))):
            clock.at_ms = now_ms - day * DAY_MS + chance.randrange(DAY_MS // 2)
            session = SessionId(str(uuid.UUID(int=chance.getrandbits(128), version=4)))
            model = chance.choice([*PRICES, "anthropic/claude-sonnet-4-5"])
            seq = 0
            for events in [[SessionCreated(session, cwd, "default", title)], *_run(chance, model, title)]:
                seq = (await store.append(session, seq, events))[-1].seq
                clock.at_ms += chance.randrange(4_000, 40_000)


def _run(chance: random.Random, model: str, prompt: str) -> Iterator[list[Event]]:
    run = RunId(f"run-{chance.getrandbits(32)}")
    yield [RunStarted(run, model), MessageAdded(user_message(prompt))]
    total, cost, turns = Usage(), 0.0, chance.randrange(3, 12)
    for turn in range(1, turns + 1):
        call = CallId(f"{run}-{turn}")
        tool = chance.choice(TOOLS)
        usage = Usage(chance.randrange(400, 4_000), chance.randrange(60, 700), turn * chance.randrange(2_000))
        to_read, to_write = PRICES[model]
        price = (usage.input * to_read + usage.output * to_write + usage.cache_read * to_read / 10) / 1e6
        said = Message("assistant", (Text("I look."), ToolCall(call, tool)))
        context = ContextUsage(WINDOW, system=900, tools=4_000, run=usage.context)
        yield [TurnStarted(run, turn)]
        yield [
            ModelReplied(run, turn, said, "tool_use", usage, price, 40, context),
            ToolStarted(call, tool, {}),
            ToolFinished(ToolResult(call, tool, "ok"), duration_ms=chance.randrange(3, 900)),
            TurnEnded(run, turn, usage, context),
        ]
        total, cost = total + usage, cost + price
    yield [RunEnded(run, "completed", "Done.", "", turns, turns, total, cost)]
