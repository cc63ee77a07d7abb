"""A session as a document: Markdown, JSON, or one HTML page that needs nothing else.

The JSON has everything, record by record; the other two are for reading. The page has no script and
forbids itself every request, so that nothing in a conversation can run or call home.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Literal

import msgspec
from msgspec import Struct

from bridle.core.codeact import FENCED
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from bridle.core.protocol import Record
from bridle.core.session import Session, fold
from bridle.core.summary import SessionSummary, summarise
from bridle.surfaces.nested import Cell, NestedCall, cells_of
from bridle.surfaces.render import code_of
from bridle.surfaces.spoken import Note, describe_note, spoken
from bridle.surfaces.terminal import one_line, visible
from bridle.surfaces.transcript import describe_origin, describe_totals, local_time

VERSION = 1  # of the JSON document

Format = Literal["md", "json", "html"]
"""How a session is written."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Document(Struct, frozen=True):
    """What the JSON export holds."""

    version: int
    session: SessionSummary
    records: Sequence[Record]


def to_json(records: Sequence[Record]) -> str:
    """Return everything that is stored of a session."""
    summary: SessionSummary | None = None
    session_id = fold(records).known.created.session_id
    for record in records:
        summary = summarise(summary, session_id, record)
    assert summary is not None, "a session has at least its creation"
    document = msgspec.json.encode(Document(VERSION, summary, records))
    return msgspec.json.format(document, indent=2).decode() + "\n"


# ---------------------------------------------------------------------------- markdown


def to_markdown(records: Sequence[Record]) -> str:
    """Return a session for reading as Markdown."""
    session, cells = fold(records), cells_of(records)
    blocks = [f"# {_plain(_title(session))}", "\n".join(f"- {fact}" for fact in _facts(session))]
    for message in spoken(records):
        if not isinstance(message, Message):
            blocks.append(f"*{_plain(describe_note(message))}*")
            continue
        if message.role != "tool":
            blocks.append(f"## {message.role.capitalize()}")
        for part in message.parts:
            cell = _cell(part, cells)
            blocks += [*map(_markdown_nested, cell.calls), _markdown_part(part), cell.answer]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_part(part: Part) -> str:
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
            return f"**{_verdict(part)}** `{part.name}`\n\n{_fenced(part.output)}"


def _markdown_nested(made: NestedCall) -> str:
    """Quote a call that code has made, so that it stands apart from those of the model."""
    text = "\n\n".join(_markdown_part(part) for part in made.parts)
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(text: str, language: str = "") -> str:
    """Fence a text with more backticks than it has in a row anywhere."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in one_line(text))


# ---------------------------------------------------------------------------- html


def to_html(records: Sequence[Record]) -> str:
    """Return a session as one page, light or dark as the reader's system is."""
    session, cells = fold(records), cells_of(records)
    title = _escaped(one_line(_title(session)))
    facts = "".join(f"<li>{_escaped(fact)}</li>" for fact in _facts(session))
    body = "\n".join(_html_item(item, cells) for item in spoken(records))
    return _PAGE.format(title=title, policy=_POLICY, style=_STYLE, facts=facts, body=body)


def _html_item(item: Message | Note, cells: Mapping[CallId, Cell]) -> str:
    if isinstance(item, Message):
        return _html_message(item, cells)
    return f'<p class="note">{_escaped(describe_note(item))}</p>'


def _html_message(message: Message, cells: Mapping[CallId, Cell]) -> str:
    parts = "\n".join(_html_cell(part, _cell(part, cells)) for part in message.parts)
    heading = "" if message.role == "tool" else f"<h2>{message.role}</h2>\n"
    return f'<section class="{message.role}">\n{heading}{parts}\n</section>'


def _html_cell(part: Part, cell: Cell) -> str:
    """Return a part; before it the calls that its code has made, after it the answer it gave."""
    nested = "\n".join(_html_part(one) for made in cell.calls for one in made.parts)
    shown = [f'<div class="nested">\n{nested}\n</div>'] if nested else []
    shown.append(_html_part(part))
    if cell.answer:
        shown.append(_html_part(Text(cell.answer)))
    return "\n".join(shown)


def _html_part(part: Part) -> str:
    match part:
        case Text():
            return f'<div class="text">{_escaped(part.text)}</div>'
        case Reasoning():
            return _details("reasoning", "reasoning", part.text)
        case Media():
            return _html_media(part)
        case ToolCall():
            text = code_of(part.name, part.args) or _arguments(part)
            return _details("call", f"call {part.name}", text, is_open=FENCED not in part.meta)
        case ToolResult():
            kind = "result failed" if part.is_error else "result"
            return _details(kind, f"{_verdict(part).lower()} {part.name}", part.output)


def _details(kind: str, head: str, text: str, *, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    summary = f"<summary>{_escaped(one_line(head))}</summary>"
    return f'<details class="{kind}"{opened}>{summary}<pre>{_escaped(text)}</pre></details>'


def _html_media(media: Media) -> str:
    name = _escaped(one_line(media.name) or media.mime)
    if media.mime not in IMAGES:
        return f'<p class="media">[{name}]</p>'
    return f'<p class="media"><img alt="{name}" src="data:{media.mime};base64,{_escaped(media.data)}"></p>'


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)


# ---------------------------------------------------------------------------- both


def _cell(part: Part, cells: Mapping[CallId, Cell]) -> Cell:
    found = cells.get(part.call_id) if isinstance(part, ToolResult) else None
    return found or Cell()


def _title(session: Session) -> str:
    return session.known.title or "Untitled session"


def _facts(session: Session) -> list[str]:
    facts = session.known
    lines = [
        f"session {facts.created.session_id}",
        f"agent {one_line(facts.created.agent)} in {one_line(facts.created.cwd)}",
        f"from {local_time(facts.created_at)} to {local_time(session.updated_at)}",
        describe_totals(facts.totals),
    ]
    return [*lines, *filter(None, [describe_origin(facts.created)])]


def _arguments(call: ToolCall) -> str:
    if call.invalid:
        return call.invalid
    return msgspec.json.format(msgspec.json.encode(call.args), indent=2).decode()


def _verdict(result: ToolResult) -> str:
    return "Failed" if result.is_error else "Result"


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_STYLE = """\
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --user: #0a7ea4; --failed: #c62828 }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
h2 { font-size: .85rem; text-transform: uppercase; margin: 1.5rem 0 .5rem; opacity: .7 }
ul { padding: 0; list-style: none; font-size: .85rem; opacity: .7; overflow-wrap: anywhere }
section.user { border-left: 3px solid var(--user); padding-left: 1rem }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0 }
summary { padding: .3rem .7rem; cursor: pointer; font-size: .9rem }
details.failed { border-color: var(--failed) }
pre { margin: 0; padding: .6rem .7rem; background: var(--soft); font: 13px/1.45 ui-monospace, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow-y: auto }
.note { font-size: .85rem; opacity: .7; overflow-wrap: anywhere }
.nested { margin-left: 1.5rem }
img { max-width: 100% }
"""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<ul>{facts}</ul>
{body}
</body>
</html>
"""

FORMATS: dict[Format, Callable[[Sequence[Record]], str]] = {
    "md": to_markdown,
    "json": to_json,
    "html": to_html,
}
