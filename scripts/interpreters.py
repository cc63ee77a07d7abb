"""The Pythons of this machine that Bridle supports."""

import glob
import json
import os
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct

PROBE = """
import ensurepip, json, os, sys, venv
print(json.dumps([sys.version_info[:3], os.path.realpath(sys.executable), sys.base_prefix]))
"""
SEARCHED = ("python3", "python3.11", "python3.12", "python3.13", "python3.14")
OLDEST = (3, 11, 0)


class Interpreter(Struct, frozen=True, order=True):
    """A Python that is new enough."""

    numbers: tuple[int, int, int]
    path: str
    prefix: str

    @property
    def version(self) -> str:
        """Its version as text, such as 3.11.7."""
        return ".".join(map(str, self.numbers))


def find_interpreters(environ: Mapping[str, str] = os.environ) -> list[Interpreter]:
    """Find each Python that can create an environment, on PATH and in pyenv, the oldest first."""
    folders = [
        folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if "/shims" not in folder
    ]
    pyenv = environ.get("PYENV_ROOT") or os.path.join(environ.get("HOME", "/"), ".pyenv")
    folders += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin")))
    found = {
        interpreter.path: interpreter
        for folder in folders
        for name in SEARCHED
        if (interpreter := _probe(os.path.join(folder, name))) is not None and not _is_environment(folder)
    }
    return sorted(found.values())


def _is_environment(folder: str) -> bool:
    return os.path.exists(os.path.join(os.path.dirname(folder), "pyvenv.cfg"))


def _probe(program: str) -> Interpreter | None:
    """Ask a program for its version; return none if it is not Python or too old."""
    if not os.access(program, os.X_OK):
        return None
    try:
        done = subprocess.run(
            [program, "-Ic", PROBE], capture_output=True, text=True, timeout=60, check=False
        )
        numbers, path, prefix = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    found = Interpreter(tuple(numbers), path, prefix)
    return found if found.numbers >= OLDEST else None


def newest_releases(found: Sequence[Interpreter]) -> list[Interpreter]:
    """Return the newest release of each minor version, the oldest version first."""
    return list({one.numbers[:2]: one for one in sorted(found)}.values())
