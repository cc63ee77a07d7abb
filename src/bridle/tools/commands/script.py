"""What a command line is made of: simple commands, in the order and the surroundings they run in."""

from typing import Literal

from msgspec import Struct

from bridle.tools.commands.words import Word

Feed = Literal["nothing", "pipe", "file", "text"]


class Redirect(Struct, frozen=True):
    """A file that is opened for a command."""

    operator: str
    target: Word


class Assignment(Struct, frozen=True):
    """A variable that is set, for one command or for good."""

    name: str
    word: Word
    """The whole of it, as in `a=b`."""
    value: Word


class Simple(Struct, frozen=True):
    """One simple command; without words it only sets variables or opens files."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    feed: Feed = "nothing"
    """Where its standard input comes from."""
    text: Word | None = None
    """What is fed to it, when that is a text in the command line itself."""


class Construct(Struct, frozen=True):
    """A test or a calculation of the shell itself: `[[ … ]]`, `(( … ))`, or the definition of a function."""

    source: str
    is_harmless: bool


class Block(Struct, frozen=True):
    """Steps that belong together."""

    steps: tuple["Step", ...]
    is_own_shell: bool = False
    """What it does to the current directory ends with it."""
    is_certain: bool = True
    """False when it may be passed over."""
    is_repeated: bool = False
    """What it does to the current directory comes before its own first step, too."""


Step = Simple | Construct | Block


class Script(Struct, frozen=True):
    """A command line that was read."""

    steps: tuple[Step, ...]
    doubts: tuple[str, ...]
    """Why it may do something else than the steps say."""
    values: dict[str, tuple[Word, ...]]
    """Everything that is assigned to each variable, as far as it is written down."""
    functions: frozenset[str]
