"""Setup for the growth benches: sessions with a history, services of several sizes, and their curve."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rows import Curve, share_of_spread, short
from store_session import CLOCK

if TYPE_CHECKING:
    from bridle.core.ids import SessionId
    from bridle.core.ports import Store
    from bridle.core.protocol import Event
    from bridle.sessions.service import SessionService

EVENTS_OF_A_RUN = 6
RUNS_OF_A_CHECKPOINT = 20
PROMPT = "And what is in the next one?"


def open_store(home: Path) -> "Store":
    """Open the store of a home."""
    from bridle.stores.sqlite import SqliteStore

    return SqliteStore(home / "bridle.db", CLOCK)


def open_service(home: Path, provider: Any, **more: Any) -> "SessionService":
    """Build a service on the default store, with one provider."""
    from turns import OneModel

    from bridle.core.agent import Agent
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims

    return SessionService(
        Engine(
            store=open_store(home),
            claims=FileClaims(home / "claims"),
            models=OneModel(provider),
            load_agent=lambda name, cwd: Agent(name, "You are a bench.", "bench/bench"),
            tools=(),
            clock=SystemClock(),
            chance=SystemChance(),
            **more,
        )
    )


async def run_cpu_s(service: "SessionService", session: "SessionId") -> float:
    """Run one turn in a session; return its CPU seconds, from the prompt to the recorded end."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    began = time.process_time()
    receipt = await service.submit(session, Prompt(user_message(PROMPT)))
    assert receipt.run_id is not None
    ended = await service.wait(session, receipt.run_id, after=receipt.seq)
    assert ended.outcome == "completed", ended
    return time.process_time() - began


async def write_past(store: "Store", session: "SessionId", cwd: str, runs: int, words: int) -> None:
    """Write a session of `runs` runs, each with a prompt and an answer of `words` words."""
    from bridle.core.facts import facts_after
    from bridle.core.protocol import Checkpoint, SessionCreated

    facts, seq, events = None, 0, [SessionCreated(session, cwd, "default")]
    for number in range(runs):
        events += run_events(number, words)
        if (number + 1) % RUNS_OF_A_CHECKPOINT == 0 or number == runs - 1:
            added = await store.append(session, seq, events)
            for record in added:
                facts = facts_after(facts, record)
            assert facts is not None
            seq, events = added[-1].seq, [Checkpoint(facts)]
    await store.append(session, seq, events)


def run_events(number: int, words: int) -> "list[Event]":
    """Return the events of a run of one turn."""
    from bridle.core.context import ContextUsage
    from bridle.core.ids import RunId
    from bridle.core.messages import Message, Text, Usage, user_message
    from bridle.core.protocol import MessageAdded, ModelReplied, RunEnded, RunStarted, TurnEnded, TurnStarted

    run, usage = RunId(f"run-{number}"), Usage(input=1200, output=80)
    asked = f"What is in file {number}? " + "Tell me. " * (words // 2)
    said = f"File {number}: " + "text " * words
    context = ContextUsage(window=128_000, system=900, tools=2_100, earlier=30_000, run=4_000)
    return [
        RunStarted(run, "bench/bench"),
        MessageAdded(user_message(asked), tokens=words + 6),
        TurnStarted(run, 1),
        ModelReplied(run, 1, Message("assistant", (Text(said),)), "end_turn", usage, tokens=words + 4),
        TurnEnded(run, 1, usage, context),
        RunEnded(run, "completed", said),
    ]


async def take_turns(
    works: Mapping[int, Callable[[], Awaitable[float]]], rounds: int
) -> dict[int, list[float]]:
    """Do the work of every size in turn, so noise affects all equally; the first round does not count."""
    found: dict[int, list[float]] = {size: [] for size in works}
    for _ in range(rounds + 1):
        for size, work in works.items():
            found[size].append(await work())
    return {size: samples[1:] for size, samples in found.items()}


def curve(
    name: str,
    what: str,
    against: str,
    samples: Mapping[int, Sequence[float]],
    bar: float,
    *,
    unit: str = "ms CPU",
    scale: float = 1e3,
) -> Curve:
    """Return the curve through the medians at each size."""
    points = tuple((size, short(statistics.median(found) * scale)) for size, found in samples.items())
    spread = max(share_of_spread(found) for found in samples.values())
    return Curve(name, what, against, unit, points, bar, short(spread))
