"""The interface to language servers: their values (spans, symbols, problems, edits) and their protocols.

Paths are absolute, without symbolic links. Lines and columns count from 1, columns in characters.
"""

from typing import Literal, Protocol

from msgspec import Struct

from bridle.core.server_views import ServerView

Severity = Literal["error", "warning", "information", "hint"]
LookupKind = Literal["definition", "references", "incoming_calls", "outgoing_calls"]


class Span(Struct, frozen=True, order=True):
    """A range of text in a file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class CodeProblem(Struct, frozen=True):
    """A diagnostic: what a server reports about a range of code."""

    span: Span
    severity: Severity
    message: str
    source: str = ""
    """The server, or the part of it that reports the problem."""
    code: str = ""
    tags: tuple[str, ...] = ()
    """`unnecessary`, `deprecated`."""


class SymbolInfo(Struct, frozen=True):
    """A named piece of code."""

    name: str
    kind: str
    """`function`, `class`, …"""
    span: Span
    """The whole definition, as an edit would replace it."""
    name_span: Span
    container: str = ""
    depth: int = 0


class CodeLocation(Struct, frozen=True):
    """A place found by a query, with its line of code."""

    span: Span
    text: str = ""
    symbol: str = ""
    """For calls: the caller or the called function."""


class SymbolQuery(Struct, frozen=True):
    """The target of a query: a symbol's name, in a file or anywhere; line and column choose among several."""

    symbol: str
    path: str = ""
    line: int = 0
    column: int = 0


class TextEdit(Struct, frozen=True):
    """New text for a range of a file."""

    span: Span
    text: str


class FileEdit(Struct, frozen=True):
    """A change of one file: create, edit or remove it."""

    path: str
    before: str | None
    """The text that the edit applies to; None for a new file."""
    after: str | None
    """The new text; None removes the file."""


class CodeAction(Struct, frozen=True):
    """A code action that a server offers."""

    id: str
    """Stable while the file does not change."""
    title: str
    kind: str = ""
    is_preferred: bool = False


class ProblemChanges(Struct, frozen=True):
    """How an edit changed the problems of a project, from the servers that answered in time."""

    appeared: tuple[CodeProblem, ...] = ()
    gone: int = 0
    remaining: int = 0
    """Problems that existed before and still do."""
    late: tuple[str, ...] = ()
    """Servers that had not checked the edit in time."""


class CodeQueries(Protocol):
    """Queries about code. Every method raises ToolError with a message for the model."""

    async def look(self, kind: LookupKind, spot: SymbolQuery, cwd: str) -> tuple[CodeLocation, ...]:
        """Find the definition, the references, the callers or the callees of a symbol."""
        ...

    async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols that a file defines, in order."""
        ...

    async def find(self, query: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return symbols of the whole project whose names match."""
        ...

    async def problems(self, path: str, cwd: str) -> tuple[CodeProblem, ...]:
        """Return the problems of a file; for a folder, all known problems of the project."""
        ...


class CodeRefactorings(Protocol):
    """Edits that only a language server can compute; nothing is written. Every method raises ToolError."""

    async def rename(self, spot: SymbolQuery, new_name: str, cwd: str) -> tuple[FileEdit, ...]:
        """Compute the edits that rename a symbol."""
        ...

    async def fixes(self, path: str, line: int, end_line: int, cwd: str) -> tuple[CodeAction, ...]:
        """Return the code actions offered for these lines."""
        ...

    async def fix(self, path: str, line: int, end_line: int, fix: str, cwd: str) -> tuple[FileEdit, ...]:
        """Compute the edits of one code action."""
        ...


class PendingEdit(Protocol):
    """Files that are about to be edited, with their problems before the edit."""

    async def news(self) -> ProblemChanges:
        """Send the files' new text to the servers and return how the problems changed; waits only briefly."""
        ...


class LanguageServers(CodeQueries, CodeRefactorings, Protocol):
    """The language servers of all projects."""

    def serves(self, path: str, cwd: str) -> bool:
        """Return True if a server handles such a file; quick, starts nothing, never raises."""
        ...

    def touch(self, path: str, cwd: str) -> None:
        """Start the server for a file in the background and open the file there."""
        ...

    async def before_edit(self, paths: tuple[str, ...], cwd: str) -> PendingEdit:
        """Record the current problems, to compare with those after an edit; never raises."""
        ...

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Return the servers for the files of a folder and their states, without starting any."""
        ...

    async def aclose(self) -> None:
        """Stop every server and all processes it started."""
        ...
