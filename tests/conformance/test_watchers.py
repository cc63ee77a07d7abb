"""Two clients watch one run, one from its start and one from its middle: both see all of it."""

import asyncio
from contextlib import aclosing

import pytest

from bridle.core.messages import user_message
from bridle.core.protocol import Prompt
from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import DONE, SAY_DONE, UNTIL_GO, call, waiting
from tests.conformance.seen import Reducer, Seen, began, finished, lanes, said, started
from tests.conformance.surface import Surface
from tests.conformance.surfaces import SURFACES
from tests.conformance.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

WATCHED = Scenario(
    "two_watchers",
    is_watched=True,
    replies=(
        {"text": ["I wait ", "for you."], "calls": [call("c1", "bash", command=UNTIL_GO)]},
        SAY_DONE,
    ),
    story=(began(), said("I wait for you."), *waiting(), finished("c1", "gone"), *DONE),
)

CELLS = [pytest.param(surface, id=surface.name) for surface in SURFACES if surface.watch is not None]


@pytest.mark.parametrize("surface", CELLS)
async def test_a_late_watcher_sees_what_an_early_one_sees(world: World, surface: Surface):
    place = world.place(WATCHED)
    assert surface.watch is not None
    async with surface.open(world, place) as (_, api):
        await api.create(cwd=place.cwd, session_id=place.session)
        watchers: list[asyncio.Task[list[Seen]]] = []
        async with aclosing(api.watch(place.session)) as items:
            reducer = Reducer()
            await api.submit(place.session, Prompt(user_message(WATCHED.prompt)))
            async for item in items:
                lines = reducer.feed(item)
                if began() in lines or started("c1") in lines:
                    is_on = asyncio.Event()
                    watchers.append(asyncio.create_task(surface.watch(world, place, api, is_on)))
                    await is_on.wait()
                if started("c1") in lines:
                    break
        (place.folder / "go").touch()
        early, late = [place.normal_lines(seen) for seen in await asyncio.gather(*watchers)]

    expected = surface.expects(WATCHED)
    assert (lanes(early, surface.shows), lanes(late, surface.shows)) == (expected, expected)
