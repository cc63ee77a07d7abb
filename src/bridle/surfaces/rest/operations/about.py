"""Operations about the service: its OpenAPI document, live sessions and capabilities."""

import asyncio
from typing import Any

from starlette.responses import Response

from bridle.core.session_api import LiveSession
from bridle.surfaces.meerkat.contract import (
    DEFAULT_CONTRACT,
    Capabilities,
    build_capabilities,
    parse_contract,
)
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response

CONTRACT = parse_contract(DEFAULT_CONTRACT)

Plain = ValidRequest[None, Nothing, Nothing]


async def _openapi(ask: Plain) -> Response:
    return Response(await asyncio.to_thread(ask.desk.document), media_type="application/json")


async def _live(ask: Plain) -> Response:
    return json_response(ask.desk.live())


async def _capabilities(ask: Plain) -> Response:
    return json_response(build_capabilities(CONTRACT))


OPERATIONS = (
    Operation(
        method="GET",
        path="/openapi.json",
        name="openapi",
        summary="Describe every operation",
        answers=dict[str, Any],
        handler=_openapi,
    ),
    Operation(
        method="GET",
        path="/live",
        name="live",
        summary="List the sessions that are in memory, those that run first",
        answers=list[LiveSession],
        handler=_live,
    ),
    Operation(
        method="GET",
        path="/capabilities",
        name="capabilities",
        summary="Say what of Meerkat is offered here",
        answers=Capabilities,
        handler=_capabilities,
    ),
)
