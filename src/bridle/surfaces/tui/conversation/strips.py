"""Converts lines to Textual strips."""

from collections.abc import Iterator
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from bridle.surfaces.tui.conversation.colors import Palette
from bridle.surfaces.tui.conversation.text_wrap import Line

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
