"""What language servers know of code: places, symbols, problems, edits; and the seam to whoever keeps them.

Paths are absolute and free of links. Lines and columns count from 1, columns in characters of the line.
"""

from typing import Literal, Protocol

from msgspec import Struct

from bridle.core.server_views import ServerView

Severity = Literal["error", "warning", "information", "hint"]
LookKind = Literal["definition", "references", "incoming_calls", "outgoing_calls"]


class Span(Struct, frozen=True, order=True):
    """A stretch of a file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Problem(Struct, frozen=True):
    """What a server holds against a stretch of code."""

    span: Span
    severity: Severity
    message: str
    source: str = ""
    """The server, or the part of it that says so."""
    code: str = ""
    tags: tuple[str, ...] = ()
    """`unnecessary`, `deprecated`."""


class SymbolInfo(Struct, frozen=True):
    """Something that has a name."""

    name: str
    kind: str
    """`function`, `class`, …"""
    span: Span
    """All of it, as it would be replaced."""
    name_span: Span
    container: str = ""
    depth: int = 0


class Found(Struct, frozen=True):
    """A place that answers a question, with the line of code there."""

    span: Span
    text: str = ""
    symbol: str = ""
    """For calls: what calls, or is called."""


class Spot(Struct, frozen=True):
    """Where a question is asked: a symbol by name, in a file or anywhere; a line and column say which."""

    symbol: str
    path: str = ""
    line: int = 0
    column: int = 0


class TextEdit(Struct, frozen=True):
    """New text for a stretch of a file."""

    span: Span
    text: str


class FileEdit(Struct, frozen=True):
    """What is to become of one file: its text, its place, or its end."""

    path: str
    before: str | None
    """The text that the edit was made for; None for a file that is not there."""
    after: str | None
    """None for a file that is removed."""


class Fix(Struct, frozen=True):
    """Something a server offers to do."""

    id: str
    """Stays the same as long as the file does."""
    title: str
    kind: str = ""
    is_preferred: bool = False


class News(Struct, frozen=True):
    """What an edit did to the problems of a project, as far as it is known in time."""

    appeared: tuple[Problem, ...] = ()
    gone: int = 0
    remaining: int = 0
    """Problems that were there before and still are."""
    late: tuple[str, ...] = ()
    """Servers that had not looked at the edit in time."""


class CodeReading(Protocol):
    """Questions about code. All of it raises ToolError, in words for the model."""

    async def look(self, kind: LookKind, spot: Spot, cwd: str) -> tuple[Found, ...]:
        """Find where something is defined, used, or who calls it and what it calls."""
        ...

    async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return what a file defines, in order."""
        ...

    async def find(self, query: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return symbols of the whole project whose names fit."""
        ...

    async def problems(self, path: str, cwd: str) -> tuple[Problem, ...]:
        """Return what is wrong with a file, or with all that is known of a project for a folder."""
        ...


class CodeEditing(Protocol):
    """Edits that only a language server can work out; nothing is written. All of it raises ToolError."""

    async def rename(self, spot: Spot, new_name: str, cwd: str) -> tuple[FileEdit, ...]:
        """Work out what renaming a symbol changes."""
        ...

    async def fixes(self, path: str, line: int, end_line: int, cwd: str) -> tuple[Fix, ...]:
        """Return what could be done about these lines."""
        ...

    async def fix(self, path: str, line: int, end_line: int, fix: str, cwd: str) -> tuple[FileEdit, ...]:
        """Work out what one of the fixes changes."""
        ...


class Watching(Protocol):
    """Files that are about to be edited."""

    async def news(self) -> News:
        """Tell the servers what the files are now, and return what changed, after a short wait at most."""
        ...


class Languages(CodeReading, CodeEditing, Protocol):
    """Keeps the language servers of every project."""

    def serves(self, path: str, cwd: str) -> bool:
        """Tell whether there is a server for such a file; quick, starts nothing, never raises."""
        ...

    def touch(self, path: str, cwd: str) -> None:
        """Say that a file is looked at: its server starts and reads it in the background."""
        ...

    async def before_edit(self, paths: tuple[str, ...], cwd: str) -> Watching:
        """Note what is wrong now, so that it can be told what an edit has brought; never raises."""
        ...

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Say which servers the files of a folder would have, and how they are, without starting one."""
        ...

    async def aclose(self) -> None:
        """End every server and all that it has started."""
        ...
