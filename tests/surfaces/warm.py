"""The real program without its start: a process that has loaded `bridle` becomes it repeatedly.

Loading the modules is most of what a short command costs. Here one process loads them once and forks for
each command; the child gets its arguments, folder, environment and streams, a session (and a terminal) of
its own, and runs `python -m bridle` from its first line. What is about the start itself (the locale, streams
that are closed, what is loaded) is tested with a process that is begun again, as are README.md and the
tutorial. The other pages of the docs find a program `bridle` on PATH that hands its work to the warm process.
"""

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

PROCESS = Path(__file__).with_name("warm_process.py")
USUAL = {"LANG": "C.UTF-8"}
AT_START = ("LANG", "LC_", "PYTHON", "LD_", "MALLOC_")
"""Variables that the interpreter itself looks at when it begins."""

CLIENT = """\
#!/bin/sh
'''exec' "{python}" -IS "$0" "$@" # a path with spaces cannot stand in the first line
'''
import json, os, signal, socket, sys
job = os.memfd_create("job")
facts = dict(args=sys.argv[1:], cwd=os.getcwd(), env=dict(os.environ), on_terminal=False)
os.write(job, json.dumps(facts).encode())
status, status_end = os.pipe()
with socket.socket(socket.AF_UNIX) as warm:
    warm.connect({socket!r})
    socket.send_fds(warm, [b"."], [0, 1, 2, status_end, job])
os.close(status_end)
with os.fdopen(status) as lines:
    pid = int(lines.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    code = os.waitstatus_to_exitcode(int(lines.readline()))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""A program that hands its arguments, folder, environment and streams to the warm process."""


class Ended(NamedTuple):
    """How the program ended and what it wrote."""

    code: int
    out: bytes
    err: bytes


class WarmProcess:
    """One command at work; as much of subprocess.Popen as tests use."""

    def __init__(self, status: int) -> None:
        self.returncode: int | None = None
        self._status = os.fdopen(status)
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("bridle", timeout or 0)
            with self._status:
                self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without a warning."""
        self.send_signal(signal.SIGKILL)


class Warm:
    """The process that forks, as long as this one lives."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            environ = {**USUAL, "OPENBLAS_NUM_THREADS": "1"}  # a process with threads should not fork
            self._process = subprocess.Popen([sys.executable, "-P", PROCESS], stdin=theirs, env=environ)

    def begin(
        self,
        args: Sequence[str],
        cwd: Path,
        env: dict[str, str],
        streams: tuple[int, int, int],
        *,
        on_terminal: bool = False,
    ) -> WarmProcess:
        """Start a command; on a terminal, that of its input is its own."""
        facts = {"args": args, "cwd": os.fspath(cwd), "env": env, "on_terminal": on_terminal}
        job = os.memfd_create("job")
        with os.fdopen(os.dup(job), "wb") as file:
            file.write(json.dumps(facts).encode())
        status, status_end = os.pipe()
        socket.send_fds(self._ours, [b"."], [*streams, status_end, job])
        os.close(job)
        os.close(status_end)
        return WarmProcess(status)

    @cached_property
    def program(self) -> Path:
        """The folder of a program `bridle` that anything can start, and that hands its work over to here."""
        folder = Path(tempfile.mkdtemp(prefix="bridle-warm-"))
        atexit.register(shutil.rmtree, folder)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "socket"))
        listener.listen()
        threading.Thread(target=self._pass_on, args=(listener,), daemon=True).start()
        path = folder / "bin" / "bridle"
        path.parent.mkdir()
        path.write_text(CLIENT.format(python=sys.executable, socket=str(folder / "socket")))
        path.chmod(0o755)
        return path.parent

    def _pass_on(self, listener: socket.socket) -> None:
        while True:
            with listener.accept()[0] as client:
                descriptors = socket.recv_fds(client, 1, 5)[1]
            socket.send_fds(self._ours, [b"."], descriptors)
            for descriptor in descriptors:
                os.close(descriptor)

    def run(
        self, args: Sequence[str], cwd: Path, env: dict[str, str], stdin: bytes | None, timeout_s: float
    ) -> Ended:
        """Run one command to its end; raises subprocess.TimeoutExpired once the process is killed."""
        (input_end, feed), (out, out_end), (err, err_end) = (os.pipe() for _ in range(3))
        if stdin is None:
            os.close(input_end)
            input_end = os.open(os.devnull, os.O_RDONLY)
        streams = input_end, out_end, err_end
        process = self.begin(args, cwd, env, streams)
        for descriptor in streams:
            os.close(descriptor)
        written: dict[int, bytes] = {}
        threads = [
            threading.Thread(target=_feed, args=(feed, stdin or b"")),
            *(threading.Thread(target=_collect, args=(end, written)) for end in (out, err)),
        ]
        for thread in threads:
            thread.start()
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            for thread in threads:
                thread.join()
        return Ended(code, written[out], written[err])

    def close(self) -> None:
        """Let the process end."""
        self._ours.close()
        self._process.wait()


def _feed(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    with suppress(BrokenPipeError):  # no one reads the rest
        while left:
            left = left[os.write(descriptor, left) :]
    os.close(descriptor)


def _collect(descriptor: int, written: dict[int, bytes]) -> None:
    with os.fdopen(descriptor, "rb") as file:
        written[descriptor] = file.read()


@cache
def warm() -> Warm:
    """Return the process that forks, started when it is first needed."""
    process = Warm()
    atexit.register(process.close)
    return process


def starts_as_usual(env: dict[str, str]) -> bool:
    """Return whether the interpreter would start with this environment like the warm process did."""
    return {name: value for name, value in env.items() if name.startswith(AT_START)} == USUAL
