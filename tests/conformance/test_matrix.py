"""Every scenario on every surface: the stored logs are equal, and the visible output is the same."""

from typing import Any

import pytest

from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import SCENARIOS
from tests.conformance.surface import Surface, perform
from tests.conformance.surfaces import IN_PROCESS, SURFACES
from tests.conformance.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


CELLS = [
    pytest.param(scenario, surface, id=f"{scenario.name}-{surface.name}")
    for scenario in SCENARIOS
    for surface in SURFACES
    if scenario.name not in surface.absent
]


@pytest.mark.parametrize(("scenario", "surface"), CELLS)
async def test_a_scenario_is_the_same_on_every_surface(world: World, scenario: Scenario, surface: Surface):
    expected = await reference(world, scenario)

    played = await perform(world, surface, scenario)

    assert played.seen == surface.expects(scenario)
    assert played.log == expected


async def reference(world: World, scenario: Scenario) -> list[Any]:
    """Return the log that the engine writes for a scenario when there is no surface in between."""
    log: list[Any] | None = world.kept.get(scenario.name)
    if log is None:
        log = world.kept[scenario.name] = (await perform(world, IN_PROCESS, scenario)).log
    return log
