"""The inks of a conversation, lines as Textual strips, and when they are redrawn."""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color, ColorParseError
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from bridle.surfaces.tui.conversation.text_wrap import Line

# ---------------------------------------------------------------------------- colors
# The inks of the conversation: names for kinds of text, and the style each has in a theme.
#
# A piece of text has an ink: one or more words of the table, such as `strong name`. Drawing code uses inks
# only, so a new theme needs no change there, and tests compare words. Without color, Textual removes it from
# every style; the attributes in this table and the marks in the text remain.


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


# ---------------------------------------------------------------------------- strips


MAX_STRIPS = 1_000
CURSOR = "┃"

Overlay = tuple[int, int, Style]
"""Start and end character on a line, and the style over them."""


class Painter:
    """Paints lines in the styles of one theme."""

    def __init__(self, palette: Palette, background: Style) -> None:
        self._palette = palette
        self._background = background
        self._styles: dict[str, Style] = {}
        self._strips: LRUCache[tuple[Line, int, int, bool], Strip] = LRUCache(MAX_STRIPS)

    def style(self, ink: str) -> Style:
        """Return the style of an ink."""
        style = self._styles.get(ink)
        if style is None:
            style = self._styles[ink] = self._background + self._palette.style(ink)
        return style

    def blank(self, width: int) -> Strip:
        """Return an empty line."""
        return Strip.blank(width, self.style("text"))

    def paint(self, line: Line, width: int, name: int, overlays: list[Overlay], *, is_marked: bool) -> Strip:
        """Return a painted line with its gutter; `name` is its line number for selections."""
        if overlays:
            return self._whole(self._overlaid(line, overlays), width, name, is_marked=is_marked)
        key = line, width, name, is_marked
        strip = self._strips.get(key)
        if strip is None:
            plain = Strip([Segment(text, self.style(ink)) for text, ink in line.pieces])
            strip = self._strips[key] = self._whole(plain, width, name, is_marked=is_marked)
        return strip

    def hinted(self, strip: Strip, hint: str, width: int) -> Strip:
        """Overlay a hint on the end of a line if there is room."""
        if not hint or width < len(hint):
            return strip
        return Strip([*strip.crop(0, width - len(hint)), Segment(hint, self.style("hint"))])

    def _whole(self, text: Strip, width: int, name: int, *, is_marked: bool) -> Strip:
        gutter = Strip([Segment(CURSOR if is_marked else " ", self.style("cursor"))]).apply_offsets(0, name)
        whole = Strip([*gutter, *text.apply_offsets(0, name)])
        return whole.crop_extend(0, width, self.style("text"))

    def _overlaid(self, line: Line, overlays: list[Overlay]) -> Strip:
        segments: list[Segment] = []
        place = 0
        for text, ink in line.pieces:
            for start, end in _cuts(place, place + len(text), overlays):
                style = self.style(ink)
                for first, last, more in overlays:
                    style = style + more if first <= start and end <= last else style
                segments.append(Segment(text[start - place : end - place], style))
            place += len(text)
        return Strip(segments)


def _cuts(start: int, end: int, overlays: list[Overlay]) -> Iterator[tuple[int, int]]:
    """Split a range wherever an overlay starts or ends."""
    inner = {place for overlay in overlays for place in overlay[:2] if start < place < end}
    yield from pairwise(sorted({start, end} | inner))


# ---------------------------------------------------------------------------- redraw scheduler


FRAME_S = 1 / 30
REST_PER_WORK = 3  # after a slow frame, the next is delayed by this factor
MAX_REST_S = 0.25
TICK_S = 1.0


class RedrawScheduler:
    """Schedules frames and, while something is running, ticks."""

    def __init__(self, widget: Widget, frame: Callable[[], None], tick: Callable[[], None]) -> None:
        self._widget = widget
        self._draw = frame
        self._tick = tick
        self._is_due = False
        self._next_frame = 0.0
        self._ticker: Timer | None = None

    def wake(self) -> None:
        """Schedule a frame soon; further calls before that frame have no effect."""
        if not self._is_due and self._widget.is_mounted:
            self._is_due = True
            self._widget.set_timer(max(0.001, self._next_frame - time.monotonic()), self._frame)

    def run(self, *, is_live: bool) -> None:
        """Start or stop ticking."""
        if is_live and self._ticker is None:
            self._ticker = self._widget.set_interval(TICK_S, self._tick)
        elif not is_live and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _frame(self) -> None:
        began = time.thread_time()
        self._is_due = False
        self._draw()
        worked = time.thread_time() - began
        self._next_frame = time.monotonic() + max(FRAME_S, min(MAX_REST_S, REST_PER_WORK * worked))
