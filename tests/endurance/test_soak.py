"""The short form of `make soak`: all surfaces, and a daemon that is killed, side by side.

BRIDLE_SOAK_SEED repeats what chance has chosen, as far as chance alone decides.
"""

import os
import random
from pathlib import Path

import pytest

from tests.endurance.soak import soak
from tests.endurance.soak_report import Part, Report


@pytest.mark.slow
async def test_nothing_is_lost_doubled_or_left_behind(tmp_path: Path):
    seed = int(os.environ.get("BRIDLE_SOAK_SEED") or random.SystemRandom().randrange(10**6))
    report = await soak(tmp_path, 10.0, seed)

    assert report.faults == [], report.text
    assert [part.name for part in report.parts] == ["surfaces", "storm"]
    assert all(part.figures["runs"] for part in report.parts), report.text


def test_a_report_says_what_is_wrong_and_how_to_repeat_it():
    report = Report(7, 1.5, [Part("storm", {"runs": 1200}, ["it does not exist"])], ["left behind: 1"])

    assert report.text.splitlines() == [
        "soak: 1.5 s, seed 7",
        "storm: runs 1,200",
        "wrong: storm: it does not exist",
        "wrong: left behind: 1",
        "soak: failed with seed 7",
    ]
