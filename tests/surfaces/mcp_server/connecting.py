"""The official client, connected to Bridle's server in memory."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp_types import CallToolResult, TextContent

from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server.runs import ClientRuns
from bridle.surfaces.mcp_server.server import BridleServer, open_server
from bridle.surfaces.shared.folder_info import Folders

Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


@asynccontextmanager
async def serving(
    api: SessionApi, home: Path, runs: ClientRuns | None = None, *, trusts_caller: bool = True
) -> AsyncIterator[BridleServer]:
    """Yield a server over a session API, with its own home and project."""
    project = home.parent / "project"
    project.mkdir(exist_ok=True)
    environ = {"BRIDLE_HOME": str(home), "HOME": str(home.parent)}
    folders = Folders(environ, str(project))
    async with open_server(api, folders, runs, trusts_caller=trusts_caller) as server:
        yield server


@asynccontextmanager
async def connected(server: BridleServer, era: Era = "legacy", **options: Any) -> AsyncIterator[Client]:
    """Yield a client of one era."""
    async with Client(InMemoryTransport(server.server), mode=era, **options) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def json_of(result: CallToolResult) -> Any:
    """Return the value of a result of Meerkat's tools."""
    return json.loads(text_of(result))
