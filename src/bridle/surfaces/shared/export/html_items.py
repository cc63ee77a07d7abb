"""Renders conversation items as HTML: text, collapsed thoughts, cards for calls, notes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import Answer as Decision
from bridle.surfaces.shared.export.html_code import escaped, render_block
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import format_elapsed, format_reason, short_id
from bridle.surfaces.shared.transcript import local_time
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Attached,
    Call,
    CallState,
    Item,
    Note,
    Said,
    Thought,
)

# ---------------------------------------------------------------------------- html markdown
# Renders Markdown as safe HTML: a closed set of tags, no raw HTML, nothing loaded.
#
# Headings are placed below those of the page. An image is named, not fetched. A link leads to http, https or
# mail; any other stays text.


MAX_CHARS = 50_000  # of one text: a second at worst; longer texts are shown verbatim
TAGS = frozenset("p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td strong em s".split())
HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}
ALIGNED = {"text-align:right": ' class="right"', "text-align:center": ' class="centre"'}
SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def render_markdown(text: str) -> str:
    """Return a Markdown text as HTML."""
    if len(text) > MAX_CHARS:
        return render_block(text)
    return "".join(_written(_parser().parse(text)))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: SAFE_LINK.match(url) is not None  # type: ignore[method-assign]
    return parser


def _written(tokens: Iterable[Token]) -> Iterator[str]:
    is_safe = False  # of the open link; `[text]()` parses as a link without an address
    for token in tokens:
        match token.type:
            case "inline":
                yield from _written(token.children or ())
            case "code_inline":
                yield f"<code>{escaped(token.content)}</code>"
            case "fence" | "code_block":
                yield render_block(token.content, token.info.partition(" ")[0]) + "\n"
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield "<br>\n"
            case "hr":
                yield "<hr>\n"
            case "image":
                yield f'<span class="media">[{escaped(_alternative(token))}]</span>'
            case "link_open":
                href = str(token.attrGet("href") or "")
                if is_safe := SAFE_LINK.match(href) is not None:
                    yield f'<a href="{escaped(href)}" title="{escaped(href)}" rel="noopener noreferrer">'
            case "link_close":
                if is_safe:
                    yield "</a>"
            case _ if token.tag in TAGS:
                yield _tag(token)
            case _:
                yield escaped(token.content)


def _tag(token: Token) -> str:
    if token.hidden:  # the paragraph of a list item without blank lines
        return ""
    tag = HEADINGS.get(token.tag, token.tag)
    if token.nesting < 0:
        return f"</{tag}>" + ("\n" if token.block else "")
    aligned = ALIGNED.get(str(token.attrGet("style")), "")
    start = token.attrGet("start")
    return f'<{tag} start="{start:d}">' if isinstance(start, int) else f"<{tag}{aligned}>"


def _alternative(image: Token) -> str:
    return "".join(child.content for child in image.children or ()) or "picture"


# ---------------------------------------------------------------------------- html items


PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")

SPEAKERS = {
    "prompt": "You",
    "steer": "You, meanwhile",
    "fork": "From the session before",
    "import": "Imported",
    "child": "Sub-agent",
    "peer": "Another agent",
    "check": "Check",
    "extract": "Bridle",
}

MARKS: Mapping[CallState, tuple[str, str]] = {
    "writing": ("…", "not finished"),
    "waiting": ("?", "waits for an answer"),
    "running": ("…", "not finished"),
    "done": ("✓", "done"),
    "failed": ("✗", "failed"),
    "denied": ("⊘", "refused"),
    "lost": ("?", "cut off"),
}
DECISIONS: Mapping[Decision, str] = {
    "once": "allowed by hand",
    "session": "allowed by hand for the session",
    "always": "allowed by hand for always",
    "deny": "refused by hand",
    "stop": "refused by hand, and the run stopped",
}


class ApprovalResult(Struct, frozen=True):
    """A person's decision about a call."""

    why: str
    """Why approval was needed."""
    answer: Decision | None = None
    """None if there was no decision."""
    reason: str = ""
    rules: tuple[str, ...] = ()


