"""Rows and curves as Markdown tables."""

from collections.abc import Iterable, Sequence

from rows import US, Curve, Figure, Line, Row, number

FEW = 3
"""With more other participants than this, participants are the lines of a table and rows its columns."""


def is_crowded(row: Row) -> bool:
    """Return whether a row has many participants."""
    return len(row.others) > FEW


def plain_table(rows: Sequence[Row]) -> str:
    """Compare Bridle with one or a few others."""
    lines = [("what", "Bridle", "compared with", "ratio", "at most")]
    for row in rows:
        has_ratio = row.best is not None
        ratio = score_of(row) if has_ratio else ""
        value = f"{_value(row.ours)} {row.unit}"
        if not row.holds:
            ratio, value = (f"**{ratio}**", value) if has_ratio else (ratio, f"**{value}**")
        beside = "<br>".join(_beside(one, row.unit) for one in row.others)
        what = f"{row.what}<br>{row.note}" if row.note else row.what
        lines.append((what, value, beside, ratio, bar_of(row)))
    return _table(lines, "lrlrr")


def crowded_table(rows: Sequence[Row]) -> str:
    """Compare many participants, one per line; the best of each column is bold."""
    names = list(dict.fromkeys([US, *(one.who for row in rows for one in row.others)]))
    lines = [("", *(f"{row.what}, {row.unit}" for row in rows))]
    for name in names:
        cells = [name if name != US else f"**{US}**"]
        for row in rows:
            found = next((one for one in (row.ours, *row.others) if one.who == name), None)
            cells.append(_cell(row, found))
        lines.append(tuple(cells))
    places = (f"{_place(row)} of {_able(row)}" for row in rows)
    lines.append(("Bridle's place", *places))
    return _table(lines, "l" + "r" * len(rows))


def participants(rows: Sequence[Row]) -> str:
    """List the version and the configuration of each participant, with exceptions for single rows."""
    versions: dict[str, str] = {}
    hows: dict[str, dict[str, str]] = {}
    for row in rows:
        for one in (row.ours, *row.others):
            if one.value is not None:
                versions.setdefault(one.who, one.version)
                known = hows.setdefault(one.who, {})
                known.setdefault(one.how, f"{row.what}: {one.how}" if known else one.how)
    lines = [("who", "version", "configuration")]
    for who, version in versions.items():
        how = "<br>".join(said for said in hows[who].values() if said)
        if version or how:
            lines.append((who, version, how))
    return _table(lines, "lll") if len(lines) > 1 else ""


def unable(rows: Sequence[Row]) -> str:
    """List the rows that a participant cannot do, with the reason."""
    lacking = [(row, one) for row in rows for one in row.others if one.value is None]
    return "\n".join(f"- no figure for {one.who}, {row.what}: {one.how}" for row, one in lacking)


def curve_table(curves: Sequence[Curve]) -> str:
    """Show how costs grow."""
    lines = [("what", "against", "from", "to", "grows as", "at most")]
    for curve in curves:
        (small, cheap), (large, dear) = curve.points[0], curve.points[-1]
        power = score_of(curve)
        lines.append(
            (
                f"{curve.what}<br>{curve.note}" if curve.note else curve.what,
                curve.against,
                f"{number(cheap)} {curve.unit} at {small:,.0f}",
                f"{number(dear)} {curve.unit} at {large:,.0f}",
                power if curve.holds else f"**{power}**",
                bar_of(curve),
            )
        )
    return _table(lines, "llrrrr")


def score_of(line: Line) -> str:
    """Format the value that the bar limits."""
    match line:
        case Curve():
            return f"n^{line.score:.2f}"
        case Row(best=None):
            return f"{number(line.score)} {line.unit}"
        case Row():
            return f"{line.score:.2f}"


def bar_of(line: Line) -> str:
    """Format a bar."""
    match line:
        case Row(bar=None):
            return ""
        case Curve():
            return f"n^{line.bar:g}"
        case Row(best=None):
            return f"{line.bar:,g} {line.unit}"
        case Row():
            return f"{line.bar:.3g}"


def _cell(row: Row, found: Figure | None) -> str:
    if found is None or found.value is None:
        return "–"
    best = min(one.value for one in (row.ours, *row.others) if one.value is not None)
    return f"**{_value(found)}**" if found.value == best else _value(found)


def _place(row: Row) -> int:
    mine = row.ours.value
    assert mine is not None
    return 1 + sum(one.value is not None and one.value < mine for one in row.others)


def _able(row: Row) -> int:
    return 1 + sum(one.value is not None for one in row.others)


def _beside(one: Figure, unit: str) -> str:
    if one.value is None:
        return f"– ({one.who}: {one.how})"
    name = f"{one.who} {one.version}".strip()
    return f"{_value(one)} {unit} ({name})"


def _value(one: Figure) -> str:
    assert one.value is not None
    return number(one.value) + (f" ±{one.spread:.0%}" if one.rounds > 1 else "")


def _table(lines: Iterable[Sequence[str]], align: str) -> str:
    """Format a table; the first line is its header."""
    head, *rest = lines
    rule = ["---:" if side == "r" else "---" for side in align]
    return "\n".join("| " + " | ".join(_safe(cell) for cell in cells) + " |" for cells in (head, rule, *rest))


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
