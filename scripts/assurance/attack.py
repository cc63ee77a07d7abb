"""Attack every promise of SECURITY.md and write `docs/security-report.md`: the attacks and their results.

```
tests/attacks/suites.py ─▶ pytest ─▶ build/attack.xml ─▶ the report
```

`python -m scripts.assurance.attack [PROMISE …]` runs all attacks, or those on some promises, with any options
of pytest. The report is written only after all attacks have run; `--page` writes it again from the last run.
"""

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from scripts.assurance.inventory import ROOT
from scripts.assurance.promises import PAGE as PROMISES_PAGE
from scripts.assurance.promises import Promise, attacks_of, promises
from tests.attacks.suites import SUITES

RESULTS = ROOT / "build" / "attack.xml"
REPORT = ROOT / "docs" / "security-report.md"
HEAD = """# Security report

[SECURITY.md](../SECURITY.md) lists what Bridle promises. For each promise, this page lists the attacks that the tests try. `make attack` runs all of them and writes this page. Each sentence is one test. Many tests try a whole list of tricks, and each trick counts as one case. A case has *held* if the attack was blocked, needed approval or was refused, as the test requires. Some cases are controls: they show that a trick works without protection, or that harmless use still works.
"""  # noqa: E501


class Tried(Struct, frozen=True):
    """The results of a run: how many cases of each test function held, and how many did not."""

    day: str
    seconds: int
    held: dict[str, int]
    fell: dict[str, int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the attacks, print a line for each promise, write the page; return 1 if a case did not hold."""
    parser = argparse.ArgumentParser(prog="attack", description="attack every promise of SECURITY.md")
    parser.add_argument("names", nargs="*", metavar="PROMISE", help="attack only these promises")
    parser.add_argument("--page", action="store_true", help="write the page from the last run")
    args, options = parser.parse_known_args(argv)
    unknown = sorted(set(args.names) - set(SUITES))
    if unknown:
        parser.error(f"no such promise: {', '.join(unknown)} (there are {', '.join(SUITES)})")
    if args.page and not RESULTS.exists():
        parser.error("no attack has run yet (hint: leave out --page to run all attacks)")
    results = RESULTS if not args.names else RESULTS.with_name("attack-some.xml")
    code = 0 if args.page else _run(args.names or list(SUITES), results, options)
    if not results.exists():
        print("pytest wrote no results, see above", file=sys.stderr)
        return 1
    tried = read_results(results.read_text(encoding="utf-8"))
    for line in summary(args.names or list(SUITES), tried):
        print(line)
    if not args.names:
        REPORT.write_text(page(promises(PROMISES_PAGE.read_text(encoding="utf-8")), tried), encoding="utf-8")
        print(f"see {REPORT.relative_to(ROOT)}")
    return 1 if code or any(tried.fell.values()) else 0


def _run(names: Sequence[str], results: Path, options: Sequence[str]) -> int:
    where = sorted({f"tests/{place}" for name in names for place in SUITES[name]})
    results.parent.mkdir(parents=True, exist_ok=True)
    results.unlink(missing_ok=True)
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "attack", f"--junitxml={results}"]
    return subprocess.run([*pytest, *options, *where], cwd=ROOT, check=False).returncode


def read_results(text: str) -> Tried:
    """Read the results file of pytest; skipped tests do not count."""
    suite = next(ElementTree.fromstring(text).iter("testsuite"))
    held: dict[str, int] = {}
    fell: dict[str, int] = {}
    for case in suite.iter("testcase"):
        module = case.get("classname", "").replace(".", "/")
        place = f"{module}.py::{case.get('name', '').partition('[')[0]}"
        states = {child.tag for child in case}
        if "skipped" not in states:
            counted = fell if states & {"failure", "error"} else held
            counted[place] = counted.get(place, 0) + 1
    day = suite.get("timestamp", "")[:10] or datetime.now(UTC).date().isoformat()
    return Tried(day, round(float(suite.get("time", "0"))), held, fell)


def counts(name: str, tried: Tried) -> tuple[int, int]:
    """Return how many cases of a promise were tried, and how many held."""
    where = {attack.place for attack in attacks_of(name)}
    held = sum(tried.held.get(place, 0) for place in where)
    return held + sum(tried.fell.get(place, 0) for place in where), held


def summary(names: Sequence[str], tried: Tried) -> list[str]:
    """Return a line for each promise, and one for each test that did not hold."""
    lines = []
    for name in names:
        number, held = counts(name, tried)
        lines.append(f"{name:14} {held:5} of {number:5} held{'' if held == number else '  <-- NOT ALL'}")
    lines += [f"did not hold: {place} ({number})" for place, number in sorted(tried.fell.items())]
    return lines


def page(promised: Sequence[Promise], tried: Tried) -> str:
    """Return the whole report."""
    total = sum(tried.held.values()) + sum(tried.fell.values())
    held = sum(tried.held.values())
    lines = [
        HEAD,
        f"Last run on {tried.day}: {total} cases, {held} held, in {tried.seconds} s.",
        "",
        "| promise | cases | held |",
        "|---|---|---|",
        *(
            f"| [{one.name}](#{one.name}) | {' | '.join(map(str, counts(one.name, tried)))} |"
            for one in promised
        ),
        "",
    ]
    return "\n".join([*lines, *map(section, promised)])


def section(promise: Promise) -> str:
    """Return the part of the report about one promise."""
    text = promise.text.replace("](docs/", "](")  # SECURITY.md is one folder above
    return "\n".join([f"## {promise.name}", "", text, "", *sentences(promise.name), ""])


def sentences(name: str) -> list[str]:
    """Return the attacks on a promise as sentences, grouped by module."""
    by_module: dict[str, list[str]] = {}
    for attack in attacks_of(name):
        by_module.setdefault(attack.place.partition("::")[0], []).append(attack.sentence)
    return [f"- `{module}`: {'; '.join(said)}." for module, said in by_module.items()]


if __name__ == "__main__":
    sys.exit(main())
