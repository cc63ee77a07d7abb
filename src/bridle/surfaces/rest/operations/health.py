"""Health, readiness and metrics of the service, for supervisors, load balancers and monitoring."""

import asyncio

from starlette.responses import PlainTextResponse, Response

from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest
from bridle.surfaces.rest.problem_document import NOT_FOUND, NOT_READY, ProblemResponse, document

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"

Plain = ValidRequest[None, Nothing, Nothing]


async def _health(ask: Plain) -> Response:
    return PlainTextResponse("ok")


async def _ready(ask: Plain) -> Response:
    failing = await ask.desk.readiness.failing()
    if failing:
        return ProblemResponse(document(NOT_READY, f"not in order: {', '.join(failing)}"))
    return PlainTextResponse("ready")


async def _metrics(ask: Plain) -> Response:
    if ask.desk.metrics is None:
        return ProblemResponse(document(NOT_FOUND, hint="bridle config set telemetry.prometheus true"))
    return Response(await asyncio.to_thread(ask.desk.metrics), media_type=PROMETHEUS)


OPERATIONS = (
    Operation(
        method="GET",
        path="/health",
        name="health",
        summary="Say that the service is there",
        media="text/plain",
        handler=_health,
    ),
    Operation(
        method="GET",
        path="/ready",
        name="ready",
        summary="Say whether requests can be taken",
        media="text/plain",
        problems=(NOT_READY,),
        handler=_ready,
    ),
    Operation(
        method="GET",
        path="/metrics",
        name="metrics",
        summary="Show the metrics as Prometheus reads them",
        media="text/plain",
        problems=(NOT_FOUND,),
        handler=_metrics,
    ),
)
