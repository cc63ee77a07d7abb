"""Read shell words from the source of a command line: where they end and what they mean.

```
r"m"   \\rm   $'\\x72m'      one piece of text, whatever the quotes     -> rm
a{b,c}/*.py                text with wildcards, distinct from quoted ones
"$HOME/x"   $(date)        a name, a substitution: known later or never
```

The grammar finds the structure of a command line, but it is lenient about words: it loses an escaped
blank, and it does not parse the content of backquotes. So each word is read here again, the way bash
reads it. Where the two disagree, the meaning is unclear, and ToolError is raised.
"""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bridle.core.errors import ToolError

if TYPE_CHECKING:
    from tree_sitter import Node

PieceKind = Literal["bare", "quoted", "name", "command", "other"]

BLANKS = " \t"
EXPANDING = re.compile(r"\$\((?!\()|`")
"""The start of a command substitution, but not of arithmetic."""
_ENDS = frozenset(" \t\n;&|()<>")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OPEN_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[[^\]]*")
_SPECIAL_NAMES = frozenset("0123456789@*#?$!-")

_ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_CHARS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}


class WordPart(Struct, frozen=True):
    """A part of a word with one kind of quoting or expansion."""

    kind: PieceKind
    text: str
    """The text without quotes; for a variable, its name."""
    source: str
    is_split: bool = False
    """True if its value is split into words, because it is outside double quotes."""


class Word(Struct, frozen=True):
    """One word of a command line, before anything in it is expanded."""

    source: str
    pieces: tuple[WordPart, ...]
    nested: tuple["Node | str", ...] = ()
    """The substitutions in it: their nodes in the tree, or for backquotes the text that they run."""
    span: tuple[int, int] = (0, 0)
    """Its start and end in the source; (0, 0) for a part of a word."""

    @property
    def literal(self) -> str | None:
        """Its text if it is one bare piece, as a reserved word is; otherwise None."""
        only = self.pieces[0] if len(self.pieces) == 1 else None
        return only.text if only is not None and only.kind == "bare" else None


FindNode = Callable[[int, tuple[str, ...]], "Node | None"]
"""Returns the tree's node of one of these types that starts at an offset."""


