"""Skills as prompts."""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from bridle.core.queries import ListSessions
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import connected, serving

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
