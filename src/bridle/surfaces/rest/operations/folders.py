"""Operations on a folder: agents, skills, models, rules and servers; and the usage of all sessions."""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.errors import ConfigError, UsageError
from bridle.core.queries import ServerPrompts
from bridle.core.server_views import PromptView, ServerView
from bridle.core.skill import Skill
from bridle.surfaces.rest.operation import Nothing, ValidRequest, json_response, operation
from bridle.surfaces.rest.operations.fields import Cwd, InFolder, Text
from bridle.surfaces.rest.usage_by_hour import UsePlots
from bridle.surfaces.shared.file_names import MAX_LIMIT, FoundFiles
from bridle.surfaces.shared.folder_info import AgentRow, ModelView, RuleList
from bridle.surfaces.shared.skill_prompt import expand_in
from bridle.surfaces.shared.usage import AllStats, time_before


class ModelsQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Which models to list."""

    q: Annotated[Text, Meta(description="Text in the name; includes models without a key.")] = ""
    all: Annotated[bool, Meta(description="Include models without a key.")] = False


class RulesQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Whose rules to list."""

    agent: Annotated[Text, Meta(description="By default the agent of the folder.")] = ""


class StatsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions to count."""

    since: Annotated[Text, Meta(description="How long ago, such as 7d or 12h; by default all time.")] = ""
    archived: Annotated[bool, Meta(description="Include archived sessions.")] = False


@operation("GET", "/agents", "agents", "List the agents of a folder", list[AgentRow])
async def _agents(request: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await request.context.about_folders.agents(request.query.cwd))


@operation("GET", "/skills", "skills", "List the skills of a folder", list[Skill])
async def _skills(request: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await request.context.about_folders.skills(request.query.cwd))


@operation("GET", "/models", "models", "List the available models", list[ModelView])
async def _models(request: ValidRequest[None, ModelsQuery, Nothing]) -> Response:
    query = request.query
    return json_response(await request.context.about_folders.models(query.cwd, query.q, every=query.all))


@operation("GET", "/rules", "rules", "List the rules that apply in a folder, each with its source", RuleList)
async def _rules(request: ValidRequest[None, RulesQuery, Nothing]) -> Response:
    return json_response(await request.context.about_folders.rules(request.query.cwd, request.query.agent))


@operation(
    "GET",
    "/servers",
    "servers",
    "Return the state of the MCP servers and language servers of a folder",
    list[ServerView],
)
async def _servers(request: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await request.context.about_folders.servers(request.query.cwd))


@operation("GET", "/stats", "stats", "Return the usage of all sessions", AllStats)
async def _stats(request: ValidRequest[None, StatsQuery, Nothing]) -> Response:
    return json_response(
        await request.context.about_folders.stats(_since(request.query), archived=request.query.archived)
    )


@operation(
    "GET",
    "/stats/plots",
    "stats_plots",
    "Return the usage of all sessions by hour and by session, for plots",
    UsePlots,
)
async def _plots(request: ValidRequest[None, StatsQuery, Nothing]) -> Response:
    return json_response(
        await request.context.usage_history.plots(_since(request.query), archived=request.query.archived)
    )


def _since(query: StatsQuery) -> int:
    try:
        return time_before(query.since) if query.since else 0
    except ConfigError as error:
        raise UsageError(f"query: since: {error.message}", hint="write for example 7d or 12h") from None


# ---------------------------------------------------------------------------- files and slash commands


class FilesQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Which files to find."""

    q: Annotated[Text, Meta(description="Letters of the path, in order.")] = ""
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


@operation("GET", "/files", "files", "Find files and folders by a part of their path", FoundFiles)
async def _files(request: ValidRequest[None, FilesQuery, Nothing]) -> Response:
    query = request.query
    folder = await asyncio.to_thread(request.context.folders.path, query.cwd)
    return json_response(await request.context.files.find(folder, query.q, query.limit))


@operation(
    "GET",
    "/commands",
    "commands",
    "List what a prompt can call as /name: skills and prompts of MCP servers",
    list[SlashCommand],
)
async def _commands(request: ValidRequest[None, InFolder, Nothing]) -> Response:
    skills = await request.context.about_folders.skills(request.query.cwd)
    folder = await asyncio.to_thread(request.context.folders.path, request.query.cwd)
    prompts = await request.api.ask(ServerPrompts(folder))
    usable = [skill for skill in skills if skill.user_invocable]
    return json_response([*map(_of_skill, usable), *map(_of_server, prompts)])


@operation(
    "POST",
    "/commands/expand",
    "expand_command",
    "Return a prompt with its /name replaced by the skill",
    Meant,
    reads_only=True,
)
async def _expand(request: ValidRequest[Typed, Nothing, Nothing]) -> Response:
    folders, typed = request.context.folders, request.body

    def expanded() -> str:
        return expand_in(typed.text, folders.path(typed.cwd), folders.environ)

    return json_response(Meant(await asyncio.to_thread(expanded)))


def _of_skill(skill: Skill) -> SlashCommand:
    return SlashCommand(skill.name, skill.description, skill.argument_hint, "skill")


def _of_server(prompt: PromptView) -> SlashCommand:
    return SlashCommand(prompt.name, prompt.description, " ".join(prompt.arguments), "server")


OPERATIONS = (
    _agents,
    _skills,
    _models,
    _rules,
    _servers,
    _stats,
    _plots,
    _files,
    _commands,
    _expand,
)
