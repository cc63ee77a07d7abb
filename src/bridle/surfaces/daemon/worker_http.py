"""The monitoring endpoints of a worker: health, readiness and metrics."""

import asyncio
import hmac
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bridle.surfaces.rest.operations.service import PROMETHEUS
from bridle.surfaces.rest.problem_document import NOT_READY, UNAUTHORIZED, ProblemResponse, document
from bridle.surfaces.rest.readiness import Readiness
from bridle.surfaces.rest.server import HttpServer


def worker_http(readiness: Readiness, metrics: Callable[[], bytes] | None, token: str) -> HttpServer:
    """Create the server; metrics require the token, or are public if it is empty."""

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def ready(request: Request) -> Response:
        failing = await readiness.failing()
        if failing:
            return ProblemResponse(document(NOT_READY, f"not in order: {', '.join(failing)}"))
        return PlainTextResponse("ready")

    async def show_metrics(request: Request) -> Response:
        shown = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(shown, f"Bearer {token}".encode()):
            return ProblemResponse(document(UNAUTHORIZED))
        assert metrics is not None
        return Response(await asyncio.to_thread(metrics), media_type=PROMETHEUS)

    routes = [Route("/health", health), Route("/ready", ready)]
    if metrics is not None:
        routes.append(Route("/metrics", show_metrics))
    return HttpServer(Starlette(routes=routes))
