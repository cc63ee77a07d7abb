"""Generate `docs/licences.md`: the third-party parts of Bridle and their licences.

`python -m scripts.assurance.licences` writes the page, and fails if a licence is not accepted. `--check`
writes nothing, and also fails if the page is out of date.
"""

import argparse
import sys
from collections.abc import Sequence

from scripts.assurance.inventory import ROOT, Component, components
from scripts.assurance.licence_names import LET_IN, objection

PAGE = ROOT / "docs" / "licences.md"
HEAD = """# Licences

Bridle is under the [MIT licence](https://opensource.org/license/mit). This page lists everything it needs or contains. `python -m scripts.assurance.licences` writes the page from the metadata of the installed packages; a test checks that it is complete. Licences have their [SPDX](https://spdx.org/licenses/) names. `make sbom` writes the same list for programs.
"""  # noqa: E501
GROUPS = {
    "package": (
        "Python packages",
        "What `pip install bridle-agent` and its extras bring. *core* is what every installation has.",
    ),
    "page": (
        "In the page",
        "Libraries in the wheel, as they were published, in `surfaces/web/vendor`, with their licence texts.",
    ),
    "data": (
        "Data about models",
        "Windows, abilities and prices, in `providers/data`, with the licence texts of their sources.",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page; return 1 if a licence is not accepted or, with `--check`, the page is out of date."""
    parser = argparse.ArgumentParser(prog="licences", description="make docs/licences.md")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    args = parser.parse_args(argv)
    found = components()
    refused = objections(found)
    for line in refused:
        print(f"refused: {line}", file=sys.stderr)
    text = page(found)
    if args.check:
        is_old = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
        if is_old:
            print("docs/licences.md is out of date: python -m scripts.assurance.licences", file=sys.stderr)
        return int(bool(refused) or is_old)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(found)} components, {len(refused)} refused")
    return int(bool(refused))


def objections(found: Sequence[Component]) -> list[str]:
    """Return the components whose licence is not accepted, with the reason."""
    said = ((one, objection(one.name, one.licence)) for one in found)
    return [f"{one.name} {one.version}: {why}" for one, why in said if why]


def page(found: Sequence[Component]) -> str:
    """Return the whole page."""
    parts = [HEAD]
    for kind, (title, about) in GROUPS.items():
        rows = [_row(one) for one in found if one.kind == kind]
        parts.append("\n".join([f"## {title}", "", about, "", *_header(kind), *rows, ""]))
    names = {one.name for one in found}
    reasons = [
        f"| {name} | {licence} | {why} |" for name, (licence, why) in sorted(LET_IN.items()) if name in names
    ]
    parts.append("\n".join([*LET_IN_HEAD, *reasons, ""]))
    return "\n".join(parts)


LET_IN_HEAD = (
    "## Accepted one by one",
    "",
    "All other licences on this page require only attribution. Any further licence is refused until checked.",
    "",
    "| package | licence | why it is accepted |",
    "|---|---|---|",
)


def _header(kind: str) -> tuple[str, str]:
    if kind == "package":
        return "| package | version | licence | needed by |", "|---|---|---|---|"
    return "| name | version | licence |", "|---|---|---|"


def _row(one: Component) -> str:
    if one.kind == "package":
        by = ", ".join(extra or "core" for extra in one.wanted_by if "" not in one.wanted_by or not extra)
        return f"| {one.name} | {one.version} | {one.licence} | {by} |"
    return f"| {one.name} | {one.version} | {one.licence} |"


if __name__ == "__main__":
    sys.exit(main())
