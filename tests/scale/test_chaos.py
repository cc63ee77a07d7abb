"""Workers, gateways and PostgreSQL die and return during runs: nothing is lost or done twice.

`make chaos` does the same with 200 sessions, for minutes. BRIDLE_CHAOS_SEED repeats what chance has chosen.
"""

import os
from pathlib import Path

import pytest

from tests.scale.chaos import Plan, chaos
from tests.scale.stage import seed_of


@pytest.mark.slow
async def test_what_was_promised_holds_whatever_dies(tmp_path: Path):
    seed = seed_of(os.environ.get("BRIDLE_CHAOS_SEED"))
    plan = Plan(seed, runs=12, seconds=12.0, pause_s=1.0)

    assert await chaos(tmp_path / "cluster", plan) == []
