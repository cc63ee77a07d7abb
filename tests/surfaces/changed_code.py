"""A copy of the package with a few changed lines: it shows how little code a feature takes.

Modules that do not change are links, so that a copy costs little.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import bridle

PACKAGE = Path(bridle.__file__).parent
ROOT = Path(__file__).parents[2]

Edits = list[tuple[str, str]]
"""Old texts, each of which a module has once, and the new ones."""


def copy_package(folder: Path, changes: Mapping[str, Edits]) -> Path:
    """Write the package with these changes, by module path; returns the folder to import it from."""
    _link(PACKAGE, folder / PACKAGE.name, {Path(path).parts for path in changes})
    for path, edits in changes.items():
        text = (PACKAGE / path).read_text()
        for old, new in edits:
            assert text.count(old) == 1, (path, old)
            text = text.replace(old, new)
        (folder / PACKAGE.name / path).write_text(text)
    return folder


def _link(source: Path, target: Path, changed: set[tuple[str, ...]]) -> None:
    """Link everything in a folder but the paths to changed modules."""
    target.mkdir(parents=True)
    for child in source.iterdir():
        inside = {path[1:] for path in changed if path[0] == child.name}
        if inside == {()} or child.name == "__pycache__":
            continue  # a changed module is written later, and its old bytecode is not wanted
        if inside:
            _link(child, target / child.name, inside)
        else:
            (target / child.name).symlink_to(child)


def run_module(name: str, folder: Path, *arguments: str) -> str:
    """Run a module of the tests with the package of a folder; returns what it prints."""
    environ = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-m", name, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
