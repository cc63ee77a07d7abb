"""The tables of missing features name only things that exist."""

from typing import get_args

import pytest

from bridle.core.protocol import Answer
from tests.conformance.scenario import Move, Touch, word_of
from tests.conformance.scenarios import SCENARIOS
from tests.conformance.seen import KINDS
from tests.conformance.surface import Surface
from tests.conformance.surfaces import SURFACES
from tests.conformance.test_crash import PROMPTED, RESUMED

PLAYED = {scenario.name for scenario in (*SCENARIOS, PROMPTED, RESUMED)}
WORDS = {f"decide {answer}" for answer in get_args(Answer)} | {
    kind.__name__.lower() for kind in get_args(Move) if kind.__name__ != "Decide"
}


@pytest.mark.parametrize("surface", [pytest.param(surface, id=surface.name) for surface in SURFACES])
def test_what_a_surface_lacks_is_known(surface: Surface):
    assert surface.absent.keys() <= PLAYED
    assert surface.lacks.keys() <= WORDS
    assert surface.shows <= KINDS
    assert "ended" in surface.shows


def test_every_move_has_a_word():
    made = [when.do for scenario in SCENARIOS for when in scenario.moves if not isinstance(when.do, Touch)]

    assert {word_of(move) for move in made} <= WORDS


def test_every_scenario_is_played_by_most_surfaces():
    absent = {name: sum(name in surface.absent for surface in SURFACES) for name in PLAYED}

    assert [name for name, count in absent.items() if count > len(SURFACES) // 2] == []
