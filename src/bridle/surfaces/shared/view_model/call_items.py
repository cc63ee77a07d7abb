"""Creates and updates the items of tool calls from the records about them."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import Media, ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Record,
    ToolCallDelta,
    ToolFinished,
    ToolStarted,
)
from bridle.surfaces.shared.text_format import code_of, describe_args
from bridle.surfaces.shared.view_model.bounded_text import (
    LINE_CHARS,
    OUTPUT_CHARS,
    WRITTEN_CHARS,
    shorten,
    shorten_args,
)
from bridle.surfaces.shared.view_model.view_types import Attached, Call, CallState

PICTURE_CHARS = 4 * 1024 * 1024  # of one image, in base64
OPEN: tuple[CallState, ...] = ("waiting", "running")
"""States of a call that is in progress."""


def make_requested(call: ToolCall, key: str, record: Record, state: CallState = "running") -> Call:
    """Return the item of a call the model requested; it starts when it is its turn."""
    made = _described(call.args, key, call.id, call.name, record, state)
    return replace(made, written=shorten(call.invalid)) if call.invalid else made


def make_writing(delta: ToolCallDelta, key: str, seq: int) -> Call:
    """Return the item of a call whose arguments are still being written."""
    written = shorten(delta.args, WRITTEN_CHARS)
    return Call(
        key=key, seq=seq, at=0, call_id=delta.call_id, tool=delta.name, state="writing", written=written
    )


def make_nested(event: ToolStarted | ApprovalRequested, record: Record) -> Call:
    """Return the item of a call made by code, or of one whose request is not loaded."""
    made = _described(event.args, str(event.call_id), event.call_id, event.tool, record, "running")
    return replace(made, parent=event.parent)


def make_finished_only(result: ToolResult, record: Record, parent: CallId | None) -> Call:
    """Return the item of a call of which only the result is loaded."""
    return replace(
        _described({}, str(result.call_id), result.call_id, result.name, record, "done"), parent=parent
    )


def _described(
    args: dict[str, Any], key: str, call_id: CallId, tool: str, record: Record, state: CallState
) -> Call:
    return Call(
        key=key,
        seq=record.seq,
        at=record.at,
        call_id=call_id,
        tool=tool,
        state=state,
        args=shorten_args(args),
        brief=describe_args(args)[:LINE_CHARS],
        code=shorten(code_of(tool, args)),
    )


def mark_waiting(call: Call, event: ApprovalRequested) -> Call:
    """Mark a call as waiting for approval."""
    return replace(call, state="waiting", why=event.why, preview=shorten(event.preview, 4 * OUTPUT_CHARS))


def mark_decided(call: Call, event: ApprovalDecided) -> Call:
    """Mark a call as running after an approval, or as denied."""
    if event.answer in ("deny", "stop"):
        return replace(call, state="denied", why=event.reason or "denied", preview="")
    return replace(call, state="running", why="", preview="")


def mark_answered(call: Call) -> Call:
    """Mark a call as running after the user answered its question, unless it has ended meanwhile."""
    return replace(call, state="running") if call.state == "waiting" else call


def mark_started(call: Call, event: ToolStarted, record: Record) -> Call:
    """Mark a call as started, with its final arguments."""
    begun = _described(event.args, call.key, call.call_id, event.tool, record, "running")
    return replace(
        begun, seq=call.seq, at=call.at, parent=event.parent, started_at=record.at, child=call.child
    )


def mark_finished(call: Call, event: ToolFinished) -> Call:
    """Add the result to a call."""
    result = event.result
    is_denied = event.denied or call.state == "denied"  # the answer "stop" ends the call without `denied`
    state: CallState = "denied" if is_denied else "failed" if result.is_error else "done"
    why = (call.why or result.output[:LINE_CHARS]) if is_denied else ""
    return replace(
        call,
        state=state,
        why=why,
        preview="",
        written="",
        output=shorten(result.output),
        diff=shorten(event.diff, 4 * OUTPUT_CHARS),
        attached=make_attachments(result.media),
        duration_ms=event.duration_ms,
        answer=shorten(event.answer),
    )


def mark_imported(call: Call, result: ToolResult) -> Call:
    """Add the result to a call of an imported conversation."""
    state: CallState = "failed" if result.is_error else "done"
    return replace(call, state=state, output=shorten(result.output), attached=make_attachments(result.media))


def make_attachments(media: Iterable[Media]) -> tuple[Attached, ...]:
    """Return the attachments of a message; images are included unless they are too large."""
    return tuple(
        Attached(one.mime, one.name[:LINE_CHARS], one.data if _is_shown(one) else "") for one in media
    )


def _is_shown(media: Media) -> bool:
    return media.mime.startswith("image/") and len(media.data) <= PICTURE_CHARS
