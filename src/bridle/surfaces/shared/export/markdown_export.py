"""The Markdown export of a session."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from bridle.core.codeact import FENCED
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from bridle.core.protocol import Record
from bridle.core.session import fold
from bridle.surfaces.shared.export.document_facts import facts_of, title_of
from bridle.surfaces.shared.full_transcript import (
    CodeCall,
    FromAgent,
    NestedCall,
    collect_code_calls,
    describe_note,
    list_visible_messages,
)
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import code_of

TICKS = re.compile("`+")


def to_markdown(records: Sequence[Record]) -> str:
    """Return a session as Markdown."""
    session, cells = fold(records), collect_code_calls(records)
    blocks = [f"# {_plain(title_of(session))}", "\n".join(f"- {fact}" for fact in facts_of(session))]
    heading = ""
    for message in list_visible_messages(records):
        if isinstance(message, FromAgent):
            heading = message.name
            continue
        if not isinstance(message, Message):
            blocks.append(f"*{_plain(describe_note(message))}*")
            continue
        if message.role != "tool":
            blocks.append(f"## {(heading or message.role).capitalize()}")
            heading = ""
        for part in message.parts:
            cell = _cell(part, cells)
            blocks += [*map(_nested, cell.calls), _written(part), cell.answer]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _cell(part: Part, cells: Mapping[CallId, CodeCall]) -> CodeCall:
    found = cells.get(part.call_id) if isinstance(part, ToolResult) else None
    return found or CodeCall()


def _written(part: Part) -> str:
    match part:
        case Text():
            return part.text.strip("\n")
        case Reasoning():
            return "\n".join(f"> {line}" for line in part.text.strip("\n").split("\n")) if part.text else ""
        case Media():
            return f"*[{_plain(part.mime)} {_plain(part.name)}]*"
        case ToolCall():
            if FENCED in part.meta:
                return f"**Call** `{part.name}`, the code above"
            code = code_of(part.name, part.args)
            shown = _fenced(code, "python") if code else _fenced(_arguments(part), "json")
            return f"**Call** `{part.name}`\n\n{shown}"
        case ToolResult():
            verdict = "Failed" if part.is_error else "Result"
            return f"**{verdict}** `{part.name}`\n\n{_fenced(part.output)}"


def _nested(made: NestedCall) -> str:
    """Format a call made by code as a quote, to set it apart from calls of the model."""
    text = "\n\n".join(_written(part) for part in made.parts)
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _arguments(call: ToolCall) -> str:
    if call.invalid:
        return call.invalid
    return msgspec.json.format(msgspec.json.encode(call.args), indent=2).decode()


def _fenced(text: str, language: str = "") -> str:
    """Put a text in a code fence, with more backticks than any run of them in the text."""
    longest = max(map(len, TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in one_line(text))
