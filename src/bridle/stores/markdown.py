"""Render a session as Markdown in pieces; each piece depends only on its message or event."""

import re
from datetime import UTC, datetime

import msgspec

from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from bridle.core.protocol import Compacted, Pinned, Record, Rewound, RunEnded, SessionCreated, SessionTitled
from bridle.system.dates import calendar_s

_HEADINGS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Results"}
_FENCES = re.compile(r"`{3,}")


def event_markdown(record: Record) -> str:
    """Render what an event adds beyond its message; most events add nothing."""
    match record.event:
        case SessionCreated() as created:
            started = datetime.fromtimestamp(calendar_s(record.at), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            parent = f"- forked from: {created.parent}\n" if created.parent else ""
            return (
                f"# Session {created.session_id}\n\n- agent: {created.agent}\n"
                f"- directory: {created.cwd}\n- started: {started}\n{parent}\n"
            )
        case SessionTitled(title):
            return f"*Title: {title}*\n\n"
        case Rewound() as rewound:
            return f"*Rewound ({rewound.scope}) to event {rewound.to_seq}*\n\n"
        case Compacted() as done if done.model:
            return f"*Compacted for the model: {done.messages_before} messages to {done.messages_after}*\n\n"
        case Pinned() as pinned:
            return f"*{'Pinned' if pinned.pinned else 'No longer pinned'}:* {pinned.text}\n\n"
        case RunEnded() as ended if ended.outcome != "completed":
            return f"*Run ended: {ended.outcome}{': ' if ended.reason else ''}{ended.reason}*\n\n"
        case _:
            return ""


def message_markdown(message: Message) -> str:
    """Render a message with all of its parts, in order."""
    parts = "".join(_part(part) for part in message.parts)
    return f"## {_HEADINGS[message.role]}\n\n{parts}"


def _part(part: Text | Reasoning | Media | ToolCall | ToolResult) -> str:
    match part:
        case Text():
            return f"{part.text}\n\n" if part.text else ""
        case Reasoning():
            return _quoted(part.text) if part.text else ""
        case Media():
            return f"*{part.name or 'attachment'} ({part.mime})*\n\n"
        case ToolCall():
            args = part.invalid or msgspec.json.format(msgspec.json.encode(part.args), indent=2).decode()
            return f"**{part.name}** ({part.id})\n\n{_fenced(args, 'json')}"
        case ToolResult():
            state = ", failed" if part.is_error else ""
            return f"**{part.name}** ({part.call_id}{state})\n\n{_fenced(part.output)}"


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines()) + "\n"


def _fenced(text: str, language: str = "") -> str:
    """Wrap a text in a fence longer than any run of backticks in it."""
    fence = "`" * max((len(found) + 1 for found in _FENCES.findall(text)), default=3)
    return f"{fence}{language}\n{text}\n{fence}\n\n"