class Lexer:
    """Reads words from a source in which each character is one byte."""

    def __init__(self, source: str, find_node: FindNode) -> None:
        self._source = source
        self._find_node = find_node
        self._nested: list[Node | str] = []

    def word(self, start: int) -> tuple[Word, int]:
        """Return the word that starts at `start`, and its end; raises ToolError if there is none."""
        plain = _PLAIN.match(self._source, start)
        if plain is not None and self._source[plain.end() : plain.end() + 1] in _PLAIN_ENDS:
            text = plain[0]
            return Word(text, (WordPart("bare", text, text),), span=plain.span()), plain.end()
        self._nested = []
        pieces, end = self._pieces(start)
        if not pieces or self._source[start] == "#" or _OPEN_SUBSCRIPT.fullmatch(self._source, start, end):
            raise ToolError(f"the command line is unclear near {_near(self._source, start)}")
        source = utf8(self._source[start:end])
        return Word(source, tuple(pieces), tuple(self._nested), (start, end)), end

    def body(self, start: int, end: int) -> Word:
        """Read the body of a here-document in which bash performs expansions."""
        self._nested = []
        pieces, stop = self._quoted(start, end)
        if stop != end:
            raise ToolError(f"the command line is unclear near {_near(self._source, end)}")
        return Word(utf8(self._source[start:end]), tuple(pieces), tuple(self._nested))

    def _pieces(self, start: int) -> tuple[list[WordPart], int]:
        source, position = self._source, start
        pieces: list[WordPart] = []
        while position < len(source):
            char = source[position]
            if char in _ENDS:
                end = self._process(position) if char in "<>" else self._array(start, position)
                if end is None:
                    break
                pieces.append(WordPart("command" if char in "<>" else "other", "", source[position:end]))
            elif char == "\\":
                end = position + 2
                if end > len(source):
                    raise ToolError("the command line ends in a backslash")
                if source[position + 1] != "\n":
                    pieces.append(WordPart("quoted", source[position + 1], source[position:end]))
            elif char == "'":
                end = self._find("'", position + 1) + 1
                pieces.append(WordPart("quoted", source[position + 1 : end - 1], source[position:end]))
            elif char == '"':
                quoted, end = self._quoted(position + 1, None)
                pieces += quoted
            elif char in "$`":
                piece, end = self._expansion(position, is_split=True)
                pieces += piece
            else:
                end = position + 1
                while end < len(source) and source[end] not in _BARE_ENDS:
                    end += 1
                text = source[position:end]
                if pieces and pieces[-1].kind == "bare":  # a continued line split the text
                    text = pieces.pop().text + text
                pieces.append(WordPart("bare", text, text))
            position = end
        return pieces, position

    def _quoted(self, start: int, end: int | None) -> tuple[list[WordPart], int]:
        """Read through the closing double quote; with `end`, up to that offset."""
        source, position = self._source, start
        pieces = [WordPart("quoted", "", '""')]
        while position < (len(source) if end is None else end):
            char = source[position]
            if char == '"' and end is None:
                return pieces, position + 1
            if char == "\\" and source[position + 1 : position + 2] in _GUARDED:
                if source[position + 1] != "\n":
                    pieces.append(WordPart("quoted", source[position + 1], source[position : position + 2]))
                position += 2
            elif char in "$`":
                expansion, position = self._expansion(position, is_split=False)
                pieces += expansion
            else:
                stop = position + 1
                while stop < len(source) and stop != end and source[stop] not in '"$`\\':
                    stop += 1
                pieces.append(WordPart("quoted", source[position:stop], source[position:stop]))
                position = stop
        if end is None:
            raise ToolError("a double quote is never closed")
        return pieces, position

    def _expansion(self, start: int, *, is_split: bool) -> tuple[list[WordPart], int]:
        """Read an expansion that starts with a dollar sign or a backquote."""
        source = self._source
        if source[start] == "`":
            return self._backquotes(start, in_quotes=not is_split)
        following = source[start + 1 : start + 2]
        if name := _NAME.match(source, start + 1) or _BRACED_NAME.match(source, start):
            text = name[1] if name.re is _BRACED_NAME else name[0]
            return [WordPart("name", text, source[start : name.end()], is_split)], name.end()
        if following in _SPECIAL_NAMES:
            return [WordPart("name", following, source[start : start + 2], is_split)], start + 2
        if is_split and following == "'":
            text, end = self._ansi(start + 2)
            kind: PieceKind = "other" if "\0" in text else "quoted"
            return [WordPart(kind, text, source[start:end])], end
        if is_split and following == '"':
            return self._quoted(start + 2, None)
        if following not in ("(", "{", "["):
            return [WordPart("quoted", "$", "$")], start + 1
        kinds = ("command_substitution", "arithmetic_expansion", "expansion")
        node = self._find_node(start, kinds)
        if node is None:
            raise ToolError(f"the command line is unclear near {_near(source, start)}")
        self._nested.append(node)
        kind = "command" if node.type == "command_substitution" else "other"
        return [WordPart(kind, "", source[start : node.end_byte], is_split)], node.end_byte

    def _backquotes(self, start: int, *, in_quotes: bool) -> tuple[list[WordPart], int]:
        end = start + 1
        while end < len(self._source) and self._source[end] != "`":
            end += 2 if self._source[end] == "\\" else 1
        if end >= len(self._source):
            raise ToolError("a backquote is never closed")
        self._nested.append(unescape_backquotes(self._source[start + 1 : end], in_quotes=in_quotes))
        return [WordPart("command", "", self._source[start : end + 1], not in_quotes)], end + 1

    def _ansi(self, start: int) -> tuple[str, int]:
        """Read what follows `$'`; return its text and its end."""
        end = start
        while end < len(self._source) and self._source[end] != "'":
            end += 2 if self._source[end] == "\\" else 1
        if end >= len(self._source):
            raise ToolError("a single quote is never closed")
        return _ANSI_ESCAPE.sub(_ansi_char, self._source[start:end]), end + 1

    def _process(self, start: int) -> int | None:
        """Return the end of a process substitution; None when it is a redirection."""
        if self._source[start + 1 : start + 2] != "(":
            return None
        node = self._find_node(start, ("process_substitution",))
        if node is None:
            raise ToolError(f"the command line is unclear near {_near(self._source, start)}")
        self._nested.append(node)
        return node.end_byte

    def _array(self, start: int, position: int) -> int | None:
        """Return the end of the values of an array, as in `a=(b c)`; None when there is none."""
        if self._source[position] != "(" or position == start or self._source[position - 1] != "=":
            return None
        node = self._find_node(position, ("array",))
        if node is None:
            return None
        self._nested.append(node)
        return node.end_byte

    def _find(self, char: str, start: int) -> int:
        end = self._source.find(char, start)
        if end < 0:
            raise ToolError("a single quote is never closed")
        return end


_PLAIN_ENDS = frozenset(
    ["", *" \t\n;&|)"]
)  # what follows a parenthesis or a redirection may belong to the word
_GUARDED = frozenset('$`"\\\n')
_BARE_ENDS = _ENDS | set("\\'\"$`")


def unescape_backquotes(text: str, *, in_quotes: bool) -> str:
    """Return the text that backquotes run: inside them, a backslash escapes a few characters."""
    return re.sub(r'\\([$`\\"])' if in_quotes else r"\\([$`\\])", r"\1", text)


def _ansi_char(escape: re.Match[str]) -> str:
    byte, short, long, octal, control, other = escape.groups()
    if byte:
        return chr(int(byte, 16))
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x80 else "\0"  # its bytes depend on the locale: never counts as known
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return chr(ord(control.upper()) ^ 0x40) if control != "?" else "\x7f"
    return _ANSI_CHARS.get(other, escape[0])


def utf8(text: str) -> str:
    """Decode text in which each character is one byte as UTF-8."""
    return text if text.isascii() else text.encode("latin-1").decode(errors="replace")


def _near(source: str, position: int) -> str:
    return repr(utf8(source[max(0, position - 10) : position + 20]))


def is_blank(source: str, *, newlines: bool) -> bool:
    """Return whether a source has only blanks, continued lines and, with `newlines`, line ends."""
    if "\\" in source:
        source = source.replace("\\\n", "")
    return not source.strip(BLANKS + "\n" if newlines else BLANKS)


def may_hold_commands(words: Iterable[Word]) -> bool:
    """Return whether the value of one of these words may be text that arithmetic evaluation would run."""
    pieces = [piece for word in words for piece in word.pieces]
    return any(EXPANDING.search(piece.text) or _is_from_outside(piece) for piece in pieces)


def _is_from_outside(piece: WordPart) -> bool:
    """Return whether a piece comes from a file name or from the output of a program."""
    return piece.kind == "command" or (piece.kind == "bare" and not set("*?[").isdisjoint(piece.text))
