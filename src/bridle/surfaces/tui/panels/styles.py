"""The colors of panels: maps meanings to theme variables."""

from textual.content import Content

from bridle.core.protocol import Outcome
from bridle.surfaces.shared.terminal import Colour, visible

STYLES: dict[Colour, str] = {
    "done": "$success",
    "failed": "$error",
    "warning": "$warning",
    "name": "$accent",
    "detail": "$text-muted",
    "strong": "bold",
    "added": "$success",
    "removed": "$error",
    "keyword": "$primary",
    "string": "$success",
    "number": "$warning",
    "comment": "$text-muted italic",
    "defined": "bold $primary",
    "builtin": "$accent",
}

OUTCOMES: dict[Outcome, tuple[str, str, Colour]] = {
    "completed": ("✓", "done", "done"),
    "denied": ("✗", "denied", "warning"),
    "cancelled": ("✗", "cancelled", "warning"),
    "failed": ("✗", "failed", "failed"),
    "budget_exhausted": ("✗", "out of budget", "failed"),
    "limit": ("✗", "reached a limit", "failed"),
}
"""A mark, a word and a color for each outcome of a run."""

Part = str | Content | tuple[Colour, str]


def styled(*parts: Part) -> Content:
    """Join texts, each in the color of its meaning; control characters become visible."""
    return Content.assemble(*map(_part, parts))


def _part(part: Part) -> str | Content | tuple[str, str]:
    if isinstance(part, Content):
        return part
    if isinstance(part, str):
        return visible(part)
    return visible(part[1]), STYLES[part[0]]
