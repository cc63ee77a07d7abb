"""Small SVG charts for a page: time by activity, and tokens per turn.

Every bar has a tooltip; what a chart does not show is given as text next to it.
"""

from collections.abc import Iterator, Mapping, Sequence

from bridle.core.messages import Usage
from bridle.surfaces.shared.export.html_code import escaped
from bridle.surfaces.shared.terminal import cut, one_line
from bridle.surfaces.shared.text_format import format_count, format_elapsed
from bridle.surfaces.shared.timeline import Span, SpanKind

WIDTH = 1000
LANE_HEIGHT, LANE_GAP = 16, 4
THINNEST = 2.0  # the smallest visible width of a bar
RUN_GAP = 8  # between runs, whatever the time between them
BARS_HEIGHT = 100
FEWEST_BARS, MAX_BARS = 20, 200
NAME_CHARS = 60
KINDS: Mapping[SpanKind, str] = {
    "model": "model",
    "tool": "tools",
    "wait": "waits for a person",
    "child": "sub-agents",
    "hook": "hooks",
    "compaction": "compaction",
}
"""The rows of the time chart, from the top, with their labels."""
USES = {"read": "read from a cache", "input": "input", "output": "output"}


def time_chart(runs: Sequence[Sequence[Span]]) -> str:
    """Draw the activity of a session's runs, one after the other, without the time between them."""
    lengths = [max((_end(span) for span in run), default=0) for run in runs]
    placed = [one for one in _side_by_side(runs, lengths) if one[0].kind in KINDS]
    lanes = [kind for kind in KINDS if any(kind == span.kind for span, _, _ in placed)]
    if not lanes or not sum(lengths):
        return ""
    tops = {kind: number * (LANE_HEIGHT + LANE_GAP) for number, kind in enumerate(lanes)}
    bars: dict[tuple[str, int], str] = {}
    for span, left, width in sorted(placed, key=lambda one: -one[2]):
        place = span.kind, round(left)
        if place not in bars:  # of bars that start at the same place, the longest is shown
            took_ms = format_elapsed(_end(span) - span.start_ms)
            box = left, tops[span.kind], max(THINNEST, width - THINNEST / 2), LANE_HEIGHT
            bars[place] = _bar(span.kind, box, f"{cut(one_line(span.name), NAME_CHARS)}, {took_ms}")
    beds = [_bar("lane", (0, top, WIDTH, LANE_HEIGHT)) for top in tops.values()]
    whole = format_elapsed(sum(lengths))
    height = len(lanes) * (LANE_HEIGHT + LANE_GAP) - LANE_GAP
    drawn = _drawing("times", height, [*beds, *bars.values()], f"what {whole} went into")
    words = {kind: KINDS[kind] for kind in lanes}
    return _figure(f"Time: {whole} in {format_count(len(runs), 'run')}", drawn, words)


def _side_by_side(
    runs: Sequence[Sequence[Span]], lengths: Sequence[int]
) -> Iterator[tuple[Span, float, float]]:
    """Yield every span with its left edge and width."""
    gap = min(RUN_GAP, WIDTH / (2 * len(runs))) if runs else 0
    scale = (WIDTH - gap * (len(runs) - 1)) / max(1, sum(lengths))
    place = 0.0
    for run, length in zip(runs, lengths, strict=True):
        for span in run:
            yield span, place + span.start_ms * scale, (_end(span) - span.start_ms) * scale
        place += length * scale + gap


def _end(span: Span) -> int:
    """Return the end of a span; its start if the end is not recorded."""
    return span.start_ms if span.end_ms is None else span.end_ms


def token_chart(turns: Sequence[Usage]) -> str:
    """Draw the tokens of every turn; if there are many, several turns share a bar."""
    size = -(-len(turns) // MAX_BARS) or 1
    bars = [turns[start : start + size] for start in range(0, len(turns), size)]
    sums = [sum(bar, Usage()) for bar in bars]
    most = max((use.context for use in sums), default=0)
    if not most:
        return ""
    shapes = []
    step = WIDTH / max(FEWEST_BARS, len(sums))
    for number, use in enumerate(sums):
        first = number * size + 1
        name = f"turn {first}" if size == 1 else f"turns {first} to {first + len(bars[number]) - 1}"
        parts = {"read": use.cache_read, "input": use.input + use.cache_write, "output": use.output}
        below = 0.0
        for kind, tokens in parts.items():
            tall = tokens * BARS_HEIGHT / most
            below += tall
            if tokens:
                box = (number * step, BARS_HEIGHT - below, step * 0.85, tall)
                shapes.append(_bar(kind, box, f"{name}: {tokens:,} {USES[kind]}"))
    whole = sum(sums, Usage()).context
    drawn = _drawing("tokens", BARS_HEIGHT, shapes, f"tokens of {format_count(len(turns), 'turn')}")
    together = "one turn" if size == 1 else format_count(size, "turn")
    caption = f"Tokens: {whole:,} in {format_count(len(turns), 'turn')}, at most {most:,} in {together}"
    return _figure(caption, drawn, USES)


def _bar(kind: str, box: tuple[float, float, float, float], name: str = "") -> str:
    left, top, width, height = (f"{number:.6g}" for number in box)
    title = f"<title>{escaped(name)}</title>" if name else ""
    return f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}">{title}</rect>'


def _drawing(kind: str, height: int, shapes: Sequence[str], name: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escaped(name)}">\n{chr(10).join(shapes)}\n</svg>'
    )


def _figure(caption: str, drawing: str, kinds: Mapping[SpanKind, str] | Mapping[str, str]) -> str:
    keys = "".join(
        f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="{kind}" width="10" height="10"></rect>'
        f"</svg>{word}</li>"
        for kind, word in kinds.items()
    )
    return (
        f'<figure>\n<figcaption>{caption}</figcaption>\n{drawing}\n<ul class="legend">{keys}</ul>\n</figure>'
    )
