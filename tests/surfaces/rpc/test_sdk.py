"""Three versions of the package `meerkat-sdk` from PyPI, with the program that they start."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from meerkat import MeerkatClient, MeerkatError, RunCompleted, RunStarted, TextDelta

from bridle.comms.address import parse_address
from bridle.comms.trust import Peer
from tests.comms.conftest import Delivered, make_comms
from tests.patience import PATIENCE_S
from tests.shebang import shebang

CALLS = str(Path(__file__).with_name("sdk_calls.py"))
PROGRAM = "from bridle.surfaces.cli import serve_rpc\nraise SystemExit(serve_rpc())\n"
REPLIES = [
    {"match": "add", "text": "Let me add.", "calls": [{"name": "adder", "args": {"a": 1, "b": 2}}]},
    {"match": "add", "text": "It is {last_tool_result}."},
    {"match": "slow", "text": "one", "fault": {"kind": "hang"}},
    {"match": "shell", "calls": [{"name": "bash", "args": {"command": "curl http://example.com"}}]},
    {"match": "broken", "fault": {"kind": "http", "reason": "invalid_request"}},
    {"reasoning": "Hm.", "text": "Hello there."},
]


class House:
    """A client that is not connected yet, and the model it asks."""

    def __init__(self, program: Path, script: Path, home: Path) -> None:
        self.client = MeerkatClient(str(program))
        self.model: dict[str, Any] = {"model": str(script), "provider": "scripted"}
        self.home = home
        self.program = program


@pytest.fixture
def house(env: dict[str, str], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Give the program under the name that makes the SDK start it without arguments."""
    program = tmp_path / "bridle-rpc"
    program.write_text(f"{shebang()}{PROGRAM}")
    program.chmod(0o755)
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": REPLIES, "repeat": True}))
    project = tmp_path / "project"
    project.mkdir()
    (home / "config.toml").write_text("[lsp]\nenabled = false\n")
    monkeypatch.chdir(project)
    for name in list(os.environ):
        if name not in env:
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return House(program, script, home)


@asynccontextmanager
async def connected(house: House) -> AsyncIterator[MeerkatClient]:
    async with asyncio.timeout(PATIENCE_S), house.client as client:
        yield client


async def test_sessions_run_are_listed_read_and_put_away(house: House):
    async with connected(house) as client:
        assert client.has_capability("sessions")
        session = await client.create_session("hi", **house.model, system_prompt="Be kind.")
        again = await session.turn("and again")
        deferred = await client.create_deferred_session("Know this.", **house.model)
        first = await deferred.start_turn("Now.")
        listed = await client.list_sessions()
        details = await client.read_session(session.id)
        said = await session.history(offset=1, limit=2)
        with pytest.raises(MeerkatError) as failed:
            await session.turn("broken")
        with pytest.raises(MeerkatError) as missing:
            await client.read_session("nobody")
        await session.archive()
        left = await client.list_sessions()

    assert (session.text, again.text, first.text) == ("Hello there.",) * 3
    assert (session.turns, session.tool_calls, session.usage.output_tokens > 0) == (1, 0, True)
    assert {one.session_id for one in listed} == {session.id, deferred.id}
    assert (details.message_count, details.last_assistant_text) == (4, "Hello there.")
    assert details.provider == "scripted"
    assert [message.role for message in said.messages] == ["block_assistant", "user"]
    assert [block.block_type for block in said.messages[0].blocks] == ["reasoning", "text"]
    assert (failed.value.code, missing.value.code) == ("-32010", "-32001")
    assert [one.session_id for one in left] == [deferred.id]


async def test_runs_are_streamed_interrupted_and_use_the_clients_tools(house: House):
    @house.client.tool("adder", description="adds two numbers")
    async def adder(arguments: dict[str, Any]) -> str:
        return str(arguments["a"] + arguments["b"])

    async with connected(house) as client:
        async with client.create_session_streaming("hi", **house.model) as stream:
            events = [event async for event in stream]
        session = await client.create_session("please add", **house.model)
        sum_of_two = session.text
        watched = await session.subscribe_events()
        async with session.stream("add again") as stream:
            added = [type(event).__name__ async for event in stream]
        envelopes = []
        async for envelope in watched:
            envelopes.append(envelope)
            if isinstance(envelope.payload, RunCompleted):
                break
        await watched.close()
        async with session.stream("slow") as slow:
            async for event in slow:
                if isinstance(event, TextDelta):
                    await session.interrupt()
        with pytest.raises(MeerkatError, match="nobody is there to approve it") as denied:
            await session.turn("shell")

    assert isinstance(events[0], RunStarted)
    assert "".join(event.delta for event in events if isinstance(event, TextDelta)) == "Hello there."
    assert isinstance(events[-1], RunCompleted)
    assert sum_of_two == "It is 3."
    assert [name for name in added if name.startswith("Tool")] == [
        "ToolCallRequested",
        "ToolExecutionStarted",
        "ToolExecutionCompleted",
        "ToolResultReceived",
    ]
    assert [type(one.payload).__name__ for one in envelopes] == added
    assert slow.result.text == "one"
    assert denied.value.code == "-32013"


