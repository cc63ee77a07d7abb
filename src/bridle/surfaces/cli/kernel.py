"""`bridle kernel`: run Python as agents do: sandboxed, with tools as functions, and recorded.

```
code ─▶ a prompt to the model direct/python ─▶ a call of the tool `python` ─▶ its output on stdout
                                                  └─ tool calls: checked by rules, approved, recorded
```
"""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack

from bridle.core.codeact import PYTHON
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import MAX_PROMPT_BYTES, Delete, Prompt, RunOptions
from bridle.core.queries import Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.approver import Approver, open_approver
from bridle.surfaces.cli.cell_splitter import CellSplitter
from bridle.surfaces.cli.cell_view import CellView
from bridle.surfaces.cli.line_input import LineReader
from bridle.surfaces.cli.options import check_rules, resolve_options
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import find_session, resolve_directory
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.output_format import EXIT_CODES, Result
from bridle.surfaces.terminal import Console
from bridle.surfaces.text_format import short_id

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
    desk = CellRunner(console, args, f"kernel run {args.file}")
    cells = [_argv(args), code] if args.script_args else [code]
    approver = open_approver(console.environ)
    try:
        asyncio.run(_run_cells(desk, approver, cells))
    finally:
        if approver is not None:
            approver.close()
    return desk.view.exit_code


async def _run_cells(desk: CellRunner, approver: Approver | None, cells: list[str]) -> None:
    async with open_sessions(desk.console, desk.cwd) as service:
        for code in cells:
            result = await desk.run(service, approver, code)
            if desk.view.exit_code:
                break
        desk.view.print_summary(result)


def repl(args: argparse.Namespace, console: Console) -> int:
    """Run Python interactively, cell by cell."""
    desk = CellRunner(console, args, "kernel repl")
    typed = LineReader(console)
    approver = open_approver(console.environ)
    # The event loop is stopped while a line is read: meanwhile only the kernel process runs.
    with asyncio.Runner() as runner, typed:
        stack = AsyncExitStack()
        try:
            service = runner.run(stack.enter_async_context(open_sessions(console, desk.cwd)))
            return _answer(desk, typed, runner, service, approver)
        finally:
            runner.run(stack.aclose())
            if approver is not None:
                approver.close()


def _answer(
    desk: CellRunner,
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
            desk.console.err.line()
            cells.drop()
            if not typed.is_person:
                return EXIT_CODES["cancelled"]
            continue
        ready = cells.end() if line is None else [c for part in line.split("\n") for c in cells.feed(part)]
        for code in ready:
            if code.strip() in EXIT_WORDS:
                return first_failure
            failure = _run_cell(desk, runner, service, approver, code)
            if failure and not typed.is_person:
                first_failure = first_failure or failure
        if line is None:
            return first_failure


def _run_cell(
    desk: CellRunner, runner: asyncio.Runner, service: SessionApi, approver: Approver | None, code: str
) -> int:
    try:
        runner.run(desk.run(service, approver, code))
    except BridleError as error:
        desk.console.fail(error.message, error.hint)
        return 1
    except KeyboardInterrupt:
        return EXIT_CODES["cancelled"]
    return desk.view.exit_code


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
