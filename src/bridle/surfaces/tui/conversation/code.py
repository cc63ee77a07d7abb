"""Syntax-highlighted code: one flow per line; wrapped lines are marked."""

from functools import lru_cache
from typing import TYPE_CHECKING

from pygments.token import Comment, Keyword, Name, Number, String, Token, _TokenType  # type: ignore[import-untyped]

from bridle.surfaces.tui.conversation.text_wrap import WRAP_MARK, Flow, Piece, Pieces, sanitize, sanitize_line

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

MAX_LANGUAGE_CHARS = 30

BAR: Pieces = (("│ ", "dim"),)
WRAPPED_BAR: Pieces = ((f"│{WRAP_MARK}", "dim"),)

_INKS: dict[_TokenType, str] = {
    Comment: "comment",
    Keyword: "keyword",
    Name.Builtin: "builtin",
    Name.Class: "defined",
    Name.Decorator: "name",
    Name.Function: "defined",
    Name.Tag: "keyword",
    Number: "number",
    String: "string",
    Token.Generic.Deleted: "removed",
    Token.Generic.Heading: "strong",
    Token.Generic.Inserted: "added",
    Token.Generic.Subheading: "name",
}


def code_flows(code: str, language: str, lead: Pieces = BAR, hang: Pieces = WRAPPED_BAR) -> list[Flow]:
    """Return a flow for each line of code; an unknown language is shown by name, without highlighting."""
    lexer = find_lexer(language[: MAX_LANGUAGE_CHARS + 1].lower())
    named = [Flow(((sanitize_line(language), "dim"),), lead, hang)] if language and lexer is None else []
    return named + [Flow(line, lead, hang, "letters") for line in highlight(code, lexer)]


def highlight(code: str, lexer: "Lexer | None") -> list[Pieces]:
    """Return the highlighted lines of code."""
    code = sanitize(code)
    if lexer is None:
        return [((line, "text"),) for line in code.split("\n")]
    lines: list[list[Piece]] = [[]]
    for kind, text in lexer.get_tokens(code):
        first, *others = text.split("\n")
        ink = _ink(kind)
        if first:
            lines[-1].append((first, ink))
        lines += [[(other, ink)] if other else [] for other in others]
    wanted = code.count("\n") + 1  # a lexer adds a newline at the end
    return [tuple(line) for line in lines[:wanted]]


@lru_cache(64)
def find_lexer(language: str) -> "Lexer | None":
    """Return the Pygments lexer of a language; None if it is unknown."""
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # not for the first frame
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True) if language else None
    except ClassNotFound:
        return None


@lru_cache(512)
def _ink(kind: _TokenType) -> str:
    while kind is not Token and kind is not None:
        if kind in _INKS:
            return _INKS[kind]
        kind = kind.parent
    return "text"
