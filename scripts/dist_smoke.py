"""Test a release like a new user: in empty environments and homes, without this source tree.

```
every Python ─┬─ wheel ─▶ size ─▶ first hour ─▶ tutorial ─▶ uninstall
              └─ sdist ─▶ quick checks
one Python ──── uv tool install, pipx install ─▶ quick checks
```
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.dist_first_hour import FIRST_HOUR, LAST, QUICK, ROOT, Check
from scripts.interpreters import find_interpreters, newest_releases

MAX_MB = 150
"""Most disk space that a plain installation may take, without pip."""
TUTORIAL = "tests/test_tutorial.py::test_every_step_does_what_the_page_shows"
TUTORIAL_PACKAGES = ("mcp-server-time",)


class Row(NamedTuple):
    """One check of one installation; `problem` is empty if it passed."""

    python: str
    artefact: str
    check: str
    size_mb: str = ""
    seconds: float = 0.0
    problem: str = ""


def smoke(wheel: Path, sdist: Path, constraints: Path, *, follows_tutorial: bool = True) -> list[str]:
    """Install and test with every Python on this machine, print a table, and return what failed."""
    rows: list[Row] = []
    build = ROOT / "build"  # unlike /tmp, programs in the sandbox can see it
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="smoke-", dir=build) as name:
        folder, pythons = Path(name), newest_releases(find_interpreters())
        for python in pythons:
            place = _Place(folder / python.version, python.version, Path(python.path), constraints)
            rows += _try_wheel(place, wheel, follows_tutorial=follows_tutorial)
            rows += _try_sdist(place, sdist)
            shutil.rmtree(place.folder)
        newest = pythons[-1]
        place = _Place(folder / "tools", newest.version, Path(newest.path), constraints)
        for install in (_uv_tool, _pipx):
            rows += _try_tool(place, install, wheel)
    print(_table(rows))
    return [f"{row.python} {row.artefact}: {row.check}: {row.problem}" for row in rows if row.problem]


class _Place(NamedTuple):
    """The folder and settings for the checks with one Python."""

    folder: Path
    version: str
    python: Path
    constraints: Path

    def row(self, artefact: str, check: str, work: Callable[[], str | None]) -> Row:
        """Run a check, and print its result at once."""
        begun = time.monotonic()
        problem, size = "", ""
        try:
            size = work() or ""
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or error
            problem = str(said).strip()[-800:] or type(error).__name__
        row = Row(self.version, artefact, check, size, time.monotonic() - begun, problem)
        print(f"{'failed' if problem else 'ok    '}  {' '.join(row[:3])} {size}", flush=True)
        return row

    def rows(self, artefact: str, checks: Sequence[Check], bin_folder: Path) -> list[Row]:
        """Run checks, each in an empty home."""
        return [
            self.row(artefact, check.__name__.strip("_"), lambda check=check: self._try(check, bin_folder))  # type: ignore[misc]
            for check in checks
        ]

    def _try(self, check: Check, bin_folder: Path) -> None:
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        check(bin_folder, home)


def _try_wheel(place: _Place, wheel: Path, *, follows_tutorial: bool) -> list[Row]:
    environment = place.folder / "wheel"
    bin_folder = environment / "bin"

    def install() -> str:
        size = _install(place, environment, str(wheel))
        assert size <= MAX_MB, f"{size} MB are installed, at most {MAX_MB} are allowed"
        return str(size)

    rows = [place.row("wheel", "install", install)]
    if rows[0].problem:
        return rows
    rows += place.rows("wheel", FIRST_HOUR, bin_folder)
    if follows_tutorial:
        rows.append(
            place.row("wheel[local]", "tutorial", lambda: _follow_tutorial(place, environment, wheel))
        )
    return rows + place.rows("wheel", LAST, bin_folder)


def _try_sdist(place: _Place, sdist: Path) -> list[Row]:
    environment = place.folder / "sdist"
    rows = [place.row("sdist", "install", lambda: str(_install(place, environment, str(sdist))))]
    return rows if rows[0].problem else [*rows, *place.rows("sdist", QUICK, environment / "bin")]


def _follow_tutorial(place: _Place, environment: Path, wheel: Path) -> None:
    """Follow docs/tutorial.md with the programs of an environment, and this machine's shell and browser."""
    _pip(environment, place.constraints, f"{wheel}[local]", *TUTORIAL_PACKAGES)
    environ = {**os.environ, "BRIDLE_TUTORIAL_BIN": str(environment / "bin")}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--no-header", TUTORIAL]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-800:]


# ---------------------------------------------------------------------------- installing


def _install(place: _Place, environment: Path, artefact: str) -> int:
    """Create an environment and install an artefact in it; return the MB that this added."""
    subprocess.run([place.python, "-m", "venv", environment], check=True, capture_output=True, text=True)
    before = _mb(environment)
    _pip(environment, place.constraints, artefact)
    return round(_mb(environment) - before)


def _pip(environment: Path, constraints: Path | None, *packages: str) -> None:
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    pinned = ["-c", str(constraints)] if constraints else []
    subprocess.run([*pip, *pinned, *packages], check=True, capture_output=True, text=True)


def _mb(folder: Path) -> float:
    """Return how much disk space a folder takes."""
    taken = sum(file.lstat().st_blocks for file in folder.rglob("*"))
    return taken * 512 / 1024**2


def _try_tool(place: _Place, install: Callable[[_Place, Path, Path], None], wheel: Path) -> list[Row]:
    name = install.__name__.strip("_").replace("_", " ")
    folder = place.folder / name.replace(" ", "-")
    rows = [place.row(name, "install", lambda: install(place, folder, wheel))]
    return rows if rows[0].problem else [*rows, *place.rows(name, QUICK, folder / "bin")]


def _uv_tool(place: _Place, folder: Path, wheel: Path) -> None:
    uv = shutil.which("uv") or _program(place, folder, "uv")
    environ = {**os.environ, "UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    command = [uv, "tool", "install", "--quiet", "-c", place.constraints, "--python", place.python]
    command += [*_sources(), wheel]
    subprocess.run(command, env=environ, capture_output=True, text=True, check=True)


def _pipx(place: _Place, folder: Path, wheel: Path) -> None:
    pipx = shutil.which("pipx") or _program(place, folder, "pipx")
    places = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man"}
    environ = {**os.environ, **{name: str(folder / part) for name, part in places.items()}}
    command = [pipx, "install", "--quiet", "--python", place.python]
    command += [f"--pip-args=--constraint={place.constraints}", wheel]
    subprocess.run(command, env=environ, capture_output=True, text=True, check=True)


def _program(place: _Place, folder: Path, name: str) -> str:
    """Install a program in a separate environment; return its path."""
    environment = folder / f"with-{name}"
    subprocess.run([place.python, "-m", "venv", environment], check=True, capture_output=True, text=True)
    _pip(environment, None, name)
    return str(environment / "bin" / name)


def _sources() -> list[str]:
    """Return pip's package indexes as options of uv."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    flags = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^[^=]*\.([a-z-]+)='(.*)'$", listed.stdout, re.MULTILINE):
        if key in flags:
            found[key] = [word for place in value.split() for word in (flags[key], place)]
    return [*(word for words in found.values() for word in words), "--index-strategy", "unsafe-best-match"]


def _table(rows: Sequence[Row]) -> str:
    head = ("python", "artefact", "check", "MB", "s", "")
    cells = [
        (
            row.python,
            row.artefact,
            row.check,
            row.size_mb,
            f"{row.seconds:.1f}",
            "FAILED" if row.problem else "ok",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in (head, *cells)
    ]
    return "\n".join(line.rstrip() for line in lines)
