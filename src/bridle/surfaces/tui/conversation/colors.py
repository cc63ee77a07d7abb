"""The inks of the conversation: names for kinds of text, and the style each has in a theme.

A piece of text has an ink: one or more words of the table, such as `strong name`. Drawing code uses inks
only, so a new theme needs no change there, and tests compare words. Without color, Textual removes it from
every style; the attributes in this table and the marks in the text remain.
"""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color, ColorParseError

INKS: dict[str, tuple[str, str]] = {
    "text": ("foreground", ""),
    "dim": ("text-muted", ""),
    "strong": ("", "bold"),
    "emphasis": ("", "italic"),
    "struck": ("", "strike"),
    "link": ("", "underline"),
    "heading": ("primary", "bold"),
    "code": ("accent", ""),
    "said": ("primary", "bold"),
    "thought": ("text-muted", "italic"),
    "done": ("success", ""),
    "failed": ("error", ""),
    "warning": ("warning", ""),
    "name": ("accent", ""),
    "added": ("success", ""),
    "removed": ("error", ""),
    "keyword": ("primary", "bold"),
    "string": ("success", ""),
    "number": ("warning", ""),
    "comment": ("text-muted", "italic"),
    "defined": ("accent", "bold"),
    "builtin": ("accent", ""),
    "cursor": ("primary", "bold"),
    "hint": ("accent", "bold reverse"),
    "match": ("warning", "reverse"),
    "this_match": ("warning", "reverse bold underline"),
}
"""The theme variable and the attributes of each ink word."""


class Palette:
    """The styles of one theme."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def style(self, ink: str) -> Style:
        """Return the style of an ink; unknown words have no effect."""
        variable, attributes = "foreground", set[str]()
        for word in ink.split():
            colour, more = INKS.get(word, ("", ""))
            variable = colour or variable
            attributes |= set(more.split())
        return Style(
            color=self._colour(variable).rich_color,
            bold="bold" in attributes or None,
            italic="italic" in attributes or None,
            strike="strike" in attributes or None,
            underline="underline" in attributes or None,
            reverse="reverse" in attributes or None,
        )

    def _colour(self, variable: str) -> Color:
        """Return a theme variable as an opaque color; `auto 60%` is the text color, fainter."""
        background = _parsed(self._variables.get("background", "#000000"))
        wanted = self._variables.get(variable, "")
        if wanted.startswith("auto"):
            share = wanted.removeprefix("auto").strip().rstrip("%")
            text = _parsed(self._variables.get("foreground", "#ffffff"))
            return background.blend(text, float(share) / 100 if share else 1.0)
        colour = _parsed(wanted)
        return colour if colour.a == 1 else background + colour


def _parsed(text: str) -> Color:
    try:
        return Color.parse(text)
    except ColorParseError:
        return Color(255, 255, 255)
