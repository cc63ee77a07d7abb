"""Operations on a folder: agents, skills, models, rules and servers; and the usage of all sessions."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.errors import ConfigError, UsageError
from bridle.core.server_views import ServerView
from bridle.core.skill import Skill
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import InFolder, Text
from bridle.surfaces.rest.usage_by_hour import UsePlots
from bridle.surfaces.shared.folder_info import AgentRow, ModelView, RuleList
from bridle.surfaces.shared.usage import AllStats, time_before


class ModelsQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Which models to list."""

    q: Annotated[Text, Meta(description="A text in the name; also models whose key is missing.")] = ""
    all: Annotated[bool, Meta(description="Also those whose key is missing.")] = False


class RulesQuery(InFolder, frozen=True, forbid_unknown_fields=True):
    """Whose rules to list."""

    agent: Annotated[Text, Meta(description="The agent of the folder if not given.")] = ""


class StatsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions to count."""

    since: Annotated[Text, Meta(description="How long ago, such as 7d or 12h; all time if not given.")] = ""
    archived: Annotated[bool, Meta(description="Also those that were put away.")] = False


async def _agents(ask: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await ask.desk.about_folders.agents(ask.query.cwd))


async def _skills(ask: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await ask.desk.about_folders.skills(ask.query.cwd))


async def _models(ask: ValidRequest[None, ModelsQuery, Nothing]) -> Response:
    query = ask.query
    return json_response(await ask.desk.about_folders.models(query.cwd, query.q, every=query.all))


async def _rules(ask: ValidRequest[None, RulesQuery, Nothing]) -> Response:
    return json_response(await ask.desk.about_folders.rules(ask.query.cwd, ask.query.agent))


async def _servers(ask: ValidRequest[None, InFolder, Nothing]) -> Response:
    return json_response(await ask.desk.about_folders.servers(ask.query.cwd))


async def _stats(ask: ValidRequest[None, StatsQuery, Nothing]) -> Response:
    return json_response(await ask.desk.about_folders.stats(_since(ask.query), archived=ask.query.archived))


async def _plots(ask: ValidRequest[None, StatsQuery, Nothing]) -> Response:
    return json_response(await ask.desk.books.plots(_since(ask.query), archived=ask.query.archived))


def _since(query: StatsQuery) -> int:
    try:
        return time_before(query.since) if query.since else 0
    except ConfigError as error:
        raise UsageError(f"query: since: {error.message}", hint="write for example 7d or 12h") from None


OPERATIONS = (
    Operation(
        method="GET",
        path="/agents",
        name="agents",
        summary="List the agents of a folder",
        query=InFolder,
        answers=list[AgentRow],
        handler=_agents,
    ),
    Operation(
        method="GET",
        path="/skills",
        name="skills",
        summary="List the skills of a folder",
        query=InFolder,
        answers=list[Skill],
        handler=_skills,
    ),
    Operation(
        method="GET",
        path="/models",
        name="models",
        summary="List the models that can be asked",
        query=ModelsQuery,
        answers=list[ModelView],
        handler=_models,
    ),
    Operation(
        method="GET",
        path="/rules",
        name="rules",
        summary="List the rules that hold in a folder, each with its place",
        query=RulesQuery,
        answers=RuleList,
        handler=_rules,
    ),
    Operation(
        method="GET",
        path="/servers",
        name="servers",
        summary="Say how the tool servers and language servers of a folder are",
        query=InFolder,
        answers=list[ServerView],
        handler=_servers,
    ),
    Operation(
        method="GET",
        path="/stats",
        name="stats",
        summary="Say what was used, and by whom, over all sessions",
        query=StatsQuery,
        answers=AllStats,
        handler=_stats,
    ),
    Operation(
        method="GET",
        path="/stats/plots",
        name="stats_plots",
        summary="Say what was used over time and by session, as a plot needs it",
        query=StatsQuery,
        answers=UsePlots,
        handler=_plots,
    ),
)
