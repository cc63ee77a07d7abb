"""The Pythons that a release is tried with: those that run, one for each minor version."""

from pathlib import Path

import pytest

from scripts.interpreters import find_interpreters


def stand_in(folder: Path, minor: int, version: str, status: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"python3.{minor}"
    program.write_text(f"#!/bin/sh\necho {version}\nexit {status}\n")
    program.chmod(0o755)


def test_the_newest_of_each_minor_version_that_runs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, pyenv = tmp_path / "bin", tmp_path / "pyenv"
    stand_in(path, 11, "3.11.2")
    stand_in(path, 12, "3.12.1", status=127)
    stand_in(tmp_path / "shims", 13, "3.13.9")
    stand_in(pyenv / "versions" / "3.11.7" / "bin", 11, "3.11.7")
    stand_in(pyenv / "versions" / "3.13.0" / "bin", 13, "3.13.0")
    monkeypatch.setenv("PATH", f"{path}:{tmp_path / 'shims'}")
    monkeypatch.setenv("PYENV_ROOT", str(pyenv))

    assert find_interpreters() == {
        "3.11.7": pyenv / "versions/3.11.7/bin/python3.11",
        "3.13.0": pyenv / "versions/3.13.0/bin/python3.13",
    }
