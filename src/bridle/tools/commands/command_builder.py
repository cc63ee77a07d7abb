"""Build a simple command while it is parsed, and read here-documents."""

import re
from collections.abc import Sequence

from bridle.core.errors import ToolError
from bridle.tools.commands.lexer import Lexer, Word, WordPart, utf8
from bridle.tools.commands.script import Assignment, Feed, Redirect, SimpleCommand, Step

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")


class CommandBuilder:
    """Collects the parts of a simple command during parsing."""

    def __init__(self, feed: Feed, position: int) -> None:
        self.position = position
        """The offset up to which the source was read."""
        self.words: list[Word] = []
        self.assignments: list[Assignment] = []
        self.before: list[Step] = []
        """The substitutions in the command, which run first."""
        self.after: list[Step] = []
        """The steps on the same line after a here-document operator."""
        self.feed = feed
        self._redirects: list[Redirect] = []
        self._text: Word | None = None

    def add(self, words: Sequence[Word], nested: Sequence[Step], end: int) -> None:
        """Add words and their substitutions, read up to the offset `end`."""
        self.words += words
        self.before += nested
        self.position = end

    def redirect(self, redirect: Redirect, *, is_input: bool) -> None:
        """Add a redirection; set `feed` if it redirects standard input."""
        if redirect.operator == "<<<":
            self.feed_text(redirect.target)
            return
        if redirect.operator.startswith("<") and is_input:
            self.feed = "file"
        self._redirects.append(redirect)

    def feed_text(self, text: Word | None) -> None:
        """Set the text of standard input; None when it is not known before the command runs."""
        self.feed = "text"
        self._text = text

    def simple(self) -> SimpleCommand:
        """Return the finished command."""
        return SimpleCommand(
            tuple(self.words), tuple(self.assignments), tuple(self._redirects), self.feed, self._text
        )


def assignment_of(word: Word) -> Assignment | None:
    """Return the assignment that a word is; None if it is not one."""
    first, *rest = word.pieces
    match = _ASSIGNMENT.match(first.text) if first.kind == "bare" else None
    if match is None:
        return None
    text = first.text[match.end() :]
    pieces = (*([WordPart("bare", text, text)] if text else []), *rest)
    return Assignment(
        match[1], word, Word(word.source[match.end() :], pieces or (WordPart("quoted", "", ""),))
    )


def read_body(
    source: str, lexer: Lexer, delimiter: Word, span: tuple[int, int], *, strips: bool
) -> tuple[Word, bool]:
    """Return the body of a here-document, and whether its text is known before it runs.

    The span includes the closing delimiter, which must occur on no other line. Raises ToolError when bash
    would find a different end than the syntax tree.
    """
    start, end = span
    name = "".join(piece.text for piece in delimiter.pieces)
    lines = source[start:end].split("\n")
    if strips:
        lines = [line.lstrip("\t") for line in lines]
    is_quoted = any(piece.kind == "quoted" for piece in delimiter.pieces)
    is_joined = not is_quoted and len(lines) > 1 and lines[-2].endswith("\\")
    if not start or name not in lines or lines.index(name) != len(lines) - 1 or is_joined:
        raise ToolError("a here-document does not end where it appears to")
    text = "\n".join([*lines[:-1], ""])
    known = Word(utf8(text), (WordPart("quoted", text, text),))
    if is_quoted:
        return known, True
    body = lexer.body(start, source.rfind("\n", start - 1, end) + 1)
    return (body, False) if set("$`\\") & set(text) else (known, True)
