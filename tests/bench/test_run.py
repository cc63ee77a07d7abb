"""Every bench is known, describes itself, and runs in a separate process."""

import ast
from pathlib import Path

import pytest
import run
from report.groups import MODULES
from rows import Line

FOLDER = Path(run.__file__).parent


def main_of(path: Path) -> str:
    """Return what the function `main` of a program gives back."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name == "main" and node.returns:
            return ast.unparse(node.returns)
    return ""


def test_every_bench_is_in_a_group_and_nothing_else_is():
    benches = sorted(path.stem for path in FOLDER.glob("*.py") if main_of(path) == "list[Line]")

    assert sorted(MODULES) == benches


def test_a_bench_runs_in_a_process_of_its_own_and_says_what_it_measures():
    found = run.measure_one("scale_size", [], is_quick=True)

    assert found is not None
    assert (found.lines, found.changes, found.quick) == ([], [], True)
    assert found.how.startswith("Machines for 10,000, 100,000 and a million sessions")
    assert found.took_s > 0


def test_a_bench_that_fails_gives_nothing():
    known: list[Line] = []

    assert run.measure_one("no_such_bench", known, is_quick=True) is None


def test_only_benches_can_be_named(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        run.main(["no_such_bench"])

    assert ended.value.code == 2
    assert "no_such_bench" in capsys.readouterr().err
