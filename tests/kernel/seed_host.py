"""A host that knows only the document of the first protocol: two pipes, its messages, its two flows.

It is written without a look at ours, so that what it can drive, any host of that protocol can.
"""

import json
import subprocess
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tests.patience import PATIENCE_S


class SeedHost:
    """Drives one guest; every tool runs in a separate thread, as the seed's host does it."""

    def __init__(
        self, argv: list[str], tools: dict[str, Callable[..., Any]], definitions: str, **popen: Any
    ) -> None:
        self.tools = tools
        self.heard: list[dict[str, Any]] = []
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        self._lock = threading.Lock()
        self._last = 0
        self.send({"type": "init", "tools": definitions})
        self.ready = self.receive()

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.heard.append(message)
        return message

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a message with an id and return what answers it, serving tool calls meanwhile."""
        self._last += 1
        self.send({"type": kind, "id": f"id-{self._last}", **fields})
        while True:
            message = self.receive()
            if message["type"] == "tool_call":
                threading.Thread(target=self._serve, args=(message,)).start()
            elif message["type"] != "message":
                return message

    def _serve(self, call: dict[str, Any]) -> None:
        try:
            success, result = True, self.tools[call["name"]](**json.loads(call["args"]))
        except Exception as error:  # noqa: BLE001  whatever a tool raises is its result
            success, result = False, str(error)
        self.send({"type": "tool_result", "id": call["id"], "success": success, "result": json.dumps(result)})

    def shutdown(self) -> int:
        self.send({"type": "shutdown"})
        return self._process.wait(PATIENCE_S)

    def hang_up(self) -> int:
        self._process.stdin.close()
        return self._process.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
