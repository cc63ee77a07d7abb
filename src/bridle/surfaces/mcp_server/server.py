"""The MCP server over a session API: which methods it has, and who answers each."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp_types import (
    CallToolRequestParams,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

import bridle
from bridle.core.errors import BridleError
from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server import resources
from bridle.surfaces.mcp_server.client import Client, Context
from bridle.surfaces.mcp_server.meerkat_tools import protocol_error
from bridle.surfaces.mcp_server.runs import ClientRuns
from bridle.surfaces.mcp_server.tool_context import Answered, ServerContext, ToolRequest
from bridle.surfaces.mcp_server.tools import call_tool, input_schema, list_tools
from bridle.surfaces.shared.folder_info import Folders

MAX_LISTENERS = 64
INSTRUCTIONS = (
    "bridle_run lets an agent work in a folder and returns its answer; bridle_resume continues its session. "
    "bridle_sessions reads sessions and steers, cancels or forks them. Sessions are also resources, "
    "and skills are prompts."
)


class BridleServer:
    """The MCP server, and the runs it follows."""

    def __init__(self, context: ServerContext) -> None:
        self.runs = context.runs
        self._context = context
        self.server: Server[Any] = Server(
            "bridle",
            version=bridle.__version__,
            title="Bridle",
            description="A local-first agent runtime",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(context.bus, max_subscriptions=MAX_LISTENERS),
        )

    async def _list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list_tools())

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> Answered:
        return await call_tool(ToolRequest(self._context, Client(context), params))

    async def _list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        with _protocol_errors():
            return await resources.list_resources(self._context.api, params.cursor if params else None)

    async def _list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return resources.list_templates()

    async def _read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        with _protocol_errors():
            return await resources.read_resource(self._context.api, str(params.uri))

    async def _list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        with _protocol_errors():
            return await resources.list_prompts(self._context.folders)

    async def _get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        with _protocol_errors():
            return await resources.get_prompt(self._context.folders, params)


@contextmanager
def _protocol_errors() -> Iterator[None]:
    """Convert BridleErrors to protocol errors."""
    try:
        yield
    except BridleError as error:
        raise protocol_error(error) from error


@asynccontextmanager
async def open_server(
    api: SessionApi, folders: Folders, runs: ClientRuns | None = None, *, trusts_caller: bool = False
) -> AsyncIterator[BridleServer]:
    """Make the server over a session API; left, it follows no run any more.

    Callers may tighten what the user has set; only those who are trusted may loosen it.
    """
    async with runs or ClientRuns(api) as runs:
        yield BridleServer(ServerContext(api, runs, folders, InMemorySubscriptionBus(), trusts_caller))
