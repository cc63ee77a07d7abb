"""A whole task in a real project: find a bug, read, edit with approval, run the tests; rewind."""

import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle

MEDIAN = """\
def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle] + ordered[middle + 1]) / 2
"""
TESTS = """\
import unittest

from stats.median import median


class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
"""
WRONG = "(ordered[middle] + ordered[middle + 1]) / 2"
RIGHT = "sum(ordered[middle - 1 : middle + 1]) / 2"  # of another size: Python compares no content
FIXED = MEDIAN.replace(WRONG, RIGHT)
RUN_TESTS = "python3 -m unittest -q 2>&1 | tail -n 3"

WORK = (
    {"text": "I run the tests.", "calls": [{"name": "bash", "args": {"command": RUN_TESTS}}]},
    {"calls": [{"name": "grep", "args": {"pattern": "def median"}}]},
    {"calls": [{"name": "read_file", "args": {"path": "stats/median.py"}}]},
    {
        "text": "The wrong neighbour is taken.",
        "calls": [
            {
                "name": "edit_file",
                "args": {
                    "path": "stats/median.py",
                    "old_str": WRONG,
                    "new_str": RIGHT,
                },
            }
        ],
    },
    {"calls": [{"name": "bash", "args": {"command": RUN_TESTS}}]},
    {"text": "Fixed. The tests say:\n{last_tool_result}"},
)


@pytest.fixture
def project(bridle: Bridle) -> Path:
    (bridle.project / "stats").mkdir()
    (bridle.project / "stats" / "__init__.py").touch()
    (bridle.project / "stats" / "median.py").write_text(MEDIAN)
    (bridle.project / "test_median.py").write_text(TESTS)
    return bridle.project


def tool_results(bridle: Bridle, session: str) -> list[tuple[str, str, bool]]:
    exported = bridle("session", "export", session, "--format", "json")
    assert exported.code == 0, exported.err
    events = [record["event"] for record in json.loads(exported.out)["records"]]
    results = [event["result"] for event in events if event["type"] == "tool_finished"]
    return [(result["name"], result["output"], result.get("is_error", False)) for result in results]


def test_a_bug_is_found_fixed_and_proved_with_every_change_approved(bridle: Bridle, project: Path):
    with bridle.terminal("run", "--model", bridle.script(*WORK), "fix the failing test") as terminal:
        terminal.expect("$ python3 -m unittest")
        terminal.expect("> ")
        terminal.send("y")
        terminal.expect(f"-    return {WRONG}")
        terminal.expect(f"+    return {RIGHT}")
        terminal.expect("> ")
        terminal.send("y")
        terminal.expect("$ python3 -m unittest")
        terminal.expect("> ")
        terminal.send("y")
        assert terminal.finish() == 0, terminal.screen

    assert (project / "stats" / "median.py").read_text() == FIXED
    assert "Fixed. The tests say:" in terminal.screen
    [session] = bridle.sessions()
    names = [name for name, _, _ in tool_results(bridle, session["id"])]
    assert names == ["bash", "grep", "read_file", "edit_file", "bash"]
    first, *_, last = tool_results(bridle, session["id"])
    assert "FAILED (failures=1)" in first[1]
    assert last[1].strip().endswith("OK")


def test_the_work_can_be_taken_back_turn_by_turn_and_again(bridle: Bridle, project: Path):
    done = bridle("run", "--yolo", "--model", bridle.script(*WORK), "fix the failing test")
    assert done.code == 0, done.err
    [session] = bridle.sessions()

    diff = bridle("session", "diff", session["id"])
    assert f"+    return {RIGHT}" in diff.out

    dry = bridle("session", "rewind", session["id"], "--to", "3", "--dry-run")
    assert (dry.code, (project / "stats" / "median.py").read_text()) == (0, FIXED)
    assert f"+    return {WRONG}" in dry.out

    back = bridle("session", "rewind", session["id"], "--to", "3", "--yes")
    assert (back.code, (project / "stats" / "median.py").read_text()) == (0, MEDIAN), back.err

    assert list(project.rglob("*.pyc"))  # from the tests of turn 1

    again = bridle("session", "rewind", session["id"], "--undo", "--yes")
    assert (again.code, (project / "stats" / "median.py").read_text()) == (0, FIXED), again.err

    start = bridle("session", "rewind", session["id"], "--to", "0", "--yes")
    assert (start.code, list(project.rglob("*.pyc"))) == (0, []), start.err
