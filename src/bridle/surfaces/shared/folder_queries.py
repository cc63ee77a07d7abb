"""Queries about a folder: its agents, skills, models, rules and servers; and the usage of all sessions."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeVar

from msgspec import Struct

from bridle.app import skills_in
from bridle.config.settings import Settings
from bridle.core.errors import UsageError
from bridle.core.queries import Servers
from bridle.core.server_views import ServerView
from bridle.core.session_api import SessionApi
from bridle.core.skill import Skill
from bridle.surfaces.shared.folder_info import (
    AgentRow,
    Folders,
    ModelView,
    RuleList,
    agent_rows,
    filter_by_name,
    filter_usable,
    known_models,
    model_view,
    rule_list,
)
from bridle.surfaces.shared.usage import AllStats, count_all_usage

T = TypeVar("T")

Topic = Literal["agents", "skills", "models", "rules", "servers", "stats"]


class FolderView(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The answer about one topic of a folder; only the field with the topic's name is present."""

    what: Topic
    agents: list[AgentRow] | None = None
    skills: list[Skill] | None = None
    models: list[ModelView] | None = None
    """The usable models."""
    rules: RuleList | None = None
    servers: list[ServerView] | None = None
    stats: AllStats | None = None
    """The usage of all sessions."""


class FolderQueries(Struct, frozen=True):
    """Answers queries about folders; `cwd` is a path, or empty for the default one; raises BridleError."""

    api: SessionApi
    folders: Folders

    async def agents(self, cwd: str = "") -> list[AgentRow]:
        """List the agents of a folder."""
        return await self._in(cwd, agent_rows)

    async def skills(self, cwd: str = "") -> list[Skill]:
        """List the skills of a folder."""
        return await self._in(cwd, lambda settings: list(skills_in(settings)))

    async def models(self, cwd: str = "", part: str = "", *, every: bool = False) -> list[ModelView]:
        """List the usable models; with a part of the name or `every`, also unusable ones."""

        def found(settings: Settings) -> list[ModelView]:
            known = known_models(settings)
            return list(
                map(model_view, filter_by_name(known, part) if every or part else filter_usable(known))
            )

        return await self._in(cwd, found)

    async def real_models(self, cwd: str = "") -> list[ModelView]:
        """List all known models except scripted ones, with or without an API key."""
        return [model for model in await self.models(cwd, every=True) if model.kind != "scripted"]

    async def rules(self, cwd: str = "", agent: str = "") -> RuleList:
        """Return the rules that apply in a folder, for its default agent or the given one."""
        return await self._in(cwd, lambda settings: rule_list(settings, agent))

    async def servers(self, cwd: str = "") -> list[ServerView]:
        """List the MCP servers and language servers of a folder, with their state."""
        return list(await self.api.ask(Servers(await asyncio.to_thread(self.folders.path, cwd))))

    async def stats(self, since: int = 0, *, archived: bool = False) -> AllStats:
        """Return the usage of all sessions since a time, in milliseconds since 1970."""
        return await count_all_usage(self.api, since=since, archived=archived)

    async def folder(self, what: Topic, cwd: str = "") -> FolderView:
        """Return the answer about one topic of a folder."""
        match what:
            case "agents":
                return FolderView(what=what, agents=await self.agents(cwd))
            case "skills":
                return FolderView(what=what, skills=await self.skills(cwd))
            case "models":
                return FolderView(what=what, models=await self.models(cwd))
            case "rules":
                return FolderView(what=what, rules=await self.rules(cwd))
            case "servers":
                return FolderView(what=what, servers=await self.servers(cwd))
            case "stats":
                if cwd:
                    raise UsageError("cwd: does not apply here; stats cover all sessions")
                return FolderView(what=what, stats=await self.stats())

    async def _in(self, cwd: str, found: Callable[[Settings], T]) -> T:
        return await asyncio.to_thread(lambda: found(self.folders.settings(cwd)))
