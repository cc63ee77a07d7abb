"""One server process: started through the launcher, listened to, and ended with everything it started.

No task and no thread of ours belongs to it: the event loop reports its output and its end.
"""

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bridle.providers.llama import launch

KEPT_LINES = 200
MAX_LINE_CHARS = 500
KILL_TIMEOUT_S = 5.0  # a process that the kernel cannot end sooner hangs in a device
OUTPUT_GRACE_S = 0.5  # for the output of a process that has ended, while something else holds its pipe
SHOWN_LINES = 6
MAX_SHOWN_CHARS = 700
_TROUBLE = re.compile("error|fail|couldn't|cannot|invalid|abort|exception|unable|not found", re.IGNORECASE)
_STAMP = re.compile(r"\A(\[\d+\] )?[\d.]+ [A-Z] +")  # `0.00.096.507 E srv  load_model: …`


class Child(asyncio.SubprocessProtocol):
    """A running server, or one that ran."""

    def __init__(self, secret: str) -> None:
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        self.ended: asyncio.Future[int] = loop.create_future()
        """The exit code, negative for a signal; set when the process has ended and its output was read."""
        self.pid = 0
        self._secret = secret
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._rest = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def is_alive(self) -> bool:
        """Tell whether the process has not ended yet, as far as it is known."""
        return not self.ended.done() and (self._transport is None or self._transport.get_returncode() is None)

    @property
    def lines(self) -> list[str]:
        """Return the last lines it printed, without the key."""
        return [*self._lines, *([self._clean(self._rest)] if self._rest else [])]

    @property
    def last_words(self) -> str:
        """Return what it said about its trouble, fit for an error text; its last line if it named none."""
        said = [_STAMP.sub("", line).strip() for line in self.lines]
        told = [line for line in said if _TROUBLE.search(line)] or [line for line in said if line][-1:]
        text = "; ".join(dict.fromkeys(told[-SHOWN_LINES:]))
        return text if len(text) <= MAX_SHOWN_CHARS else f"…{text[-MAX_SHOWN_CHARS:]}"

    @property
    def end_text(self) -> str:
        """Say how the process ended, once it has."""
        code = self.ended.result()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"

    async def stop(self, timeout_s: float) -> None:
        """End the process and its group: politely, then not; returns when it is gone."""
        try:
            if self.is_alive:
                self._signal(signal.SIGTERM)
                await asyncio.wait([self.ended], timeout=timeout_s)
        finally:  # also when the wait is cancelled: nothing may be left running
            self._signal(signal.SIGKILL)
            await asyncio.wait([self.ended], timeout=KILL_TIMEOUT_S)
            if self._transport:
                self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        if self.is_alive and self.pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _clean(self, line: bytes) -> str:
        text = line[: 4 * MAX_LINE_CHARS].decode("utf-8", "replace").replace(self._secret, "***")
        return "".join(c if c.isprintable() else " " for c in text)[:MAX_LINE_CHARS]

    # ------------------------------------------------------------------ what the event loop reports

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the process."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the last lines."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._lines.extend(self._clean(line) for line in lines[-KEPT_LINES:])
        self._rest = rest[: 4 * MAX_LINE_CHARS]

    def process_exited(self) -> None:
        """Take along what the process itself had started; its last output may still be on the way."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        asyncio.get_running_loop().call_later(OUTPUT_GRACE_S, self._note_end)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end: the process is gone and all of its output was read."""
        self._note_end()

    def _note_end(self) -> None:
        if not self.ended.done() and self._transport:
            code = self._transport.get_returncode()
            self.ended.set_result(0 if code is None else code)
            self._transport.close()


async def spawn(argv: Sequence[str], key: str) -> Child:
    """Start a server that dies with this process; `argv[0]` is an absolute path.

    It works in its program's own folder: llama.cpp loads libraries from the working directory, and
    the user's may hold anything.
    """
    child = Child(key)
    mode = "exec" if sys.platform == "linux" else "watch"
    launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), mode]
    transport, _ = await asyncio.get_running_loop().subprocess_exec(
        lambda: child,
        *launcher,
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=Path(argv[0]).parent,
        start_new_session=True,  # Ctrl-C in the terminal is for Bridle, and the group can be ended as one
    )
    stdin = transport.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(f"{key}\n".encode())  # and it stays open: its end tells the child that we are gone
    return child
