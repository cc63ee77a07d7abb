"""Size of the first request of `bridle run "hi"` on each wire, in total and by part.

The server is a socket in this process, the home and the folder are empty, and all settings but the address
are defaults. The bar is 6,000 bytes for the whole body.
"""

import json
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from children import child_env
from measure import PYTHON, report
from rows import Line, Row, ours

MAX_BYTES = 6_000
TIMEOUT_S = 60.0
WIRES = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}
REFUSAL = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


def main() -> list[Line]:
    """Print the bytes by part; the bar of each wire is 6,000."""
    rows = []
    for wire, path in WIRES.items():
        body = first_request(wire, path)
        sizes = parts_of(json.loads(body))
        print(f"{wire}: {len(body):,} bytes, {', '.join(f'{name} {size:,}' for name, size in sizes.items())}")
        what = f"first request of `bridle run`, {wire}"
        rows.append(Row(f"first-request.{wire}", what, "bytes", ours([len(body)]), bar=float(MAX_BYTES)))
    return report(rows)


def first_request(kind: str, path: str) -> bytes:
    """Run a prompt in an empty folder; return the body of its first request."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        url = f"http://127.0.0.1:{server.getsockname()[1]}{path}"
        config = f'model = "bench/model"\n[providers.bench]\nkind = "{kind}"\nbase_url = "{url}"\n'
        (home / "config.toml").write_text(config)
        with subprocess.Popen(
            [PYTHON, "-m", "bridle", "run", "hi"],
            env=child_env(BRIDLE_HOME=str(home)),
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ):
            connection, _ = server.accept()
            with connection:
                body = read_body(connection)
                connection.sendall(REFUSAL)  # which ends the run at once
    return body


def read_body(connection: socket.socket) -> bytes:
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
    return body


def parts_of(body: dict[str, Any]) -> dict[str, int]:
    """Return the bytes of the system text, the tools, the messages and the rest."""
    whole = _size(body)
    messages = body.get("messages") or body.get("input") or body.get("contents") or []
    told = [message for message in messages if message.get("role") in ("system", "developer")]
    system = body.get("system") or body.get("instructions") or body.get("systemInstruction") or told
    sizes = {
        "system": _size(system),
        "tools": _size(body.get("tools", [])),
        "messages": sum(_size(message) for message in messages if message not in told),
    }
    return {**sizes, "rest": whole - sum(sizes.values())}


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
