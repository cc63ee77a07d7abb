"""The process ends, or the disk fails, at steps of a play: it reaches the same end, without loss.

`make soak` goes through every step of every kind; here it is every so manieth, each time from another one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.endurance.same_log import Logs

ROOT = Path(__file__).parents[2]


def walk(kind: str, *faults: str) -> dict[str, Any]:
    """Go through some steps in a separate process without threads."""
    words = ("-m", "tests.endurance.crash_points", kind, *faults, "--first", "3")
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=150
    )
    assert done.stdout, done.stderr[-3000:]
    tallies: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return tallies


@pytest.mark.parametrize(
    ("kind", "faults"),
    [
        ("sqlite", ("die:89", "tear:71", "full:139", "broken:197", "glitch:113", "slow")),
        ("jsonl", ("die:31", "tear:7", "full:47", "broken:71", "glitch:37", "slow")),
    ],
)
def test_a_play_comes_to_its_end_whatever_the_disk_does(kind: str, faults: tuple[str, ...]):
    tallies = walk(kind, *faults)

    assert [line for tally in tallies.values() for line in tally["wrong"]] == []
    assert all(tally["points"] >= 3 or fault == "slow" for fault, tally in tallies.items()), tallies
    assert all(tallies[fault]["resumed"] for fault in ("die", "tear", "full", "broken")), tallies
    assert all(tallies[fault]["told"] for fault in ("full", "broken", "glitch")), tallies


def test_a_harness_that_sees_nothing_wrong_would_have_seen_it():
    """A log in which a call has two results, or in which an event is missing, is not the same log."""
    one = Logs(exact={"main": [{"type": "a"}, {"type": "b"}]})

    assert Logs(exact={"main": [{"type": "a"}]}).differences(one) == [
        "main: 1 events, expected 2: {'type': 'b'}"
    ]
    assert Logs(exact={"main": [{"type": "a"}, {"type": "c"}]}).differences(one) == [
        "main: event 2 is {'type': 'c'}, expected {'type': 'b'}"
    ]
    assert Logs().differences(one) == ["there are [], expected ['main']"]
    assert one.differences(one) == []
