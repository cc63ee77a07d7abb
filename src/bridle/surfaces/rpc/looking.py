"""Methods of our own that look: at what a session did and would send, and at what holds in a folder."""

from typing import Any

from bridle.core.protocol import Delete
from bridle.core.queries import NextContext, PlanRewind, PreviewContext, RewindPlan
from bridle.surfaces.export import Format
from bridle.surfaces.folder import RuleList
from bridle.surfaces.looking import Diff, Looking
from bridle.surfaces.rpc.desk import Desk
from bridle.surfaces.rpc.methods import FolderParams, Offset, Params, SessionParams
from bridle.surfaces.rpc.runs import known_id
from bridle.surfaces.usage import AllStats, Stats


class DiffParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    after: Offset = 0
    upto: Offset | None = None


class PlanParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    to_seq: Offset


class ContextParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    at: Offset | None = None


class ExportParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    format: Format = "md"


class LookingMethods:
    """What a client can look at; the answers are those of REST."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._api = desk.api
        self._looking = Looking(desk.api, desk.folders)

    # ------------------------------------------------------------------ a session

    async def diff(self, params: DiffParams) -> Diff:
        """Return what a session changed on disk."""
        return await self._looking.diff(known_id(params.session_id), params.after, params.upto)

    async def plan_rewind(self, params: PlanParams) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        return await self._api.ask(PlanRewind(known_id(params.session_id), params.to_seq))

    async def context(self, params: ContextParams) -> NextContext:
        """Return what the next turn sends."""
        return await self._api.ask(PreviewContext(known_id(params.session_id), params.at))

    async def export(self, params: ExportParams) -> dict[str, str]:
        """Return a session as a document."""
        return {"text": await self._looking.export(known_id(params.session_id), params.format)}

    async def usage(self, params: SessionParams) -> Stats:
        """Return what a session and its sub-agents have used."""
        return await self._looking.usage(known_id(params.session_id))

    async def delete(self, params: SessionParams) -> dict[str, bool]:
        """Remove a session for good; raises SessionBusy while it runs."""
        await self._api.submit(known_id(params.session_id), Delete())
        return {"deleted": True}

    # ------------------------------------------------------------------ a folder, and all sessions

    async def agents(self, params: FolderParams) -> dict[str, Any]:
        """List the agents of a folder."""
        await self._desk.may_look("agents/list")
        return {"agents": await self._looking.agents(params.cwd)}

    async def models(self, params: FolderParams) -> dict[str, Any]:
        """List the models that can be asked."""
        await self._desk.may_look("models/list")
        return {"models": await self._looking.models(params.cwd)}

    async def rules(self, params: FolderParams) -> RuleList:
        """Return the rules that hold in a folder."""
        await self._desk.may_look("rules/list")
        return await self._looking.rules(params.cwd)

    async def servers(self, params: FolderParams) -> dict[str, Any]:
        """Say how the tool servers and language servers of a folder are."""
        return {"servers": await self._looking.servers(params.cwd)}

    async def stats(self, _: Params) -> AllStats:
        """Return what all sessions have used."""
        return await self._looking.stats()
