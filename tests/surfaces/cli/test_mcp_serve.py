"""`bridle mcp serve` as a process: the official client, a kill, the inspector, HTTP."""

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bridle.core.errors import BridleError
from bridle.surfaces.cli.mcp_serve import parse_listen_address
from tests.node_servers import PACKAGES, node
from tests.surfaces.command import PATIENCE_S, PROGRAM, Bridle
from tests.surfaces.mcp_server.connecting import json_of, text_of

INSPECTOR = PACKAGES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
SERVE = [*PROGRAM, "mcp", "serve"]
TOOLS = [{"name": "theirs", "description": "A tool of the client.", "input_schema": {"type": "object"}}]
OPEN = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def configure(bridle: Bridle, tmp_path: Path, *replies: dict[str, Any]) -> None:
    script = tmp_path / "play.json"
    script.write_text(json.dumps({"replies": replies, "repeat": True}))
    (bridle.home / "config.toml").write_text(f'model = "scripted/{script}"\n')


class Wire:
    """A client that writes and reads single lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._id = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._id
        return answer["result"]

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def started(bridle: Bridle, *args: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*SERVE, *args],
        cwd=bridle.project,
        env=bridle.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


async def test_a_run_that_waits_for_results_survives_a_kill(bridle: Bridle, tmp_path: Path):
    calls = [{"id": "c1", "name": "theirs", "args": {"on": "x"}}]
    configure(bridle, tmp_path, {"calls": calls}, {"text": "it said {last_tool_result}"})
    with started(bridle) as process:
        try:
            wire = Wire(process)
            opened = wire.ask("initialize", OPEN)
            wire.tell("notifications/initialized")
            run = wire.ask(
                "tools/call", {"name": "meerkat_run", "arguments": {"prompt": "hi", "tools": TOOLS}}
            )
        finally:
            process.kill()
    waiting = json.loads(run["content"][0]["text"])
    server = StdioServerParameters(command=SERVE[0], args=SERVE[1:], env=bridle.env, cwd=str(bridle.project))
    async with Client(server) as client:
        arguments = {
            "session_id": waiting["session_id"],
            "tools": TOOLS,
            "tool_results": [{"tool_use_id": "c1", "content": "forty-two"}],
        }
        done = json_of(await client.call_tool("meerkat_resume", arguments))

    assert opened["protocolVersion"] == "2024-11-05"
    assert waiting["pending_tool_calls"] == [
        {"tool_name": "theirs", "args": {"on": "x", "tool_use_id": "c1"}}
    ]
    assert done["content"] == [{"type": "text", "text": "it said forty-two"}]


def test_a_client_that_closes_its_end_leaves_a_waiting_run_to_be_resumed(bridle: Bridle, tmp_path: Path):
    configure(bridle, tmp_path, {"calls": [{"id": "c1", "name": "theirs", "args": {}}]}, {"text": "done"})
    with started(bridle) as process:
        wire = Wire(process)
        wire.ask("initialize", OPEN)
        wire.tell("notifications/initialized")
        wire.ask("tools/call", {"name": "meerkat_run", "arguments": {"prompt": "hi", "tools": TOOLS}})
        out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out, err) == (0, b"", b"")
    [session] = json.loads(bridle("session", "list", "--json").out)
    assert session["unfinished"] is True


PATIENCE_MS = str(int(1000 * PATIENCE_S))


def inspect(bridle: Bridle, *args: str) -> Any:
    done = subprocess.run(
        [node(), str(INSPECTOR), "--cli", *SERVE, "--connect-timeout", PATIENCE_MS, "--method", *args],
        cwd=bridle.project,
        env=bridle.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_inspector_lists_calls_and_reads(bridle: Bridle, tmp_path: Path):
    configure(bridle, tmp_path, {"text": "hello"})
    tools = inspect(bridle, "tools/list", "--strict")["tools"]
    run = inspect(bridle, "tools/call", "--tool-name", "bridle_run", "--tool-arg", "prompt=hi")
    session = run["structuredContent"]["session_id"]
    read = inspect(bridle, "resources/read", "--uri", f"bridle://sessions/{session}")

    assert [tool["name"] for tool in tools][:2] == ["bridle_run", "bridle_resume"]
    assert run["content"] == [{"type": "text", "text": "hello"}]
    assert "## Assistant\n\nhello" in read["contents"][0]["text"]


async def test_over_http_with_the_token_of_the_home(bridle: Bridle, tmp_path: Path):
    configure(bridle, tmp_path, {"text": "hello"})
    with started(bridle, "--http", "127.0.0.1:0") as process:
        try:
            assert process.stderr is not None
            found = re.search(rb"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
            assert found is not None
            token = (bridle.home / "run" / "token").read_text().strip()
            async with (
                httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http,
                Client(streamable_http_client(found[0].decode(), http_client=http)) as client,
            ):
                result = await client.call_tool("bridle_run", {"prompt": "hi"})
        finally:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)

    assert text_of(result) == "hello"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0:8931", "can be reached from other machines"),
        ("127.0.0.1:port", "is not HOST:PORT"),
        ("127.0.0.1:99999", "99999 is not a port"),
    ],
)
def test_an_address_must_be_one_of_this_machine(address: str, said: str):
    with pytest.raises(BridleError, match=said):
        parse_listen_address(address)


def test_an_address_needs_no_host():
    assert parse_listen_address("8931") == parse_listen_address("localhost:8931") == ("127.0.0.1", 8931)
    assert parse_listen_address("[::1]:8931") == ("::1", 8931)
