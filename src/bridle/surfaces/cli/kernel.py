"""`bridle kernel`: run Python as agents do: sandboxed, with tools as functions, and recorded.

```
code ─▶ a prompt to the model direct/python ─▶ a call of the tool `python` ─▶ its output on stdout
                                                  └─ tool calls: checked by rules, approved, recorded
```
"""

import argparse
import ast
import asyncio
import codeop
import os
import re
import sys
import warnings
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from bridle.config.settings import find_home
from bridle.core.codeact import PYTHON
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import MAX_PROMPT_BYTES, Delete, Prompt, RunOptions
from bridle.core.queries import Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.approver import Approver, open_approver
from bridle.surfaces.cli.options import check_rules, resolve_options
from bridle.surfaces.cli.output.cell_view import CellView
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import find_session, resolve_directory
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.shared.output_format import EXIT_CODES, Result
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import short_id

# ---------------------------------------------------------------------------- cell splitter
# Split typed lines into cells: a cell ends where Python's own prompt would run it.


INVALID_CODE_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)

_GOES_ON = re.compile(r"#|(?:else|elif|except|finally|case)\b")
"""Starts of lines that continue the previous statement."""


class CellSplitter:
    """Collects lines until they form a cell.

    A block ends at an empty line, as in Python's prompt. It also ends before a line that starts a new
    statement, so pasted or piped text needs no empty lines.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_block = False
        """True in a block: only an empty line or a new statement ends it; indented lines are not compiled."""

    @property
    def is_open(self) -> bool:
        """True while the lines so far need more input."""
        return bool(self._lines)

    def feed(self, line: str) -> list[str]:
        """Add a line; return the cells that are now complete: none, one, or two."""
        cells = []
        if self._begins_anew(line):
            cells.append(self._take())
        self._lines.append(line)
        if not (self._is_block and line[:1].isspace() and line.strip()):
            code = "\n".join(self._lines)
            if _is_whole(code):
                cells.append(self._take())
            else:
                self._is_block = _is_complete(code)
        return [cell for cell in cells if cell.strip()]

    def end(self) -> list[str]:
        """Return the remaining lines as a cell when input ends."""
        cell = self._take()
        return [cell] if cell.strip() else []

    def drop(self) -> None:
        """Discard the lines so far."""
        self._take()

    def _begins_anew(self, line: str) -> bool:
        if not self._lines or not line[:1].strip() or _GOES_ON.match(line):
            return False
        return _is_complete("\n".join(self._lines))

    def _take(self) -> str:
        cell = "\n".join(self._lines)
        self._lines.clear()
        self._is_block = False
        return cell


def _is_whole(code: str) -> bool:
    """Return True if a prompt would run this code now; invalid code counts, so that its error is reported."""
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kernel reports them when the code runs
        try:
            return compiler(code) is not None
        except INVALID_CODE_ERRORS:
            return True


def _is_complete(code: str) -> bool:
    """Return True if the code compiles as it stands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except INVALID_CODE_ERRORS:
            return False
    return True


# ---------------------------------------------------------------------------- line input
# Read input lines: from a terminal, with history, or from a pipe.


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


# ---------------------------------------------------------------------------- kernel


MODEL = "direct/python"
STDIN = "-"
EXIT_WORDS = ("exit", "exit()", "quit", "quit()")


class CellRunner:
    """Runs the cells of one session in order; a new session is created with the first cell."""

    def __init__(self, console: Console, args: argparse.Namespace, title: str) -> None:
        """Resolve the session that the flags name; raises UsageError, SessionNotFound."""
        cwd = resolve_directory(args.cwd)
        found = asyncio.run(_find(console, cwd, args.session)) if args.session is not None else None
        if found is not None and args.cwd is not None and found.cwd != cwd:
            raise UsageError(f"session {short_id(found.id)} works in {found.cwd}, not in {cwd}")
        self.console = console
        self.cwd = found.cwd if found is not None else cwd
        self.view = CellView(console, chatty=args.verbose or console.err.is_terminal)
        self.session: SessionId | None = found.id if found is not None else None
        self._last_seq = found.last_seq if found is not None else 1
        self._title = title
        self._options = resolve_options(_options(args), self.cwd, console.environ)

    async def run(self, service: SessionApi, approver: Approver | None, code: str) -> Result:
        """Run a cell and show what it does; raises BridleError if it is rejected."""
        is_new = self.session is None
        session = self.session = self.session or await service.create(cwd=self.cwd, title=self._title)
        follower = Follower(service, session, self.view, approver)
        command = Prompt(user_message(code), self._options, if_busy="reject")
        try:
            result = await follower.run(command, self.view.last_seq or self._last_seq)
        except BridleError:
            if is_new and not (await service.ask(Status(session))).facts.totals.runs:
                self.session = None
                await service.submit(session, Delete())
            raise
        report(self.console, result)
        return result


