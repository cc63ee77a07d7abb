"""One HTTP connection, with time and size limits that uvicorn lacks.

```
accepted ─▶ head (5 s) ─▶ body (30 s) ─▶ response, with progress each minute ─▶ kept alive (30 s)
```

A request refused here never reaches the app: the client gets a problem document and is disconnected.

A connection is a stranger until a request on it presents a valid token. The number of strangers is limited,
and a new one replaces the oldest, so that idle connections cannot lock out clients.
"""

import asyncio
import sys
from email.utils import formatdate
from typing import Literal

import h11
from msgspec import Struct
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol
from uvicorn.server import ServerState

from bridle.core.codec import encode
from bridle.surfaces.rest.problem_document import (
    BAD_REQUEST,
    HEADERS_TOO_LARGE,
    MEDIA_TYPE,
    REQUEST_TIMEOUT,
    TOO_MANY_CONNECTIONS,
    ProblemResponse,
    document,
)
from bridle.surfaces.shared.error_codes import ErrorKind

MAX_HEAD_BYTES = 32 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024  # of JSON-RPC over a WebSocket
KEEP_ALIVE_S = 30

ADMIT = "admit"
"""The key in a scope's state for the callback to call when a request presented a valid token."""

Part = Literal["head", "body"]


class ConnectionLimits(Struct, frozen=True):
    """Time limits of a request, and the maximum number of connections."""

    head_s: float = 5.0
    body_s: float = 30.0
    stuck_s: float = 60.0
    """A client that reads nothing of its response for this long is disconnected."""
    most: int = 512
    """Connections that presented a token; further ones get TOO_MANY_CONNECTIONS."""
    strangers: int = 128
    """Connections that presented none; each further one closes the oldest, idle ones first."""


class UnauthenticatedConnections:
    """The connections that have presented no token yet, oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._connections: dict[RestConnection, None] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, connection: "RestConnection") -> None:
        """Add a connection; if there are too many, close the oldest, idle ones first."""
        if len(self._connections) >= self._most:
            oldest = next(iter(self._connections))
            left = next((one for one in self._connections if one.is_idle), oldest)
            del self._connections[left]
            left.transport.abort()
        self._connections[connection] = None

    def remove(self, connection: "RestConnection") -> None:
        """Remove a connection that presented a token or is closed."""
        self._connections.pop(connection, None)


class RestConnection(H11Protocol):
    """Speaks HTTP/1.1 with one client, until it switches to a WebSocket."""

    def __init__(
        self,
        config: Config,
        state: ServerState,
        bounds: ConnectionLimits,
        strangers: UnauthenticatedConnections,
    ) -> None:
        super().__init__(config, state, app_state={ADMIT: self._admit})
        self._bounds = bounds
        self._strangers = strangers
        self._part: Part | None = None
        self._is_handed_over = False
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    # ------------------------------------------------------------------ called by asyncio

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the client, or refuse its requests if there are too many connections."""
        super().connection_made(transport)
        self._strangers.add(self)
        if len(self.connections) - len(self._strangers) >= self._bounds.most:
            self.app = _refusal(TOO_MANY_CONNECTIONS)
            self.ws_protocol_class = None  # a WebSocket would bypass the refusal
        self._time()

    def data_received(self, data: bytes) -> None:
        """Process received data."""
        self.server_state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
        super().data_received(data)
        self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        self._strangers.remove(self)
        self._stop_timers()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start a timer for a client that does not read."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._bounds.stuck_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer of a client that reads again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()

    # ------------------------------------------------------------------ called by uvicorn

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Pass the transport to the WebSocket protocol; this connection no longer uses it."""
        self._stop_timers()
        self._strangers.remove(self)  # any response, even a refusal, ends the wait at once
        self._is_handed_over = True
        super().handle_websocket_upgrade(event)
        taken = self.transport.get_protocol()
        if not getattr(
            taken, "handshake_initiated", True
        ):  # the handshake failed: without a response, the client would wait forever
            self._refuse(BAD_REQUEST)

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not HTTP."""
        error = sys.exc_info()[1]
        is_long = (
            isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == HEADERS_TOO_LARGE.http
        )
        self._refuse(HEADERS_TOO_LARGE if is_long else BAD_REQUEST)

    # ------------------------------------------------------------------ strangers

    @property
    def is_idle(self) -> bool:
        """True while no request is being processed."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None at first

    def _admit(self) -> None:
        self._strangers.remove(self)

    # ------------------------------------------------------------------ timeouts

    def _time(self) -> None:
        """Start the timer for the part of the request that is expected."""
        state = self.conn.their_state
        part: Part | None = None
        if state in (h11.IDLE, h11.SEND_BODY):
            part = "head" if state is h11.IDLE else "body"
        if part == self._part or self._is_handed_over:
            return
        self._part = part
        if self._timer is not None:
            self._timer.cancel()
        if part is not None:
            within_s = self._bounds.head_s if part == "head" else self._bounds.body_s
            self._timer = self.loop.call_later(within_s, self._give_up)

    def _give_up(self) -> None:
        """Disconnect a client that is too slow; one that has sent nothing gets no response."""
        has_begun = self._part == "body" or self.conn.trailing_data[0]
        if has_begun:
            self._refuse(REQUEST_TIMEOUT)
        else:
            self.transport.close()

    def _refuse(self, problem: ErrorKind) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # a response was sent, at least in part
            self.transport.abort()
            return
        body = encode(document(problem))
        headers = [("content-type", MEDIA_TYPE), ("content-length", str(len(body))), ("connection", "close")]
        reason = STATUS_PHRASES[problem.http]
        for event in (
            h11.Response(status_code=problem.http, headers=headers, reason=reason),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._stuck):
            if timer is not None:
                timer.cancel()


def _refusal(problem: ErrorKind) -> ASGIApp:
    return ProblemResponse(document(problem), {"connection": "close", "retry-after": "1"})
