"""The data model of a parsed command line: simple commands, in order and nested in blocks."""

from typing import Literal

from msgspec import Struct

from bridle.tools.commands.lexer import Word

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
