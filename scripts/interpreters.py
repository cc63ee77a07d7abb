"""The Pythons of this machine that Bridle supports, the newest release of each minor version."""

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

MINORS = range(11, 15)
_ASK = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"


def find_interpreters() -> dict[str, Path]:
    """Return programs that can make an environment by version, the oldest first."""
    found: dict[tuple[int, ...], Path] = {}
    for program in _candidates(os.environ.get("PATH", "").split(os.pathsep)):
        version = _version(program)
        if version and version not in found:
            found[version] = program
    newest = {version[:2]: version for version in sorted(found)}
    return {".".join(map(str, version)): found[version] for version in newest.values()}


def _candidates(folders: Iterable[str]) -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in (*map(Path, folders), *sorted(pyenv.glob("versions/*/bin"))):
        for minor in MINORS:
            if (program := folder / f"python3.{minor}").is_file() and "shims" not in folder.parts:
                yield program


def _version(program: Path) -> tuple[int, ...]:
    """Return the version; nothing for one that does not run or cannot make an environment."""
    asked = subprocess.run([program, "-I", "-c", _ASK], capture_output=True, text=True, check=False)
    return tuple(map(int, asked.stdout.split("."))) if asked.returncode == 0 else ()
