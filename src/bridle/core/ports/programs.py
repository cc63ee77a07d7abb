"""Programs that are started, and what holds them."""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.permission import Mode, Rule


class ProcessSpec(Struct, frozen=True):
    """A program to run under guard, and what it may touch."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    output: int
    """The descriptor that takes what it prints, on both of its streams unless there is one for errors."""
    errors: int | None = None
    """The descriptor that takes what it prints on its error stream."""
    extra: int | None = None
    """A descriptor that it finds as number 3, for whoever started it."""
    input: int | None = None
    """A descriptor it reads from; None gives it an empty input."""
    writable: tuple[str, ...] = ()
    """Folders it may change, by absolute path; everything else is read-only."""
    reads_only: bool = False
    """True lets it see `writable`, `shown` and the system, and change nothing: no file, host or socket."""
    shown: tuple[str, ...] = ()
    """With `reads_only`: more folders that it may see, by absolute path."""
    rules: tuple[Rule, ...] = ()
    """Deny rules make paths unreadable or unchangeable; allow rules of `tool` open domains to it."""
    mode: Mode = "ask"
    tool: str = "bash"
    keep: Callable[[str], None] | None = None
    """Called with an absolute path before the program may change what lies there."""
    confined: bool = True
    """False runs it without a sandbox: the user said so."""
    open_network: bool = False
    """True lets it reach every host, not only those that rules allow."""
    shows_program: bool = False
    """True lets it see the files that its command line names, with what belongs to them, also in `/tmp`."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None


class Changes(Protocol):
    """What a program has changed: what was refused to it, and what it left that had to be put away."""

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused because they could not be kept; empty if none was."""
        ...

    @property
    def put_away(self) -> tuple[str, ...]:
        """A sentence for each file that was put away, as a program of the user would have run it."""
        ...

    async def settle(self, *, is_done: bool = True) -> None:
        """Put away the traps that it has left by now, as `wait` does at its end; `put_away` says which.

        With `is_done` false something of it may go on and write to what it has open.
        """
        ...

    async def accept(self) -> None:
        """Take traps that came since it was last settled as those of others, if it has changed nothing."""
        ...


class Process(Protocol):
    """A program that was started, with everything it started itself."""

    @property
    def pid(self) -> int:
        """The process on this machine that all others descend from."""
        ...

    @property
    def changes(self) -> Changes:
        """What it has changed."""
        ...

    async def wait(self) -> int:
        """Wait for its end; returns its exit status, 128 + n after signal n. Safe to call again."""
        ...

    def interrupt(self) -> None:
        """Ask all of its processes to end (SIGTERM)."""
        ...

    def kill(self) -> None:
        """End all of its processes at once, also those that ran away into the background."""
        ...


SandboxKind = Literal["bubblewrap", "landlock", "none"]


class SandboxStatus(Struct, frozen=True):
    """What guards programs on this machine."""

    kind: SandboxKind
    why: str = ""
    """Why it is no better than that; empty for the best one."""
    parts: tuple[tuple[str, bool, str], ...] = ()
    """Each protection: its name, whether it is active, and what that rests on."""


class Sandbox(Protocol):
    """Starts programs that can only touch what they were given."""

    @property
    def status(self) -> SandboxStatus:
        """What is active; found out once."""
        ...

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        """Start a program; raises ToolError when it cannot be."""
        ...

    async def holds(self, session: SessionId) -> bool:
        """Tell whether all that a new program would find hidden or fixed is so for those that run.

        Files come and go while one runs; raises ToolError when that cannot be found out.
        """
        ...

    async def end_session(self, session: SessionId) -> None:
        """End everything that was started for a session."""
        ...
