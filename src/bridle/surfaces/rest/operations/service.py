"""Health, readiness and metrics of the service, for supervisors, load balancers and monitoring."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta, Struct
from starlette.responses import PlainTextResponse, Response

from bridle.core.session_api import LiveSession
from bridle.surfaces.meerkat.config import ConfigEnvelope, SettingsChanged, UserConfig
from bridle.surfaces.meerkat.contract import (
    DEFAULT_CONTRACT,
    Capabilities,
    build_capabilities,
    parse_contract,
)
from bridle.surfaces.rest.operation import Nothing, PlainRequest, ValidRequest, json_response, operation
from bridle.surfaces.rest.problem_document import NOT_FOUND, NOT_READY, ProblemResponse, document
from bridle.surfaces.shared.error_codes import ErrorKind

MAX_HEADER_CHARS = 2048
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@operation("GET", "/health", "health", "Check that the service is up", media="text/plain")
async def _health(request: PlainRequest) -> Response:
    return PlainTextResponse("ok")


@operation(
    "GET",
    "/ready",
    "ready",
    "Check that the service accepts requests",
    media="text/plain",
    problems=(NOT_READY,),
)
async def _ready(request: PlainRequest) -> Response:
    failing = await request.context.readiness.failing()
    if failing:
        return ProblemResponse(document(NOT_READY, f"not in order: {', '.join(failing)}"))
    return PlainTextResponse("ready")


@operation(
    "GET",
    "/metrics",
    "metrics",
    "Return the metrics in the Prometheus format",
    media="text/plain",
    problems=(NOT_FOUND,),
)
async def _metrics(request: PlainRequest) -> Response:
    if request.context.metrics is None:
        return ProblemResponse(document(NOT_FOUND, hint="bridle config set telemetry.prometheus true"))
    return Response(await asyncio.to_thread(request.context.metrics), media_type=PROMETHEUS)


# ---------------------------------------------------------------------------- description


CONTRACT = parse_contract(DEFAULT_CONTRACT)


@operation("GET", "/openapi.json", "openapi", "Return this document", dict[str, Any])
async def _openapi(request: PlainRequest) -> Response:
    return Response(await asyncio.to_thread(request.context.document), media_type="application/json")


@operation("GET", "/live", "live", "List the sessions in memory, running ones first", list[LiveSession])
async def _live(request: PlainRequest) -> Response:
    return json_response(request.context.live())


@operation("GET", "/capabilities", "capabilities", "List the supported capabilities of Meerkat", Capabilities)
async def _capabilities(request: PlainRequest) -> Response:
    has_comms = await asyncio.to_thread(request.context.folders.has_comms)
    return json_response(build_capabilities(CONTRACT, has_comms=has_comms))


# ---------------------------------------------------------------------------- settings


SETTINGS_CHANGED = ErrorKind(
    "SETTINGS_CHANGED", -32602, 412, "The settings have changed since they were read"
)

Settings = dict[str, Any]


class Matching(Struct, frozen=True, rename="kebab"):
    """The headers of a conditional change."""

    if_match: Annotated[
        str,
        Meta(
            description="The ETag of the settings to change; if they have changed since, the request fails."
        ),
    ] = ""


@operation("GET", "/config", "get_config", "Return the user's settings, with secrets hidden", Settings)
async def _get(request: PlainRequest) -> Response:
    return await _respond(request, lambda config: config.read())


@operation(
    "PUT", "/config", "put_config", "Replace the user's settings", Settings, problems=(SETTINGS_CHANGED,)
)
async def _put(request: ValidRequest[Settings, Nothing, Matching]) -> Response:
    return await _respond(
        request, lambda config: config.replace(request.body, _expected(request.headers.if_match))
    )


@operation(
    "PATCH",
    "/config",
    "patch_config",
    "Change the user's settings with a JSON merge patch; null removes one",
    Settings,
    problems=(SETTINGS_CHANGED,),
)
async def _patch(request: ValidRequest[Settings, Nothing, Matching]) -> Response:
    return await _respond(
        request, lambda config: config.patch(request.body, _expected(request.headers.if_match))
    )


async def _respond(
    request: ValidRequest[Any, Nothing, Any], do: Callable[[UserConfig], ConfigEnvelope]
) -> Response:
    folders = request.context.folders
    try:
        found = await asyncio.to_thread(lambda: do(UserConfig(*folders.get_user_settings())))
    except SettingsChanged as error:
        return ProblemResponse(document(SETTINGS_CHANGED, error.message, hint=error.hint))
    left_out = ", ".join(quote(name) for name in found.left_out)[:MAX_HEADER_CHARS]
    headers = {"bridle-left-out": left_out} if left_out else {}
    return json_response(found.config, headers={"etag": f'"{found.generation}"', **headers})


def _expected(tag: str) -> int | None:
    """Return the generation of an ETag; an unknown tag matches no settings."""
    number = tag.strip().strip('"')
    if number in ("", "*"):
        return None
    return int(number) if number.isascii() and number.isdigit() and len(number) < 20 else -1


OPERATIONS = (
    _health,
    _ready,
    _metrics,
    _openapi,
    _live,
    _capabilities,
    _get,
    _put,
    _patch,
)
