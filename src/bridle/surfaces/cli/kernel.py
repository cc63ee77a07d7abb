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
from bridle.surfaces.cli.approve import Approver, open_approver
from bridle.surfaces.cli.cell_view import CellView
from bridle.surfaces.cli.cells import Cells
from bridle.surfaces.cli.find import find_session, working_directory
from bridle.surfaces.cli.follow import Follower
from bridle.surfaces.cli.options import options_in, rule_texts
from bridle.surfaces.cli.reading import reading
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.serving import serving
from bridle.surfaces.cli.typed import Typed
from bridle.surfaces.render import short_id
from bridle.surfaces.terminal import Console
from bridle.surfaces.wire import EXIT_CODES, Result

MODEL = "direct/python"
STDIN = "-"
LEAVING = ("exit", "exit()", "quit", "quit()")


class Desk:
    """Runs the cells of one session in order; a new session is created with the first cell."""

    def __init__(self, console: Console, args: argparse.Namespace, title: str) -> None:
        """Resolve the session that the flags name; raises UsageError, SessionNotFound."""
        cwd = working_directory(args.cwd)
        found = asyncio.run(_find(console, cwd, args.session)) if args.session is not None else None
        if found is not None and args.cwd is not None and found.cwd != cwd:
            raise UsageError(f"session {short_id(found.id)} works in {found.cwd}, not in {cwd}")
        self.console = console
        self.cwd = found.cwd if found is not None else cwd
        self.view = CellView(console, chatty=args.verbose or console.err.is_terminal)
        self.session: SessionId | None = found.id if found is not None else None
        self._last_seq = found.last_seq if found is not None else 1
        self._title = title
        self._options = options_in(_options(args), self.cwd, console.environ)

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
    desk = Desk(console, args, f"kernel run {args.file}")
    cells = [_argv(args), code] if args.script_args else [code]
    approver = open_approver(console.environ)
    try:
        asyncio.run(_run_cells(desk, approver, cells))
    finally:
        if approver is not None:
            approver.close()
    return desk.view.exit_code


async def _run_cells(desk: Desk, approver: Approver | None, cells: list[str]) -> None:
    async with serving(desk.console, desk.cwd) as service:
        for code in cells:
            result = await desk.run(service, approver, code)
            if desk.view.exit_code:
                break
        desk.view.sum_up(result)


def repl(args: argparse.Namespace, console: Console) -> int:
    """Run Python interactively, cell by cell."""
    desk = Desk(console, args, "kernel repl")
    typed = Typed(console)
    approver = open_approver(console.environ)
    # The event loop is stopped while a line is read: meanwhile only the kernel process runs.
    with asyncio.Runner() as runner, typed:
        stack = AsyncExitStack()
        try:
            service = runner.run(stack.enter_async_context(serving(console, desk.cwd)))
            return _answer(desk, typed, runner, service, approver)
        finally:
            runner.run(stack.aclose())
            if approver is not None:
                approver.close()


def _answer(
    desk: Desk, typed: Typed, runner: asyncio.Runner, service: SessionApi, approver: Approver | None
) -> int:
    """Run cells until input ends; return 0 at a terminal, and the first failure for a pipe."""
    cells, first_failure = Cells(), 0
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
            if code.strip() in LEAVING:
                return first_failure
            failure = _run_cell(desk, runner, service, approver, code)
            if failure and not typed.is_person:
                first_failure = first_failure or failure
        if line is None:
            return first_failure


def _run_cell(
    desk: Desk, runner: asyncio.Runner, service: SessionApi, approver: Approver | None, code: str
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
    async with reading(console, cwd) as store:
        return find_session(await store.list(archived=True), wanted)


def _options(args: argparse.Namespace) -> RunOptions:
    """Allow the code itself without approval, as the user typed it; its tool calls follow the rules."""
    return RunOptions(
        model=MODEL,
        code=False,
        mode=args.mode,
        allow=(PYTHON, *rule_texts("allow", args.allow)),
        ask=rule_texts("ask", args.ask),
        deny=rule_texts("deny", args.deny),
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
        raise UsageError(f"there is no code in {name}")
    return code


def _argv(args: argparse.Namespace) -> str:
    return f"import sys; sys.argv = {[args.file, *args.script_args]!a}; del sys"
