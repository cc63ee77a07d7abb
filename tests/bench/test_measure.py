"""Benches measure in turn, use fewer rounds in quick runs, and report each result in one line."""

import sys

import pytest
from measure import QUICK, child_cpu_s, in_turns, report, rounds, told
from rows import Curve, Figure, Row, cannot, ours


@pytest.mark.parametrize(("quick", "found"), [("", [30, 4, 2]), ("1", [10, 2, 2])])
def test_a_quick_run_has_a_third_of_the_rounds(quick: str, found: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(QUICK, quick)

    assert [rounds(30), rounds(4), rounds(2)] == found


def test_a_childs_cpu_is_counted_and_not_its_sleep():
    busy = child_cpu_s(
        [sys.executable, "-S", "-c", "import time; e=time.process_time()+.2\nwhile time.process_time()<e: 0"]
    )

    assert busy > 0.2


def test_commands_take_turns(tmp_path):
    note = tmp_path / "note"
    commands = [["sh", "-c", f"echo {name} >> {note}"] for name in "ab"]

    found = in_turns(2, *commands)

    assert note.read_text().split() == ["a", "b", "a", "b"]
    assert [len(times) for times in found] == [2, 2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            Row(
                "a",
                "a",
                "ms",
                Figure("Bridle", 3.0, 0.03),
                (Figure("bare", 2.0, 0.04), cannot("x", "y")),
                2.0,
            ),
            "1.50 ±5%  bar 2.00  ok  (3.00 beside 2.00 ms: bare)",
        ),
        (Row("a", "a", "MB", ours([61.0]), bar=60.0), "61.0 MB  bar 60.0  OVER"),
        (Row("a", "a", "MB", ours([61.0])), "61.0 MB"),
        (Curve("a", "a", "n", "ms", ((10, 1.0), (100, 10.0)), 1.5), "n^1.00  bar 1.50  ok"),
    ],
)
def test_a_line_says_what_was_found(line: Row | Curve, said: str, capsys: pytest.CaptureFixture[str]):
    assert told(line) == said
    assert report([line]) == [line]
    assert capsys.readouterr().out == f"{'a':<66} {said}\n"
