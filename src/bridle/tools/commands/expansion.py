"""Expand shell words into arguments: braces, home folders, known variables and wildcards.

```
Word  --braces-->  several  --tilde, names-->  Field(value="src/a")          known now
                                               Field(pattern="src/*.py")     known after a disk lookup
                                               Field(prefix="src/")          only its start is known
```
"""

import itertools
import os.path
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.tools.commands.lexer import Word, WordPart, utf8

# ---------------------------------------------------------------------------- step limit
# A limit on the work to analyze a command line: a line that takes more steps counts as a doubt.


MAX_STEPS = 20_000
"""About 50 ms of work."""


class TooComplex(ToolError):
    """A command line has more in it than a person would read."""


class StepLimit:
    """Counts the steps of analyzing one command line."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Count more steps; raises TooMuch when none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooComplex("it takes too many steps to analyse")


# ---------------------------------------------------------------------------- expansion


MAX_FIELDS = 1_000
MAX_BRACES = 50

_BRACE_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z])")
_SPLITTING = re.compile(r"[\s*?\[\\]")
_ASSIGNED_TILDE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*=)(~.*)", re.DOTALL)


class Argument(Struct, frozen=True):
    """One argument of a program, or what is known of it before it runs."""

    source: str
    value: str | None = None
    """The argument; None when it is not known."""
    pattern: str = ""
    """A glob pattern, when the argument is the files that it matches."""
    prefix: str = ""
    """The known start of an argument that is not known."""
    is_harmless: bool = False
    """For an unknown argument: True if expanding it has no effect, except commands checked separately."""
    guesses: tuple[str, ...] = ()
    """For an unknown argument: its possible values, from the assignments to the variables in it."""

    @property
    def text(self) -> str:
        """The argument, or its known start."""
        return self.prefix if self.value is None else self.value

    @property
    def shown(self) -> str:
        """The argument as a rule matches it."""
        if self.value is None or self.value in _PLAIN_WORDS:
            return self.value or self.source
        return shlex.quote(self.value)


def expand(word: Word, names: Mapping[str, str]) -> list[Argument]:
    """Return the arguments that a word expands to, given the values of some variables."""
    if (text := word.literal) is not None and not _SPECIAL & set(text):
        return [Argument(word.source, utf8(text))]
    if not any(piece.kind == "bare" and "{" in piece.text for piece in word.pieces):
        return [_field(word.pieces, word.source, names)]
    tokens = _tokens(word.pieces)
    alternatives: list[list[WordPart]] = []
    if sum(_is(token, "{") for token in tokens) <= MAX_BRACES:
        alternatives = list(itertools.islice(_braces(tokens), MAX_FIELDS + 1))
    if not 0 < len(alternatives) <= MAX_FIELDS:
        return [Argument(word.source, prefix=_literal_start(word.pieces))]
    if len(alternatives) == 1:
        return [_field(alternatives[0], word.source, names)]
    return [_field(pieces, _rebuilt(pieces), names) for pieces in alternatives if pieces]


_SPECIAL = frozenset("*?[{~")
_PLAIN_WORDS = ("[", "]", "{}")


def _field(pieces: Sequence[WordPart], source: str, names: Mapping[str, str]) -> Argument:
    pieces = [_named(piece, names) for piece in _with_home(pieces)]
    unknown = [piece for piece in pieces if piece.kind not in ("bare", "quoted")]
    if unknown:
        harmless = all(piece.kind in ("name", "command") for piece in unknown)
        return Argument(source, prefix=_literal_start(pieces), is_harmless=harmless)
    if _has_wildcards(pieces):
        return Argument(
            source,
            pattern=utf8("".join(_as_pattern(piece) for piece in pieces)),
            prefix=_literal_start(pieces),
            is_harmless=True,
        )
    text = "".join(piece.text for piece in pieces)
    try:
        return Argument(source, text if text.isascii() else text.encode("latin-1").decode())
    except UnicodeDecodeError:
        return Argument(source)


def _has_wildcards(pieces: Sequence[WordPart]) -> bool:
    bare = "".join(piece.text if piece.kind == "bare" else "x" for piece in pieces)
    return "*" in bare or "?" in bare or bool(re.search(r"\[.+\]", bare))


def _as_pattern(piece: WordPart) -> str:
    return piece.text if piece.kind == "bare" else re.sub(r"([*?\[\]\\])", r"\\\1", piece.text)


def _literal_start(pieces: Sequence[WordPart]) -> str:
    """Return the text before the first expansion or wildcard."""
    start = ""
    for piece in pieces:
        if piece.kind == "bare" and (special := re.search(r"[*?\[{]", piece.text)):
            return utf8(start + piece.text[: special.start()])
        if piece.kind not in ("bare", "quoted"):
            return utf8(start)
        start += piece.text
    return utf8(start)


def _with_home(pieces: Sequence[WordPart]) -> Sequence[WordPart]:
    """Expand a leading `~`, or one that follows `name=`."""
    first = pieces[0] if pieces else None
    if first is None or first.kind != "bare" or "~" not in first.text:
        return pieces
    assigned = _ASSIGNED_TILDE.fullmatch(first.text)
    start, text = (assigned[1], assigned[2]) if assigned else ("", first.text)
    if start and ":~" in text:
        return [WordPart("other", "", first.source), *pieces[1:]]
    if not text.startswith("~"):
        return pieces
    login, slash, rest = text.partition("/")
    if not slash and len(pieces) > 1:
        return pieces
    if login in ("~+", "~-") or login[1:].isdigit():
        return [WordPart("other", "", first.source), *pieces[1:]]
    home = os.path.expanduser(login)
    if home == login:
        return pieces
    spelled = start + home.encode(errors="replace").decode("latin-1")
    rest_piece = WordPart("bare", slash + rest, slash + rest)
    return [WordPart("quoted", spelled, login), *([rest_piece] if slash else []), *pieces[1:]]


def _named(piece: WordPart, names: Mapping[str, str]) -> WordPart:
    if piece.kind != "name" or (value := names.get(piece.text)) is None:
        return piece
    if piece.is_split and (not value or _SPLITTING.search(value)):
        return piece
    return WordPart("quoted", value.encode(errors="replace").decode("latin-1"), piece.source)


def _rebuilt(pieces: Sequence[WordPart]) -> str:
    return utf8(
        "".join(
            shlex.quote(piece.text) if piece.kind == "quoted" and piece.text else piece.source
            for piece in pieces
            if piece.kind != "quoted" or piece.text
        )
    )


def _tokens(pieces: Sequence[WordPart]) -> list[WordPart]:
    """Split bare text at braces and commas, so that each of them is a token."""
    return [
        WordPart("bare", text, text) if piece.kind == "bare" else piece
        for piece in pieces
        for text in (re.split(r"([{},])", piece.text) if piece.kind == "bare" else [""])
        if text or piece.kind != "bare"
    ]


def _is(token: WordPart, char: str) -> bool:
    return token.kind == "bare" and token.text == char


def _braces(tokens: Sequence[WordPart]) -> Iterator[list[WordPart]]:
    """Yield the brace expansions in order; a brace that cannot be expanded stays literal."""
    for start, token in enumerate(tokens):
        if not _is(token, "{"):
            continue
        choices, end = _choices(tokens, start)
        if choices is None:
            continue
        for choice in choices:
            for middle in _braces(choice):
                for rest in _braces(tokens[end:]):
                    yield [*tokens[:start], *middle, *rest]
        return
    yield list(tokens)


def _choices(tokens: Sequence[WordPart], start: int) -> tuple[list[Sequence[WordPart]] | None, int]:
    """Return the alternatives between a brace and its partner, and where the rest starts."""
    depth, cuts = 0, [start]
    for index in range(start, len(tokens)):
        if _is(tokens[index], "{"):
            depth += 1
        elif _is(tokens[index], ",") and depth == 1:
            cuts.append(index)
        elif _is(tokens[index], "}"):
            depth -= 1
            if depth == 0:
                cuts.append(index)
                if len(cuts) == 2:
                    return _brace_range(tokens[start + 1 : index]), index + 1
                return [tokens[left + 1 : right] for left, right in itertools.pairwise(cuts)], index + 1
    return None, start


def _brace_range(tokens: Sequence[WordPart]) -> list[Sequence[WordPart]] | None:
    """Return the values of `1..3` or `a..c`; None when it is not a range."""
    if len(tokens) != 1 or tokens[0].kind != "bare" or ".." not in tokens[0].text:
        return None
    match = _BRACE_RANGE.fullmatch(tokens[0].text)
    unknown: list[Sequence[WordPart]] = [[WordPart("other", "", "{" + tokens[0].source + "}")]]
    if match is None or any(len(end) > 1 and end.lstrip("-")[0] == "0" for end in match.groups("1")):
        return unknown
    low, high = (int(end) for end in match.group(1, 2)) if match[1] else (ord(match[3]), ord(match[4]))
    if abs(high - low) > MAX_FIELDS:
        return unknown
    step = 1 if low <= high else -1
    values = [str(n) if match[1] else chr(n) for n in range(low, high + step, step)]
    return [[WordPart("quoted" if match[3] else "bare", value, value)] for value in values]


# ---------------------------------------------------------------------------- variables
# The variables of a command line: the few known values, and the possible values of the others.


MAX_GUESSES = 64
MAX_REFERENCES = 3
"""How many references from variable to variable are followed."""


class Variables:
    """The known and possible values of variables during the analysis of a command line."""

    def __init__(self, effort: StepLimit) -> None:
        self.home = os.path.expanduser("~")
        self._effort = effort
        self._values: dict[str, tuple[Word, ...]] = {}

    def assign(self, values: Mapping[str, tuple[Word, ...]]) -> None:
        """Record what a command line assigns, anywhere in it."""
        for name, words in values.items():
            self._values[name] = (*self._values.get(name, ()), *words)[:MAX_GUESSES]

    def fields(self, words: Sequence[Word], cwd: str | None) -> list[Argument]:
        """Return the arguments that words expand to; unknown ones carry guesses."""
        certain = self._certain(cwd)
        fields: list[Argument] = []
        for word in words:
            expanded = self._expand(word, certain)
            if len(expanded) == 1 and expanded[0].value is None and not expanded[0].pattern:
                expanded = [replace(expanded[0], guesses=tuple(self._possible(word, certain, 0)))]
            fields += expanded
        return fields

    def _certain(self, cwd: str | None) -> dict[str, str]:
        if "IFS" in self._values:
            return {}
        names = {"HOME": self.home} if cwd is None else {"HOME": self.home, "PWD": cwd}
        return {name: value for name, value in names.items() if name not in self._values}

    def _expand(self, word: Word, names: Mapping[str, str]) -> list[Argument]:
        expanded = expand(word, names)
        self._effort.spend(
            len(expanded) + (len(word.source) + len(expanded[0].text) if expanded else 0) // 50
        )
        return expanded

    def _possible(self, word: Word, certain: Mapping[str, str], step: int) -> list[str]:
        """Return the possible texts of a word, from all assignments to the variables in it."""
        used = [name for name in dict.fromkeys(_names_in(word)) if name in self._values]
        if not used or step > MAX_REFERENCES:
            return [field.text for field in self._expand(word, certain) if field.text] if step else []
        choices = [
            [text for value in self._values[name] for text in self._possible(value, certain, step + 1)][
                :MAX_GUESSES
            ]
            for name in used
        ]
        texts: list[str] = []
        for chosen in itertools.islice(itertools.product(*choices), MAX_GUESSES):
            expanded = self._expand(word, {**certain, **dict(zip(used, chosen, strict=True))})
            texts += [field.text for field in expanded if field.text]
        return texts[:MAX_GUESSES]


def _names_in(word: Word) -> Iterator[str]:
    return (piece.text for piece in word.pieces if piece.kind == "name")
