"""Words for what happens: calls, changes, diffs, approvals, prices and sums, each as text."""

from typing import Any

from msgspec.json import encode

from bridle.core.messages import ToolCall
from bridle.core.protocol import ApprovalRequested
from bridle.surfaces.terminal import Colour, Screen, one_line, visible
from bridle.surfaces.wire import Result

TELLING_ARGS = ("path", "file_path", "pattern", "command", "url", "query", "name")
"""Arguments that say best what a call is about, the first present one is shown."""

EDITORS = frozenset({"edit_file", "write_file"})

SHORT_ID_CHARS = 13  # a UUIDv7 up to the end of its clock reading

_DIFF_COLOURS: dict[str, Colour] = {"+": "added", "-": "removed", "@": "name"}


def short_id(session: str) -> str:
    """Return as much of a generated id as a user needs to type; a chosen name stays whole."""
    is_uuid = len(session) == 36 and session[8] == session[13] == session[18] == session[23] == "-"
    return session[:SHORT_ID_CHARS] if is_uuid else session


def describe_args(args: dict[str, Any]) -> str:
    """Say on one line what a call is about."""
    telling = next((args[name] for name in TELLING_ARGS if isinstance(args.get(name), str)), None)
    if telling is not None:
        return one_line(telling)
    return one_line(encode(args).decode()) if args else ""


def change_of(call: ToolCall) -> list[str]:
    """Return the lines that a call takes away and puts in, for the tools that edit a file."""
    if call.name not in EDITORS:
        return []
    args = call.args
    old, new = args.get("old_str", ""), args.get("new_str", args.get("content", ""))
    if not isinstance(old, str) or not isinstance(new, str):
        return []
    return [f"- {line}" for line in old.splitlines()] + [f"+ {line}" for line in new.splitlines()]


def paint_diff(screen: Screen, text: str) -> list[str]:
    """Colour the lines of a diff; any other text comes out as it went in, made safe for a screen."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(("--- ", "+++ ")):
            lines.append(screen.paint("strong", line))
        else:
            colour = _DIFF_COLOURS.get(line[:1])
            lines.append(screen.paint(colour, line) if colour else visible(line))
    return lines


def approval_lines(screen: Screen, request: ApprovalRequested) -> list[str]:
    """Show all that an approval is about: the call, its preview or arguments, and why it is asked."""
    title = f"{screen.paint('strong', request.tool)} {screen.paint('name', describe_args(request.args))}"
    shown = request.preview.rstrip("\n") or encode(request.args).decode()
    return [title, *paint_diff(screen, shown), screen.paint("detail", f"asked because of {request.why}")]


def describe_cost(cost: float | None) -> str:
    """Say a price; an unknown one is never shown as zero."""
    if cost is None:
        return "price unknown"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def took(duration_ms: int) -> str:
    """Say how long something took."""
    return f"{duration_ms} ms" if duration_ms < 1000 else f"{duration_ms / 1000:.1f} s"


def count(number: int, noun: str) -> str:
    """Count things in words: 1 turn, 2 turns."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def summary_line(result: Result) -> str:
    """Say on one line what a run used."""
    tokens = sum(result.usage.get(kind, 0) for kind in ("input", "output", "cache_read", "cache_write"))
    return " · ".join(
        [
            f"session {short_id(result.session_id)}",
            count(result.turns, "turn"),
            count(result.tool_calls, "tool call"),
            count(tokens, "token"),
            describe_cost(result.cost),
        ]
    )
