"""Operations for prompt editors: complete `@path` and `/name`, and expand `/name` with its arguments."""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.queries import ServerPrompts
from bridle.core.server_views import PromptView
from bridle.core.skill import Skill
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import Cwd, InFolder, Text
from bridle.surfaces.shared.file_names import MAX_LIMIT, FoundFiles
from bridle.surfaces.shared.skill_prompt import expand_in


class FilesQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Which files to find."""

    q: Annotated[Text, Meta(description="Letters of the path, in their order.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 20


class SlashCommand(Struct, frozen=True):
    """A skill or MCP prompt that a prompt can call as `/name`."""

    name: str
    description: str
    arguments: str
    """A hint about the arguments after the name."""
    source: Literal["skill", "server"]


class Typed(Struct, frozen=True):
    """A prompt as the user typed it."""

    text: str
    cwd: Cwd = ""


class Meant(Struct, frozen=True):
    """The prompt to send to a session."""

    text: str


async def _files(ask: ValidRequest[None, FilesQuery, Nothing]) -> Response:
    query = ask.query
    folder = await asyncio.to_thread(ask.desk.folders.path, query.cwd)
    return json_response(await ask.desk.files.find(folder, query.q, query.limit))


async def _commands(ask: ValidRequest[None, InFolder, Nothing]) -> Response:
    skills = await ask.desk.about_folders.skills(ask.query.cwd)
    folder = await asyncio.to_thread(ask.desk.folders.path, ask.query.cwd)
    prompts = await ask.api.ask(ServerPrompts(folder))
    usable = [skill for skill in skills if skill.user_invocable]
    return json_response([*map(_of_skill, usable), *map(_of_server, prompts)])


async def _expand(ask: ValidRequest[Typed, Nothing, Nothing]) -> Response:
    folders, typed = ask.desk.folders, ask.body

    def expanded() -> str:
        return expand_in(typed.text, folders.path(typed.cwd), folders.environ)

    return json_response(Meant(await asyncio.to_thread(expanded)))


def _of_skill(skill: Skill) -> SlashCommand:
    return SlashCommand(skill.name, skill.description, skill.argument_hint, "skill")


def _of_server(prompt: PromptView) -> SlashCommand:
    return SlashCommand(prompt.name, prompt.description, " ".join(prompt.arguments), "server")


OPERATIONS = (
    Operation(
        method="GET",
        path="/files",
        name="files",
        summary="Find files and folders of a folder by a part of their path",
        query=FilesQuery,
        answers=FoundFiles,
        handler=_files,
    ),
    Operation(
        method="GET",
        path="/commands",
        name="commands",
        summary="List what a prompt can call as /name: skills, and prompts of servers",
        query=InFolder,
        answers=list[SlashCommand],
        handler=_commands,
    ),
    Operation(
        method="POST",
        path="/commands/expand",
        name="expand_command",
        summary="Return a prompt with the skill put in that it calls as /name",
        only_looks=True,
        body=Typed,
        answers=Meant,
        handler=_expand,
    ),
)
