"""The tool that loads skills."""

from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ConfigError, ToolError
from bridle.core.permission import Rule, judge
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.skill import Skill
from bridle.core.tool import Access, Subject
from bridle.tools.basic_tools import SkillTool

SKILLS = (
    Skill("deploy", "Deploy it.", "/s/deploy.md", "user", disable_model_invocation=True),
    Skill("hidden", "Hide.", "/s/hidden.md", "user", user_invocable=False),
    Skill("review", "Look at $0, then $ARGUMENTS.", "/s/review/SKILL.md", "user", has_folder=True),
)


@pytest.fixture
def tool() -> SkillTool:
    return SkillTool(lambda cwd: SKILLS)


async def refusal(tool: SkillTool, args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await tool.run(args, context)
    return str(caught.value)


@pytest.mark.parametrize("name", ["review", "/review", " review\n"])
async def test_the_skill_is_the_result(tool: SkillTool, context: ToolContext, name: str):
    assert await tool.run({"name": name, "arguments": "'a b' c"}, context) == ToolOutput(
        "[Skill: review]\nBase path: /s/review\n\nLook at a b, then 'a b' c."
    )


async def test_what_only_a_model_may_load_is_loaded(tool: SkillTool, context: ToolContext):
    output = await tool.run({"name": "hidden"}, context)

    assert output == ToolOutput("[Skill: hidden]\nBase path: /s\n\nHide.")


async def test_skills_are_those_of_the_working_directory(context: ToolContext):
    def load(cwd: str) -> list[Skill]:
        return [Skill("here", "x", f"{cwd}/.bridle/skills/here/SKILL.md", "project")]

    output = await SkillTool(load).run({"name": "here"}, context)

    assert output.text == "[Skill: here]\nBase path: .bridle/skills/here\n\nx"
    assert Path(context.cwd).is_absolute()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("deploy", "skill 'deploy' can only be invoked by user with /deploy"),
        ("", "skill name is required"),
        (" / ", "skill name is required"),
        ("reveiw", "skill not found: reveiw (hint: did you mean review?)"),
        ("deplay", "skill not found: deplay (hint: available skills: hidden, review)"),
        ("q\n" * 100, "skill not found: " + "q\\n" * 40 + " (hint: available skills: hidden, review)"),
    ],
)
async def test_what_cannot_be_loaded_is_refused(tool: SkillTool, context: ToolContext, name: str, error: str):
    assert await refusal(tool, {"name": name}, context) == error


async def test_without_skills_it_says_so(context: ToolContext):
    assert await refusal(SkillTool(lambda cwd: []), {"name": "x"}, context) == (
        "skill not found: x (hint: no skills available)"
    )


async def test_settings_that_are_broken_are_told(context: ToolContext):
    def load(cwd: str) -> list[Skill]:
        raise ConfigError("config.toml:1: no")

    assert await refusal(SkillTool(load), {"name": "x"}, context) == (
        "the skills cannot be read: config.toml:1: no"
    )


def test_a_rule_can_name_a_skill(tool: SkillTool, context: ToolContext):
    access = tool.access({"name": "/review"}, context)

    assert access == Access("skill", "read", (Subject("text", "review"),))
    assert judge(access, [], "plan").action == "allow"
    assert judge(access, [Rule("deny", "skill", "review")], "yolo").action == "deny"
    assert judge(access, [Rule("deny", "skill", "deploy")], "ask").action == "allow"


async def test_nothing_is_shown_before(tool: SkillTool, context: ToolContext):
    assert await tool.preview({"name": "review"}, context) == ""
