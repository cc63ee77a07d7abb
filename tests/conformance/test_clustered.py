"""The same scenarios on many machines: a cluster writes the same log as one machine.

Every scenario is played at the daemon's API; the other surfaces take turns, so that each scenario is played
by one more of them. `make chaos` plays all of it (BRIDLE_CONFORMANCE=all).
"""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.conformance.clustered import ClusterWorld
from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import SCENARIOS
from tests.conformance.surface import Surface, perform
from tests.conformance.surfaces import IN_PROCESS, SURFACES
from tests.conformance.test_crash import RESUMED, cut_off, take_up
from tests.conformance.test_matrix import reference
from tests.conformance.test_watchers import test_a_late_watcher_sees_what_an_early_one_sees as see_twice
from tests.conformance.world import World, environment

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAY_ALL = os.environ.get("BRIDLE_CONFORMANCE") == "all"
ALWAYS = ("daemon",)


def chosen(scenarios: tuple[Scenario, ...]) -> list[object]:
    """Return the cells that are played: each scenario at the API, and by a surface that had few turns."""
    turns = {surface.name: 0 for surface in SURFACES if surface.name not in ALWAYS}
    cells = []
    for scenario in scenarios:
        able = [one for one in SURFACES if one.name in turns and scenario.name not in one.absent]
        turn = min(able, key=lambda one: turns[one.name])
        turns[turn.name] += 1
        cells += [
            pytest.param(scenario, surface, id=f"{scenario.name}-{surface.name}")
            for surface in SURFACES
            if scenario.name not in surface.absent and (PLAY_ALL or surface.name in ALWAYS or surface is turn)
        ]
    return cells


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ClusterWorld]:
    """Yield one cluster for all plays of this module; its nodes poll, so it is not kept longer.

    Its folder has a name as long as that of the other world: both count the same tokens.
    """
    async with ClusterWorld(tmp_path_factory.mktemp("world"), environment()) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "surface"), chosen(SCENARIOS))
async def test_a_scenario_is_the_same_on_many_machines(
    world: World, cluster: ClusterWorld, scenario: Scenario, surface: Surface
):
    expected = await reference(world, scenario)

    played = await perform(cluster, surface, scenario)

    assert played.seen == surface.expects(scenario)
    assert played.log == expected


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "surface"), chosen((RESUMED,)))
async def test_a_crash_is_overcome_in_the_same_way_on_many_machines(
    world: World, cluster: ClusterWorld, scenario: Scenario, surface: Surface
):
    """A prompt after a crash is not compared: on many machines the run that was cut off continues first."""
    expected = world.kept.get(f"log of {scenario.name}")
    if expected is None:
        alone = (await cut_off(world, scenario))["reference"]
        expected = world.kept[f"log of {scenario.name}"] = (await take_up(world, IN_PROCESS, alone)).log
    place = (await cut_off(cluster, scenario))[surface.name]
    await cluster.until_given_up(place.session)

    played = await take_up(cluster, surface, place)

    assert played.seen == surface.expects(scenario)
    assert played.log == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "surface",
    [
        pytest.param(surface, id=surface.name)
        for surface in SURFACES
        if surface.watch is not None and (PLAY_ALL or surface.name in ALWAYS)
    ],
)
async def test_a_late_watcher_sees_the_same_on_many_machines(cluster: ClusterWorld, surface: Surface):
    await see_twice(cluster, surface)
