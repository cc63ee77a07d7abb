"""Build a release and test it: `python -m scripts.dist [--out dist] [--no-smoke] [--no-tutorial]`.

```
build twice ─▶ same bytes? ─▶ right contents? ─▶ empty environments, empty homes ─▶ does it work?
```

The archives have the time of the last commit or `SOURCE_DATE_EPOCH`, so all builds of a commit are identical.
The empty environments get their packages from the index that pip is configured for.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from scripts.dist_smoke import smoke

ROOT = Path(__file__).parents[1]
EPOCH = "1763251200"  # for a source tree without git history
NOT_IN_A_WHEEL = re.compile(
    r"(^|/)(__pycache__|tests?|\.git|\.venv|node_modules)(/|$)|\.(pyc|pyo|orig|rej|swp)$"
)
IN_A_WHEEL = (
    "bridle/py.typed",
    "bridle/__init__.pyi",
    "bridle/config/default_agent.md",
    "bridle/providers/data/models.json",
    "bridle/sessions/run/compaction.md",
    "bridle/surfaces/grpc/generated/kontekst_pb2.py",
    "bridle/surfaces/web/static/app.js",
)
IN_AN_SDIST = (
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "constraints.txt",
    "src/bridle/py.typed",
    "tests/conftest.py",
)


def main() -> int:
    """Build, check and test the release; return 1 if there is any problem."""
    arguments = argparse.ArgumentParser(description="build a release and test it")
    arguments.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments.add_argument("--no-smoke", action="store_true", help="only build and check")
    arguments.add_argument("--no-tutorial", action="store_true", help="skip docs/tutorial.md")
    args = arguments.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)
    wheel, sdist = build(args.out)
    problems = [*check_wheel(wheel), *check_sdist(sdist)]
    with tempfile.TemporaryDirectory() as again:
        problems += [f"{name}: two builds differ" for name in differing(args.out, Path(again))]
    for made in (wheel, sdist):
        print(f"{hashlib.sha256(made.read_bytes()).hexdigest()}  {made.name}  {made.stat().st_size:,} bytes")
    if not problems and not args.no_smoke:
        problems = smoke(wheel, sdist, ROOT / "constraints.txt", follows_tutorial=not args.no_tutorial)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print("the release has problems" if problems else "the release is good")
    return 1 if problems else 0


def build(out: Path) -> tuple[Path, Path]:
    """Build a wheel and an sdist with the installed backend; nothing is downloaded."""
    environ = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or _last_commit()}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: the build failed:\n{done.stderr}")
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def differing(first: Path, second: Path) -> list[str]:
    """Build again, and return the names of files that differ."""
    build(second)
    return [
        one.name for one in sorted(second.iterdir()) if one.read_bytes() != (first / one.name).read_bytes()
    ]


def check_wheel(wheel: Path) -> list[str]:
    """Return the problems with the contents of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(f"{info}/METADATA").decode()
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    vendored = {path.name for path in (ROOT / "src").rglob("LICENSE.*.txt")}
    licences = {name.rpartition("/")[2] for name in names if f"{info}/licenses/" in name}
    pages = {f"man1/{path.name}" for path in (ROOT / "man").glob("*.1")}
    shared = {"/".join(name.split("/")[-2:]) for name in names if "/data/share/man/" in name}
    return [
        *(f"{name} is in the wheel" for name in names if NOT_IN_A_WHEEL.search(name)),
        *(f"{name} is missing from the wheel" for name in IN_A_WHEEL if name not in names),
        *(f"the licence {name} is missing from the wheel" for name in ({"LICENSE"} | vendored) - licences),
        *(f"the manual page {name} is missing from the wheel" for name in sorted(pages - shared)),
        *(f"the metadata has no {field}" for field in _FIELDS if f"\n{field}: " not in metadata),
        *(
            f"the program {name} is missing"
            for name in ("bridle", "bridle-rpc")
            if f"{name} = " not in entry_points
        ),
    ]


_FIELDS = ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type", "Provides-Extra")


def check_sdist(sdist: Path) -> list[str]:
    """Return the problems with the contents of an sdist."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    return [
        *(f"{name} is missing from the sdist" for name in IN_AN_SDIST if name not in names),
        *(
            f"{name} is in the sdist"
            for name in sorted(names)
            if "__pycache__" in name or name.endswith(".pyc")
        ),
    ]


def _last_commit() -> str:
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or EPOCH


if __name__ == "__main__":
    sys.exit(main())
