"""One server process: starts it through the launcher, keeps its output, and stops it with its descendants.

It needs no task and no thread: event loop callbacks report its output and its exit.
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

from bridle.providers.llama import launch_command

KEPT_LINES = 200
MAX_LINE_CHARS = 500
KILL_TIMEOUT_S = 5.0  # a process that survives SIGKILL longer is stuck in a device
OUTPUT_GRACE_S = 0.5  # wait for the output of an exited process if another process holds its pipe
SHOWN_LINES = 6
MAX_SHOWN_CHARS = 700
_TROUBLE = re.compile("error|fail|couldn't|cannot|invalid|abort|exception|unable|not found", re.IGNORECASE)
_STAMP = re.compile(r"\A(\[\d+\] )?[\d.]+ [A-Z] +")  # `0.00.096.507 E srv  load_model: …`


class ServerProcess(asyncio.SubprocessProtocol):
    """A server process, running or exited."""

    def __init__(self, secret: str) -> None:
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        self.ended: asyncio.Future[int] = loop.create_future()
        """The exit code, negative for a signal; set once the process has exited and its output is read."""
        self.pid = 0
        self._secret = secret
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._rest = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def is_alive(self) -> bool:
        """True until the process is known to have exited."""
        return not self.ended.done() and (self._transport is None or self._transport.get_returncode() is None)

    @property
    def lines(self) -> list[str]:
        """The last lines it printed, without the API key."""
        return [*self._lines, *([self._clean(self._rest)] if self._rest else [])]

    @property
    def last_words(self) -> str:
        """Its last error lines, cut for an error message; its last line if none looks like an error."""
        said = [_STAMP.sub("", line).strip() for line in self.lines]
        told = [line for line in said if _TROUBLE.search(line)] or [line for line in said if line][-1:]
        text = "; ".join(dict.fromkeys(told[-SHOWN_LINES:]))
        return text if len(text) <= MAX_SHOWN_CHARS else f"…{text[-MAX_SHOWN_CHARS:]}"

    @property
    def exit_text(self) -> str:
        """The exit code or the signal, as text, once the process has exited."""
        code = self.ended.result()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"

    async def stop(self, timeout_s: float) -> None:
        """Stop the process and its group: SIGTERM, then SIGKILL after `timeout_s`; wait until it exits."""
        try:
            if self.is_alive:
                self._signal(signal.SIGTERM)
                await asyncio.wait([self.ended], timeout=timeout_s)
        finally:  # even if the wait is cancelled: nothing may keep running
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

    # ------------------------------------------------------------------ event loop callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport and the process id."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the last lines of the output."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._lines.extend(self._clean(line) for line in lines[-KEPT_LINES:])
        self._rest = rest[: 4 * MAX_LINE_CHARS]

    def process_exited(self) -> None:
        """Kill what the process has started; wait a moment, because its last output may still arrive."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        asyncio.get_running_loop().call_later(OUTPUT_GRACE_S, self._note_end)

    def connection_lost(self, exc: Exception | None) -> None:
        """Set `ended`: the process has exited and all of its output is read."""
        self._note_end()

    def _note_end(self) -> None:
        if not self.ended.done() and self._transport:
            code = self._transport.get_returncode()
            self.ended.set_result(0 if code is None else code)
            self._transport.close()


async def spawn(argv: Sequence[str], key: str) -> ServerProcess:
    """Start a server that dies with this process; `argv[0]` must be an absolute path.

    Its working directory is the program's folder, because llama.cpp loads libraries from the working
    directory, and the user's directory may contain anything.
    """
    child = ServerProcess(key)
    mode = "exec" if sys.platform == "linux" else "watch"
    launcher = [sys.executable, "-I", "-S", launch_command.__file__, str(os.getpid()), mode]
    transport, _ = await asyncio.get_running_loop().subprocess_exec(
        lambda: child,
        *launcher,
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=Path(argv[0]).parent,
        start_new_session=True,  # Ctrl-C does not interrupt it, and the group can be killed as one
    )
    stdin = transport.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(f"{key}\n".encode())  # stdin stays open: when it closes, the child exits
    return child
