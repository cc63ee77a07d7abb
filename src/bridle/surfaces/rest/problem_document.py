"""Errors as RFC 9457 problem documents, with the error codes that all surfaces share.

```
HTTP/1.1 409 Conflict
content-type: application/problem+json

{"type":"about:blank","title":"The session is running","status":409,"detail":"session s1 is running",
 "code":"SESSION_BUSY","error":"session s1 is running","hint":"cancel the run first"}
```
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from bridle.core.codec import encode
from bridle.core.errors import BridleError
from bridle.surfaces.shared.error_codes import INTERNAL_ERROR, ErrorKind, classify_error

MEDIA_TYPE = "application/problem+json"
UNSAID = "an error inside Bridle; its log says more"
MAX_DETAIL_CHARS = 4_000

BAD_REQUEST = ErrorKind("BAD_REQUEST", -32600, 400, "Not a valid request")
UNAUTHORIZED = ErrorKind("UNAUTHORIZED", -32600, 401, "The token is missing or wrong")
ORIGIN_REFUSED = ErrorKind("ORIGIN_REFUSED", -32600, 403, "Pages of this origin may not use it")
NOT_FOUND = ErrorKind("NOT_FOUND", -32601, 404, "Not found")
METHOD_NOT_ALLOWED = ErrorKind("METHOD_NOT_ALLOWED", -32601, 405, "Method not allowed here")
REQUEST_TIMEOUT = ErrorKind("REQUEST_TIMEOUT", -32600, 408, "The request took too long to arrive")
TOO_LARGE = ErrorKind("TOO_LARGE", -32600, 413, "The request is too large")
UNSUPPORTED_MEDIA_TYPE = ErrorKind("UNSUPPORTED_MEDIA_TYPE", -32600, 415, "The body is of the wrong type")
HOST_REFUSED = ErrorKind("HOST_REFUSED", -32600, 421, "Unknown host name")
TOO_MANY_ATTEMPTS = ErrorKind("TOO_MANY_ATTEMPTS", -32600, 429, "Too many wrong tokens")
HEADERS_TOO_LARGE = ErrorKind("HEADERS_TOO_LARGE", -32600, 431, "The head of the request is too large")
TOO_MANY_CONNECTIONS = ErrorKind("TOO_MANY_CONNECTIONS", -32603, 503, "Too many requests at once")
NOT_READY = ErrorKind("NOT_READY", -32603, 503, "Not accepting requests now")
STOPPING = ErrorKind("STOPPING", -32603, 503, "The server is shutting down")


class ProblemDocument(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request failed."""

    type: str
    """Always "about:blank": the code identifies the kind of problem."""
    title: str
    """The kind of problem, for people."""
    status: int
    """The HTTP status."""
    detail: str
    """What happened, and to what."""
    code: str
    """The kind of problem, for programs."""
    error: str
    """The same as `detail`, for clients of Meerkat."""
    hint: str = ""
    """How to fix it."""
    instance: str = ""
    """The URI of what it happened to."""
    session_id: str = ""
    run_id: str = ""
    outcome: str = ""
    """The outcome of the run that the request was about."""
    text: str = ""
    """What the model said before the run reached a limit."""


def document(problem: ErrorKind, detail: str = "", *, hint: str = "", **about: str) -> ProblemDocument:
    """Create a document; `about` sets instance, session_id, run_id, outcome, text."""
    detail = detail[:MAX_DETAIL_CHARS] or problem.title
    return ProblemDocument(
        type="about:blank",
        title=problem.title,
        status=problem.http,
        detail=detail,
        code=problem.code,
        error=detail,
        hint=hint,
        **about,
    )


def document_of(error: BaseException, **about: str) -> ProblemDocument:
    """Describe an error; one that is not a BridleError may contain anything, so it is not quoted."""
    if isinstance(error, BridleError):
        return document(classify_error(error), error.message, hint=error.hint, **about)
    return document(INTERNAL_ERROR, UNSAID, **about)


class ProblemResponse(Response):
    """A response with a problem document; also for WebSocket upgrades."""

    media_type = MEDIA_TYPE

    def __init__(self, problem: ProblemDocument, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem, problem.status, headers)

    def render(self, content: Any) -> bytes:
        """Encode the document."""
        return encode(content)
