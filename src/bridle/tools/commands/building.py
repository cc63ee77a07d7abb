"""A simple command while it is being read, and the here-document that may be fed to it."""

import re
from collections.abc import Sequence

from bridle.core.errors import ToolError
from bridle.tools.commands.script import Assignment, Feed, Redirect, Simple, Step
from bridle.tools.commands.words import Lexer, Piece, Word, utf8

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")


class Building:
    """The parts of a simple command, found one after the other."""

    def __init__(self, feed: Feed, position: int) -> None:
        self.position = position
        """How far the source was read."""
        self.words: list[Word] = []
        self.assignments: list[Assignment] = []
        self.before: list[Step] = []
        """The substitutions in it, which run first."""
        self.after: list[Step] = []
        """What follows on the same line, where a here-document comes between."""
        self.feed = feed
        self._redirects: list[Redirect] = []
        self._text: Word | None = None

    def add(self, words: Sequence[Word], nested: Sequence[Step], end: int) -> None:
        """Take words that were read up to here."""
        self.words += words
        self.before += nested
        self.position = end

    def redirect(self, redirect: Redirect, *, is_input: bool) -> None:
        """Take a redirection; tells what the command is fed if it is one of its standard input."""
        if redirect.operator == "<<<":
            self.feed_text(redirect.target)
            return
        if redirect.operator.startswith("<") and is_input:
            self.feed = "file"
        self._redirects.append(redirect)

    def feed_text(self, text: Word | None) -> None:
        """Take a text as standard input; None when it is not known before it runs."""
        self.feed = "text"
        self._text = text

    def simple(self) -> Simple:
        """Return what was found."""
        return Simple(
            tuple(self.words), tuple(self.assignments), tuple(self._redirects), self.feed, self._text
        )


def assignment_of(word: Word) -> Assignment | None:
    """Return the variable that a word sets, if it does."""
    first, *rest = word.pieces
    match = _ASSIGNMENT.match(first.text) if first.kind == "bare" else None
    if match is None:
        return None
    text = first.text[match.end() :]
    pieces = (*([Piece("bare", text, text)] if text else []), *rest)
    return Assignment(match[1], word, Word(word.source[match.end() :], pieces or (Piece("quoted", "", ""),)))


def read_body(
    source: str, lexer: Lexer, delimiter: Word, span: tuple[int, int], *, strips: bool
) -> tuple[Word, bool]:
    """Read the body of a here-document, and say whether its text is known.

    The span runs to the end of the delimiter, which must be the only line of its kind. Raises ToolError
    when bash would see another end than the tree did.
    """
    start, end = span
    name = "".join(piece.text for piece in delimiter.pieces)
    lines = source[start:end].split("\n")
    if strips:
        lines = [line.lstrip("\t") for line in lines]
    is_quoted = any(piece.kind == "quoted" for piece in delimiter.pieces)
    is_joined = not is_quoted and len(lines) > 1 and lines[-2].endswith("\\")
    if not start or name not in lines or lines.index(name) != len(lines) - 1 or is_joined:
        raise ToolError("a here-document does not end where it seems to")
    text = "\n".join([*lines[:-1], ""])
    known = Word(utf8(text), (Piece("quoted", text, text),))
    if is_quoted:
        return known, True
    body = lexer.body(start, source.rfind("\n", start - 1, end) + 1)
    return (body, False) if set("$`\\") & set(text) else (known, True)
