"""The process that runs a session is killed with -9; every surface resumes it in the same way."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from contextlib import aclosing
from pathlib import Path

import pytest

from bridle.core.protocol import Resume
from bridle.core.queries import Records
from bridle.core.recovery import INTERRUPTED
from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import DONE, SAY_DONE, WAIT
from tests.conformance.seen import Seen, began, finished, lanes
from tests.conformance.surface import Played, Surface
from tests.conformance.surfaces import IN_PROCESS, SURFACES
from tests.conformance.world import Place, World, follow

pytestmark = pytest.mark.asyncio(loop_scope="session")

INTERRUPTED_CALL = finished("c1", INTERRUPTED, is_error=True)

RESUMED = Scenario(
    "resume",
    replies=(WAIT, SAY_DONE),
    story=(Seen("resumed"), INTERRUPTED_CALL, *DONE),
)
PROMPTED = Scenario(
    "prompt_after_crash",
    runs=2,  # the one that was cut off ends too
    replies=(WAIT, SAY_DONE),
    story=(began(), *DONE),
)

CELLS = [
    pytest.param(scenario, surface, id=f"{scenario.name}-{surface.name}")
    for scenario in (RESUMED, PROMPTED)
    for surface in SURFACES
    if scenario.name not in surface.absent
]


@pytest.mark.parametrize(("scenario", "surface"), CELLS)
async def test_a_crash_is_overcome_in_the_same_way(world: World, scenario: Scenario, surface: Surface):
    places = await cut_off(world, scenario)
    expected = world.kept.get(f"log of {scenario.name}")
    if expected is None:
        expected = (await take_up(world, IN_PROCESS, places["reference"])).log
        world.kept[f"log of {scenario.name}"] = expected

    played = await take_up(world, surface, places[surface.name])

    assert played.seen == surface.expects(scenario)
    assert played.log == expected


async def cut_off(world: World, scenario: Scenario) -> dict[str, Place]:
    """Return sessions whose runs were cut off in a tool, one for each surface."""
    key = f"cut off for {scenario.name}"
    if key not in world.kept:
        names = ["reference", *(surface.name for surface in SURFACES)]
        places = world.kept[key] = {name: world.place(scenario) for name in names}
        plays = [word for place in places.values() for word in (place.session, place.cwd)]
        root = str(Path(__file__).parents[2])
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(Path(__file__).with_name("doomed.py")), str(world.home), *plays),
            stdout=PIPE,
            env=world.environ | {"PYTHONPATH": root},
        )
        assert process.stdout is not None
        line = await process.stdout.readline()
        process.kill()
        await process.wait()
        assert line == b"ready\n"
    kept: dict[str, Place] = world.kept[key]
    return kept


async def take_up(world: World, surface: Surface, place: Place) -> Played:
    """Go on with a session whose run was cut off."""
    async with (
        surface.open(world, place) as (driver, api),
        aclosing(api.watch(place.session, None)) as items,
    ):
        await anext(items)
        await (driver.do(Resume()) if place.scenario is RESUMED else driver.start())
        await follow(place, driver, items)
        seen = place.normal_lines(await driver.seen())
        log = place.normal(await api.ask(Records(place.session)))
        is_new_run = place.scenario is PROMPTED
        return Played(lanes(_of_the_run(seen) if is_new_run else seen, surface.shows), log)


def _of_the_run(seen: list[Seen]) -> list[Seen]:
    """Leave out the end of the run before, which is shown by surfaces that show a session and not a run."""
    if began() in seen:
        return seen[seen.index(began()) :]
    return [line for line in seen if not line.call]
