"""JSON-RPC methods that read: a session's changes, context and usage, and the settings of a folder."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct, defstruct
from msgspec.structs import asdict

from bridle.core.protocol import Delete
from bridle.surfaces.rpc.methods import FolderParams, Offset, Params, SessionParams
from bridle.surfaces.rpc.runs import parse_session_id
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.folder_info import RuleList
from bridle.surfaces.shared.folder_queries import FolderQueries
from bridle.surfaces.shared.session_calls import export_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.usage import AllStats, Stats, count_session_usage


class ExportParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    format: Format = "md"


class QueryMethods:
    """The methods that read; the answers are those of REST."""

    def __init__(self, context: RpcContext) -> None:
        self._context = context
        self._api = context.api
        self._folders = FolderQueries(context.api, context.folders)

    # ------------------------------------------------------------------ a session

    def passed_on(self) -> dict[str, tuple[type[Struct], Callable[[Any], Awaitable[Any]]]]:
        """Return the methods that only forward a query, by name: their params type and their handler."""
        return {f"session/{row.name}": (_PARAMS[row.name], self._ask(row)) for row in SESSION_QUERIES}

    def _ask(self, row: SessionQuery) -> Callable[[Any], Awaitable[Any]]:
        async def ask(params: Any) -> Any:
            return await self._api.ask(row.query(parse_session_id(params.session_id), asdict(params)))

        return ask

    async def export(self, params: ExportParams) -> dict[str, str]:
        """Return a session as a document."""
        return {"text": await export_session(self._api, parse_session_id(params.session_id), params.format)}

    async def usage(self, params: SessionParams) -> Stats:
        """Return the usage of a session and its sub-agents."""
        return await count_session_usage(self._api, parse_session_id(params.session_id))

    async def delete(self, params: SessionParams) -> dict[str, bool]:
        """Delete a session permanently; raises SessionBusy while it runs."""
        await self._api.submit(parse_session_id(params.session_id), Delete())
        return {"deleted": True}

    # ------------------------------------------------------------------ a folder, and all sessions

    async def agents(self, params: FolderParams) -> dict[str, Any]:
        """List the agents of a folder."""
        await self._context.may_look("agents/list")
        return {"agents": await self._folders.agents(params.cwd)}

    async def models(self, params: FolderParams) -> dict[str, Any]:
        """List the usable models."""
        await self._context.may_look("models/list")
        return {"models": await self._folders.models(params.cwd)}

    async def rules(self, params: FolderParams) -> RuleList:
        """Return the rules that apply in a folder."""
        await self._context.may_look("rules/list")
        return await self._folders.rules(params.cwd)

    async def servers(self, params: FolderParams) -> dict[str, Any]:
        """List the MCP servers and language servers of a folder, with their state."""
        return {"servers": await self._folders.servers(params.cwd)}

    async def stats(self, _: Params) -> AllStats:
        """Return the usage of all sessions."""
        return await self._folders.stats()


_PARAMS = {
    row.name: defstruct(
        f"{row.kind.__name__}Params",
        row.parameters(Offset),
        bases=(SessionParams,),
        frozen=True,
        forbid_unknown_fields=True,
    )
    for row in SESSION_QUERIES
}
