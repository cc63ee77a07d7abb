"""Cost of a cold `bridle run` until its request reaches the server, compared with importing the HTTP client.

The server is a socket in this process. When the whole request has arrived, it reads the CPU clock of the
sender, which waits for the answer at that moment: in nanoseconds, while /proc/PID/stat counts in 10 ms. Only
then does it answer, so neither the answer nor the end of the process counts. The floor is
`python -c "import aiohttp"` from start to end. The home has been used before, like a user's.
"""

import json
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from children import child_env
from measure import PYTHON, child_cpu_s, report, rounds
from rows import Line, Row, figure, ours

ROUNDS = rounds(9)
TIMEOUT_S = 60.0
FLOOR = "import aiohttp"
_CPUCLOCK_SCHED = 2  # of the kernel's posix-timers.h: the time that all threads of a process ran

ANSWER = {"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def main() -> list[Line]:
    """Compare CPU time; the bar is 2.5."""
    floors, sent = [], []
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (home / "config.toml").write_text(f'model = "local/bench"\n[providers.local]\nbase_url = "{url}"\n')
        for _ in range(ROUNDS):
            floors.append(child_cpu_s([PYTHON, "-c", FLOOR]))
            sent.append(cpu_until_request_s(server, home, work))
    floor = figure(f"python -c '{FLOOR}'", floors, scale=1e3)
    what = "a cold bridle run until its request is sent"
    return report([Row("coldstart.request", what, "ms CPU", ours(sent, scale=1e3), (floor,), 2.5)])


def cpu_until_request_s(server: socket.socket, home: Path, work: Path) -> float:
    """Run a prompt; return the CPU seconds that its process used until its request was complete."""
    with subprocess.Popen(
        [PYTHON, "-m", "bridle", "run", "-p", "Say hello."],
        env=child_env(BRIDLE_HOME=str(home)),
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        connection, _ = server.accept()
        with connection:
            receive_request(connection)
            used_s = time.clock_gettime(~child.pid << 3 | _CPUCLOCK_SCHED)
            connection.sendall(HEAD + b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(ANSWER).encode())
        answer = child.stdout.read()
    assert (child.returncode, answer) == (0, b"Hello.\n"), (child.returncode, answer)
    return used_s


def receive_request(connection: socket.socket) -> None:
    """Read a request to its last byte."""
    connection.settimeout(TIMEOUT_S)
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert len(stream.read(length)) == length > 0, "the request broke off"


if __name__ == "__main__":
    main()
