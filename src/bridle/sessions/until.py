"""The `until` check: a user's command that decides whether a run is over."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

TIMEOUT_S = 600.0
MAX_OUTPUT_BYTES = 16 * 1024
KEPT_HEAD_BYTES = 4 * 1024


class UntilResult(Struct, frozen=True):
    """The result of the command."""

    passed: bool
    text: str = ""
    """The message to the model after a failure."""


async def run_check(
    command: str, cwd: str, env: Mapping[str, str], *, timeout_s: float = TIMEOUT_S
) -> UntilResult:
    """Run a shell command as the user would; it passes if it exits with 0."""
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return UntilResult(passed=False, text=_failure_text(command, f"could not be started: {error}", ""))
    assert process.stdout is not None
    output = _HeadAndTail()
    try:
        async with asyncio.timeout(timeout_s):
            while chunk := await process.stdout.read(64 * 1024):
                output.add(chunk)
            status = await process.wait()
    except TimeoutError:
        return UntilResult(
            passed=False, text=_failure_text(command, f"did not end within {timeout_s:g} s", output.text)
        )
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if status == 0:
        return UntilResult(passed=True)
    return UntilResult(passed=False, text=_failure_text(command, f"exited with {status}", output.text))


class _HeadAndTail:
    """Keeps the beginning and the end of a program's output."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        room = KEPT_HEAD_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        over = len(self._tail) - (MAX_OUTPUT_BYTES - KEPT_HEAD_BYTES)
        if over > 0:
            self._dropped += over
            self._tail = self._tail[over:]

    @property
    def text(self) -> str:
        gap = f"\n[{self._dropped:,} bytes left out]\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode(errors="replace").strip()


def _failure_text(command: str, ended: str, output: str) -> str:
    printed = f" It printed:\n{output}" if output else " It printed nothing."
    return f"Not done yet: the check `{command}` {ended}.{printed}\nContinue until it passes."
