"""The page follows from a recorded run, and it explains every weak row."""

import re
from pathlib import Path

from report.compare import Change
from report.kept import Machine, Measured, Results, newest
from report.page import PAGE, PICTURES, ROOT, explanations, render, weak, write_page
from rows import Curve, Line, Row, figure, ours

MACHINE = Machine("A CPU", 2, 4.0, "Linux 6.1", "3.11.7")


def measured(*lines: Line, changes: tuple[Change, ...] = ()) -> Measured:
    return Measured(
        "2026-01-02 03:04", "0.1", 3.0, (0.1, 2.0), "It measures.", list(lines), changes=list(changes)
    )


def results() -> Results:
    fine = Row("fine", "a fine thing", "ms", ours([1.0]), bar=2.0)
    slow = Row("slow", "a slow thing", "ms", ours([3.0]), (figure("bare", [1.0]),), 2.0)
    last = Row("last", "a race", "ms", ours([9.0]), tuple(figure(f"p{n}", [n + 1.0]) for n in range(4)), 1.0)
    steep = Curve("steep", "a turn", "messages", "ms", ((10, 1.0), (100, 10.0)), 0.5)
    worse = Change("fine", "a fine thing", 0.5, 1.0, worse=True)
    return Results(
        MACHINE,
        {
            "peers": measured(last),
            "startup": measured(fine, changes=(worse,)),
            "turns": measured(slow),
            "scale_size": measured(),
            "growth_history": measured(steep),
        },
    )


def test_a_page_has_its_parts_in_order():
    page = render(results(), {})[PAGE]

    assert re.findall(r"^#+ .*$", page, re.MULTILINE) == [
        "# Benchmarks",
        "## Not first, or over the limit",
        "## Changes since the previous run",
        "## Compared with other frameworks",
        "## Starting",
        "## Turns and streams",
        "## Growth",
        "## Duration of the benches",
    ]
    assert "**1 of 4 limits hold.**" in page
    assert "- worse: a fine thing: 0.5 before, 1 now" in page
    assert "| all | 15 | | |" in page
    assert "\n\n\n" not in page


def test_weak_rows_stand_with_what_is_said_about_them():
    page = render(results(), {"slow": "It would take\n0.5 ms less.\n", "fine": "Never shown."})[PAGE]

    said = page.partition("over the limit\n\n")[2].partition("\n\n")[0]
    assert said.splitlines() == [
        "- **a race**, ms: 9.00, at most 1.",
        "- **a slow thing**, ms: 3.00, at most 2. It would take 0.5 ms less.",
        "- **a turn**, ms: n^1.00, at most n^0.5.",
    ]
    assert [line.id for line in weak(results())] == ["last", "slow", "steep"]


def test_races_and_curves_have_pictures_that_the_page_shows():
    files = render(results(), {})

    shown = re.findall(r"\(images/bench/(.+?)\)", files[PAGE])
    assert sorted(files) == [PAGE, f"{PICTURES}/last.svg", f"{PICTURES}/steep.svg"]
    assert shown == ["last.svg", "steep.svg"]


def test_pictures_of_rows_that_are_gone_go_too(tmp_path: Path):
    old = tmp_path / PICTURES / "old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>")

    write_page(render(results(), {}), tmp_path)

    assert sorted(path.name for path in old.parent.iterdir()) == ["last.svg", "steep.svg"]
    assert (tmp_path / PAGE).read_text() == render(results(), {})[PAGE]


def test_the_page_of_this_repository_is_what_its_recorded_run_gives():
    run = newest()
    made = render(run, explanations()) if run else {}

    kept = {PAGE, *(f"{PICTURES}/{path.name}" for path in (ROOT / PICTURES).glob("*.svg"))}
    found = {name: (ROOT / name).read_text() for name in kept if (ROOT / name).exists()}
    assert found == made, "hint: python bench/run.py --report-only"


def test_every_weak_row_of_the_recorded_run_is_explained_with_a_number():
    run, explained = newest(), explanations()
    unexplained = [line.id for line in (weak(run) if run else []) if not explained.get(line.id)]
    numberless = [name for name, said in explained.items() if not re.search(r"\d", said)]

    assert (unexplained, numberless) == ([], []), "hint: bench/explained.toml"


def test_nothing_is_explained_that_nobody_measures():
    run = newest()
    known = {line.id for line in run.lines} if run else set(explanations())

    assert set(explanations()) <= known
