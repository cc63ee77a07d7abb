"""Asking a person: approvals are answered on the controlling terminal, whatever stdin and stdout are.

```
edit_file greet.py
--- greet.py
+++ greet.py
@@ -1,1 +1,1 @@
-print("helo")
+print("hello")
asked because of mode ask: write access
y yes · n no, and say why · a always in this session: edit_file(*) · s stop the run
>
```
"""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Mapping
from contextlib import suppress

from bridle.core.protocol import Answer, ApprovalRequested, Decide
from bridle.surfaces.render import approval_lines
from bridle.surfaces.terminal import Screen, visible

KEYS: dict[str, tuple[Answer, str]] = {
    "y": ("once", "yes"),
    "n": ("deny", "no, and say why"),
    "a": ("session", "always in this session"),
    "s": ("stop", "stop the run"),
}

TERMINAL = "/dev/tty"


class Approver:
    """Asks one question at a time on a terminal."""

    def __init__(self, descriptor: int, environ: Mapping[str, str]) -> None:
        self._descriptor = descriptor
        file = open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115  see close
        self._screen = Screen(file, environ)
        self._modes = termios.tcgetattr(descriptor)

    async def ask(self, request: ApprovalRequested) -> Decide:
        """Show what is asked and wait for a key; a terminal that went away stops the run."""
        for line in approval_lines(self._screen, request):
            self._screen.line(line)
        try:
            tty.setcbreak(self._descriptor)
            # What was typed before the question was on the screen is not an answer to it.
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
            answer = await self._read_key(request)
            reason = await self._read_reason() if answer == "deny" else ""
        except (EOFError, termios.error):
            return Decide(request.call_id, "stop", "the terminal went away")
        except asyncio.CancelledError:
            self._screen.line()
            raise
        finally:
            self.restore()
        return Decide(request.call_id, answer, "stopped by the user" if answer == "stop" else reason)

    async def _read_key(self, request: ApprovalRequested) -> Answer:
        screen = self._screen
        while True:
            screen.line(_keys_line(screen, request))
            screen.write("> ")
            screen.flush()
            typed = (await self._read()).strip().lower()
            if typed in KEYS:
                answer, label = KEYS[typed]
                screen.line(label.partition(",")[0])
                screen.flush()
                return answer
            screen.line()

    async def _read_reason(self) -> str:
        self.restore()  # a reason is a line, with the terminal's own editing
        self._screen.write("why (Enter for no reason): ")
        self._screen.flush()
        try:
            return (await self._read()).strip()
        except EOFError:
            return ""

    async def _read(self) -> str:
        """Wait for input without a thread, so that a cancelled run does not wait for a key."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self._descriptor, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._descriptor)
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        return data.decode("utf-8", "replace")

    def restore(self) -> None:
        """Give the terminal back as it was."""
        with suppress(OSError, termios.error):  # it may have gone away
            self._screen.flush()
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._modes)

    def close(self) -> None:
        """Let go of the terminal."""
        with suppress(OSError):
            self._screen.file.close()
        os.close(self._descriptor)


def open_approver(environ: Mapping[str, str]) -> Approver | None:
    """Find the person to ask: None without a terminal, or when the program runs in the background."""
    if not any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return None
    try:
        descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    if os.tcgetpgrp(descriptor) != os.getpgrp():
        os.close(descriptor)
        return None
    return Approver(descriptor, environ)


def _keys_line(screen: Screen, request: ApprovalRequested) -> str:
    choices = []
    for key, (answer, label) in KEYS.items():
        rule = f": {request.suggestion}" if answer == "session" else ""
        choices.append(f"{screen.paint('name', key)} {visible(label + rule)}")
    return " · ".join(choices)
