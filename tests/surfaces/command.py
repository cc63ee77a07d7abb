"""Drives the real `bridle` program: in a pipe, and in a separate terminal."""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.patience import PATIENCE_S
from tests.surfaces.warm import WarmProcess, starts_as_usual, warm

PROGRAM = [sys.executable, "-m", "bridle"]

# Makes the terminal on stdin the controlling one, as a login shell does, and becomes the program.
IN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
SHORT_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}\b")
DURATION = re.compile(r"\b\d+ ms\b|\b\d+\.\d s\b")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b")


class Done(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str


def steady(text: str) -> str:
    """Replace what differs from run to run, so that whole outputs can be compared."""
    text = UUID.sub("ID", text)
    text = SHORT_ID.sub("ID", text)
    text = DURATION.sub("TIME", text)
    return DATE.sub("DATE", text)


class Bridle:
    """The program with a home, a project directory and scripts for its model."""

    def __init__(self, env: dict[str, str], project: Path) -> None:
        self.env = env
        self.project = project
        self.home = Path(env["BRIDLE_HOME"])
        self._scripts = 0

    def __call__(
        self, *args: str, stdin: str | bytes | None = None, cwd: Path | None = None, **env: str
    ) -> Done:
        """Run to the end, without a terminal anywhere."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        place, whole_env = cwd or self.project, self.env | env
        if starts_as_usual(whole_env):
            ended = warm().run(args, place, whole_env, data, PATIENCE_S)
            return Done(ended.code, ended.out.decode(), ended.err.decode())
        done = subprocess.run(
            [*PROGRAM, *args],
            cwd=place,
            env=whole_env,
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            check=False,
            start_new_session=True,
            timeout=PATIENCE_S,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *args: str, **env: str) -> "subprocess.Popen[bytes]":
        """Start without a terminal, in a process group of its own."""
        return subprocess.Popen(
            [*PROGRAM, *args],
            cwd=self.project,
            env=self.env | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def terminal(self, *args: str, width: int = 100, cwd: Path | None = None, **env: str) -> "Terminal":
        """Start in a separate terminal."""
        return Terminal([*PROGRAM, *args], cwd or self.project, self.env | {"TERM": "xterm"} | env, width)

    def script(self, *replies: dict[str, Any], **facts: Any) -> str:
        """Write a script and return the reference of the model that follows it."""
        self._scripts += 1
        path = self.home.parent / f"script{self._scripts}.json"
        path.write_text(json.dumps({"replies": list(replies), **facts}))
        return f"scripted/{path}"

    def sessions(self) -> list[dict[str, Any]]:
        """Return what `session list --all --json` prints."""
        done = self("session", "list", "--all", "--json")
        assert done.code == 0, done.err
        listed: list[dict[str, Any]] = json.loads(done.out)
        return listed


class Terminal:
    """A program on a terminal: tests can wait for output and send keys."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str], width: int = 100) -> None:
        self.screen = ""
        """Everything shown so far."""
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
        self.process = _on_terminal(argv, cwd, env, slave)
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def expect(self, text: str) -> None:
        """Wait until a text comes that was not waited for before."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.screen.find(text, self._seen)) < 0:
            assert self._read(deadline), f"{text!r} did not come:\n{self.screen}"
        self._seen = found + len(text)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.send("\x03")

    def finish(self) -> int:
        """Wait for the end and return the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self.process.wait(PATIENCE_S)

    def modes(self) -> list[Any]:
        """Return the terminal's settings."""
        return termios.tcgetattr(self._master)

    def _read(self, deadline: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.screen += self._decoder.decode(data).replace("\r\n", "\n")
        return bool(data)


def _on_terminal(
    argv: list[str], cwd: Path, env: dict[str, str], terminal: int
) -> "subprocess.Popen[bytes] | WarmProcess":
    streams = terminal, terminal, terminal
    if argv[: len(PROGRAM)] == PROGRAM and starts_as_usual(env):
        return warm().begin(argv[len(PROGRAM) :], cwd, env, streams, on_terminal=True)
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, *argv],
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def interrupt(process: "subprocess.Popen[bytes]") -> None:
    """Send what Ctrl-C sends, to the whole process group."""
    os.killpg(process.pid, signal.SIGINT)


def everything(master: int) -> str:
    """Return all that was shown on a terminal whose other side is closed now, and close it."""
    pieces = []
    with suppress(OSError):  # EIO says that there is no more
        while piece := os.read(master, 65536):
            pieces.append(piece)
    os.close(master)
    return b"".join(pieces).decode().replace("\r\n", "\n")
