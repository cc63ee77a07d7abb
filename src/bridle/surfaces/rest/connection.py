"""One HTTP connection, with the bounds that uvicorn does not have.

```
accepted ─▶ head (5 s) ─▶ body (30 s) ─▶ answer, of which something is taken each minute ─▶ kept alive (30 s)
```

What is refused here never was a request that an app could see: it gets a problem document, and is let go.

A connection is a stranger until a request on it has shown a token. There is room for a bounded number of
strangers, and a new one takes the place of the oldest: connections that only wait cannot keep out clients.
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
from bridle.surfaces.problems import Problem
from bridle.surfaces.rest.problem_document import (
    BAD_REQUEST,
    HEADERS_TOO_LARGE,
    MEDIA_TYPE,
    REQUEST_TIMEOUT,
    TOO_MANY_CONNECTIONS,
    ProblemResponse,
    document,
)

MAX_HEAD_BYTES = 32 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024  # of JSON-RPC over a WebSocket
KEEP_ALIVE_S = 30

ADMIT = "admit"
"""Names in the state of a scope what to call when a request has shown a token."""

Part = Literal["head", "body"]


class Bounds(Struct, frozen=True):
    """How long the parts of a request may take, and how many connections there may be."""

    head_s: float = 5.0
    body_s: float = 30.0
    stuck_s: float = 60.0
    """After this time a client that takes nothing of its answer is let go."""
    most: int = 512
    """Connections that have shown a token; more are told that there are too many."""
    strangers: int = 128
    """Connections that have shown none; for each more the oldest is closed, idle ones first."""


class Strangers:
    """The connections that have shown no token yet, oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._connections: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, connection: "Connection") -> None:
        """Take a new one, in the place of the oldest if there are too many."""
        if len(self._connections) >= self._most:
            oldest = next(iter(self._connections))
            left = next((one for one in self._connections if one.is_idle), oldest)
            del self._connections[left]
            left.transport.abort()
        self._connections[connection] = None

    def remove(self, connection: "Connection") -> None:
        """Forget one that has shown a token or is gone."""
        self._connections.pop(connection, None)


class Connection(H11Protocol):
    """Speaks HTTP/1.1 with one client, until it is a WebSocket."""

    def __init__(self, config: Config, state: ServerState, bounds: Bounds, strangers: Strangers) -> None:
        super().__init__(config, state, app_state={ADMIT: self._admit})
        self._bounds = bounds
        self._strangers = strangers
        self._part: Part | None = None
        self._is_handed_over = False
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    # ------------------------------------------------------------------ what asyncio calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the client, unless there are too many."""
        super().connection_made(transport)
        self._strangers.add(self)
        if len(self.connections) - len(self._strangers) >= self._bounds.most:
            self.app = _refusal(TOO_MANY_CONNECTIONS)
            self.ws_protocol_class = None  # its app cannot be another one
        self._time()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self.server_state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
        super().data_received(data)
        self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave nothing that waits."""
        self._strangers.remove(self)
        self._stop_timers()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a client that takes nothing a time to go on."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._bounds.stuck_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with a client that does."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()

    # ------------------------------------------------------------------ what uvicorn calls

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the transport over; nothing of it is ours then."""
        self._stop_timers()
        self._strangers.remove(self)  # its answer, a refusal too, ends the wait at once
        self._is_handed_over = True
        super().handle_websocket_upgrade(event)
        taken = self.transport.get_protocol()
        if not getattr(
            taken, "handshake_initiated", True
        ):  # it would wait without an end, and without a word
            self._refuse(BAD_REQUEST)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        error = sys.exc_info()[1]
        is_long = (
            isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == HEADERS_TOO_LARGE.http
        )
        self._refuse(HEADERS_TOO_LARGE if is_long else BAD_REQUEST)

    # ------------------------------------------------------------------ strangers

    @property
    def is_idle(self) -> bool:
        """True while no request is being answered."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None at first

    def _admit(self) -> None:
        self._strangers.remove(self)

    # ------------------------------------------------------------------ time

    def _time(self) -> None:
        """Start the clock of the part of a request that is awaited."""
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
        """Let a client go that takes too long; one that has said nothing is told nothing."""
        has_begun = self._part == "body" or self.conn.trailing_data[0]
        if has_begun:
            self._refuse(REQUEST_TIMEOUT)
        else:
            self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # it has its answer, or a part of it
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


def _refusal(problem: Problem) -> ASGIApp:
    return ProblemResponse(document(problem), {"connection": "close", "retry-after": "1"})
