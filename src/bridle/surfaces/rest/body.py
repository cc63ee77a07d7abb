"""Reads and checks a request's whole body before the app sees the request.

So the app never waits for a slow client, and never starts with half a request.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridle.surfaces.rest.problem_document import (
    TOO_LARGE,
    TOO_MANY_CONNECTIONS,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemResponse,
    document,
)
from bridle.surfaces.shared.error_codes import ErrorKind

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_TOGETHER_BYTES = 8 * MAX_BODY_BYTES  # of all bodies being read
MEDIA_TYPES = ("application/json", "application/merge-patch+json")  # none that an HTML form can send


class BodyReader:
    """Passes the whole body to an app at once, or responds with a problem."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body of a request, if it has one."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0").decode("latin-1")
        is_empty = length.isdecimal() and int(length) == 0 and b"transfer-encoding" not in headers
        if scope["type"] != "http" or is_empty:
            await self._app(scope, receive, send)
            return
        problem = _foreseen(length, headers.get(b"content-type", b"").decode("latin-1"))
        body = problem or await self._read(receive)
        if isinstance(body, ErrorKind):
            await ProblemResponse(document(body, hint=HINTS.get(body.code, "")))(scope, receive, send)
        elif body is not None:
            await self._app(scope, _give(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | ErrorKind | None:
        """Return the body; None if the client disconnected."""
        body = bytearray()
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                chunk = message.get("body", b"")
                body += chunk
                self._held_bytes += len(chunk)
                if len(body) > MAX_BODY_BYTES:
                    return TOO_LARGE
                if self._held_bytes > MAX_TOGETHER_BYTES:
                    return TOO_MANY_CONNECTIONS
                if not message.get("more_body", False):
                    return bytes(body)
        finally:
            self._held_bytes -= len(body)


HINTS = {
    TOO_LARGE.code: f"at most {MAX_BODY_BYTES:,} bytes",
    UNSUPPORTED_MEDIA_TYPE.code: "content-type: application/json",
}


def _foreseen(length: str, media_type: str) -> ErrorKind | None:
    """Return what is wrong with a body according to its headers; None if nothing is."""
    name, _, parameters = media_type.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if name.strip().lower() not in MEDIA_TYPES or charset not in ("", "utf-8"):
        return UNSUPPORTED_MEDIA_TYPE
    return TOO_LARGE if length.isdecimal() and int(length) > MAX_BODY_BYTES else None


def _give(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body in one message, then whatever follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_whole() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_whole
