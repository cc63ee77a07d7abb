"""`bridle acp` as an editor starts it: the real program with the real tools."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp import resource_link_block, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection

from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Record, RunStarted
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.mcp.players import CAST
from tests.surfaces.acp.editor import Editor
from tests.surfaces.command import PROGRAM, Bridle
from tests.surfaces.daemon.process import DaemonProcess


@asynccontextmanager
async def started(bridle: Bridle) -> AsyncIterator[tuple[ClientSideConnection, Editor]]:
    """Start the program, greeted already."""
    editor = Editor()
    async with spawn_agent_process(
        editor,  # type: ignore[arg-type]
        *PROGRAM,
        "acp",
        env=bridle.env,
        cwd=bridle.project,
        transport_kwargs={"stderr": None, "shutdown_timeout": 10.0},
        use_unstable_protocol=True,
    ) as (agent, _):
        await agent.initialize(1)
        yield agent, editor


def choose(bridle: Bridle, model: str) -> None:
    """Make a model the usual one."""
    bridle.home.mkdir(parents=True, exist_ok=True)
    (bridle.home / "config.toml").write_text(f"model = {json.dumps(model)}\n")


async def test_edits_commands_and_what_lies_outside(bridle: Bridle, tmp_path: Path):
    (bridle.project / "greet.py").write_text("one\nhelo\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    edit = {"path": "greet.py", "old_str": "helo", "new_str": "hello"}
    calls = [
        {"name": "read_file", "args": {"path": "greet.py"}},
        {"name": "edit_file", "args": edit},
        {"name": "bash", "args": {"command": "echo new > made.txt; echo printed"}},
        {"name": "read_file", "args": {"path": str(secret)}},
        {"name": "mcp__tea__do", "args": {}},
    ]
    replies = [{"calls": [{**one, "id": f"c{number}"}]} for number, one in enumerate(calls)]
    choose(bridle, bridle.script(*replies, {"text": "Done.", "reasoning": "hm"}))
    server = {
        "name": "tea",
        "command": sys.executable,
        "args": ["-I", "-S", str(CAST / "raw.py"), "good"],
        "env": [],
    }
    async with started(bridle) as (agent, editor):
        new = await agent._conn.send_request(
            "session/new", {"cwd": str(bridle.project), "mcpServers": [server]}
        )
        prompt = [text_block("fix "), resource_link_block("s", f"file://{secret}")]
        answer = await agent.prompt(session_id=new["sessionId"], prompt=prompt)

    assert answer.stop_reason == "end_turn"
    assert (bridle.project / "greet.py").read_text() == "one\nhello\n"
    ends = {one["toolCallId"]: one for one in editor.of("tool_call_update")}
    assert ends["c1"]["content"] == [
        {
            "type": "diff",
            "path": str(bridle.project / "greet.py"),
            "oldText": "one\nhelo",
            "newText": "one\nhello",
        }
    ]
    assert ends["c1"]["locations"] == [{"path": str(bridle.project / "greet.py"), "line": 1}]
    printed, made = ends["c2"]["content"]
    assert printed["content"]["text"] == "printed"
    assert made == {"type": "diff", "path": str(bridle.project / "made.txt"), "newText": "new"}
    assert ends["c3"]["status"] == "failed"
    assert "hidden" not in json.dumps(editor.updates)
    assert ends["c4"]["rawOutput"] == {"output": "done", "isError": False}
    assert [one["call"]["toolCallId"] for one in editor.asked] == ["c1", "c2", "c4"]
    assert (editor.said(), editor.said("agent_thought_chunk")) == ("Done.", "hm")


def test_nonsense_on_stdin_is_answered_on_stdout(bridle: Bridle):
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    lines = [b"nonsense", b"x" * 20_000_000, b"[1]", json.dumps(request).encode()]
    done = subprocess.run(
        [*PROGRAM, "acp"],
        input=b"\n".join(lines) + b"\n",
        env=bridle.env,
        cwd=bridle.project,
        capture_output=True,
        check=False,
        timeout=60,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32700, -32700, -32600, None]
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_an_editor_it_says_so(bridle: Bridle):
    done = bridle("acp")

    assert (done.code, done.out) == (64, "")
    assert "stdin and stdout are not connected to an editor" in done.err


async def test_a_run_of_the_daemon_outlives_the_editor(bridle: Bridle):
    choose(bridle, bridle.script({"text": "Slow", "delay_ms": 1500}))
    daemon = DaemonProcess(bridle.home, bridle.env)
    await daemon.start()
    try:
        async with started(bridle) as (agent, _):
            new = await agent.new_session(cwd=str(bridle.project), mcp_servers=[])
            session = SessionId(new.session_id)
            prompting = agent.prompt(session_id=session, prompt=[text_block("go")])
            running = asyncio.create_task(prompting)
            async with daemon.reached() as api:
                run = await _begun(api, session)
        with pytest.raises(ConnectionError):
            await running
        async with daemon.reached() as api:
            ended = await wait_for_run(api, session, run)

        assert (ended.outcome, ended.text) == ("completed", "Slow")
    finally:
        daemon.kill()


async def _begun(api: SessionApi, session: SessionId) -> RunId:
    async for item in api.watch(session):
        if isinstance(item, Record) and isinstance(item.event, RunStarted):
            return item.event.run_id
    raise AssertionError("the watch ended")
