"""Settings of language servers: which may run, and how."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bridle.core.permission import Rule


class LanguageServer(Struct, frozen=True):
    """One kind of language server."""

    name: str
    command: tuple[str, ...]
    extensions: tuple[str, ...]
    language: str = ""
    """Its language id; empty for the default of each file extension."""
    root_markers: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    init_options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    start_timeout_s: float = 30.0
    writes: tuple[str, ...] = ()
    """Folders below the root, such as `target`, that it may write to inside a sandbox.

    It may write nothing else there: file edits are applied by the caller, not by the server.
    """
    reads: tuple[tuple[str, str], ...] = ()
    """Folders of its installation that are not next to its program.

    Each has the variable that names it, and its path below the home folder if the variable is unset. They are
    visible to the server also in an untrusted project.
    """
    install: str = ""
    """The install command, in one line."""
    family: str = ""
    """Of the servers in one family, only the first that is installed is used."""


class FolderLanguages(Struct, frozen=True):
    """The language servers of one folder."""

    root: str
    """The project; the only folder servers treat as theirs, and no edit may leave it."""
    servers: tuple[LanguageServer, ...] = ()
    """If several serve a file, all are asked; the first that supports a request answers it."""
    environ: Mapping[str, str] = {}
    """The environment of the server programs, without API keys."""
    confined: bool = True
    writable: tuple[str, ...] = ()
    denied: tuple[Rule, ...] = ()
    """Rules for paths that confined servers must not see."""
    trusted: bool = False
    """True if the user trusts the project: programs in it may run, and servers may see and change more."""
    wait_s: float = 3.0
    idle_s: float = 900.0


class Timeouts(Struct, frozen=True):
    """Timeouts and delays, in seconds."""

    reading_s: float = 5.0
    """For a simple query."""
    working_s: float = 10.0
    """For requests about the whole project: renames, calls, fixes."""
    quiet_s: float = 0.15
    """A server without versions has reported everything after this long without a message."""
    clean_s: float = 0.6
    """The same if there were no problems before, when silence may mean that there are still none."""
    silent_s: float = 0.3
    """The timeout for a server that timed out twice in a row."""
    again_s: float = 0.3
    """The delay before a query with a possibly incomplete answer is repeated."""
    ending_s: float = 1.0
    """For each step of ending a server."""
    look_again_s: float = 30.0
    """The delay before a missing program is looked for again."""
    backoff_s: float = 1.0
    """The delay before the second restart after a crash (the first is immediate); doubles each time."""
