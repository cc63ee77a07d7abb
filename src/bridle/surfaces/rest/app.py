"""The REST service as an ASGI app, built from the table of its operations."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridle.core.codec import encode
from bridle.core.errors import BridleError
from bridle.core.session_api import LiveSession, SessionApi
from bridle.scale.token_auth import TokenGate
from bridle.surfaces.rest.contexts import ServiceContexts
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.news_feed import NewsFeed
from bridle.surfaces.rest.openapi import openapi
from bridle.surfaces.rest.operation import Operation, ServiceContext
from bridle.surfaces.rest.operations import OPERATIONS
from bridle.surfaces.rest.problem_document import (
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    ProblemResponse,
    document,
    document_of,
)
from bridle.surfaces.rest.readiness import Checks, Readiness, store_check
from bridle.surfaces.rest.request_parser import parse_request
from bridle.surfaces.rest.usage_by_hour import UsageHistory
from bridle.surfaces.shared.file_names import FileFinder
from bridle.surfaces.shared.folder_info import Folders

log = logging.getLogger("bridle.rest")

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(
    api: SessionApi,
    folders: Folders,
    streams: Streams,
    *,
    news: NewsFeed | None = None,
    live: Callable[[], Sequence[LiveSession]] = tuple,
    routes: Sequence[BaseRoute] = (),
    readiness: Readiness | None = None,
    metrics: Callable[[], bytes] | None = None,
    gate: TokenGate | None = None,
) -> Starlette:
    """Return the app: every operation of the table, plus `routes` (such as the WebSocket route).

    Authentication and limits are enforced by the guard around it. `/ready` checks that the store responds,
    unless `readiness` is given; without `metrics`, `/metrics` returns 404. Clients that the guard admits by a
    token other than the owner's get the session API that `gate` returns; `state.contexts` ends their streams.
    """
    # The document needs no token: it is built once, so that requests for it cannot overload the server.
    document = cache(lambda: encode(openapi(OPERATIONS)))
    context = ServiceContext(
        api=api,
        folders=folders,
        streams=streams,
        news=news or NewsFeed(api),
        files=FileFinder(),
        usage_history=UsageHistory(api),
        live=live,
        document=document,
        readiness=readiness or Checks({"store": store_check(api)}),
        metrics=metrics,
    )
    contexts = ServiceContexts(context, gate)
    table: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        table.setdefault(operation.path, {})[operation.method] = operation
    ours = [Route(path, _endpoint(methods, contexts), methods=[*methods]) for path, methods in table.items()]
    app = Starlette(
        routes=[*ours, *routes],
        exception_handlers={404: _no_such_place, 405: _wrong_method},
    )
    app.state.contexts = contexts
    app.router.redirect_slashes = False
    return app


def _endpoint(methods: dict[str, Operation], contexts: ServiceContexts) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        operation = methods["GET" if request.method == "HEAD" else request.method]
        try:
            context = await contexts.of(request.scope.get("principal"), operation.read_path)
            return await operation.handler(await parse_request(operation, context, request))
        except BridleError as error:
            return ProblemResponse(document_of(error))
        except ClientDisconnect:
            return Response(status_code=400)  # the client is gone
        except Exception as error:  # the outermost frame: every error becomes a status
            log.exception("%s %s", operation.method, operation.path)
            return ProblemResponse(document_of(error))

    return endpoint


async def _no_such_place(request: Request, error: Exception) -> Response:
    return ProblemResponse(document(NOT_FOUND, hint="see GET /openapi.json"))


async def _wrong_method(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return ProblemResponse(document(METHOD_NOT_ALLOWED), error.headers)
