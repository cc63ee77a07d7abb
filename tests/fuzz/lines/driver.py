"""The program in the sandbox that starts one shell after the other; standard library only.

```
hunt ──(argv)──> driver ── bash ── …        one shell for each line, nothing of one reaches the next
     <──(status, output, report, …)──
```

Each shell gets what Bridle gives it: an empty input, one output, its report on descriptor 3, a group of its
own. What it leaves behind is named, then killed.
"""

import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import socket
import struct
import time
from typing import Any

PORT = 4567
"""Where the cell listens on its loopback address."""
SIZE = struct.Struct("<I")
LEAVING_S = 0.3  # what the end of a pipe or of a substitution may take after the shell's end
MAX_OUTPUT_BYTES = 512 * 1024
_SUBREAPER = 36


def main(timeout_s: float) -> None:
    """Serve orders until the input ends."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
    orders, answers = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(empty, number)
    listener = _listen()
    _write(answers, b"ready")
    while (order := _read(orders)) is not None:
        number, argv, env = marshal.loads(order)
        _write(answers, marshal.dumps((number, *_run(argv, env, timeout_s), _callers(listener))))


def _listen() -> socket.socket | None:
    """Listen for lines that open connections; None where the cell has no sockets at all."""
    try:
        listener = socket.socket()
        listener.bind(("127.0.0.1", PORT))
        listener.listen(8)
    except OSError:
        return None
    listener.setblocking(False)
    return listener


def _callers(listener: socket.socket | None) -> int:
    count = 0
    while listener is not None:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            break
        count += 1
    return count


def _run(argv: list[bytes], env: dict[bytes, bytes], timeout_s: float) -> tuple[int, bytes, bytes, list[str]]:
    """Run one shell; return its status, its output, its report and its leftovers."""
    output, report = os.memfd_create("output"), os.memfd_create("report")
    files = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    files += [(os.POSIX_SPAWN_DUP2, report, 3)]
    own = (signal.SIGPIPE, signal.SIGXFSZ)
    shell = os.posix_spawn(argv[0], argv, env, file_actions=files, setpgroup=0, setsigdef=own)
    status = _wait(shell, timeout_s)
    left = _left() if status is not None else []
    _kill_all()
    try:
        return (
            124 if status is None else status,
            os.pread(output, MAX_OUTPUT_BYTES, 0),
            os.pread(report, MAX_OUTPUT_BYTES, 0),
            left,
        )
    finally:
        os.close(output)
        os.close(report)


def _wait(pid: int, timeout_s: float) -> int | None:
    """Wait for the shell; None when its time is over."""
    watched = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    ended = poll.poll(timeout_s * 1000)
    os.close(watched)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if ended else None


def _left() -> list[str]:
    """Name what still runs some time after the shell has ended."""
    end = time.monotonic() + LEAVING_S
    while _reap() and time.monotonic() < end:
        select.poll().poll(5)
    return [_name(pid) for pid in _below()]


def _reap() -> bool:
    """Reap ended processes; return True while any still runs."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _kill_all() -> None:
    while _reap():
        for pid in _below():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        select.poll().poll(1)


def _below() -> list[int]:
    found = [os.getpid()]
    for pid in found:
        found += _children(pid)
    return found[1:]


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESRCH):
            raise
        return []


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(200).replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _read(descriptor: int) -> bytes | None:
    head = _exactly(descriptor, SIZE.size)
    return None if head is None else _exactly(descriptor, SIZE.unpack(head)[0])


def _exactly(descriptor: int, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        more = os.read(descriptor, count - len(data))
        if not more:
            return None
        data += more
    return data


def _write(descriptor: int, data: Any) -> None:
    rest = memoryview(SIZE.pack(len(data)) + data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
