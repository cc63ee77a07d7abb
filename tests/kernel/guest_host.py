"""A small host for tests of the guest: it knows the whole protocol; the test decides what it sends."""

import array
import fcntl
import functools
import json
import os
import selectors
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

import bridle.kernel
from tests.patience import PATIENCE_S

GUEST = str(Path(bridle.kernel.__file__).with_name("guest.py"))

PEAK_KB = "[int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')][0]"
"""A cell that tells the most memory its process ever had; `ru_maxrss` would begin with that of its parent."""

ECHO: dict[str, Any] = {
    "name": "echo",
    "description": "Give back a value.",
    "params": [{"name": "value", "type": "any", "required": True, "description": "what comes back"}],
    "returns": "any",
}
ADD: dict[str, Any] = {
    "name": "add",
    "description": "Add two numbers.",
    "params": [
        {"name": "a", "type": "float", "required": True},
        {"name": "b", "type": "float", "required": False},
    ],
    "returns": "float",
}
FAIL: dict[str, Any] = {"name": "fail", "description": "Refuse.", "params": ["why"], "returns": "str"}


class Cell(Struct, frozen=True):
    """The outcome of a cell."""

    output: str = ""
    error: str | None = None
    response: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    messages: tuple[tuple[str, str], ...] = ()


class Gone(Exception):
    """The guest has ended."""


@functools.cache
def interpreters() -> list[str]:
    """Return every Python here that a guest may run on: this one, and each version found."""
    places = [Path(one) for one in os.environ.get("PATH", "").split(os.pathsep) if one]
    places += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    found = {f"3.{sys.version_info.minor}": sys.executable}
    for minor in range(9, 15):
        for place in places:
            path = place / f"python3.{minor}"
            if f"3.{minor}" not in found and os.path.exists(path) and _runs(path):
                found[f"3.{minor}"] = str(path)
    return [found[version] for version in sorted(found, key=lambda one: int(one[2:]))]


def _runs(path: Path) -> bool:
    done = subprocess.run([path, "-S", "-c", "pass"], capture_output=True, check=False)
    return done.returncode == 0


class Host:
    """One guest and both its pipes; ends it when left."""

    def __init__(
        self,
        *,
        python: str = sys.executable,
        argv: list[str] | None = None,
        tools: list[Any] | None = None,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        **init: Any,
    ) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self._process = subprocess.Popen(
            argv or [python, "-S", GUEST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environ, **(env or {})},
            cwd=cwd,
        )
        self.pid = self._process.pid
        self.printed = b""
        self._frames: list[dict[str, Any]] = []
        self._rest = b""
        self._open = 2
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ, self._read_frames)
        self._selector.register(self._process.stderr, selectors.EVENT_READ, self._read_output)
        self._last = 0
        self.send(type="init", tools=json.dumps([ECHO, ADD, FAIL] if tools is None else tools), **init)
        self.ready = self.receive()

    def send(self, **frame: Any) -> None:
        self.send_bytes(json.dumps(frame).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        os.write(self._process.stdin.fileno(), data) == len(data) or self._process.stdin.write(data)

    def receive(self, timeout_s: float = 10.0) -> dict[str, Any]:
        """Return the next frame; raises Gone when there will be none, TimeoutError."""
        end = time.monotonic() + timeout_s
        while not self._frames:
            if not self._open:
                raise Gone(self.printed.decode("utf-8", "replace"))
            ready = self._selector.select(max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no frame; printed: {self.printed!r}")
            for key, _ in ready:
                key.data(key.fileobj)
        return self._frames.pop(0)

    def _read_frames(self, file: Any) -> None:
        data = os.read(file.fileno(), 1 << 20)
        self._at_end(file, data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._frames += [json.loads(line) for line in lines]

    def _read_output(self, file: Any) -> None:
        data = os.read(file.fileno(), 1 << 20)
        self._at_end(file, data)
        self.printed += data

    def _at_end(self, file: Any, data: bytes) -> None:
        if not data:
            self._selector.unregister(file)
            self._open -= 1

    def run(
        self,
        code: str,
        *,
        answer: Callable[[str, dict[str, Any]], Any] | None = None,
        on_message: Callable[[str], None] | None = None,
        key: str = "",
    ) -> Cell:
        """Run a cell and return what came of it; `answer` does the tools, each call at once."""
        key = key or self.start(code)
        calls: list[tuple[str, dict[str, Any]]] = []
        messages: list[tuple[str, str]] = []
        for frame in self.frames():
            if frame["type"] == "exec_result" and frame["id"] == key:
                text = self.taken() + frame["output"]
                return Cell(text, frame["error"], frame["response"], tuple(calls), tuple(messages))
            if frame["type"] == "tool_call":
                args = json.loads(frame["args"])
                calls.append((frame["name"], args))
                self.reply(frame["id"], frame["name"], args, answer or do)
            elif frame["type"] == "message":
                messages.append((frame["text"], frame["kind"]))
                if on_message is not None:
                    on_message(frame["text"])
        raise AssertionError

    def start(self, code: str) -> str:
        self._last += 1
        self.send(type="exec", id=f"c{self._last}", code=code)
        return f"c{self._last}"

    def interrupt(self, *_: Any) -> None:
        self.send(type="interrupt", id=f"c{self._last}")

    def reply(
        self, key: str, name: str, args: dict[str, Any], answer: Callable[[str, dict[str, Any]], Any]
    ) -> None:
        try:
            success, result = True, answer(name, args)
        except ValueError as error:
            success, result = False, str(error)
        self.send(type="tool_result", id=key, success=success, result=json.dumps(result))

    def frames(self) -> Iterator[dict[str, Any]]:
        while True:
            yield self.receive()

    def taken(self) -> str:
        """Return what was printed in stream mode since the last time."""
        while any(key.data == self._read_output for key, _ in self._selector.select(0)):
            self._read_output(self._process.stderr)
        text, self.printed = self.printed.decode("utf-8", "replace"), b""
        return text

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a frame with an id and return the answer."""
        self.send(type=kind, id="ask", **fields)
        return self.receive()

    def snapshot(self, **fields: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the data of a snapshot, and what was dropped with the reasons."""
        frame = self.ask("snapshot", **fields)
        return json.loads(frame["data"]), {one["name"]: one["why"] for one in frame["dropped"]}

    def restore(self, data: Any, **fields: Any) -> str | None:
        """Restore and return the error."""
        error: str | None = self.ask("restore", data=json.dumps(data), **fields)["error"]
        return error

    def wait_for_output(self, text: bytes) -> None:
        """Wait until something was printed in stream mode."""
        while text not in self.printed:
            self._read_output(self._process.stderr)

    def wait_for_full_pipe(self) -> None:
        """Wait until the guest cannot send more, because we do not read."""
        held = array.array("i", [0])
        while held[0] < 65536:
            fcntl.ioctl(self._process.stdout.fileno(), termios.FIONREAD, held)

    def close_stdin(self) -> None:
        self._process.stdin.close()

    def close_stdout(self) -> None:
        self._selector.unregister(self._process.stdout)
        self._process.stdout.close()

    def wait(self) -> int:
        return self._process.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()


def do(name: str, args: dict[str, Any]) -> Any:
    """Perform the tools of these tests."""
    if name == "echo":
        return args["value"]
    if name == "add":
        return args["a"] + args.get("b", 0)
    raise ValueError(args["why"])


def last_line(text: str | None) -> str:
    return (text or "").rstrip("\n").rpartition("\n")[2]
