"""Skills as MCP prompts: those that a person can call as `/name`."""

import asyncio

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from bridle.app import skills_in
from bridle.core.skill import Skill, render
from bridle.surfaces.shared.folder_info import Folders

ARGUMENTS = "arguments"
MAX_ARGUMENT_CHARS = 1024 * 1024


async def list_prompts(folders: Folders) -> ListPromptsResult:
    """Return the folder's skills that a person may call; raises BridleError."""
    return ListPromptsResult(prompts=[_prompt(skill) for skill in await _skills(folders)])


async def get_prompt(folders: Folders, params: GetPromptRequestParams) -> GetPromptResult:
    """Return the text of a skill with its arguments inserted; raises BridleError, MCPError."""
    skill = next((one for one in await _skills(folders) if one.name == params.name), None)
    if skill is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")
    given = params.arguments or {}
    if extra := sorted(given.keys() - {ARGUMENTS}):
        raise MCPError(INVALID_PARAMS, f"Unknown argument: {extra[0][:80]}")
    arguments = given.get(ARGUMENTS, "")
    if len(arguments) > MAX_ARGUMENT_CHARS:
        raise MCPError(INVALID_PARAMS, "The arguments are too long")
    text = render(skill, arguments, folders.usual).removesuffix("\n\n---\n\n")
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=skill.description or None, messages=[message])


async def _skills(folders: Folders) -> list[Skill]:
    found = await asyncio.to_thread(lambda: skills_in(folders.settings()))
    return [skill for skill in found if skill.user_invocable]


def _prompt(skill: Skill) -> Prompt:
    argument = PromptArgument(
        name=ARGUMENTS, description=skill.argument_hint or "What follows its name", required=False
    )
    return Prompt(name=skill.name, description=skill.description or None, arguments=[argument])
