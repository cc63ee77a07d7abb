"""`bridle mcp serve`: offer Bridle itself as an MCP server."""

import argparse
import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from bridle.config.settings import Settings
from bridle.core.errors import ConfigError, UsageError
from bridle.sessions.service import SessionService
from bridle.surfaces.cli.output.log import stderr_handler
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.terminal import Console

if TYPE_CHECKING:
    from bridle.surfaces.mcp_server.server import BridleServer

ADDRESS = "--http"
MAX_PORT_DIGITS = 5


def serve(args: argparse.Namespace, console: Console) -> int:
    """Serve until the client disconnects or a signal arrives."""
    logging.basicConfig(level=logging.WARNING, handlers=[stderr_handler("%(name)s: %(message)s")])
    asyncio.run(_serve(args.http, console, trusts_caller=args.trust_caller))
    return 0


async def _serve(address: str | None, console: Console, *, trusts_caller: bool) -> None:
    place = parse_listen_address(address) if address is not None else None
    from bridle.surfaces.mcp_server.server import open_server

    folders = Folders(console.environ, resolve_directory())
    settings = await asyncio.to_thread(folders.settings)
    async with open_sessions(console) as api:
        try:
            async with open_server(api, folders, trusts_caller=trusts_caller) as bridle:
                serving_it = (
                    _serve_stdio(bridle) if place is None else _serve_http(bridle, place, settings, console)
                )
                await _until_told(bridle, serving_it)
        finally:
            if isinstance(api, SessionService):
                await api.park(0.0)  # runs that wait for their client's tool results can be resumed later


async def _serve_stdio(bridle: "BridleServer") -> None:
    from bridle.surfaces.mcp_server.stdio import serve_stdio

    await serve_stdio(bridle)


async def _serve_http(
    bridle: "BridleServer", place: tuple[str, int], settings: Settings, console: Console
) -> None:
    from bridle.surfaces.mcp_server.http import PATH, serving_http

    host, port = place
    files = DaemonFiles(settings.home)
    token = await asyncio.to_thread(files.load_token)
    try:
        async with serving_http(bridle, host, port, token, settings.http.origins) as http:
            console.err.line(f"serving MCP at http://{_shown_host(http.host)}:{http.port}{PATH}")
            console.hint(f"clients send  Authorization: Bearer TOKEN  with the token in {files.token}")
            await asyncio.Event().wait()
    except OSError as error:
        raise ConfigError(f"{ADDRESS}: cannot listen at {host}:{port}: {error.strerror}") from error


async def _until_told(bridle: "BridleServer", work: Coroutine[Any, Any, None]) -> None:
    """Run the server until it ends or a signal arrives."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()

    def leave() -> None:
        bridle.runs.is_leaving = True
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def parse_listen_address(address: str) -> tuple[str, int]:
    """Parse a listen address; raises UsageError, or ConfigError unless it is a loopback address."""
    from bridle.surfaces.daemon.listen_address import parse_listen_address

    port = address.rpartition(":")[2]
    if not port.isascii() or not port.isdecimal() or len(port) > MAX_PORT_DIGITS:
        raise UsageError(f'{ADDRESS}: "{address}" is not HOST:PORT', hint=f"{ADDRESS} 127.0.0.1:8931")
    return parse_listen_address(address if ":" in address else f"127.0.0.1:{port}", ADDRESS)


def _shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
