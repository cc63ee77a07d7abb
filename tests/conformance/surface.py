"""A surface in the matrix: how to drive it, what its wire shows and what it cannot express."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bridle.core.protocol import Decide, Reply
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from tests.conformance.scenario import Move, Scenario, word_of
from tests.conformance.seen import KINDS, Lanes, Seen, lanes
from tests.conformance.world import Driver, Open, Place, World, play

Watch = Callable[[World, Place, SessionApi, asyncio.Event], Coroutine[Any, Any, list[Seen]]]
"""Watches a session up to the end of its run, and sets the event once it does."""


class Surface(Struct, frozen=True):
    """One way to reach the engine."""

    name: str
    open: Open
    is_bare: bool = False
    """It answers nothing automatically, even if there is no one to ask."""
    shows: frozenset[str] = KINDS
    """The kinds of lines that its wire has words for."""
    tells: Callable[[Scenario], Sequence[Seen]] = lambda scenario: scenario.story
    """What of a story it tells, where that is not a matter of kinds alone."""
    lacks: Mapping[str, str] = {}
    """Moves that it has no words for, and why: another client at the daemon makes them."""
    absent: Mapping[str, str] = {}
    """Scenarios that cannot be played on it, and why."""

    watch: Watch | None = None
    """Shows a run to a client that did not start it."""

    def expects(self, scenario: Scenario) -> Lanes:
        """Return the expected visible output of a scenario."""
        return lanes(self.tells(scenario), self.shows)


class Played(Struct, frozen=True):
    """The outcome of a play."""

    seen: Lanes
    log: list[Any]


class _Moves:
    """Makes the moves of a surface, or lets another client make them."""

    def __init__(self, surface: Surface, driver: Driver, place: Place, api: SessionApi) -> None:
        self.start = driver.start
        self.seen = driver.seen
        self._surface = surface
        self._driver = driver
        self._place = place
        self._api = api

    async def do(self, move: Move) -> None:
        is_unattended = self._place.scenario.is_unattended
        if is_unattended and isinstance(move, (Decide, Reply)) and not self._surface.is_bare:
            return
        if word_of(move) in self._surface.lacks:
            await self._api.submit(self._place.session, move)
        else:
            await self._driver.do(move)


async def perform(world: World, surface: Surface, scenario: Scenario) -> Played:
    """Play a scenario through a surface."""
    place = world.place(scenario)
    try:
        async with surface.open(world, place) as (driver, api):
            await play(place, _Moves(surface, driver, place, api), api)
            seen = place.normal_lines(await driver.seen())
            log = place.normal(await api.ask(Records(place.session)))
        return Played(lanes(seen, surface.shows), log)
    finally:
        if scenario.remembers:
            await world.forget(scenario.remembers)
