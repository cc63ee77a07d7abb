"""Random scenarios on every surface of one long-lived daemon, whose memory and descriptors stay flat."""

import asyncio
import os
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bridle.app import open_store
from bridle.config.settings import load_settings
from bridle.core.errors import BridleError
from bridle.core.protocol import ModelReplied, Record, RunEnded, ToolFinished
from bridle.surfaces.daemon.daemon_files import DaemonFiles as DaemonPlace
from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import SCENARIOS
from tests.conformance.surface import Surface, perform
from tests.conformance.surfaces import IN_PROCESS, SURFACES
from tests.conformance.world import World
from tests.endurance.soak_report import Part
from tests.scale.verdict import log_faults

PLAY_S = 60.0
WORKERS = 2
SAMPLE_S = 1.0
LONG_S = 120.0
"""From here on the daemon has had time to get warm: what it holds must stay as it is."""
GROWTH = 1.10
MORE_OPEN = 1.3  # descriptors: it depends on what the last few sessions hold

FEW_SESSIONS = """
[serve]
max_sessions = 10        # those that rest are put away, with the programs that they hold
"""

Cell = tuple[Scenario, Surface]
CELLS: tuple[Cell, ...] = tuple(
    (scenario, surface)
    for scenario in SCENARIOS
    for surface in SURFACES
    if scenario.name not in surface.absent and not scenario.remembers  # that changes the settings of all
)


class Vitals:
    """How much memory and how many descriptors a process has, over time."""

    def __init__(self, pid: int) -> None:
        self.megabytes: list[float] = []
        self.descriptors: list[float] = []
        self._folder = Path(f"/proc/{pid}")

    async def follow(self) -> None:
        """Measure every second."""
        while True:
            pages = int((self._folder / "statm").read_text().split()[1])
            self.megabytes.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
            self.descriptors.append(len(os.listdir(self._folder / "fd")))
            await asyncio.sleep(SAMPLE_S)

    def faults(self) -> list[str]:
        """Return what has changed."""
        wrong = []
        if growth(self.megabytes) > GROWTH:
            wrong.append(f"the memory of the daemon has grown: {self.megabytes}")
        if growth(self.descriptors) > MORE_OPEN:
            wrong.append(f"the descriptors of the daemon have become more: {self.descriptors}")
        return wrong


def growth(samples: Sequence[float]) -> float:
    """Return the middle of the last third, by that of the third before; what comes first is getting warm."""
    third = len(samples) // 3
    if not third:
        return 1.0
    return statistics.median(samples[-third:]) / statistics.median(samples[third : 2 * third])


class Surfaces:
    """Plays one scenario after the other."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.plays: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._world = world
        self._chance = chance
        self._references: dict[str, list[Any]] = {}
        self._deck: list[Cell] = []
        self._stages = defaultdict[str, asyncio.Lock](asyncio.Lock)
        """A driver keeps one client for all plays: those of a family of surfaces come one after the other."""

    async def play(self, deadline: float) -> None:
        """Play until it is time to stop; every cell comes before any comes again."""
        while time.monotonic() < deadline:
            if not self._deck:
                self._deck = self._chance.sample(CELLS, len(CELLS))
            scenario, surface = self._deck.pop()
            try:
                async with asyncio.timeout(PLAY_S):
                    await self._one(scenario, surface)
            except (AssertionError, BridleError, OSError, TimeoutError) as error:
                self.wrong.append(
                    f"{scenario.name} on {surface.name}: {type(error).__name__} {str(error)[:300]}"
                )

    async def _one(self, scenario: Scenario, surface: Surface) -> None:
        expected = self._references.get(scenario.name)
        if expected is None:
            async with self._stages[IN_PROCESS.name]:
                expected = (await perform(self._world, IN_PROCESS, scenario)).log
            self._references[scenario.name] = expected
        async with self._stages[surface.name.partition("_")[0]]:
            played = await perform(self._world, surface, scenario)
        self.plays[surface.name] += 1
        if played.log != expected:
            self.wrong.append(f"{scenario.name} on {surface.name} has another log")
        if played.seen != surface.expects(scenario):
            self.wrong.append(f"{scenario.name} on {surface.name} shows {played.seen}")


async def surfaces(root: Path, environ: dict[str, str], seconds: float, chance: random.Random) -> Part:
    """Play on all surfaces for some time."""
    root.mkdir()
    part = Part("surfaces")
    async with World(root, environ) as world:
        with (world.home / "config.toml").open("a") as settings:
            settings.write(FEW_SESSIONS)
        await world.api()
        pid = DaemonPlace(world.home).pid()
        assert pid is not None
        vitals, playing = Vitals(pid), Surfaces(world, chance)
        following = asyncio.create_task(vitals.follow())
        deadline = time.monotonic() + seconds
        await asyncio.gather(*(playing.play(deadline) for _ in range(WORKERS)))
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        part.figures = {"plays": playing.plays.total(), "surfaces": len(playing.plays)}
        part.wrong = playing.wrong + (vitals.faults() if seconds >= LONG_S else [])
        part.figures |= {
            "daemon MB": round(vitals.megabytes[-1], 1),
            "its growth": round(growth(vitals.megabytes), 3),
            "its descriptors": int(vitals.descriptors[-1]),
        }
    await _look_through(world, part)
    return part


async def _look_through(world: World, part: Part) -> None:
    """Check every record once the daemon is gone."""
    store = open_store(load_settings(world.environ, world.root))
    events: list[Any] = []
    try:
        for session in await store.ids():
            records: list[Record] = await store.read(session)
            events += [record.event for record in records]
            part.wrong += [f"{session}: {fault}" for fault in await log_faults(store, session, records)]
    finally:
        await store.aclose()
    part.figures |= figures_of(events)


def figures_of(events: list[Any]) -> dict[str, int | float]:
    """Count what has happened in sessions."""
    return {
        "runs": sum(isinstance(event, RunEnded) for event in events),
        "turns": sum(isinstance(event, ModelReplied) for event in events),
        "tool calls": sum(isinstance(event, ToolFinished) for event in events),
        "records": len(events),
    }
