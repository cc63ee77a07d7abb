"""Bar charts and line charts as small SVG files, readable on white and on black."""

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from rows import number

WIDTH = 720
TEXT, FAINT, OURS, OTHERS = "#78828c", "#78828c55", "#2f81f7", "#9aa4af"
FONT = "font-family='system-ui, sans-serif' font-size='13'"
ROW, BAR = 26, 16
LEFT, RIGHT, TOP = 190, 110, 44
PLOT_HEIGHT = 260


def bars(title: str, unit: str, entries: Sequence[tuple[str, float]], mine: str) -> str:
    """Draw a bar for each entry, the smallest at the top; `mine` has a different colour."""
    most = max(value for _, value in entries) or 1.0
    parts = [_text(0, 20, f"{title}, {unit}: less is better", weight=600)]
    for place, (name, value) in enumerate(sorted(entries, key=lambda entry: entry[1])):
        top = TOP + place * ROW
        wide = max(1.5, (WIDTH - LEFT - RIGHT) * value / most)
        colour = OURS if name == mine else OTHERS
        parts += [
            _text(LEFT - 10, top + 12, name, anchor="end", weight=600 if name == mine else 400),
            f"<rect x='{LEFT}' y='{top}' width='{wide:.1f}' height='{BAR}' rx='2' fill='{colour}'/>",
            _text(LEFT + wide + 8, top + 12, number(value)),
        ]
    return _document(TOP + len(entries) * ROW + 6, title, parts)


def line(title: str, across: str, unit: str, points: Sequence[tuple[float, float]]) -> str:
    """Draw costs against sizes; both axes are logarithmic, so a power is a straight line."""
    left, right, top, bottom = 70, WIDTH - 30, TOP, TOP + PLOT_HEIGHT
    sizes, costs = [math.log10(size) for size, _ in points], [cost for _, cost in points]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    high = max(high, low + 1)

    def at(size: float, cost: float) -> tuple[float, float]:
        share = (math.log10(size) - sizes[0]) / ((sizes[-1] - sizes[0]) or 1.0)
        rise = (math.log10(cost) - low) / (high - low)
        return left + 20 + share * (right - left - 40), bottom - rise * (bottom - top)

    parts = [_text(0, 20, f"{title}, {unit}", weight=600)]
    for power in range(low, high + 1):
        _, y = at(points[0][0], 10.0**power)
        parts += [
            f"<line x1='{left}' y1='{y:.1f}' x2='{right}' y2='{y:.1f}' stroke='{FAINT}'/>",
            _text(left - 8, y + 4, f"{10.0**power:,g}", anchor="end"),
        ]
    places = [at(size, cost) for size, cost in points]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(f"<polyline points='{drawn}' fill='none' stroke='{OURS}' stroke-width='2'/>")
    for (size, cost), (x, y) in zip(points, places, strict=True):
        parts += [
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{OURS}'/>",
            _text(x, y - 10, number(cost), anchor="middle"),
            _text(x, bottom + 20, f"{size:,.0f}", anchor="middle"),
        ]
    parts.append(_text((left + right) / 2, bottom + 42, across, anchor="middle"))
    return _document(bottom + 52, title, parts)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: int = 400) -> str:
    place = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-weight='{weight}'"
    return f"<text {place}>{escape(text)}</text>"


def _document(height: float, title: str, parts: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' role='img' {FONT}"
    body = "\n".join((f"<title>{escape(title)}</title>", *parts))
    return f"{head} fill='{TEXT}'>\n{body}\n</svg>\n"
