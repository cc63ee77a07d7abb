"""Cost of a turn in a new session, and of opening an old one, with more and more sessions in the store."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from growth_stage import curve, open_service, open_store, run_cpu_s, run_events, take_turns
from measure import report, rounds
from rows import Line

if TYPE_CHECKING:
    from bridle.core.ids import SessionId
    from bridle.sessions.service import SessionService

SIZES = (10, 100, 1_000, 10_000)
WORDS = 40
ROUNDS = rounds(40)
BAR = 0.1


async def fill(home: Path, count: int) -> None:
    """Write `count` sessions of one run."""
    from bridle.core.protocol import SessionCreated

    store, events = open_store(home), run_events(0, WORDS)
    for number in range(count):
        session = named(number)
        await store.append(session, 0, [SessionCreated(session, str(home), "default"), *events])
    await store.aclose()


def named(number: int) -> "SessionId":
    """Return a session id as long and as ordered as real ones."""
    from bridle.core.ids import SessionId

    return SessionId(f"0193a5c0-1111-7222-8333-{number:012x}")


def turn_of(service: "SessionService", home: Path) -> Callable[[], Awaitable[float]]:
    """Return the work of a turn in a new session."""

    async def turn() -> float:
        return await run_cpu_s(service, await service.create(cwd=str(home)))

    return turn


def opening_of(service: "SessionService", size: int) -> Callable[[], Awaitable[float]]:
    """Return the work of a turn in a session that has not been opened yet."""
    numbers = iter(range(size))

    async def turn() -> float:
        return await run_cpu_s(service, named(next(numbers)))

    return turn


async def measure(folder: Path) -> list[Line]:
    """Fill stores of all sizes, and measure them in turn."""
    from bridle.providers.scripted import ScriptedProvider

    services = {}
    for size in SIZES:
        home = folder / str(size)
        home.mkdir()
        await fill(home, size)
        services[size] = open_service(home, ScriptedProvider.of("Hello to you.", repeat=True))
    news = {size: turn_of(service, folder / str(size)) for size, service in services.items()}
    olds = {size: opening_of(service, size) for size, service in services.items()}
    began = await take_turns(news, ROUNDS)
    opened = await take_turns(olds, min(ROUNDS, SIZES[0] - 1))
    for service in services.values():
        await service.aclose()
    against = "sessions in the store"
    return [
        curve("growth.sessions.new", "a turn in a new session", against, began, BAR),
        curve("growth.sessions.old", "opening an old session, and a turn in it", against, opened, BAR),
    ]


def main() -> list[Line]:
    """Fit a power of the number of sessions."""
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    main()
