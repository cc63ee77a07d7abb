"""Read input lines: from a terminal, with history, or from a pipe."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from bridle.config.settings import find_home
from bridle.core.errors import UsageError
from bridle.core.protocol import MAX_PROMPT_BYTES
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.terminal import Console

HISTORY_FILE = "kernel_history"
HISTORY_LINES = 1_000
FIRST, NEXT = ">>> ", "... "


class LineReader:
    """A source of lines; as a context manager, it loads and saves the history of a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.is_person = sys.stdin is not None and sys.stdin.isatty()
        self._edits = self.is_person and console.out.is_terminal
        """True if lines can be edited: Python's prompt needs both streams to be terminals."""
        self._history = find_home(console.environ, Path(resolve_directory())) / HISTORY_FILE

    def __enter__(self) -> Self:
        if self._edits:
            import readline  # only for a terminal: it changes how input() works

            readline.parse_and_bind("tab: tab-insert")
            readline.set_history_length(HISTORY_LINES)
            with suppress(OSError):
                readline.read_history_file(self._history)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._edits:
            import readline

            before = os.umask(0o077)
            with suppress(OSError):
                readline.write_history_file(self._history)
            os.umask(before)

    def read_line(self, *, goes_on: bool) -> str | None:
        """Return the next line without its newline, None at the end; raises KeyboardInterrupt."""
        prompt = NEXT if goes_on else FIRST
        self._console.out.flush()
        if self._edits:
            try:
                return input(prompt)
            except EOFError:
                self._console.out.line()
                return None
        if self.is_person:
            self._console.err.write(prompt)
            self._console.err.flush()
        return _read_line()


def _read_line() -> str | None:
    if sys.stdin is None:
        return None
    data = sys.stdin.buffer.readline(MAX_PROMPT_BYTES + 1)
    if len(data) > MAX_PROMPT_BYTES:
        raise UsageError(f"a line is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r") if data else None
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin is not UTF-8 text: byte 0x{data[error.start]:02x}") from None
