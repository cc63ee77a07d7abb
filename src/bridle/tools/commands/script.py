"""The data model of a parsed command line: simple commands, in order and nested in blocks."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.commands.lexer import Lexer, Word, WordPart, utf8

Feed = Literal["nothing", "pipe", "file", "text"]


class Redirect(Struct, frozen=True):
    """A file that is opened for a command."""

    operator: str
    target: Word


class Assignment(Struct, frozen=True):
    """A variable that is set, for one command or permanently."""

    name: str
    word: Word
    """The whole assignment, as in `a=b`."""
    value: Word


class SimpleCommand(Struct, frozen=True):
    """One simple command; without words it only sets variables or opens files."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    feed: Feed = "nothing"
    """The source of its standard input."""
    text: Word | None = None
    """Its standard input, if the command line itself contains it."""


class Construct(Struct, frozen=True):
    """A construct of the shell itself: a test `[[ … ]]`, arithmetic `(( … ))`, or a function definition."""

    source: str
    is_harmless: bool


class Block(Struct, frozen=True):
    """Steps that belong together."""

    steps: tuple["Step", ...]
    is_own_shell: bool = False
    """True if it runs in a subshell: a change of the current directory ends with it."""
    is_certain: bool = True
    """False if it may be skipped."""
    is_repeated: bool = False
    """True for a loop: a change of the current directory also affects its first step."""


Step = SimpleCommand | Construct | Block


class Script(Struct, frozen=True):
    """A parsed command line."""

    steps: tuple[Step, ...]
    doubts: tuple[str, ...]
    """Why it may do something other than the steps say."""
    values: dict[str, tuple[Word, ...]]
    """All values that the text assigns to each variable."""
    functions: frozenset[str]


# ---------------------------------------------------------------------------- command builder
# Build a simple command while it is parsed, and read here-documents.


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
