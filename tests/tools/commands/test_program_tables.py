"""The tables of programs: their notation, and a check for typing errors."""

import pytest

from bridle.tools.commands import program_tables, wrappers
from bridle.tools.commands.program_tables import Program, git_command, known_program, program, reading_program

TABLES = {name: getattr(program_tables, name) for name in ("_READING", "_OTHER", "_GIT")}
WRAPPERS = [
    *(known for known, _ in wrappers._PLAIN.values()),
    *wrappers._RUNNERS.values(),
    *(value for value in vars(wrappers).values() if isinstance(value, Program)),
]


def test_the_notation():
    assert program("read", "ab # c: d< e> f? --x --y: --z?") == Program(
        "read",
        {"-a": "", "-b": "", "-c": ":", "-d": "<", "-e": ">", "-f": "?", "--x": "", "--y": ":", "--z": "?"},
        takes_numbers=True,
    )


@pytest.mark.parametrize("table", TABLES)
def test_every_row_can_be_read(table: str):
    rows = program_tables._rows(TABLES[table])

    assert len(rows) > 20
    for name in rows:
        known = program_tables._lookup(TABLES[table], name)
        assert known is not None
        assert_well_formed(known)


@pytest.mark.parametrize("known", WRAPPERS)
def test_every_wrapper_can_be_read(known: Program):
    assert_well_formed(known)


def assert_well_formed(known: Program) -> None:
    assert known.operands in ("text", "read", "write", "last", "pattern", "second", "mode", "guess")
    for flag in known.flags:
        assert len(flag) == 2 or (flag.startswith("--") and len(flag) > 3), flag
        assert flag != "--"


def test_a_row_may_take_in_another():
    diff, log = git_command("diff"), git_command("log")

    assert diff is not None
    assert log is not None
    assert set(diff.flags) - {"-r", "-t", "-m", "--root", "--stdin"} <= set(log.flags)


def test_what_is_not_listed_is_not_known():
    assert (reading_program("rm"), known_program("foo"), git_command("push")) == (None, None, None)
