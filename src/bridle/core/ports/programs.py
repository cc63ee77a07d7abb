"""The port for programs: the sandbox that starts and confines them."""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.permission import Mode, Rule


class ProcessSpec(Struct, frozen=True):
    """A program to run in the sandbox, and what it may touch."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    output: int
    """File descriptor for standard output, and for standard error unless `errors` is set."""
    errors: int | None = None
    """File descriptor for standard error."""
    extra: int | None = None
    """File descriptor that the program gets as number 3, to talk to its caller."""
    input: int | None = None
    """File descriptor for standard input; None for an empty input."""
    writable: tuple[str, ...] = ()
    """Folders it may change, by absolute path; everything else is read-only."""
    reads_only: bool = False
    """True lets it see `writable`, `shown` and the system only, and change no file, host or socket."""
    shown: tuple[str, ...] = ()
    """With `reads_only`: further folders that it may see, by absolute path."""
    rules: tuple[Rule, ...] = ()
    """Deny rules make paths unreadable or read-only; allow rules of `tool` let it connect to domains."""
    mode: Mode = "ask"
    tool: str = "bash"
    keep: Callable[[str], None] | None = None
    """Called with an absolute path before the program may change that path."""
    confined: bool = True
    """False runs it without a sandbox, as the user decided."""
    open_network: bool = False
    """True lets it connect to every host, not only those that rules allow."""
    shows_program: bool = False
    """True lets it see the files named in its command line and what belongs to them, even in `/tmp`."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None


class ProcessChanges(Protocol):
    """The file changes of a program: those that were refused, and traps that were moved away."""

    @property
    def kept_error(self) -> str:
        """Why file changes were refused because the old content could not be kept; empty if none was."""
        ...

    @property
    def put_away(self) -> tuple[str, ...]:
        """A sentence for each file moved away because one of the user's programs would have run it."""
        ...

    async def settle(self, *, is_done: bool = True) -> None:
        """Move away the traps that it has left so far, as `wait` does at its end; `put_away` lists them.

        With `is_done` false, its processes may continue and write to files they have open.
        """
        ...

    async def accept(self) -> None:
        """Attribute traps that appeared since the last `settle` to others, if the program changed nothing."""
        ...


class Process(Protocol):
    """A started program, with all processes it started."""

    @property
    def pid(self) -> int:
        """The pid, on this machine, of the process that all others descend from."""
        ...

    @property
    def changes(self) -> ProcessChanges:
        """Its file changes."""
        ...

    async def wait(self) -> int:
        """Wait for its end and return its exit status, 128 + n after signal n. Safe to call again."""
        ...

    def interrupt(self) -> None:
        """Ask all of its processes to end (SIGTERM)."""
        ...

    def kill(self) -> None:
        """Kill all of its processes at once, including those in the background."""
        ...


SandboxKind = Literal["bubblewrap", "landlock", "none"]


class SandboxStatus(Struct, frozen=True):
    """The sandbox that is available on this machine."""

    kind: SandboxKind
    why: str = ""
    """Why no better sandbox is available; empty for the best one."""
    parts: tuple[tuple[str, bool, str], ...] = ()
    """Each protection: its name, whether it is active, and what it depends on."""


class Sandbox(Protocol):
    """Start programs that can touch only what their `ProcessSpec` allows."""

    @property
    def status(self) -> SandboxStatus:
        """The active sandbox; determined once."""
        ...

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        """Start a program; raises ToolError if it cannot start."""
        ...

    async def holds(self, session: SessionId) -> bool:
        """Return True if all paths that a new program would find hidden or read-only are so for running ones.

        Files appear and disappear while a program runs. Raises ToolError if this cannot be determined.
        """
        ...

    async def end_session(self, session: SessionId) -> None:
        """Stop everything that was started for a session."""
        ...
