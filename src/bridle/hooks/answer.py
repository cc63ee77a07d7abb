"""What a hook answers: read strictly, for a misspelt deny must not count as no opinion."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import HookError
from bridle.core.hook import HookInvocation, HookResponse
from bridle.core.malformed import MALFORMED

MAX_REASON_CHARS = 500


class Answered(Struct, frozen=True):
    """An answer, and the bytes it was read from."""

    response: HookResponse
    raw: bytes = b""


Runner = Callable[[HookInvocation], Awaitable[Answered]]
"""Asks one hook; raises HookError, and asyncio.CancelledError once nothing of it is left."""


def read_answer(data: bytes) -> HookResponse:
    """Read `{"decision": …, "patches": […]}`; raises HookError for anything else."""
    try:
        tree = msgspec.json.decode(data)
        response = msgspec.convert(tree, HookResponse)
    except MALFORMED as error:
        reason = "it printed nothing" if not data.strip() else short(str(error))
        raise HookError(f"its answer makes no sense: {reason}", raw=data) from error
    said = [tree.get("decision"), *(tree.get("patches") or ())]
    for part, value in zip(said, (response.decision, *response.patches), strict=True):
        if unknown := _unknown(part, value):
            raise HookError(f'its answer makes no sense: unknown key "{short(unknown)}"', raw=data)
    return response


def _unknown(part: dict[str, Any] | None, value: Struct | None) -> str:
    """Name a key that is not one; stored events, which hold the same values, are read less strictly."""
    if part is None or value is None:
        return ""
    known = {*value.__struct_fields__, value.__struct_config__.tag_field}
    return next((key for key in part if key not in known), "")


def short(text: str) -> str:
    """Fit any text into one line of a message."""
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else "�" for char in line[: 2 * MAX_REASON_CHARS])
    return line if len(line) <= MAX_REASON_CHARS else line[: MAX_REASON_CHARS - 1] + "…"