async def test_settings_are_read_patched_and_set(house: House):
    async with connected(house) as client:
        before = await client.get_config()
        patched = await client.patch_config(
            {"limits": {"max_turns": 7}}, expected_generation=before["generation"]
        )
        with pytest.raises(MeerkatError) as stale:
            await client.set_config({}, expected_generation=before["generation"])
        with pytest.raises(MeerkatError) as wrong:
            await client.patch_config({"limits": {"max_turns": "many"}})
        theirs = await client.patch_config({"max_tokens": 2048, "agent": {"temperature": 0.5}})
        replaced = await client.set_config({"model": "openai/gpt-5"})
        process = client._process
        assert process is not None

    assert patched["config"] == {"lsp": {"enabled": False}, "limits": {"max_turns": 7}}
    assert (stale.value.code, wrong.value.code) == ("-32602", "-32602")
    assert theirs["config"] == {**patched["config"], "max_output_tokens": 2048}
    assert list(theirs["left_out"]) == ["agent.temperature"]
    assert replaced["config"] == {"model": "openai/gpt-5"}
    assert (house.home / "config.toml").read_text().lstrip() == 'model = "openai/gpt-5"\n'
    assert process.returncode == 0


@pytest.mark.parametrize("version", ["0.4.0", "0.9.6"])
async def test_old_and_new_clients_can_make_their_calls(
    house: House, env: dict[str, str], tmp_path: Path, version: str
):
    sdk = Path(sys.prefix, "meerkat", version)
    assert sdk.is_dir(), f"no {sdk} (hint: make node-packages)"
    skill = house.home / "skills/sums/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: sums\ndescription: Sums\n---\nAdd.\n")
    (house.home / "config.toml").write_text('lsp.enabled = false\ncomms.mode = "unix"\n')
    ours, peer, delivered = make_comms(house.home), make_comms(tmp_path / "peer", name="peer"), Delivered()
    async with peer.listening(delivered) as listening:
        peer.trust.add(Peer("bridle", (await ours.identity()).public, ours.address))
        ours.trust.add(Peer("peer", (await peer.identity()).public, parse_address(listening.address)))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            CALLS,
            str(house.program),
            house.model["model"],
            env={**env, "PYTHONPATH": str(sdk), "BRIDLE_RPC_CONTRACT": version},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        heard = (await delivered.next())[0]
        while "COMMS REQUEST" not in heard:  # both come as one text if they arrive at once
            heard += (await delivered.next())[0]

    told = json.loads(out)
    events = ["RunStarted", "TurnStarted", "TextDelta", "TextComplete", "TurnCompleted", "RunCompleted"]
    assert told["texts"] == ["Hello there."] * 2
    assert [name for name in events if name not in told["created"] or name not in told["turned"]] == []
    assert (told["listed"], told["messages"], told["skills"]) == (2, 6, 1)
    assert "peer" in told["peers"]
    assert (told["sent"]["kind"], told["sent"]["delivery"]) == ("peer_message_sent", "acked")
    assert "[COMMS MESSAGE from bridle]\nhello" in heard
    assert f"(id: {told['asked']['request_id']})]\nIntent: count" in heard
    usual = {"lsp": {"enabled": False}, "comms": {"mode": "unix"}}
    assert told["patched"]["config"] == {**usual, "max_output_tokens": 4096}
    assert list(told["patched"]["left_out"]) == ["agent.temperature"]
    assert (told["stale"], told["cleared"]) == ("-32602", usual)
    assert told["set"] == {"max_output_tokens": 2048, "limits": {"max_duration": "30m"}}
    if version == "0.4.0":
        assert (told["skill"], told["left"]) == ("Add.", 1)
    else:
        assert (told["deferred"], told["history"], told["left"]) == ("Hello there.", 6, 2)


async def test_closing_ends_a_run_that_goes_on(house: House):
    async with connected(house) as client:
        session = await client.create_session("hi", **house.model)
        running = asyncio.create_task(client.create_session("slow", **house.model))
        async with session.stream("slow") as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
        process = client._process
        assert process is not None

    with pytest.raises(MeerkatError):
        await running
    assert process.returncode == 0


async def test_the_advertised_contract_follows_a_variable(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BRIDLE_RPC_CONTRACT", "0.6.0")

    with pytest.raises(MeerkatError, match=r"0\.6\.0 incompatible with SDK 0\.5\.2"):
        await house.client.connect(isolated=True)
    await house.client.close()
