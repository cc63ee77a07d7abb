"""Audit Bridle's dependencies: pins, unchanged files, licences, known vulnerabilities.

```
pins      every package has one version in constraints.txt, and that one is installed
files     the libraries of the page are, byte for byte, the published files
licences  every licence is accepted
flaws     pip-audit asks the advisory database of the package index
```

The last check needs the network. If the database does not answer or does not know a package, the audit says
that nothing was looked up instead of "no known flaws". With `--require`, that is a failure.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from scripts.assurance.inventory import ROOT, VENDOR, Component, components, pins
from scripts.assurance.licences import objections

PROGRAM = "pip-audit"
PATIENCE_S = 300


class Flaw(Struct, frozen=True):
    """One known vulnerability."""

    id: str
    fix_versions: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    """What pip-audit says about one package."""

    name: str
    version: str = ""
    skip_reason: str = ""
    vulns: tuple[Flaw, ...] = ()


class Answers(Struct, frozen=True):
    """The whole report of pip-audit."""

    dependencies: tuple[Answer, ...] = ()


class Verdict(Struct, frozen=True):
    """The result of the search for known flaws."""

    state: Literal["looked up", "in part", "not looked up"]
    text: str
    flaws: tuple[str, ...] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the audit; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="audit", description="look at what Bridle depends on")
    parser.add_argument("--require", action="store_true", help="fail if known flaws could not be looked up")
    parser.add_argument("--offline", action="store_true", help="do not look up known flaws")
    args = parser.parse_args(argv)
    found = components()
    named = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    wrong = [*unpinned(found, named), *changed_files(found), *objections(found)]
    asked = f"{len(found)} components: pins, files and licences"
    print(f"{asked}: {'in order' if not wrong else f'{len(wrong)} wrong'}")
    verdict = Verdict("not looked up", "NOT LOOKED UP (--offline)") if args.offline else look_up(found)
    print(f"known flaws: {verdict.text}")
    for line in [*wrong, *verdict.flaws]:
        print(f"  {line}")
    return int(bool(wrong or verdict.flaws) or (args.require and verdict.state != "looked up"))


def unpinned(found: Sequence[Component], named: dict[str, str]) -> list[str]:
    """Return the packages that have no pin, or not the pinned version."""
    packages = [one for one in found if one.kind == "package"]
    missing = [f"{one.name} has no pin in constraints.txt" for one in packages if one.name not in named]
    other = [
        f"{one.name} {one.version} is installed, constraints.txt says {named[one.name]}"
        for one in packages
        if named.get(one.name, one.version) != one.version
    ]
    return missing + other


def changed_files(found: Sequence[Component], folder: Path = VENDOR) -> list[str]:
    """Return the files of the page that differ from the published files."""
    return [
        f"{name} of {one.name} is not the published file"
        for one in found
        for name, digest in one.digests
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def look_up(found: Sequence[Component]) -> Verdict:
    """Look up every package with pip-audit."""
    packages = [one for one in found if one.kind == "package"]
    with tempfile.TemporaryDirectory(prefix="bridle-audit-") as folder:
        program = _program(Path(folder))
        if program is None:
            return Verdict("not looked up", f"NOT LOOKED UP: {PROGRAM} is missing and could not be installed")
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text("".join(f"{one.name}=={one.version}\n" for one in packages), encoding="utf-8")
        asked = [program, "--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off"]
        try:
            done = subprocess.run(
                [*asked, "--requirement", str(wanted)], check=False, capture_output=True, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            return Verdict("not looked up", "NOT LOOKED UP: the advisory database does not answer")
    return judge(done.stdout, len(packages))


def judge(report: bytes, number: int) -> Verdict:
    """Judge a report of pip-audit about `number` packages: skipped packages were not looked up."""
    try:
        answers = msgspec.json.decode(report, type=Answers).dependencies
    except msgspec.DecodeError:
        return Verdict("not looked up", "NOT LOOKED UP: the advisory database cannot be reached")
    known = [one for one in answers if not one.skip_reason]
    flaws = tuple(f"{one.name} {one.version}: {_said(flaw)}" for one in known for flaw in one.vulns)
    if not known:
        return Verdict("not looked up", f"NOT LOOKED UP: the database knows none of {number} packages")
    text = f"{len(flaws)} in {len(known)} of {number} packages"
    if len(known) < number:
        return Verdict("in part", f"{text}; the others were NOT LOOKED UP", flaws)
    return Verdict("looked up", text, flaws)


def _said(flaw: Flaw) -> str:
    return f"{flaw.id}, fixed in {', '.join(flaw.fix_versions)}" if flaw.fix_versions else flaw.id


def _program(folder: Path) -> str | None:
    """Return the installed pip-audit, or install one into a temporary environment."""
    beside = Path(sys.executable).with_name(PROGRAM)
    here = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if here:
        return here
    venv.create(folder / "env", with_pip=True)
    pip = [str(folder / "env/bin/python"), "-m", "pip", "install", "--quiet", PROGRAM]
    try:
        done = subprocess.run(pip, check=False, capture_output=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return None
    return str(folder / "env/bin" / PROGRAM) if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
