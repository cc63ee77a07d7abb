"""`bridle_config` and `meerkat_config`."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp.shared.exceptions import MCPError

from bridle.surfaces.shared.folder_queries import Topic
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import connected, json_of, serving, text_of

TEXT = """\
# mine
model = "scripted/a"

[mcp.servers.time]
command = "uvx"
env = { SECRET = "do not tell" }
"""


async def test_settings_are_read_changed_and_never_reveal_a_secret(home: Path):
    file = home / "config.toml"
    file.write_text(TEXT)
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):

        async def config(**arguments: Any) -> Any:
            result = await client.call_tool("bridle_config", arguments)
            assert not result.is_error, text_of(result)
            assert "do not tell" not in result.model_dump_json()
            return result.structured_content

        before = await config(action="get")
        held = await config(action="get", key="model")
        after = await config(action="set", key="model", value="scripted/b")
        patched = await config(action="patch", patch={"model": None, "max_turns": None})
        everything = await config(action="get", key="mcp")

        assert before["config"]["model"] == "scripted/a"
        assert before["config_path"] == str(file)
        assert held["settings"] == [
            {"key": "model", "value": '"scripted/a"', "source": held["settings"][0]["source"]}
        ]
        assert after["config"]["model"] == "scripted/b"
        assert after["generation"] != before["generation"]
        assert "model" not in patched["config"]
        assert everything["settings"]
        assert file.read_text().startswith("# mine\n")
        assert "do not tell" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "set", "key": "model"}, "set: value is missing"),
        ({"action": "set"}, "key is missing"),
        ({"action": "patch"}, "patch is missing"),
        ({"action": "get", "patch": {}}, "patchcannot be combined"),
        ({"action": "set", "key": "no_such_key", "value": 1}, "no_such_key"),
        ({"action": "get", "key": "no_such_key"}, "there is no setting 'no_such_key'"),
        ({"action": "patch", "patch": {"model": "x/y"}, "expected_generation": 1}, "generation"),
    ],
)
async def test_what_makes_no_sense_changes_nothing(home: Path, arguments: dict[str, Any], said: str):
    (home / "config.toml").write_text(TEXT)
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_config", arguments)

        assert result.is_error
        assert said in text_of(result)
        assert (home / "config.toml").read_text() == TEXT


async def test_the_words_of_meerkat(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):

        async def config(**arguments: Any) -> Any:
            return json_of(await client.call_tool("meerkat_config", arguments))

        told = [
            await config(action="set", config={"model": "scripted/a"}),
            await config(action="patch", patch={"model": "scripted/b"}),
            await config(action="get"),
            await config(action="patch", patch={"max_tokens": 9, "shell": {"program": "nu"}}),
        ]
        with pytest.raises(MCPError, match="config is missing"):
            await config(action="set")

        assert told == [
            {"config": {"model": "scripted/a"}},
            {"config": {"model": "scripted/b"}},
            {"config": {"model": "scripted/b"}},
            {
                "config": {"model": "scripted/b", "max_output_tokens": 9},
                "left_out": {"shell.program": "commands run in bash"},
            },
        ]


# ---------------------------------------------------------------------------- folder tool


async def test_all_there_is_can_be_looked_at_without_trust(home: Path):
    skills = home / "skills"
    skills.mkdir(parents=True)
    (skills / "tea.md").write_text("+++\nname = 'tea'\n+++\nMake tea.\n")
    found: dict[str, Any] = {}
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home, trusts_caller=False) as server,
        connected(server) as client,
    ):
        await stage.run("hi")
        for what in get_args(Topic):
            result = await client.call_tool("bridle_folder", {"what": what})
            assert not result.is_error, text_of(result)
            assert result.structured_content is not None
            assert list(result.structured_content) == ["what", what]
            assert json.loads(text_of(result)) == result.structured_content[what]
            found[what] = result.structured_content[what]

    assert {"coder", "default"} <= {row["agent"] for row in found["agents"]}
    assert [(skill["name"], skill["body"].strip()) for skill in found["skills"]] == [("tea", "Make tea.")]
    assert all("ref" in model for model in found["models"])
    assert found["rules"] == {"agent": "default", "mode": "ask", "rules": []}
    assert found["servers"] == []
    assert (found["stats"]["runs"], found["stats"]["left_out"]) == ({"completed": 1}, [])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "what: is missing"),
        ({"what": "secrets"}, "what: invalid enum value 'secrets'"),
        ({"what": "rules", "cwd": "/nowhere"}, "cwd: '/nowhere' is not a folder"),
        ({"what": "servers", "cwd": "relative"}, "cwd: 'relative' is not a folder"),
        ({"what": "stats", "cwd": "/"}, "cwd: does not apply here"),
    ],
)
async def test_what_makes_no_sense_is_refused(home: Path, arguments: dict[str, Any], said: str):
    async with (
        Stage(Play()) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_folder", arguments)

    assert (result.is_error, (result.meta or {})["bridle/code"]) == (True, "INVALID_PARAMS")
    assert said in text_of(result)
