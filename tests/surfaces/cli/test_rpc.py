"""`bridle rpc` as a program: in a pipe, on a socket, and its refusals."""

import json
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

from tests.surfaces.command import PATIENCE_S, Bridle


def lines(*requests: tuple[str, dict[str, Any]]) -> str:
    """Write requests, numbered from 1."""
    return "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(requests, 1)
    )


def test_a_pipe_is_answered_line_by_line(bridle: Bridle):
    asked = lines(("initialize", {}), ("session/list", {}), ("nothing", {}))

    done = bridle("rpc", "--contract", "0.9.6", stdin=f"{asked}nonsense")

    said = {one["id"]: one for one in map(json.loads, done.out.splitlines())}
    assert (done.code, done.err) == (0, "")
    assert said[1]["result"]["contract_version"] == "0.9.6"
    assert said[2]["result"] == {"sessions": [], "has_more": False}
    assert (said[3]["error"]["code"], said[None]["error"]["code"]) == (-32601, -32700)


def test_files_do_as_well_as_pipes(bridle: Bridle, tmp_path: Path):
    """The end of a file is not the end of who reads the answers: a run continues to its own end."""
    asked, answered = tmp_path / "in", tmp_path / "out"
    model = bridle.script({"text": "late", "delay_ms": 300})
    asked.write_text(lines(("session/create", {"prompt": "x", "model": model})))

    with asked.open() as source, answered.open("wb") as target:
        subprocess.run(
            [*["env", "python", "-m", "bridle"], "rpc"],
            cwd=bridle.project,
            env=bridle.env,
            stdin=source,
            stdout=target,
            check=True,
            timeout=PATIENCE_S,
        )

    assert json.loads(answered.read_text().splitlines()[-1])["result"]["text"] == "late"


def test_nothing_on_stdin_is_the_end_of_it(bridle: Bridle):
    done = subprocess.run(
        ["env", "python", "-m", "bridle", "rpc"],
        cwd=bridle.project,
        env=bridle.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_socket_serves_many_and_is_the_users_own(bridle: Bridle, tmp_path: Path):
    path = tmp_path / "rpc.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))  # of a server that died
    server = bridle.start("rpc", "--listen", f"unix:{path}", "--cwd", str(tmp_path))
    try:
        assert server.stderr is not None
        assert server.stderr.readline() == f"listening at {path}\n".encode()
        refused = bridle("rpc", "--listen", f"unix:{path}")
        answers = []
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(PATIENCE_S)
                client.connect(str(path))
                client.sendall(
                    lines(("session/create", {"prompt": "x", "initial_turn": "deferred"})).encode()
                )
                answers.append(json.loads(client.makefile().readline()))
        mode = stat.S_IMODE(path.stat().st_mode)
        os.kill(server.pid, signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
    finally:
        server.kill()
        server.communicate()

    assert all("session_id" in one["result"] for one in answers)
    assert (mode, path.exists()) == (0o600, False)
    assert (refused.code, refused.err.splitlines()[0]) == (
        64,
        f"error: --listen: {path} already exists",
    )


def test_what_makes_no_sense_is_refused(bridle: Bridle, tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("")
    attempts = {
        ("--contract", "new"): '"new" is not a version of the contract',
        ("--listen", "tcp:1"): '--listen: "tcp:1" is not a socket',
        ("--listen", f"unix:{file}"): f"--listen: {file} already exists",
        ("--cwd", "/nowhere"): "--cwd: /nowhere is not a folder",
    }

    for flags, says in attempts.items():
        done = bridle("rpc", *flags)
        assert (done.code, done.err.splitlines()[0]) == (64, f"error: {says}")
