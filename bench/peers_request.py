"""Time and CPU of a process from its start until its request reaches the server.

The server is a socket in this process. When the whole request has arrived, it reads the CPU clock of the
sender, which waits for the answer at that moment: in nanoseconds, while /proc/PID/stat counts in 10 ms. Only
then does it answer, so neither the answer nor the end of the process counts.
"""

import json
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TIMEOUT_S = 180.0
_CPUCLOCK_SCHED = 2  # of the kernel's posix-timers.h: the time that all threads of a process ran
_NO_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@dataclass(frozen=True)
class Sent:
    """A request that arrived."""

    cpu_s: float
    wall_s: float
    messages: int
    """The number of messages in it."""
    printed: list[float]
    """The numbers that the sender prints at its end."""


def until_request(
    server: socket.socket, argv: Sequence[str], env: Mapping[str, str], reply: dict[str, Any]
) -> Sent:
    """Start a program, wait for its request and answer with a scripted reply."""
    began = time.perf_counter()
    with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            connection, _ = server.accept()
            with connection:
                asked = _receive(connection)
                wall_s = time.perf_counter() - began
                cpu_s = time.clock_gettime(~child.pid << 3 | _CPUCLOCK_SCHED)
                connection.sendall(_answer(reply, streamed=bool(asked.get("stream"))))
            printed = child.stdout.read()
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, list(argv))
    return Sent(cpu_s, wall_s, len(asked["messages"]), [float(word) for word in printed.split()])


def _receive(connection: socket.socket) -> dict[str, Any]:
    """Read a request to its last byte."""
    connection.settimeout(TIMEOUT_S)
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = stream.read(length)
    assert len(body) == length > 0, "the request broke off"
    asked: dict[str, Any] = json.loads(body)
    return asked


def _answer(reply: dict[str, Any], *, streamed: bool) -> bytes:
    """Return an answer in OpenAI's format, whole or as a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.get("text")}
    if calls := reply.get("calls"):
        message["tool_calls"] = [
            {
                "index": number,
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for number, call in enumerate(calls)
        ]
    finish = "tool_calls" if calls else "stop"
    kind, field = ("chat.completion.chunk", "delta") if streamed else ("chat.completion", "message")
    choice = {"index": 0, field: message, "finish_reason": finish}
    frame = {
        "id": "1",
        "object": kind,
        "created": 1,
        "model": "bench",
        "choices": [choice],
        "usage": _NO_USAGE,
    }
    data = json.dumps(frame).encode()
    if streamed:
        data = b"data: %b\n\ndata: [DONE]\n\n" % data
    content = b"text/event-stream" if streamed else b"application/json"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    return head % (content, len(data)) + data
