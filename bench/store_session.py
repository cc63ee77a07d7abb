"""A long session for the store bench; as a program, it opens one and prints how much memory grew.

`python store_session.py sqlite|jsonl PLACE BYTES` builds in one process and opens in another.
"""

import asyncio
import multiprocessing
import sys
import time
from pathlib import Path

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.ports import Store
from bridle.core.protocol import (
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.stores.jsonl import JsonlStore
from bridle.stores.sqlite import SqliteStore

SESSION = SessionId("0193a5c0-1111-7222-8333-444455556666")
RUN = RunId("run-1")
WINDOW_TOKENS = 128_000
FIRST_PAGE = 32
LARGEST_PAGE = 256


class WallClock:
    """The real clock."""

    def now_ms(self) -> int:
        """Return the wall clock."""
        return int(time.time() * 1000)

    def monotonic_s(self) -> float:
        """Return the monotonic clock."""
        return time.monotonic()


CLOCK = WallClock()


def turn_events(turn: int, output_bytes: int = 1_200) -> list[Event]:
    """Return the events of a turn with one tool call: two messages in five events."""
    call = ToolCall(CallId(f"call_{turn}"), "read_file", {"path": f"src/module_{turn}.py", "start_line": 1})
    reply = Message("assistant", (Text(f"I look at module {turn} to see how it is used. " * 4), call))
    output = ("    return value  # a line of code\n" * (output_bytes // 35 + 1))[:output_bytes]
    tokens = output_bytes // 4
    return [
        TurnStarted(RUN, turn),
        ModelReplied(RUN, turn, reply, "tool_use", Usage(input=1200, output=80), 0.0021, tokens=80),
        ToolStarted(call.id, call.name, call.args, repeatable=True),
        ToolFinished(ToolResult(call.id, call.name, output), duration_ms=3, tokens=tokens),
        TurnEnded(RUN, turn, Usage(input=1200, output=80), ContextUsage(128_000, 900, 2100, 30_000, 4_000)),
    ]


def long_session(messages: int, output_bytes: int = 1_200) -> list[Event]:
    """Return a session of `count` messages."""
    events: list[Event] = [SessionCreated(SESSION, "/work"), MessageAdded(user_message("Go on."), tokens=4)]
    for turn in range(1, messages // 2 + 1):
        events += turn_events(turn, output_bytes)
    return events


async def open_tail(store: Store) -> list[Record]:
    """Read backwards, in growing pages, until a window is full."""
    records: list[Record] = []
    tokens, page = 0, FIRST_PAGE
    while tokens < WINDOW_TOKENS:
        before = records[0].seq if records else None
        chunk = await store.read(SESSION, before=before, limit=page, newest=True)
        if not chunk:
            break
        tokens += sum(getattr(record.event, "tokens", 0) for record in chunk)
        records = chunk + records
        page = min(2 * page, LARGEST_PAGE)
    return records


def make_store(kind: str, place: Path) -> SqliteStore | JsonlStore:
    """Open the named store."""
    return SqliteStore(place / "bridle.db", CLOCK) if kind == "sqlite" else JsonlStore(place, CLOCK)


def build(kind: str, place: Path, size_bytes: int) -> None:
    """Write a session of about the given size."""
    output_bytes = 15_000
    messages = 2 * size_bytes // (output_bytes + 1_850)

    async def write() -> None:
        store = make_store(kind, place)
        await store.append(SESSION, 0, long_session(messages, output_bytes))
        await store.aclose()

    asyncio.run(write())


async def growth(kind: str, place: Path) -> int:
    """Open the session and return by how many bytes the peak memory grew."""
    store = make_store(kind, place)
    await store.read(SESSION, limit=1, newest=True)
    before = peak_bytes()
    await open_tail(store)
    return peak_bytes() - before


def peak_bytes() -> int:
    """Return this process's peak memory; getrusage would start with the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    chosen, where, wanted_bytes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    where.mkdir(parents=True, exist_ok=True)
    builder = multiprocessing.get_context("spawn").Process(target=build, args=(chosen, where, wanted_bytes))
    builder.start()
    builder.join()
    used = sum(path.stat().st_size for path in where.iterdir())
    print(used, asyncio.run(growth(chosen, where)))
