"""The state of a shell: reported by hostile programs, stored in files that may be damaged."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.ids import SessionId
from bridle.tools.shell.state import (
    MAX_ENV_BYTES,
    MAX_VALUE_BYTES,
    ShellState,
    StateFiles,
    apply_state,
    is_small,
    read_report,
)

START = ("USER=me", "PATH=/bin", "TERM=dumb", "http_proxy=p", "A=old")
BEFORE = ShellState("/w", {"A": "old"}, ("B",))
FIXED = {"TERM"}

names = st.from_regex(r"[A-Z_][A-Z0-9_]{0,5}", fullmatch=True).filter(
    lambda name: name not in ("PS4", "IFS", "_", "ENV")
)
values = st.binary(max_size=8).map(lambda data: os.fsdecode(data.replace(b"\0", b"")))
states = st.builds(
    ShellState,
    cwd=values.map(lambda value: f"/{value}"),
    exported=st.dictionaries(names, values, max_size=4),
    unset=st.lists(names, max_size=3, unique=True).map(tuple),
)


def report(*entries: str, start: tuple[str, ...] = START, end: str = "END") -> bytes:
    pieces = (*start, "START", "/x", *entries, end)
    return b"".join(os.fsencode(piece) + b"\0" for piece in pieces).rstrip(b"\0")


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (report(*START), ShellState("/x", {"A": "old"}, ("B",))),
        (
            report(*START, "USER=y", "C=b=c\n"),
            ShellState("/x", {"A": "old", "USER": "y", "C": "b=c\n"}, ("B",)),
        ),
        (report(*START[:-1], "A=new"), ShellState("/x", {"A": "new"}, ("B",))),
        (report(*START[1:-1]), ShellState("/x", {}, ("B", "USER", "A"))),
        (report(*START, "B=back"), ShellState("/x", {"A": "old", "B": "back"})),
        (
            report(*START, "TERM=x", "PWD=/", "SHLVL=2", "_=x", "CDPATH=/", "HOME=/"),
            ShellState("/x", {"A": "old"}, ("B",)),
        ),
        (report(*START, "LD_PRELOAD=x", "GIT_DIR=x", "BASH_ENV=x"), ShellState("/x", {"A": "old"}, ("B",))),
        (report(*START, "a b=1", "=1", "junk", "2=3"), ShellState("/x", {"A": "old"}, ("B",))),
        (report(*START, f"C={'x' * (MAX_VALUE_BYTES + 1)}"), ShellState("/x", {"A": "old"}, ("B",))),
        (report(), None),
        (report(*START, end="EN"), None),
        (b"", None),
        (b"END", None),
        (b"A=1\0START\0END", None),
    ],
)
def test_a_report_tells_what_the_command_changed(data: bytes, state: ShellState | None):
    assert read_report(data, BEFORE, FIXED) == state


@given(st.binary(max_size=60) | st.lists(st.binary(max_size=5), max_size=8).map(b"\0".join))
def test_no_report_is_too_strange(data: bytes):
    for whole in (data, b"A=1\0START\0" + data, b"A=1\0START\0" + data + b"\0END"):
        found = read_report(whole, BEFORE, FIXED)

        assert found is None or isinstance(apply_state({}, found), dict)


def test_the_next_command_gets_the_state():
    state = ShellState("/w", {"A": "1", "PATH": "/x"}, ("HOME",))

    assert apply_state({"HOME": "/home/me", "PATH": "/bin", "TERM": "dumb"}, state) == {
        "PATH": "/x",
        "TERM": "dumb",
        "A": "1",
        "PWD": "/w",
    }


def test_an_environment_has_a_size():
    assert is_small(ShellState("/", {"A": "x" * (MAX_ENV_BYTES - 1)}))
    assert not is_small(ShellState("/", {"A": "x" * MAX_ENV_BYTES}))


@settings(max_examples=50)
@given(state=states)
def test_a_state_is_read_as_it_was_saved(tmp_path_factory, state: ShellState):
    folder = tmp_path_factory.getbasetemp() / "states"
    StateFiles(folder).save(SessionId("s"), state)

    assert StateFiles(folder).load(SessionId("s")) == state


@pytest.mark.parametrize("data", [b"", b"/w", b"/w\0A=1\0EN", b"/w\0A=1"])
def test_a_damaged_state_counts_as_none(tmp_path: Path, data: bytes):
    files = StateFiles(tmp_path)
    files.save(SessionId("s"), ShellState("/w"))
    [path] = tmp_path.iterdir()
    path.write_bytes(data)

    assert files.load(SessionId("s")) is None


def test_names_of_sessions_lead_nowhere_and_a_full_disk_is_borne(tmp_path: Path):
    session = SessionId("../../x")
    StateFiles(tmp_path / "a" / "b").save(session, ShellState("/w"))
    (tmp_path / "file").touch()
    StateFiles(tmp_path / "file").save(session, ShellState("/w"))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "file"]
    assert StateFiles(tmp_path / "a" / "b").load(session) == ShellState("/w")
    assert StateFiles(tmp_path / "file").load(session) is None


def test_old_states_are_removed_when_the_folder_is_first_used(tmp_path: Path):
    StateFiles(tmp_path).save(SessionId("old"), ShellState("/old"))
    [old] = tmp_path.iterdir()
    os.utime(old, (time.time() - 31 * 24 * 3600,) * 2)
    StateFiles(tmp_path).save(SessionId("new"), ShellState("/new"))

    files = StateFiles(tmp_path)
    assert files.load(SessionId("old")) is None
    assert files.load(SessionId("new")) == ShellState("/new")
    assert len(list(tmp_path.iterdir())) == 1
