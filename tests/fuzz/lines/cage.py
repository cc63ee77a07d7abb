"""A cage: one long-lived cell of the sandbox in which lines run as the bash tool runs them."""

import asyncio
import marshal
import os
import select
import time
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec
from bridle.sandbox import LocalSandbox
from bridle.sandbox.interpreter import interpreter
from bridle.tools.shell.environment import command_environment
from bridle.tools.shell.state import ShellState, apply_state, read_report, shell_argv
from tests.fuzz.lines import driver
from tests.fuzz.lines.folder import Folder

Walls = Literal["reading", "writable"]
"""What holds a line: the sandbox of unasked commands, or the one in which folders can be changed."""

READING: dict[str, Any] = {"writable": ()}
"""How a program is started that may only read."""

SESSION = SessionId("lines")
BASH = "/bin/bash"
TIMEOUT_S = 1.0
_PATIENCE_S = 20.0
_MEMORY_BYTES = 512 * 1024 * 1024


class Outcome(Struct, frozen=True):
    """What one line came to."""

    status: int
    """Its exit status; 124 when its time was over."""
    output: bytes
    state: ShellState | None
    """What the session's shell would keep; None when the line did not get that far."""
    left: tuple[str, ...] = ()
    """What ran on after its end."""
    calls: int = 0
    """How many connections it opened."""


class CageError(Exception):
    """The cell does not answer any more."""


class Cage:
    """Runs lines one by one, each in a shell of its own."""

    def __init__(self, folder: Folder, walls: Walls, runner: asyncio.Runner) -> None:
        """Take a loop that runs only while the cell is opened and closed."""
        self._folder = folder
        self._walls = walls
        self._runner = runner
        self._env = _environment(folder)
        self._sandbox = LocalSandbox(home=str(folder.home))
        self._orders = self._answers = -1

    def open(self) -> None:
        """Start the cell and its driver."""
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

    def send(self, line: str) -> None:
        """Start a line; raises CageError when nothing can be run any more."""
        argv = [os.fsencode(word) for word in shell_argv(BASH, line)]
        env = {os.fsencode(name): os.fsencode(value) for name, value in self._env.items()}
        self._send(marshal.dumps((argv, env)))

    def receive(self) -> Outcome:
        """Wait for the end of the line that was sent; raises CageError."""
        status, output, report, left, calls = marshal.loads(self._receive())
        state = read_report(report, ShellState(str(self._folder.project)), ())
        return Outcome(status, output, state, tuple(left), calls)

    async def _start(self, orders: int, answers: int) -> None:
        folders = (str(self._folder.project), str(self._folder.outside))
        spec = ProcessSpec(
            argv=(interpreter(), "-I", "-S", "-c", _program()),
            cwd=str(self._folder.project),
            env=self._env,
            output=answers,
            input=orders,
            memory_bytes=_MEMORY_BYTES,
            **(READING if self._walls == "reading" else {"writable": folders}),
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


def _environment(folder: Folder) -> dict[str, str]:
    """Return the variables of an unasked command."""
    given = {"HOME": str(folder.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    return apply_state(command_environment(given), ShellState(str(folder.project)))
