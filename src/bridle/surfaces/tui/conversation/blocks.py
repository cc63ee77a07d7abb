"""Splits streamed Markdown into blocks, so that a finished block is laid out only once.

```
text ──▶ lines ──▶ Splitter ──▶ blocks that no later text can change
                       └──────▶ the tail, laid out again in each frame
```

Where a block ends depends on the text before it and the line that ends it, never on how the stream was
split. A block that grows too long is split too: code at a line break, a table with its header row repeated.
"""

import re
from typing import Literal

from msgspec import Struct

MAX_BLOCK_CHARS = 2_500  # about 4 ms per frame

_MARKER = re.compile(r"(?:[-*+]|(?P<number>\d{1,9})[.)])(?: +|$)")
_HEADING = re.compile(r"#{1,6}(?: |$)")
_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})(?P<language>.*)$")
_TABLE_RULE = re.compile(r" *\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$")


class Block(Struct, frozen=True):
    """A part of a Markdown text that can be laid out without the rest."""

    text: str
    kind: Literal["prose", "code"] = "prose"
    language: str = ""
    """Everything after the opening fence marks."""
    indent: int = 0
    has_gap: bool = False
    """True if an empty line precedes it."""


class _Fence(Struct, frozen=True):
    marks: str
    indent: int
    language: str

    def is_closed_by(self, line: str) -> bool:
        text = line.strip()
        return len(text) >= len(self.marks) and self.may_be_closed_by(line)

    def may_be_closed_by(self, line: str) -> bool:
        return not line.strip().strip(self.marks[0])


class BlockSplitter:
    """Takes a text in chunks of any size and returns its blocks."""

    def __init__(self) -> None:
        self._rest = ""
        """The unfinished line."""
        self._done: list[Block] = []
        self._lines: list[str] = []
        self._chars = 0
        self._kind: Literal["prose", "code"] = "prose"
        self._language = ""
        self._indent = 0
        self._has_gap = False
        self._fence: _Fence | None = None
        self._item_indent: int | None = None
        """The column where a list item's text starts; lines indented this far belong to the item."""
        self._is_blank = False
        """True if the previous line was empty."""
        self._is_cut = False
        """True if the previous line was split because of its length, so that the next one is its rest."""
        self._is_over = False
        """True if the block is complete."""

    def feed(self, text: str) -> list[Block]:
        """Add text; return the blocks it completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._take(self._shortened(line).removesuffix("\r"), is_cut=False)
        self._rest = self._shortened(self._rest)
        done, self._done = self._done, []
        return done

    def finish(self) -> list[Block]:
        """Return the remaining blocks at the end of the text."""
        done = self.feed("\n") if self._rest else []
        self._close()
        last, self._done = self._done, []
        return done + last

    @property
    def tail(self) -> Block | None:
        """The block that may still change; None if there is none."""
        is_shown = self._rest and not (self._fence is not None and self._fence.may_be_closed_by(self._rest))
        lines = [*self._lines, self._rest] if is_shown else self._lines
        return self._block(lines) if any(lines) or self._kind == "code" else None

    def _shortened(self, line: str) -> str:
        """Process the first parts of a line that is too long; return the rest."""
        while len(line) > MAX_BLOCK_CHARS:
            at = line.rfind(" ", MAX_BLOCK_CHARS // 2, MAX_BLOCK_CHARS)
            at = MAX_BLOCK_CHARS if at < 0 else at
            self._take(line[:at], is_cut=True)
            line = line[at:]
        return line

    def _take(self, line: str, *, is_cut: bool) -> None:
        was_cut, self._is_cut = self._is_cut, is_cut
        if self._fence is not None and self._in_fence(self._fence, line):
            return
        if not line.strip():
            self._is_blank = True
            if self._lines:
                self._add("")
            return
        begun = line.expandtabs(4)
        indent = len(begun) - len(begun.lstrip(" "))
        text = begun.strip()
        if was_cut or self._begins(text, indent):
            self._open(indent)
        self._is_blank = False
        if not was_cut:
            self._classify(text, indent)
        if self._kind == "code":
            return
        self._add(line)
        self._is_over = is_cut or self._is_over

    def _in_fence(self, fence: _Fence, line: str) -> bool:
        """Process a line inside a code fence; return False if the line comes after the code."""
        inside = self._item_indent is not None and self._kind == "prose"
        indent = len(line) - len(line.lstrip(" "))
        if inside and line.strip() and indent < (self._item_indent or 0):
            self._fence = None
            return False
        if fence.is_closed_by(line):
            self._fence = None
            if self._kind == "prose":
                self._add(line)
            else:
                self._close()
            return True
        if self._chars > MAX_BLOCK_CHARS:
            indented = (self._item_indent or 0) if inside else self._indent
            self._close()
            self._kind, self._language, self._indent = "code", fence.language, indented
        self._add(line[min(indent, fence.indent) :] if self._kind == "code" else line)
        return True

    def _begins(self, text: str, indent: int) -> bool:
        """Return True if a line starts a new block."""
        if not self._lines or self._is_over:
            return True
        inside = self._item_indent is not None and indent >= self._item_indent
        if self._chars > MAX_BLOCK_CHARS:
            return True
        if inside:
            return False
        if self._is_blank or _HEADING.match(text) or (indent < 4 and _FENCE.match(text)):
            return True
        marker = _MARKER.match(text)
        if marker is None:
            return False
        return self._item_indent is not None or (indent < 4 and marker["number"] in (None, "1"))

    def _classify(self, text: str, indent: int) -> None:
        """Update the parser state with a line, for the lines after it."""
        marker = _MARKER.match(text)
        if marker is not None and not self._lines:
            self._item_indent = indent + min(marker.end(), len(text) + 1)
        inner = text[marker.end() :] if marker is not None else text
        fence = _FENCE.match(inner)
        if fence is not None and not (fence["marks"][0] == "`" and "`" in fence["language"]):
            is_inside = marker is not None or self._item_indent is not None
            self._fence = _Fence(fence["marks"], indent, fence["language"].strip())
            if not is_inside and indent < 4:
                self._kind, self._language = "code", self._fence.language
        self._is_over = marker is None and not self._lines and bool(_HEADING.match(text))

    def _open(self, indent: int) -> None:
        """Start a block; a table that was too long continues with its header row."""
        is_cut = self._chars > MAX_BLOCK_CHARS and not self._is_blank
        head = self._lines[:2]
        self._close()
        self._indent = indent if is_cut else 0
        if is_cut and len(head) == 2 and "|" in head[0] and _TABLE_RULE.match(head[1]):
            for line in head:
                self._add(line)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line) + 1

    def _close(self) -> None:
        if any(self._lines) or self._kind == "code":
            self._done.append(self._block(self._lines))
            self._has_gap = False
        self._has_gap = self._has_gap or self._is_blank
        self._lines, self._chars, self._kind, self._language, self._indent = [], 0, "prose", "", 0
        self._item_indent, self._is_over = None, False

    def _block(self, lines: list[str]) -> Block:
        if self._kind == "prose" and self._indent:
            lines = [line[min(self._indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
        text = "\n".join(lines).rstrip("\n")
        return Block(text, self._kind, self._language, self._indent, self._has_gap)
