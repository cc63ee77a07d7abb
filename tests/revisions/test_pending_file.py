"""Saved contents outlive the process; a partial line counts for nothing."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.revision import FileChange, FileState
from bridle.revisions.pending_file import Collected, Confirmed, PendingFile, SavedState, SavedStates

ONE = SavedStates((SavedState("/a", FileState("file", 0o644, "d1", 3), (1, 2, 3), settled=False),))
TWO = SavedStates((SavedState("/b"), SavedState("/c", FileState("folder", 0o755), (1,), whole=True)))
RESULT = Collected(
    (FileChange("a", None, FileState("file", 0o644, "d2")),), (SavedState("/a", carried=True),)
)


def test_lines_come_back_in_order(tmp_path: Path):
    path = tmp_path / "deep" / "s.pending"
    for line in (ONE, TWO, Confirmed()):
        PendingFile(path).add(line)

    assert PendingFile(path).load() == [ONE, TWO, Confirmed()]
    assert [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent)] == [0o600, 0o700]


def test_a_result_stands_for_all_lines_before_it(tmp_path: Path):
    pending = PendingFile(tmp_path / "s.pending")
    pending.add(ONE)
    pending.replace(RESULT)
    pending.add(TWO)

    assert PendingFile(tmp_path / "s.pending").load() == [RESULT, TWO]
    assert os.listdir(tmp_path) == ["s.pending"]


def test_an_empty_result_leaves_no_file(tmp_path: Path):
    pending = PendingFile(tmp_path / "s.pending")
    pending.add(ONE)
    pending.replace(Collected())

    assert (os.listdir(tmp_path), pending.load()) == ([], [])


def test_a_torn_line_is_cut_off_at_every_byte(tmp_path: Path):
    path = tmp_path / "s.pending"
    PendingFile(path).add(ONE)
    whole = path.read_bytes()
    PendingFile(path).add(TWO)
    both = path.read_bytes()
    for end in range(len(whole), len(both)):
        path.write_bytes(both[:end])
        pending = PendingFile(path)

        assert pending.load() == [ONE]

        pending.add(TWO)
        assert PendingFile(path).load() == [ONE, TWO]


def test_damage_in_the_middle_costs_one_line(tmp_path: Path):
    path = tmp_path / "s.pending"
    for line in (ONE, TWO, ONE):
        PendingFile(path).add(line)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"type":"kept","entries":[{"path":\xff\n' + b"{}\n\n" + lines[2])

    assert PendingFile(path).load() == [ONE, ONE]


def test_a_leftover_draft_is_not_in_the_way(tmp_path: Path):
    (tmp_path / "s.pending.draft").write_bytes(b"half a resu")
    pending = PendingFile(tmp_path / "s.pending")
    pending.replace(RESULT)

    assert PendingFile(tmp_path / "s.pending").load() == [RESULT]


def test_without_a_path_nothing_is_written(tmp_path: Path):
    pending = PendingFile(None)
    pending.add(ONE)
    pending.replace(RESULT)
    pending.remove()

    assert pending.load() == []


def test_what_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError):
        PendingFile(tmp_path / "file" / "s.pending").add(ONE)
    with pytest.raises(StoreError):
        PendingFile(tmp_path / "file" / "s.pending").load()


def test_a_full_disk_leaves_the_lines_before(tmp_path: Path):
    """A limit on file sizes refuses the write where a full device would."""
    code = """
import resource, signal, sys
from pathlib import Path
from bridle.core.errors import StoreFull
from bridle.revisions.pending_file import SavedState, SavedStates, PendingFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
pending = PendingFile(Path(sys.argv[1]))
pending.add(SavedStates((SavedState("/a"),)))
try:
    pending.add(SavedStates((SavedState("/b" * 200),)))
except StoreFull as error:
    print("full", bool(error.hint))
pending.add(SavedStates((SavedState("/c"),)))
"""
    path = tmp_path / "s.pending"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)

    assert done.stdout == "full True\n"
    assert PendingFile(path).load() == [SavedStates((SavedState("/a"),)), SavedStates((SavedState("/c"),))]