def run(args: argparse.Namespace, console: Console) -> int:
    """Run a Python file."""
    code = _read_code(args.file)
    cell_runner = CellRunner(console, args, f"kernel run {args.file}")
    cells = [_argv(args), code] if args.script_args else [code]
    approver = open_approver(console.environ)
    try:
        asyncio.run(_run_cells(cell_runner, approver, cells))
    finally:
        if approver is not None:
            approver.close()
    return cell_runner.view.exit_code


async def _run_cells(cell_runner: CellRunner, approver: Approver | None, cells: list[str]) -> None:
    async with open_sessions(cell_runner.console, cell_runner.cwd) as service:
        for code in cells:
            result = await cell_runner.run(service, approver, code)
            if cell_runner.view.exit_code:
                break
        cell_runner.view.print_summary(result)


def repl(args: argparse.Namespace, console: Console) -> int:
    """Run Python interactively, cell by cell."""
    cell_runner = CellRunner(console, args, "kernel repl")
    typed = LineReader(console)
    approver = open_approver(console.environ)
    # The event loop is stopped while a line is read: meanwhile only the kernel process runs.
    with asyncio.Runner() as runner, typed:
        stack = AsyncExitStack()
        try:
            service = runner.run(stack.enter_async_context(open_sessions(console, cell_runner.cwd)))
            return _answer(cell_runner, typed, runner, service, approver)
        finally:
            runner.run(stack.aclose())
            if approver is not None:
                approver.close()


def _answer(
    cell_runner: CellRunner,
    typed: LineReader,
    runner: asyncio.Runner,
    service: SessionApi,
    approver: Approver | None,
) -> int:
    """Run cells until input ends; return 0 at a terminal, and the first failure for a pipe."""
    cells, first_failure = CellSplitter(), 0
    while True:
        try:
            line = typed.read_line(goes_on=cells.is_open)
        except KeyboardInterrupt:
            cell_runner.console.err.line()
            cells.drop()
            if not typed.is_person:
                return EXIT_CODES["cancelled"]
            continue
        ready = cells.end() if line is None else [c for part in line.split("\n") for c in cells.feed(part)]
        for code in ready:
            if code.strip() in EXIT_WORDS:
                return first_failure
            failure = _run_cell(cell_runner, runner, service, approver, code)
            if failure and not typed.is_person:
                first_failure = first_failure or failure
        if line is None:
            return first_failure


def _run_cell(
    cell_runner: CellRunner, runner: asyncio.Runner, service: SessionApi, approver: Approver | None, code: str
) -> int:
    try:
        runner.run(cell_runner.run(service, approver, code))
    except BridleError as error:
        cell_runner.console.fail(error.message, error.hint)
        return 1
    except KeyboardInterrupt:
        return EXIT_CODES["cancelled"]
    return cell_runner.view.exit_code


async def _find(console: Console, cwd: str, wanted: str) -> SessionSummary:
    async with open_configured_store(console, cwd) as store:
        return find_session(await store.list(archived=True), wanted)


def _options(args: argparse.Namespace) -> RunOptions:
    """Allow the code itself without approval, as the user typed it; its tool calls follow the rules."""
    return RunOptions(
        model=MODEL,
        code=False,
        mode=args.mode,
        allow=(PYTHON, *check_rules("allow", args.allow)),
        ask=check_rules("ask", args.ask),
        deny=check_rules("deny", args.deny),
    )


def _read_code(path: str) -> str:
    """Read code from a file or stdin; raises UsageError if it is empty, too long or not UTF-8."""
    name = "stdin" if path == STDIN else path
    if path == STDIN:
        data = sys.stdin.buffer.read(MAX_PROMPT_BYTES + 1) if sys.stdin is not None else b""
    else:
        with open(path, "rb") as file:
            data = file.read(MAX_PROMPT_BYTES + 1)
    if len(data) > MAX_PROMPT_BYTES:
        raise UsageError(f"{name} is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB")
    try:
        code = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not UTF-8 text: byte 0x{data[error.start]:02x} at {error.start:,}"
        ) from None
    if not code.strip():
        raise UsageError(f"no code in {name}")
    return code


def _argv(args: argparse.Namespace) -> str:
    return f"import sys; sys.argv = {[args.file, *args.script_args]!a}; del sys"