def render_item(item: Item, verdicts: Mapping[CallId, ApprovalResult]) -> str:
    """Return one item of the conversation as HTML."""
    match item:
        case Said():
            return _said(item)
        case Answer():
            return f'<div class="answer">\n{render_markdown(item.text)}</div>'
        case Thought():
            return (
                f'<details class="thought"><summary>Thought</summary>\n{render_markdown(item.text)}</details>'
            )
        case Call():
            return _call(item, verdicts.get(item.call_id))
        case Note():
            return f'<p class="note {item.weight}">{escaped(one_line(item.text))}</p>'


def _said(said: Said) -> str:
    who = f"{SPEAKERS[said.source]} <time>{local_time(said.at)}</time>"
    text = f'<div class="text">{escaped(said.text.strip())}</div>'
    pictures = "".join(map(_attached, said.attached))
    return f'<section class="said" id="said-{said.seq}">\n<h2>{who}</h2>\n{text}{pictures}\n</section>'


def _call(call: Call, verdict: ApprovalResult | None) -> str:
    mark, word = MARKS[call.state]
    facts = [] if call.state == "done" else [word]
    facts += [DECISIONS[verdict.answer]] if verdict is not None and verdict.answer else []
    facts += [format_elapsed(call.duration_ms)] if call.duration_ms else []
    summary = (
        f'<span class="mark" aria-hidden="true">{mark}</span> <b>{escaped(one_line(call.tool))}</b>'
        f' <span class="brief">{escaped(one_line(call.brief))}</span>'
        f' <span class="facts">{" · ".join(facts)}</span>'
    )
    kinds = f"call {call.state}{' nested' if call.parent is not None else ''}"
    opened = " open" if call.diff or call.state in ("failed", "denied") else ""
    body = "\n".join(_body(call, verdict))
    answer = f'\n<div class="answer">\n{render_markdown(call.answer)}</div>' if call.answer else ""
    return f'<details class="{kinds}"{opened}><summary>{summary}</summary>\n{body}\n</details>{answer}'


def _body(call: Call, verdict: ApprovalResult | None) -> list[str]:
    parts = []
    if call.code:
        parts.append(render_block(call.code, "python"))
    elif call.written:
        parts.append(render_block(call.written))
    elif call.args and not call.diff:
        parts.append(_arguments(call))
    if verdict is not None:
        parts.append(f'<p class="verdict">{escaped(one_line(_decided(verdict)))}</p>')
    if call.child is not None:
        parts.append(f'<p class="verdict">sub-agent: session {escaped(short_id(call.child))}</p>')
    if call.diff or call.preview:
        parts.append(render_block(call.diff or call.preview, "diff"))
    if call.output.strip():
        parts.append(render_block(call.output))
    return [*parts, *map(_attached, call.attached)]


def _arguments(call: Call) -> str:
    command = call.args.get("command")
    if call.tool == SHELL_TOOL and isinstance(command, str) and len(call.args) == 1:
        return render_block(command, "bash")
    return render_block(msgspec.json.format(msgspec.json.encode(call.args), indent=2).decode(), "json")


def _decided(verdict: ApprovalResult) -> str:
    asked = format_reason(verdict.why)
    if verdict.answer is None:
        return f"{asked}; nobody has answered"
    rules = f" ({', '.join(verdict.rules)})" if verdict.rules else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{asked}; {DECISIONS[verdict.answer]}{rules}{reason}"


def _attached(attached: Attached) -> str:
    name = escaped(one_line(attached.name) or attached.mime)
    if attached.mime not in PICTURES or not BASE64.fullmatch(attached.data):
        return f'<p class="media">[{name}]</p>'
    return f'<p class="media"><img alt="{name}" src="data:{attached.mime};base64,{attached.data}"></p>'
