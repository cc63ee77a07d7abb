"""One long-lived sandbox in which lines run like in the tool bash."""

import asyncio
import marshal
import os
import select
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec
from bridle.sandbox import LocalSandbox
from bridle.sandbox.interpreter import find_interpreter
from bridle.tools.shell.state import ShellState, read_report, shell_argv
from tests.fuzz.lines import driver
from tests.fuzz.lines.folder import Folder

Walls = Literal["reading", "writable"]
"""The sandbox of a line: for reading, or with writable folders."""

SESSION = SessionId("lines")
BASH = "/bin/bash"
TIMEOUT_S = 1.0
_PATIENCE_S = 20.0
_MEMORY_BYTES = 512 * 1024 * 1024


class Permit(Struct, frozen=True):
    """A line that may run without approval, and how."""

    line: str
    env: dict[str, str]
    reads_only: bool


class Outcome(Struct, frozen=True):
    """The outcome of one line."""

    status: int
    """Its exit status; 124 when its time was over."""
    output: bytes
    cwd: str
    """Where the session's shell would be then; empty when the line did not get that far."""
    left: tuple[str, ...] = ()
    """What ran on after its end."""
    calls: int = 0
    """How many connections it opened."""


class CageError(Exception):
    """The sandbox does not answer any more."""


class Cage:
    """Runs lines one by one, each in a separate shell."""

    def __init__(self, folder: Folder, walls: Walls, runner: asyncio.Runner) -> None:
        """Use this runner only to open and close the sandbox."""
        self._folder = folder
        self._walls = walls
        self._runner = runner
        self._sandbox = LocalSandbox(home=str(folder.home))
        self._orders = self._answers = -1
        self._sent = 0

    def open(self) -> None:
        """Start the sandbox and its driver."""
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        try:
            self._runner.run(self._start(orders, answers))
        finally:
            os.close(orders)
            os.close(answers)
        self._receive()

    def close(self) -> None:
        """End everything in it."""
        if self._orders >= 0:
            os.close(self._orders)
            os.close(self._answers)
            self._orders = self._answers = -1
            self._runner.run(self._sandbox.end_session(SESSION))

    def send(self, permit: Permit) -> None:
        """Start a line; raises CageError when nothing can be run any more."""
        argv = [os.fsencode(word) for word in shell_argv(BASH, permit.line)]
        env = {os.fsencode(name): os.fsencode(value) for name, value in permit.env.items()}
        self._sent += 1
        self._send(marshal.dumps((self._sent, argv, env)))

    def receive(self) -> Outcome:
        """Wait for the end of the line that was sent; raises CageError."""
        number = 0
        while number != self._sent:  # an answer that came too late for the line before is not for this one
            number, status, output, report, left, calls = marshal.loads(self._receive())
        state = read_report(report, ShellState(str(self._folder.project)), ())
        return Outcome(status, output, "" if state is None else state.cwd, tuple(left), calls)

    async def _start(self, orders: int, answers: int) -> None:
        project, outside = str(self._folder.project), str(self._folder.outside)
        is_reading = self._walls == "reading"
        spec = ProcessSpec(
            argv=(find_interpreter(), "-I", "-S", "-c", _program()),
            cwd=project,
            env=self._folder.environment(),
            output=answers,
            input=orders,
            writable=(project,) if is_reading else (project, outside),
            reads_only=is_reading,
            memory_bytes=_MEMORY_BYTES,
        )
        await self._sandbox.start(spec, SESSION)

    def _send(self, data: bytes) -> None:
        rest = memoryview(driver.SIZE.pack(len(data)) + data)
        try:
            while rest:
                rest = rest[os.write(self._orders, rest) :]
        except BrokenPipeError:
            raise CageError("the driver has ended") from None

    def _receive(self) -> bytes:
        end = time.monotonic() + _PATIENCE_S
        (size,) = driver.SIZE.unpack(self._exactly(driver.SIZE.size, end))
        return self._exactly(size, end)

    def _exactly(self, count: int, end: float) -> bytes:
        data = b""
        while len(data) < count:
            left_s = end - time.monotonic()
            if left_s <= 0 or not select.select([self._answers], [], [], left_s)[0]:
                raise CageError(f"the driver said nothing for {_PATIENCE_S:.0f} s")
            more = os.read(self._answers, count - len(data))
            if not more:
                raise CageError("the driver has ended")
            data += more
        return data


def _program() -> str:
    return f"{Path(driver.__file__).read_text()}\nmain({TIMEOUT_S})\n"
