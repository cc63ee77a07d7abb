"""Each Python and each user gets a cell, and the table shows its result."""

import sys
from pathlib import Path

import pytest

from scripts.interpreters import Interpreter
from scripts.matrix import Cell, Result, is_wanted, report, some_cells
from scripts.matrix_parts import Account, check_access, environment, relocate
from scripts.suite import Failure, Outcome

OLD, MIDDLE, NEW = (Interpreter((3, minor, 1), f"/usr/bin/python3.{minor}", "/usr") for minor in (11, 12, 13))


def test_each_python_has_a_cell_and_the_oldest_one_for_each_user():
    newer = Interpreter((3, 11, 7), "/opt/bin/python3.11", "/opt")
    cells = some_cells([OLD, newer, MIDDLE, NEW], ("root", "ordinary"))

    assert [(cell.python.version, cell.user) for cell in cells] == [
        ("3.11.1", "root"),
        ("3.11.1", "ordinary"),
        ("3.12.1", "root"),
        ("3.13.1", "ordinary"),
    ]
    assert [cell.user for cell in some_cells([OLD, NEW], ("alice",))] == ["alice", "alice"]


@pytest.mark.parametrize(
    ("versions", "users", "expected"),
    [
        ([], [], True),
        (["3.13"], ["root"], True),
        (["3.13.1", "3.11"], [], True),
        (["3.1"], [], False),
        (["3.13"], ["ordinary"], False),
    ],
)
def test_cells_are_picked_by_version_and_user(versions: list[str], users: list[str], expected: bool):
    assert is_wanted(Cell(NEW, "root"), versions, users) is expected


def test_another_user_gets_a_plain_environment_of_its_own():
    given = {
        "PATH": f"{Path(sys.executable).parent}:/opt/x",
        "HOME": "/root",
        "VIRTUAL_ENV": "/x",
        "LANG": "C",
    }

    own = environment(Account("root", "/root"), given)
    other = environment(Account("other", "/home/other", (1234, 1234)), given)

    assert own == {"PATH": "/opt/x", "HOME": "/root", "USER": "root", "LOGNAME": "root", "LANG": "C"}
    assert other["HOME"] == "/home/other"
    assert "/opt/x" not in other["PATH"]


def test_a_copied_program_looks_for_its_libraries_beside_itself(tmp_path: Path):
    program = tmp_path / "python3"
    program.write_bytes(b"\x7fELF..\0/opt/pythons/3.12.1/lib\0/opt/pythons/3.12.1/library\0")

    relocate(program, "/opt/pythons/3.12.1")

    assert program.read_bytes() == (
        b"\x7fELF..\0$ORIGIN/../lib" + b"\0" * 10 + b"/opt/pythons/3.12.1/library\0"
    )


def test_the_table_names_what_failed_and_what_could_not_be_run():
    results = [
        Result(Cell(OLD, "root"), 61.0, Outcome(9, 1, ())),
        Result(Cell(MIDDLE, "ordinary"), 5.0, Outcome(9, 0, (Failure("tests/test_x.py::test_y", "no"),))),
        Result(Cell(NEW, "root"), 0.0, reason="no venv"),
    ]

    said = report(results, is_alone=False).splitlines()

    assert said[:4] == [
        "Python  user      result   tests  time",
        "3.11.1  root      passed   10     1:01",
        "3.12.1  ordinary  failed   10     0:05",
        "3.13.1  root      not run  -      0:00",
    ]
    assert "  tests/test_x.py::test_y  no" in said
    assert said[-1] == "3.13.1 root: not run: no venv"
    assert "not root: only alice was tested" in report([Result(Cell(OLD, "alice"), 1.0)], is_alone=True)


def test_a_clone_that_the_user_cannot_enter_is_refused(tmp_path: Path):
    clone = tmp_path / "clone"
    clone.mkdir(0o700)
    nobody = Account("nobody", "/", (65534, 65534))

    with pytest.raises(PermissionError, match=r"the user nobody cannot enter .*clone.*--folder"):
        check_access(clone, nobody)
