"""Parses a hook's response strictly, so that a misspelled deny does not count as no decision."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import HookError
from bridle.core.hook import HookInvocation, HookResponse
from bridle.core.malformed import MALFORMED

MAX_REASON_CHARS = 500


class RawResponse(Struct, frozen=True):
    """A hook's response and the raw bytes it came from."""

    response: HookResponse
    raw: bytes = b""


Runner = Callable[[HookInvocation], Awaitable[RawResponse]]
"""Runs one hook; raises HookError, or asyncio.CancelledError after everything it started has stopped."""


def parse_response(data: bytes) -> HookResponse:
    """Parse `{"decision": …, "patches": […]}`; raises HookError for anything else."""
    try:
        tree = msgspec.json.decode(data)
        response = msgspec.convert(tree, HookResponse)
    except MALFORMED as error:
        reason = "it printed nothing" if not data.strip() else one_line(str(error))
        raise HookError(f"its answer is invalid: {reason}", raw=data) from error
    said = [tree.get("decision"), *(tree.get("patches") or ())]
    for part, value in zip(said, (response.decision, *response.patches), strict=True):
        if unknown := _unknown(part, value):
            raise HookError(f'its answer is invalid: unknown key "{one_line(unknown)}"', raw=data)
    return response


def _unknown(part: dict[str, Any] | None, value: Struct | None) -> str:
    """Return an unknown key, or ''; stored events contain the same structs but may have unknown keys."""
    if part is None or value is None:
        return ""
    known = {*value.__struct_fields__, value.__struct_config__.tag_field}
    return next((key for key in part if key not in known), "")


def one_line(text: str) -> str:
    """Return text as one printable line of at most `MAX_REASON_CHARS`."""
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else "�" for char in line[: 2 * MAX_REASON_CHARS])
    return line if len(line) <= MAX_REASON_CHARS else line[: MAX_REASON_CHARS - 1] + "…"
