"""Lays out growing Markdown text: each finished block once, the unfinished tail each time it is drawn.

A long text that arrives at once is first shown as plain text except its end; the rest is formatted over the
next frames, so that the user does not wait.
"""

from bridle.surfaces.tui.conversation.blocks import Block, BlockSplitter
from bridle.surfaces.tui.conversation.markdown import Table, block_flows, rough_flows, wrap_flow
from bridle.surfaces.tui.conversation.text_wrap import Flow, Line

MAX_CHARS_AT_ONCE = 4_000  # about 20 ms for highlighted code


class MarkdownStream:
    """The lines of a text that may still grow."""

    def __init__(self, ink: str = "text") -> None:
        self._ink = ink
        self._splitter = BlockSplitter()
        self._blocks: list[Block] = []
        self._flows: list[list[Flow | Table] | None] = []
        """The flows of each block; None where they are not computed yet."""
        self._rough = 0
        """How many blocks are not formatted yet."""
        self._lines: list[Line] = []
        self._width = 0
        self._fine_blocks = 0
        """How many blocks, from the first on, have their final lines."""
        self._fine_lines = 0
        self._is_right = False

    @property
    def is_rough(self) -> bool:
        """True while some blocks are not formatted."""
        return self._rough > 0

    def refine(self) -> None:
        """Let the next call of `text_wrap` format more blocks."""
        self._is_right = self._is_right and not self._rough

    def feed(self, text: str) -> None:
        """Add text."""
        self._keep(self._splitter.feed(text))

    def finish(self) -> None:
        """Mark the text as complete."""
        self._keep(self._splitter.finish())

    def lines(self, width: int) -> list[Line]:
        """Return all lines at a width; the caller must not change the list, and it changes with the text."""
        if width == self._width and self._is_right:
            return self._lines
        if width != self._width:
            self._width, self._fine_blocks, self._fine_lines = width, 0, 0
        self._find_out()
        del self._lines[self._fine_lines :]
        for index in range(self._fine_blocks, len(self._blocks)):
            block, flows = self._blocks[index], self._flows[index]
            self._lay(block, rough_flows(block, self._ink) if flows is None else flows)
            if flows is not None and index == self._fine_blocks:
                self._fine_blocks, self._fine_lines = index + 1, len(self._lines)
        if (tail := self._splitter.tail) is not None:
            self._lay(tail, block_flows(tail, self._ink))
        self._is_right = True
        return self._lines

    def _keep(self, blocks: list[Block]) -> None:
        self._blocks += blocks
        self._flows += [None] * len(blocks)
        self._rough += len(blocks)
        self._is_right = False

    def _find_out(self) -> None:
        """Format the newest unformatted blocks, about `MAX_CHARS_AT_ONCE` characters."""
        chars = 0
        index = len(self._blocks) - 1
        while self._rough and chars < MAX_CHARS_AT_ONCE:
            if self._flows[index] is None:
                chars += len(self._blocks[index].text)
                self._flows[index] = block_flows(self._blocks[index], self._ink)
                self._rough -= 1
            index -= 1

    def _lay(self, block: Block, flows: list[Flow | Table]) -> None:
        if block.has_gap and self._lines:
            self._lines.append(Line(()))
        for flow in flows:
            self._lines += wrap_flow(flow, self._width)
