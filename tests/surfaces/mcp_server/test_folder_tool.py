"""`bridle_folder`: what is available in a folder."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from bridle.surfaces.shared.folder_queries import Topic
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import connected, serving, text_of


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
