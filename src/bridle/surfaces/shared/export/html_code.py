"""Renders text, code and diffs as HTML: escaped, colored with CSS classes, and limited in length."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from itertools import groupby
from typing import Any

from bridle.surfaces.shared.highlight import Piece, scan_python
from bridle.surfaces.shared.terminal import Colour, visible
from bridle.surfaces.shared.text_format import format_count

MAX_LINES, TAIL_LINES = 400, 40  # of one block; the JSON export has everything
MAX_CHARS, TAIL_CHARS = 40_000, 4_000
MAX_PAINTED_CHARS = 20_000  # takes a lexer a tenth of a second at most

PYTHON = frozenset({"python", "py", "python3"})
LEXERS: Mapping[str, str] = {
    "bash": "bash", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "console",
    "c": "c", "cpp": "cpp", "c++": "cpp", "cs": "csharp", "csharp": "csharp", "go": "go", "java": "java",
    "kotlin": "kotlin", "rust": "rust", "rs": "rust", "swift": "swift", "ruby": "ruby", "rb": "ruby",
    "php": "php", "lua": "lua", "js": "javascript", "javascript": "javascript", "jsx": "javascript",
    "ts": "typescript", "typescript": "typescript", "tsx": "typescript", "json": "json", "yaml": "yaml",
    "yml": "yaml", "toml": "toml", "ini": "ini", "sql": "sql", "html": "html", "xml": "xml", "css": "css",
    "dockerfile": "docker", "make": "make", "makefile": "make",
}  # fmt: skip
"""The languages of code fences and their lexers. Closed list: the author of the text chooses the lexer."""

KINDS: Mapping[str, Colour] = {
    "Comment": "comment",
    "Keyword": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Name.Attribute": "builtin",
    "Name.Builtin": "builtin",
    "Name.Class": "defined",
    "Name.Decorator": "defined",
    "Name.Function": "defined",
    "Name.Tag": "keyword",
    "Operator.Word": "keyword",
}
DIFF_LINES: Mapping[str, Colour] = {"+": "added", "-": "removed", "@": "name", "\\": "detail"}


def escaped(text: str) -> str:
    """Return a text as escaped HTML, with control characters made visible."""
    return escape(visible(text), quote=True)


def render_block(text: str, language: str = "") -> str:
    """Return a text as a block, colored by its language; the middle of a long text is left out."""
    language = language.lower()
    head, left_out, tail = split_long_text(text)
    paint = _diff if language == "diff" else lambda part: _painted(part, language)
    return f'<pre tabindex="0">{paint(head)}{format_omitted(left_out)}{paint(tail)}</pre>'


def split_long_text(text: str) -> tuple[str, str, str]:
    """Split a text into its start, a middle that is left out, and its end."""
    text = text.rstrip("\n")
    head = "\n".join(text.split("\n", MAX_LINES)[:MAX_LINES])[:MAX_CHARS]
    rest = text[len(head) :]
    if len(rest) <= TAIL_CHARS and rest.count("\n") <= TAIL_LINES:
        return text, "", ""
    tail = "\n".join(rest.rsplit("\n", TAIL_LINES)[-TAIL_LINES:])[-TAIL_CHARS:]
    return head, rest[: len(rest) - len(tail)], tail


def format_omitted(left_out: str) -> str:
    """Return a note of how much is left out; empty if nothing is."""
    if not left_out:
        return ""
    lines = left_out.strip("\n").count("\n")
    what = format_count(lines + 1, "more line") if lines else format_count(len(left_out), "more character")
    return f'<span class="more">… {what}, which the JSON export has\n</span>'


def _diff(text: str) -> str:
    """Return a diff with each line marked as added, removed or unchanged."""
    groups = groupby(text.split("\n"), _diff_colour) if text else ()
    shown = ((colour or "same", escaped("\n".join(lines))) for colour, lines in groups)
    return "".join(f'<span class="line {kind}">{lines}\n</span>' for kind, lines in shown)


def _diff_colour(line: str) -> Colour | None:
    if line.startswith(("--- ", "+++ ")):
        return "strong"
    return DIFF_LINES.get(line[:1])


def _painted(text: str, language: str) -> str:
    if language in PYTHON:
        return "\n".join("".join(_spans(line)) for line in scan_python(text))
    return "".join(_spans(_lexed(text, LEXERS.get(language, ""))))


def _spans(pieces: Iterable[Piece]) -> Iterator[str]:
    return (_span(piece.text, piece.colour) for piece in pieces)


def _span(text: str, colour: Colour | None) -> str:
    return escaped(text) if colour is None else f'<span class="{colour}">{escaped(text)}</span>'


def _lexed(text: str, name: str) -> Iterator[Piece]:
    """Split code into pieces of one color each; code in an unknown language is one piece."""
    lexer = _lexer(name) if name and len(text) <= MAX_PAINTED_CHARS else None
    if lexer is None:
        yield Piece(text)
        return
    for colour, group in groupby(lexer.get_tokens(text), lambda found: _colour(found[0])):
        yield Piece("".join(value for _, value in group), colour)


@cache
def _lexer(name: str) -> Any:
    lexers = importlib.import_module("pygments.lexers")  # slow to import, and not needed by every export
    return lexers.get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _colour(kind: Any) -> Colour | None:
    path = str(kind).removeprefix("Token.")
    while path:
        if path in KINDS:
            return KINDS[path]
        path = path.rpartition(".")[0]
    return None
