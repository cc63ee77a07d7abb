"""Ask the user on the controlling terminal, wherever stdin and stdout go: approvals and questions.

```
edit_file greet.py
--- greet.py
+++ greet.py
@@ -1,1 +1,1 @@
-print("helo")
+print("hello")
Needs approval: writes a file (mode ask)
s / a allow edit_file(*)
y yes · n no, and say why · s yes for this session · a always, in every project · q stop the run
>
```

A question from the model takes a number, free text, or nothing.
"""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Mapping
from contextlib import suppress

from bridle.core.protocol import Answer, ApprovalRequested, Decide, Question, QuestionAsked, Reply
from bridle.surfaces.shared.subagent_names import SubAgentNames
from bridle.surfaces.shared.terminal import Screen, one_line
from bridle.surfaces.shared.text_format import approval_lines, question_lines

KEYS: dict[str, tuple[Answer, str]] = {
    "y": ("once", "yes"),
    "n": ("deny", "no, and say why"),
    "s": ("session", "yes for this session"),
    "a": ("always", "always, in every project"),
    "q": ("stop", "stop the run"),
}
FOR_CHILD: dict[str, tuple[Answer, str]] = {"s": ("session", "yes for this sub-agent")}
"""A session grant given to a sub-agent covers that sub-agent only."""
LASTING: tuple[Answer, ...] = ("session", "always")
"""Answers that add rules; offered only if the request suggests rules."""

TERMINAL = "/dev/tty"


class Approver:
    """Asks one approval or question at a time on a terminal."""

    def __init__(self, descriptor: int, environ: Mapping[str, str]) -> None:
        self._descriptor = descriptor
        file = open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115  see close
        self._screen = Screen(file, environ)
        self._modes = termios.tcgetattr(descriptor)
        self.subagent_names = SubAgentNames()
        """Names the sub-agent that asks."""

    async def ask(self, request: ApprovalRequested) -> Decide | None:
        """Show an approval and wait for a key; return None if the terminal went away."""
        try:
            for line in approval_lines(self._screen, request, self.subagent_names.format_asker(request)):
                self._screen.line(line)
            tty.setcbreak(self._descriptor)
            # Discard keys typed before the question appeared: they do not answer it.
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
            answer = await self._read_key(request)
            reason = await self._read_reason() if answer == "deny" else ""
        except (EOFError, OSError, termios.error):
            return None
        except asyncio.CancelledError:
            self._end_line()
            raise
        finally:
            self.restore()
        return Decide(request.call_id, answer, "stopped by the user" if answer == "stop" else reason)

    async def put(self, asked: QuestionAsked) -> Reply | None:
        """Show a question from the model and wait for a line; an empty line means no answer.

        Returns None if the terminal went away.
        """
        screen, question = self._screen, asked.question
        try:
            for line in question_lines(screen, question, self.subagent_names.format_asker(asked)):
                screen.line(line)
            with suppress(termios.error):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
            while True:
                screen.write(f"{_how_to_answer(question)}: ")
                screen.flush()
                try:
                    return Reply(asked.call_id, read_answer(question, await self._read()))
                except ValueError as error:
                    screen.line(str(error))
        except (EOFError, OSError):
            self._end_line()
            return None if self._is_gone() else Reply(asked.call_id)
        except asyncio.CancelledError:
            self._end_line()
            raise
        finally:
            self.restore()

    async def _read_key(self, request: ApprovalRequested) -> Answer:
        screen = self._screen
        table = KEYS if request.child is None else KEYS | FOR_CHILD
        keys = {key: label for key, label in table.items() if request.suggestions or label[0] not in LASTING}
        while True:
            for line in _keys_lines(screen, request, keys):
                screen.line(line)
            screen.write("> ")
            screen.flush()
            typed = (await self._read()).strip().lower()
            if typed in keys:
                answer, label = keys[typed]
                screen.line(label.partition(",")[0])
                screen.flush()
                return answer
            screen.line()

    async def _read_reason(self) -> str:
        self.restore()  # a reason is a whole line, edited by the terminal
        self._screen.write("why (Enter to skip): ")
        self._screen.flush()
        try:
            return (await self._read()).strip()
        except EOFError:
            return ""

    async def _read(self) -> str:
        """Wait for input without a thread, so that a cancelled run does not hang until a key is pressed."""
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

    def _is_gone(self) -> bool:
        """Return True if input ended because the terminal went away, not because of Ctrl-D."""
        try:
            termios.tcgetattr(self._descriptor)
        except termios.error:
            return True
        return False

    def _end_line(self) -> None:
        with suppress(OSError):  # the terminal may be gone
            self._screen.line()

    def restore(self) -> None:
        """Restore the terminal's original modes."""
        with suppress(OSError, termios.error):  # the terminal may be gone
            self._screen.flush()
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._modes)

    def close(self) -> None:
        """Close the terminal."""
        with suppress(OSError):
            self._screen.file.close()
        os.close(self._descriptor)


def open_approver(environ: Mapping[str, str]) -> Approver | None:
    """Open the controlling terminal; return None if there is none or the process is in the background."""
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


def read_answer(question: Question, line: str) -> tuple[str, ...]:
    """Parse an answer: numbers of choices, or free text; raises ValueError with the reason."""
    words = line.replace(",", " ").split()
    numbers = [int(word) for word in words if word.isdecimal() and len(word) < 5]
    if not question.choices or len(numbers) < len(words):
        return (line.strip(),) if words else ()
    for number in numbers:
        if not 1 <= number <= len(question.choices):
            raise ValueError(f"no choice {number}")
    if len(numbers) > 1 and not question.several:
        raise ValueError("only one choice is allowed")
    return tuple(question.choices[number - 1] for number in dict.fromkeys(numbers))


def _how_to_answer(question: Question) -> str:
    if not question.choices:
        return "your answer (Enter to skip)"
    number = "numbers" if question.several else "a number"
    return f"{number}, or your own words (Enter to skip)"


def _keys_lines(
    screen: Screen, request: ApprovalRequested, keys: Mapping[str, tuple[Answer, str]]
) -> list[str]:
    choices = [f"{screen.paint('name', key)} {label}" for key, (_, label) in keys.items()]
    lines = [" · ".join(choices)]
    if request.suggestions:
        rules = ", ".join(screen.paint("name", one_line(rule)) for rule in request.suggestions)
        lasting = " / ".join(key for key, (answer, _) in keys.items() if answer in LASTING)
        lines.insert(0, f"{lasting} allow {rules}")
    return lines
