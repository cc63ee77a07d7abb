import sys
from pathlib import Path

from bridle.config.prompt import system_prompt


def test_the_stable_parts_come_first_and_the_date_last():
    day_ms = 20_000 * 86_400_000

    assert system_prompt("Agent.", "Context.", Path("/w"), day_ms + 5) == (
        f"Agent.\n\nContext.\n\nWorking directory: /w\nOperating system: {sys.platform}\nDate: 2024-10-04"
    )


def test_an_empty_part_leaves_no_gap():
    assert system_prompt("", "", Path("/w"), 0).startswith("Working directory: /w\n")
