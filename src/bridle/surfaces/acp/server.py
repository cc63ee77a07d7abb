"""Serves one connection of an editor."""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from acp import RequestError
from acp.agent.router import build_agent_router
from acp.connection import Connection
from acp.meta import AGENT_METHODS
from acp.router import MessageRouter
from acp.schema import ClientCapabilities, DeleteSessionRequest
from acp.utils import normalize_result
from pydantic import ValidationError

from bridle.core.errors import BridleError
from bridle.core.session_api import SessionApi
from bridle.surfaces.acp.agent import BridleAgent
from bridle.surfaces.acp.errors import error_of, error_of_bug, error_of_validation
from bridle.surfaces.acp.mcp_servers import check_servers
from bridle.surfaces.acp.transport import LineTransport
from bridle.surfaces.shared.folder_info import Folders

if TYPE_CHECKING:
    from acp.interfaces import Agent

_log = logging.getLogger(__name__)


async def serve_editor(
    api: SessionApi, folders: Folders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve an editor until it disconnects."""
    desk = EditorConnection(LineTransport(reader, writer))
    agent = BridleAgent(api, folders, desk)
    desk.connect(_routes(agent))
    try:
        await desk.listen()
    finally:
        await desk.aclose()  # first, so that no new request starts
        await agent.aclose()


def _routes(agent: BridleAgent) -> MessageRouter:
    """Return the router of requests, with those that the official package lacks."""
    router = build_agent_router(
        cast("Agent", agent), use_unstable_protocol=True
    )  # methods are looked up by name
    router.route_request(
        AGENT_METHODS["session_delete"],
        DeleteSessionRequest,
        agent,
        "delete_session",
        adapt_result=normalize_result,
    )
    return router


class EditorConnection:
    """The editor as a notification and request target; implements `EditorClient`."""

    def __init__(self, link: LineTransport) -> None:
        self.capabilities = ClientCapabilities()
        self._link = link
        self._connection: Connection | None = None

    def connect(self, routes: MessageRouter) -> None:
        """Set the router for the editor's requests."""

        async def handle(method: str, params: Any, is_notification: bool) -> Any:  # noqa: FBT001  as it is called
            return await _handled(routes, method, params, is_notification=is_notification)

        self._connection = Connection(handle, self._link, listening=False)

    @property
    def _wire(self) -> Connection:
        assert self._connection is not None, "connect() comes first"
        return self._connection

    async def listen(self) -> None:
        """Handle requests until the editor disconnects."""
        await self._wire.main_loop()

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification; raises ConnectionError."""
        await self._wire.send_notification(method, params)

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request; raises RequestError, ConnectionError. Cancelling this withdraws the request."""
        try:
            return await self._wire.send_request(method, params)
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                await self._link.withdraw()
            raise
        finally:
            self._link.forget()

    async def aclose(self) -> None:
        """Disconnect, and cancel open requests."""
        await self._wire.close()


async def _handled(routes: MessageRouter, method: str, params: Any, *, is_notification: bool) -> Any:
    """Handle a request; turn exceptions into errors without internal details.

    `_meta` is removed: the official package would let its content replace validated parameters.
    """
    try:
        if isinstance(params, dict):
            params = {name: value for name, value in params.items() if name != "_meta"}
            check_servers(params)
        return await routes(method, params, is_notification)
    except RequestError:
        if is_notification:
            return None  # a notification gets no answer
        raise
    except ValidationError as error:
        failure = error_of_validation(error)
    except BridleError as error:
        failure = error_of(error)
    except ConnectionError:
        return None  # the editor is gone
    except Exception:  # noqa: BLE001  the outermost frame: the editor hears that it was our mistake
        _log.exception("%s failed", method[:100])
        failure = error_of_bug()
    if is_notification:
        return None
    raise failure
