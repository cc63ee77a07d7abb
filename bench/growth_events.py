"""Cost of opening a session with more and more events in a fresh service, and of running a turn in it.

Answers are as long as real ones, so the window is full from about a thousand events on: more of them should
cost nothing.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from growth_stage import EVENTS_OF_A_RUN, curve, open_service, open_store, run_cpu_s, take_turns, write_past
from measure import report, rounds
from rows import Line

if TYPE_CHECKING:
    from bridle.core.ids import SessionId

SIZES = (100, 1_000, 10_000, 100_000)
WORDS = 300
ROUNDS = rounds(15)
BAR = 0.3


def opening_of(folder: Path, session: "SessionId") -> Callable[[], Awaitable[float]]:
    """Return the work of a fresh service that gets a prompt."""
    from bridle.providers.scripted import ScriptedProvider

    async def opening() -> float:
        service = open_service(folder, ScriptedProvider.of("Hello to you.", repeat=True))
        used_s = await run_cpu_s(service, session)
        await service.aclose()
        return used_s

    return opening


async def measure(folder: Path) -> list[Line]:
    """Write all sessions to one store, and open them in turn."""
    from bridle.core.ids import SessionId

    sessions = {size: SessionId(f"events-{size}") for size in SIZES}
    store = open_store(folder)
    for size, session in sessions.items():
        await write_past(store, session, str(folder), size // EVENTS_OF_A_RUN, WORDS)
    await store.aclose()
    works = {size: opening_of(folder, session) for size, session in sessions.items()}
    found = await take_turns(works, ROUNDS)
    return [
        curve("growth.events", "opening a session, and a turn in it", "events of the session", found, BAR)
    ]


def main() -> list[Line]:
    """Fit a power of the number of events."""
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    main()
