"""Files are written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

from bridle.system.files import lock_file, write_atomically


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path):
    path = tmp_path / "new" / "a.json"
    write_atomically(path, b"one")
    write_atomically(path, b"two", mode=0o644)

    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["a.json"]


def test_what_is_there_may_stay(tmp_path: Path):
    path = tmp_path / "key"
    write_atomically(path, b"first", replace=False)
    write_atomically(path, b"second", replace=False)

    assert path.read_bytes() == b"first"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["key"]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_lock_is_beside_the_file_and_ends_with_its_block(tmp_path: Path):
    path = tmp_path / "a"
    with lock_file(path):
        write_atomically(path, b"x")
    with lock_file(path):
        assert path.read_bytes() == b"x"
    assert sorted(os.listdir(tmp_path)) == [".a.lock", "a"]
