"""Which language servers may run, and how."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bridle.core.permission import Rule


class LanguageServer(Struct, frozen=True):
    """One kind of server."""

    name: str
    command: tuple[str, ...]
    extensions: tuple[str, ...]
    language: str = ""
    """What it calls the language of its files; empty for what is usual for each ending."""
    root_markers: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    init_options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    start_timeout_s: float = 30.0
    writes: tuple[str, ...] = ()
    """Folders below the root, such as `target`, that it may change where a sandbox holds it; nothing else
    there: what is to become of files is for whoever asks, not for the server."""
    reads: tuple[tuple[str, str], ...] = ()
    """Folders of its installation that are not beside its program: the variable that names each, and where
    it is below the home without one. It sees them also in a project that is not trusted."""
    install: str = ""
    """How to get it, in one line."""
    family: str = ""
    """Of those that share one, only the first that is there serves."""


class FolderLanguages(Struct, frozen=True):
    """The language servers of one folder."""

    root: str
    """The project; servers see nothing else as theirs, and no edit may leave it."""
    servers: tuple[LanguageServer, ...] = ()
    """Where two serve a file, both are asked; the first that can do a thing does it."""
    environ: Mapping[str, str] = {}
    """What the programs see of the environment: no keys."""
    confined: bool = True
    writable: tuple[str, ...] = ()
    denied: tuple[Rule, ...] = ()
    """Rules about paths that they must not see, where they are confined."""
    trusted: bool = False
    """The user trusts the project: programs that lie in it may run, and servers may see and change more."""
    wait_s: float = 3.0
    idle_s: float = 900.0


class Pace(Struct, frozen=True):
    """How long things may take, in seconds."""

    reading_s: float = 5.0
    """For a question."""
    working_s: float = 10.0
    """For what needs the whole project: renaming, calls, fixes."""
    quiet_s: float = 0.15
    """A server that names no versions has said all after this long without a word."""
    clean_s: float = 0.6
    """The same where nothing was wrong before, and silence may mean that nothing is."""
    silent_s: float = 0.3
    """What is left to a server that was silent twice in a row."""
    again_s: float = 0.3
    """Before a question is asked again whose answer may not be all."""
    ending_s: float = 1.0
    """For each of the ways to end a server."""
    look_again_s: float = 30.0
    """A program that is missing is looked for again after this time."""
    backoff_s: float = 1.0
    """Before the second start after a crash, as the first is at once; twice as long each time."""
