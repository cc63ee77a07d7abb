"""Operations on the user's settings file, as a JSON object."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.surfaces.meerkat.config import ConfigEnvelope, SettingsChanged, UserConfig
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.problem_document import ProblemResponse, document
from bridle.surfaces.shared.error_codes import ErrorKind

SETTINGS_CHANGED = ErrorKind(
    "SETTINGS_CHANGED", -32602, 412, "The settings have been changed since they were read"
)

Settings = dict[str, Any]


class Matching(Struct, frozen=True, rename="kebab"):
    """The headers of a conditional change."""

    if_match: Annotated[
        str, Meta(description="The ETag of the settings that are to be changed; others are left as they are.")
    ] = ""


async def _get(ask: ValidRequest[None, Nothing, Nothing]) -> Response:
    return await _told(ask, lambda config: config.read())


async def _put(ask: ValidRequest[Settings, Nothing, Matching]) -> Response:
    return await _told(ask, lambda config: config.replace(ask.body, _expected(ask.headers.if_match)))


async def _patch(ask: ValidRequest[Settings, Nothing, Matching]) -> Response:
    return await _told(ask, lambda config: config.patch(ask.body, _expected(ask.headers.if_match)))


async def _told(ask: ValidRequest[Any, Nothing, Any], do: Callable[[UserConfig], ConfigEnvelope]) -> Response:
    folders = ask.desk.folders
    try:
        found = await asyncio.to_thread(lambda: do(UserConfig(*folders.get_user_settings())))
    except SettingsChanged as error:
        return ProblemResponse(document(SETTINGS_CHANGED, error.message, hint=error.hint))
    return json_response(found.config, headers={"etag": f'"{found.generation}"'})


def _expected(tag: str) -> int | None:
    """Return the generation of an ETag; an unknown tag matches no settings."""
    number = tag.strip().strip('"')
    if number in ("", "*"):
        return None
    return int(number) if number.isascii() and number.isdigit() and len(number) < 20 else -1


OPERATIONS = (
    Operation(
        method="GET",
        path="/config",
        name="get_config",
        summary="Return the settings of the user, with secrets hidden",
        answers=Settings,
        handler=_get,
    ),
    Operation(
        method="PUT",
        path="/config",
        name="put_config",
        summary="Replace the settings of the user",
        body=Settings,
        headers=Matching,
        answers=Settings,
        problems=(SETTINGS_CHANGED,),
        handler=_put,
    ),
    Operation(
        method="PATCH",
        path="/config",
        name="patch_config",
        summary="Change settings of the user by a JSON merge patch; null takes one out",
        body=Settings,
        headers=Matching,
        answers=Settings,
        problems=(SETTINGS_CHANGED,),
        handler=_patch,
    ),
)
