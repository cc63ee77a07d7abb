"""Writes docs/benchmarks.md and its pictures from a recorded run and the explanations of its weak rows."""

import tomllib
from pathlib import Path

from rows import US, Curve, Line, Row

from report import svg, tables
from report.groups import GROUPS, Group
from report.kept import Measured, Results

ROOT = Path(__file__).parents[2]
PAGE = "docs/benchmarks.md"
PICTURES = "docs/images/bench"
EXPLAINED = Path(__file__).parents[1] / "explained.toml"
HEAD = """\
# Benchmarks

`make bench ARGS=--record` generates this page from its measurements. Do not edit it by hand.
"""
READING = """\
All participants of a comparison run alternately on the same machine, in several rounds, so that other load
affects them equally. A figure is the median of its rounds; `±` says how close to it half of them are. Less is
always better. `ratio` is Bridle's figure divided by the best other one, and `at most` is the project's limit
for the ratio, or for the figure if there is no other. `CPU` is the processor time of all participating
processes, which other load disturbs least; other times are wall time. Models are scripted and answer at once,
so the figures show only the cost of the software itself.
"""
COLUMNS = 4
"""Of a table with many participants; more would be unreadable."""
GROWING = """\
Costs are measured at growing sizes. `grows as` is the power of the size that fits them best, through all
points or through the last two, whichever is greater: `n^1` doubles when the size doubles, `n^0` does not
change.
"""


def explanations(path: Path = EXPLAINED) -> dict[str, str]:
    """Return the explanations by row id."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def weak(results: Results) -> list[Line]:
    """Return the rows and curves over their bar, and rows with peers in which Bridle is not first."""
    return [line for line in results.lines if not line.holds]


def render(results: Results, explained: dict[str, str]) -> dict[str, str]:
    """Return the files of the page: their content by path in the repository."""
    files: dict[str, str] = {}
    parts = [HEAD, _facts(results), READING, _weak(results, explained), _changes(results)]
    for group in GROUPS:
        found = {name: results.modules[name] for name in group.modules if name in results.modules}
        if any(one.lines for one in found.values()):
            parts += _group(group, found, files)
    parts.append(_times(results))
    files[PAGE] = "\n\n".join(part.strip() for part in parts if part) + "\n"
    return files


def write_page(files: dict[str, str], root: Path = ROOT) -> None:
    """Write all files, and remove pictures that are no longer used."""
    (root / PICTURES).mkdir(parents=True, exist_ok=True)
    for path in (root / PICTURES).glob("*.svg"):
        if f"{PICTURES}/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")


def _facts(results: Results) -> str:
    machine, found = results.machine, results.modules.values()
    days = sorted({one.at.partition(" ")[0] for one in found})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    versions = ", ".join(sorted({one.bridle for one in found}))
    loads = [share for one in found for share in one.load]
    lines = [line for line in results.lines if line.bar is not None]
    quick = ", with few rounds" if any(one.quick for one in found) else ""
    return (
        f"Bridle {versions}, Python {machine.python}, {machine.system}, {machine.cpu}, {machine.cores} cores,"
        f" {machine.memory_gb:.0f} GB of memory; {when}{quick}. The load of the machine was"
        f" {min(loads):.1f} to {max(loads):.1f}."
        f" **{sum(line.holds for line in lines)} of {len(lines)} limits hold.**"
    )


def _weak(results: Results, explained: dict[str, str]) -> str:
    found = weak(results)
    if not found:
        return ""
    lines = ["## Not first, or over the limit", ""]
    for line in found:
        figures = f"{tables.score_of(line)}, at most {tables.bar_of(line)}"
        said = " ".join(explained.get(line.id, "").split())
        lines.append(f"- **{line.what}**, {line.unit}: {figures}. {said}".rstrip())
    return "\n".join(lines)


def _changes(results: Results) -> str:
    found = [change for one in results.modules.values() for change in one.changes]
    if not found:
        return ""
    lines = [f"- {'worse' if one.worse else 'better'}: {one}" for one in found]
    return "\n".join(["## Changes since the previous run", "", *lines])


def _group(group: Group, found: dict[str, Measured], files: dict[str, str]) -> list[str]:
    """Return the parts under one heading, and add their pictures to the files."""
    lines = [line for one in found.values() for line in one.lines]
    rows = [line for line in lines if isinstance(line, Row)]
    crowded = [row for row in rows if tables.is_crowded(row)]
    plain = [row for row in rows if not tables.is_crowded(row)]
    curves = [line for line in lines if isinstance(line, Curve)]
    parts = [f"## {group.title}"]
    if crowded:
        parts += [tables.crowded_table(some) for some in _divided(crowded)]
        parts += [tables.unable(crowded), tables.participants(crowded)]
        parts += [_picture(row.id, row.what, _bars(row), files) for row in crowded]
    if plain:
        parts.append(tables.plain_table(plain))
    if curves:
        parts += [GROWING, tables.curve_table(curves)]
        parts += [_picture(curve.id, curve.what, _line(curve), files) for curve in curves]
    told = [f"- `bench/{name}.py`: {one.how}" for name, one in found.items() if one.lines]
    return [*parts, "\n".join(told)]


def _divided(rows: list[Row]) -> list[list[Row]]:
    return [rows[start : start + COLUMNS] for start in range(0, len(rows), COLUMNS)]


def _bars(row: Row) -> str:
    entries = [(one.who, one.value) for one in (row.ours, *row.others) if one.value is not None]
    return svg.bars(row.what, row.unit, entries, mine=US)


def _line(curve: Curve) -> str:
    return svg.line(curve.what, curve.against, curve.unit, curve.points)


def _picture(name: str, what: str, drawn: str, files: dict[str, str]) -> str:
    path = f"{PICTURES}/{name}.svg"
    files[path] = drawn
    return f"![{what}]({path.removeprefix('docs/')})"


def _times(results: Results) -> str:
    lines = [
        "## Duration of the benches",
        "",
        "| bench | seconds | measured at (UTC) | load before and after |",
    ]
    lines.append("|---|---:|---|---|")
    for name, one in results.modules.items():
        before, after = one.load
        lines.append(f"| `{name}` | {one.took_s:,.0f} | {one.at} | {before:.1f}, {after:.1f} |")
    total = sum(one.took_s for one in results.modules.values())
    lines.append(f"| all | {total:,.0f} | | |")
    return "\n".join(lines)
