"""A connection over a WebSocket: each text frame is a line. Importing this module imports Starlette."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bridle.core.errors import BridleError
from bridle.core.tenancy import Principal
from bridle.surfaces.meerkat.contract import parse_contract
from bridle.surfaces.rpc.connection import RpcConnection
from bridle.surfaces.rpc.lines import TooLong
from bridle.surfaces.rpc.protocol import MAX_LINE_BYTES
from bridle.surfaces.rpc.server_context import RpcContext

POLICY = 1008

ContextFor = Callable[[Principal], Awaitable[RpcContext]]
"""Returns the request context of a principal; raises NotAllowed, StoreError."""


def rpc_route(
    context: RpcContext, path: str = "/rpc", *, context_for: ContextFor | None = None
) -> WebSocketRoute:
    """Return the route that serves a client; the guard around it controls access."""

    async def rpc_socket(websocket: WebSocket) -> None:
        asked = websocket.query_params.get("contract")
        principal: Principal | None = websocket.scope.get("principal")
        try:
            contract = context.contract if asked is None else parse_contract(asked)
            own = context if principal is None or context_for is None else await context_for(principal)
        except BridleError as error:
            await websocket.close(POLICY, error.message)
            return
        await websocket.accept()
        frames = _Frames(websocket)
        await RpcConnection(replace(own, contract=contract), frames, frames).serve()
        await frames.close()

    return WebSocketRoute(path, rpc_socket)


class _Frames:
    """Reads and writes text frames."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._is_open = True

    async def next(self) -> bytes | TooLong | None:
        """Return the content of the next frame; None at the end."""
        while self._is_open:
            message = await self._websocket.receive()
            if message["type"] != "websocket.receive":
                self._is_open = False
                return None
            text = message.get("text")
            line = text.encode("utf-8", "replace") if text is not None else message.get("bytes") or b""
            if len(line) > MAX_LINE_BYTES:
                return TooLong()
            if line := line.strip():
                return line
        return None

    async def send(self, lines: bytes) -> None:
        """Send each line as a frame; raises ConnectionError if the client is gone."""
        try:
            for line in lines.splitlines():
                await self._websocket.send_text(line.decode())
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            self._is_open = False
            raise ConnectionResetError("the client is gone") from error

    async def close(self) -> None:
        """Close the WebSocket, unless the client has."""
        if self._is_open:
            self._is_open = False
            try:
                await self._websocket.close()
            except (WebSocketDisconnect, RuntimeError, OSError):
                return
