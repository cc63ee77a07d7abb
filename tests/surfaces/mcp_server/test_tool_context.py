"""What a calling model may not do, unless the user started the server with `--trust-caller`."""

from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from bridle.core.budget import Limits
from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, Configure, SessionOptions
from bridle.core.queries import ListSessions
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.mcp_server.connecting import connected, serving, text_of

SETTINGS = """\
[rules]
mode = "ask"

[limits]
max_turns = 7
"""
HOOK = {"point": "run_started", "runtime": {"type": "command", "command": "touch x"}}


def writer() -> SmallTool:
    return SmallTool("write", lambda on: f"wrote {on}", access="write")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"allow": ["write"]}, "allow: only the user may do that"),
        ({"until": "touch x"}, "until: only the user may do that"),
        ({"mode": "yolo"}, 'a looser mode than "ask": only the user may do that'),
        ({"mode": "accept-edits"}, 'a looser mode than "ask": only the user may do that'),
        ({"max_turns": 8}, "more turns than 7: only the user may do that"),
    ],
)
async def test_a_caller_cannot_loosen_what_the_user_has_set(home: Path, wanted: dict[str, Any], said: str):
    (home / "config.toml").write_text(SETTINGS)
    tool = writer()
    async with (
        Stage(Play(says("", call("c1", "write")), says("done")), tools=[tool]) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        begun = await client.call_tool("bridle_run", {"prompt": "hi", **wanted})
        further = await client.call_tool("bridle_resume", {"session_id": "play", "prompt": "hi", **wanted})

        hint = "(hint: bridle mcp serve --trust-caller lets it)"
        assert [(one.is_error, text_of(one)) for one in (begun, further)] == [(True, f"{said} {hint}")] * 2
        assert [one.id for one in await stage.service.ask(ListSessions())] == ["play"]
        assert tool.calls == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"mode": "ask"}, 'a looser mode than "plan": only the user may do that'),
        ({"max_turns": 4}, "more turns than 3: only the user may do that"),
    ],
)
async def test_a_caller_cannot_loosen_how_a_session_was_made(home: Path, wanted: dict[str, Any], said: str):
    (home / "config.toml").write_text(SETTINGS)
    async with (
        Stage(Play(says("done"))) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        made = Configure(SessionOptions(mode="plan", limits=Limits(turns=3)))
        await stage.service.submit(stage.session, made)
        refused = await client.call_tool("bridle_resume", {"session_id": "play", "prompt": "hi", **wanted})

        assert refused.is_error
        assert text_of(refused).startswith(said)


@pytest.mark.parametrize(
    "wanted", [{"mode": "plan"}, {"mode": "ask"}, {"deny": ["write"]}, {"max_turns": 7, "max_cost": 1}]
)
async def test_a_caller_can_tighten_it(home: Path, wanted: dict[str, Any]):
    (home / "config.toml").write_text(SETTINGS)
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        assert text_of(await client.call_tool("bridle_run", {"prompt": "hi", **wanted})) == "hello"


async def test_a_caller_is_not_told_to_allow_by_itself_what_nobody_has_approved(home: Path):
    tool = writer()
    async with (
        Stage(Play(says("", call("c1", "write"))), tools=[tool]) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_run", {"prompt": "hi"})
        [rule] = result.structured_content["denied"][0]["rules"]

        assert text_of(result).endswith(f"The user can allow it in the settings, with allow: {rule}")
        assert tool.calls == []


async def test_a_caller_can_refuse_what_waits_for_a_person_and_not_approve_it(home: Path):
    tool = writer()
    async with (
        Stage(Play(says("", call("c1", "write")), says("done")), tools=[tool]) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        await stage.prompt("hi")
        await stage.until(ApprovalRequested)

        async def decide(answer: str) -> str:
            asked = {"action": "decide", "session_id": "play", "call_id": "c1", "answer": answer}
            return text_of(await client.call_tool("bridle_sessions", asked))

        approved = [await decide(answer) for answer in ("once", "session", "always")]
        denied = await decide("deny")

        assert {text.partition(" (")[0] for text in approved} == {
            "approving a call: only the user may do that"
        }
        assert denied == "decide: done"
        assert tool.calls == []


async def test_a_caller_reads_the_settings_and_does_not_change_them(home: Path):
    file = home / "config.toml"
    file.write_text(SETTINGS)
    changes = [{"action": "set", "key": "rules.mode", "value": "yolo"}, {"action": "patch", "patch": {}}]
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        read = await client.call_tool("bridle_config", {"action": "get"})
        for change in changes:
            result = await client.call_tool("bridle_config", change)

            assert text_of(result).startswith("changing the settings: only the user may do that")
        for theirs in ({"action": "set", "config": {}}, {"action": "patch", "patch": {}}):
            with pytest.raises(MCPError, match="only the user may do that"):
                await client.call_tool("meerkat_config", theirs)

        assert read.structured_content["config"]["limits"] == {"max_turns": 7}
        assert file.read_text() == SETTINGS


async def test_a_caller_of_meerkat_cannot_bring_hooks_which_are_programs(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError, match="hooks: only the user may do that"):
            await client.call_tool("meerkat_run", {"prompt": "hi", "hooks_override": {"entries": [HOOK]}})

        assert [one.id for one in await stage.service.ask(ListSessions())] == [SessionId("play")]
