"""What programs can look at: what a session did and would send, and what there is in a folder."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeVar

from msgspec import Struct

from bridle.app import skills_in
from bridle.config.settings import Settings
from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.queries import Changes, Describe, Records, Servers
from bridle.core.revision import FileChange
from bridle.core.server_views import ServerView
from bridle.core.session_api import SessionApi
from bridle.core.skill import Skill
from bridle.surfaces.export import FORMATS, Format
from bridle.surfaces.folder import (
    AgentRow,
    Folders,
    ModelView,
    RuleList,
    agent_rows,
    known_models,
    model_view,
    named,
    rule_list,
    usable,
)
from bridle.surfaces.usage import AllStats, Stats, use_of, use_of_all

T = TypeVar("T")

Topic = Literal["agents", "skills", "models", "rules", "servers", "stats"]


class Diff(Struct, frozen=True):
    """What a session changed on disk."""

    changes: list[FileChange]
    text: str
    """As a unified diff."""


class FolderView(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that was asked about a folder; only the field of its name is there."""

    what: Topic
    agents: list[AgentRow] | None = None
    skills: list[Skill] | None = None
    models: list[ModelView] | None = None
    """Those that can be asked."""
    rules: RuleList | None = None
    servers: list[ServerView] | None = None
    stats: AllStats | None = None
    """What all sessions have used."""


class Looking(Struct, frozen=True):
    """Looks and changes nothing. A folder is a path, or empty for the usual one; raises BridleError."""

    api: SessionApi
    folders: Folders

    # ------------------------------------------------------------------ a session

    async def diff(self, session: SessionId, after: int = 0, upto: int | None = None) -> Diff:
        """Return what a session changed on disk."""
        changes = list(await self.api.ask(Changes(session, after, upto)))
        return Diff(changes, await self.api.ask(Describe(changes)))

    async def export(self, session: SessionId, form: Format = "md") -> str:
        """Return a session as a document."""
        records = await self.api.ask(Records(session))
        return await asyncio.to_thread(FORMATS[form], records)

    async def usage(self, session: SessionId) -> Stats:
        """Return what a session and its sub-agents have used."""
        return await use_of(self.api, session)

    # ------------------------------------------------------------------ a folder, and all sessions

    async def agents(self, cwd: str = "") -> list[AgentRow]:
        """List the agents of a folder."""
        return await self._in(cwd, agent_rows)

    async def skills(self, cwd: str = "") -> list[Skill]:
        """List the skills of a folder."""
        return await self._in(cwd, lambda settings: list(skills_in(settings)))

    async def models(self, cwd: str = "", part: str = "", *, every: bool = False) -> list[ModelView]:
        """List the models that can be asked; by a part of the name, or with `every`, also the others."""

        def found(settings: Settings) -> list[ModelView]:
            known = known_models(settings)
            return list(map(model_view, named(known, part) if every or part else usable(known)))

        return await self._in(cwd, found)

    async def rules(self, cwd: str = "", agent: str = "") -> RuleList:
        """Return the rules that hold in a folder, for its agent or another one."""
        return await self._in(cwd, lambda settings: rule_list(settings, agent))

    async def servers(self, cwd: str = "") -> list[ServerView]:
        """Say how the tool servers and language servers of a folder are."""
        return list(await self.api.ask(Servers(await asyncio.to_thread(self.folders.path, cwd))))

    async def stats(self, since: int = 0, *, archived: bool = False) -> AllStats:
        """Return what all sessions have used since a time, in milliseconds since 1970."""
        return await use_of_all(self.api, since=since, archived=archived)

    async def folder(self, what: Topic, cwd: str = "") -> FolderView:
        """Return one thing about a folder, by its name."""
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
                    raise UsageError("cwd: has no meaning here, stats are those of all sessions")
                return FolderView(what=what, stats=await self.stats())

    async def _in(self, cwd: str, found: Callable[[Settings], T]) -> T:
        return await asyncio.to_thread(lambda: found(self.folders.settings(cwd)))
