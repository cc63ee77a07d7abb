"""Look at what Bridle depends on: is all of it pinned, unchanged, licensed, and without known flaws?

```
pins      every package has one version in constraints.txt, and that one is installed
files     the libraries of the page are, byte for byte, those that were published
licences  all may be used
flaws     pip-audit asks the advisory database of the package index
```

The last needs the network. Where the database does not answer, or does not know a package, the audit says
that nothing was looked up: "no known flaws" would be a lie. `--require` makes that a failure, too.
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
    """Its whole report."""

    dependencies: tuple[Answer, ...] = ()


class Verdict(Struct, frozen=True):
    """What is known about flaws."""

    state: Literal["looked up", "in part", "not looked up"]
    text: str
    flaws: tuple[str, ...] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the audit; returns 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="audit", description="look at what Bridle depends on")
    parser.add_argument("--require", action="store_true", help="fail when flaws could not be looked up")
    parser.add_argument("--offline", action="store_true", help="do not try to look flaws up")
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
    """Say which packages have no pin, or another version than theirs."""
    packages = [one for one in found if one.kind == "package"]
    missing = [f"{one.name} has no pin in constraints.txt" for one in packages if one.name not in named]
    other = [
        f"{one.name} {one.version} is installed, constraints.txt says {named[one.name]}"
        for one in packages
        if named.get(one.name, one.version) != one.version
    ]
    return missing + other


def changed_files(found: Sequence[Component], folder: Path = VENDOR) -> list[str]:
    """Say which files of the page are not those that were published."""
    return [
        f"{name} of {one.name} is not the file that was published"
        for one in found
        for name, digest in one.digests
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def look_up(found: Sequence[Component]) -> Verdict:
    """Ask pip-audit about every package."""
    packages = [one for one in found if one.kind == "package"]
    with tempfile.TemporaryDirectory(prefix="bridle-audit-") as folder:
        program = _program(Path(folder))
        if program is None:
            return Verdict(
                "not looked up", f"NOT LOOKED UP: {PROGRAM} is not here and could not be installed"
            )
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
    """Say what a report of pip-audit is worth, of so many packages: what it has skipped it does not know."""
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
    """Return pip-audit: the one that is here, or one in an environment of its own, which goes again."""
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
