"""Separate environments for everything that Bridle is compared with, in `.cache/bench/`.

They are created on first use from the package index, and again when the list of packages changes; delete the
folder to get newer versions.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from children import child_env
from measure import PYTHON

CACHE = Path(__file__).parents[1] / ".cache"
MAX_INSTALL_S = 1200
_VERSION = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"


def environment(name: str, packages: Sequence[str]) -> str | None:
    """Return an interpreter that has these packages; None, with a message, if they cannot be installed."""
    place = CACHE / "bench" / name
    python, done = str(place / "bin" / "python"), place / ".installed"
    wanted = "\n".join(packages)
    if done.exists() and done.read_text() == wanted:
        return python
    print(f"installing {', '.join(packages)} into {place}", file=sys.stderr, flush=True)
    try:
        _run(PYTHON, "-m", "venv", "--clear", str(place))
        (CACHE / ".gitignore").write_text("*\n")
        _run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *packages)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        print(f"{name} is skipped: it cannot be installed, see above", flush=True)
        return None
    done.write_text(wanted)
    return python


def version(python: str, package: str) -> str:
    """Return the version of a package in an interpreter's environment."""
    return _run(python, "-c", _VERSION, package.partition("[")[0]).strip()


def _run(*argv: str) -> str:
    """Run a program and return its output; its errors are shown."""
    done = subprocess.run(
        argv, env=child_env(), check=True, stdout=subprocess.PIPE, text=True, timeout=MAX_INSTALL_S
    )
    return done.stdout
