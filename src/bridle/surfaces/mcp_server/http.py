"""Serves MCP over streamable HTTP, for local programs that have the token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.transport_security import TransportSecuritySettings

from bridle.surfaces.mcp_server.server import BridleServer
from bridle.surfaces.rest.guard import Guard
from bridle.surfaces.rest.server import HttpServer, serve_http

PATH = "/mcp"
MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_CLIENTS = 256
HEADERS = ("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")
"""Headers that an MCP client sends and reads, also in a web page."""


@asynccontextmanager
async def serving_http(
    bridle: BridleServer, host: str, port: int, token: str, origins: tuple[str, ...] = ()
) -> AsyncIterator[HttpServer]:
    """Serve while the context is open; raises OSError if the server cannot listen."""
    server = bridle.server
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_CLIENTS,
        # The guard checks Host, Origin and the token before the request is read.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    guard = Guard(app, token=token, hosts=(host,), origins=origins, headers=HEADERS)
    async with server.session_manager.run(), serve_http(guard, host, port) as http:
        try:
            yield http
        finally:
            bridle.runs.is_leaving = True
