"""The Pythons for the test matrix and releases: the ones that run."""

import os
import sys
from pathlib import Path

from scripts.interpreters import Interpreter, find_interpreters, newest_releases


def test_pythons_are_found_on_path_and_in_pyenv_once_and_environments_are_none(tmp_path: Path):
    base = os.path.realpath(sys.executable)
    for folder in ("bin", ".pyenv/versions/3.x/bin", "environment/bin"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "python3").symlink_to(base)
    (tmp_path / "environment" / "pyvenv.cfg").write_text("home = /nowhere\n")
    (tmp_path / "bin" / "python3.12").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "python3.12").chmod(0o755)

    found = find_interpreters({"PATH": f"{tmp_path}/environment/bin:{tmp_path}/bin", "HOME": str(tmp_path)})

    assert [(one.numbers, one.path) for one in found] == [(sys.version_info[:3], base)]
    assert find_interpreters({"PATH": f"{tmp_path}/environment/bin", "HOME": "/"}) == []


def test_the_newest_release_of_each_minor_version_is_picked():
    old, older, new = (
        Interpreter(numbers, "/usr/bin/python3", "/usr") for numbers in ((3, 11, 10), (3, 11, 9), (3, 13, 0))
    )

    assert newest_releases([new, old, older]) == [old, new]
