"""Sessions as resources, and clients that listen for changes."""

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from bridle.core.ids import SessionId
from bridle.core.queries import ListSessions
from bridle.surfaces.mcp_server.resources import PAGE
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import ERAS, Era, connected, serving


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_is_read_as_markdown_and_as_records(home: Path, era: Era):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        await stage.run("hi")
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        [everything] = (await client.read_resource("bridle://sessions")).contents
        [transcript] = (await client.read_resource("bridle://sessions/play")).contents
        [records] = (await client.read_resource("bridle://sessions/play/records")).contents

        assert [(one.uri, one.title, one.mime_type) for one in listed] == [
            ("bridle://sessions", "All sessions", "application/json"),
            ("bridle://sessions/play", "hi", "text/markdown"),
        ]
        assert [one.uri_template for one in templates] == [
            "bridle://sessions/{session_id}",
            "bridle://sessions/{session_id}/records",
        ]
        assert [one["id"] for one in json.loads(everything.text)] == ["play"]
        assert transcript.mime_type == "text/markdown"
        assert "## User\n\nhi\n\n## Assistant\n\nhello" in transcript.text
        kinds = [one["event"]["type"] for one in json.loads(records.text)]
        assert (kinds[0], kinds[-1]) == ("session_created", "run_ended")


async def test_many_sessions_come_in_pages(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        for number in range(PAGE):
            await stage.service.create(cwd="/", session_id=SessionId(f"s{number}"))
        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)

        assert (len(first.resources), len(rest.resources), rest.next_cursor) == (PAGE + 1, 1, None)
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="-1")


@pytest.mark.parametrize(
    "uri",
    [
        "bridle://sessions/gone",
        "bridle://sessions/play/other",
        "bridle://sessions/../../etc/passwd",
        "bridle://sessions/%2e%2e",
        "bridle://sessions/play?x=1",
        "file:///etc/passwd",
        "bridle://sessions/",
    ],
)
async def test_other_addresses_name_nothing(home: Path, uri: str):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource(uri)


async def test_those_who_listen_hear_that_a_session_has_changed(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server, "2026-07-28") as client,
        client.listen(resource_subscriptions=["bridle://sessions/play"]) as changes,
    ):
        await client.call_tool("bridle_run", {"prompt": "hi", "session_id": "play"})

        assert await anext(aiter(changes)) == ResourceUpdated(uri="bridle://sessions/play")


# ---------------------------------------------------------------------------- prompts


SKILL = """\
---
name: review
description: Look at a change.
argument-hint: "[what]"
---

Review $ARGUMENTS.
"""
HIDDEN = """\
---
name: inner
description: For the model alone.
user-invocable: false
---

Secret steps.
"""


@pytest.fixture
def skilled(home: Path) -> Path:
    for name, text in (("review", SKILL), ("inner", HIDDEN)):
        folder = home / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
    return home


async def test_skills_that_a_person_may_call_are_prompts(skilled: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, skilled) as server,
        connected(server) as client,
    ):
        [prompt] = (await client.list_prompts()).prompts
        got = await client.get_prompt("review", {"arguments": "src/a.py"})

        [argument] = prompt.arguments or []
        assert (prompt.name, prompt.description) == ("review", "Look at a change.")
        assert (argument.name, argument.description, argument.required) == ("arguments", "[what]", False)
        [message] = got.messages
        assert (message.role, message.content.text) == (
            "user",
            f"[Skill: review]\nBase path: {skilled}/skills/review\n\nReview src/a.py.",
        )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("inner", {}, "Unknown prompt: inner"),
        ("gone", {}, "Unknown prompt: gone"),
        ("review", {"argument": "x"}, "Unknown argument: argument"),
    ],
)
async def test_other_names_are_refused(skilled: Path, name: str, arguments: dict[str, str], said: str):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, skilled) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError, match=said):
            await client.get_prompt(name, arguments)


async def test_a_skill_is_called_by_a_prompt_too(skilled: Path):
    model = Play(says("hello"))
    async with (
        Stage(model) as stage,
        serving(stage.service, skilled) as server,
        connected(server) as client,
    ):
        await client.call_tool("bridle_run", {"prompt": "/review src/a.py"})

        assert "Review src/a.py." in model.requests[0].messages[0].text
        assert {one.title for one in await stage.service.ask(ListSessions())} == {"", "/review src/a.py"}
