"""Parse command lines with a small grammar: only these lines may run without an approval.

```
line      := list, ended by newlines and comments
list      := pipeline ((";" | newline | "&&" | "||") pipeline)* [";"]
pipeline  := command (("|" | "|&") command)*
command   := program (word | redirect)*
redirect  := "<" word | [1 2] (">" | ">>") word | "&>" "/dev/null" | [1 2] ">&" (1 | 2)
word      := bare text, '…', "…", \\c, $HOME, $PWD, $?, ~/…, * ? […], {a,b}, {1..3}
```

A redirection into a file is checked as a write. There is no list of dangerous constructs here: anything
that is not in this grammar (a variable, a substitution, a loop, a here-document) raises NotPlain, and a
person has to approve it. The full bash grammar must find the same words at the same places.
"""

import re
from collections.abc import Iterator, Sequence

from bridle.tools.commands.lexer import Word, WordPart, utf8
from bridle.tools.commands.script import Block, Feed, Redirect, Script, SimpleCommand, Step

MAX_WORDS = 500
RESERVED = {
    **dict.fromkeys(("for", "while", "until", "select"), "a loop"),
    **dict.fromkeys(("if", "case", "[[", "!"), "a condition"),
    **dict.fromkeys(
        ("then", "else", "elif", "fi", "do", "done", "esac", "in", "}", "]]"), "part of a statement"
    ),
    "function": "a function",
    "{": "a group of commands",
    "time": "a time measurement",
    "coproc": "a command in the background",
}
"""Words that are not a program at the start of a command, and what they are."""

_BLANKS = " \t"
_FIRST_WORD = re.compile(r"[^ \t\n;|&<>()]+")
_PROGRAM = re.compile(r"(?:\[|[A-Za-z0-9_.+/-]+)(?![^ \t\n;|&<>])")
_BARE = re.compile(r"[A-Za-z0-9_./:=@%+,^!*?\[\]{}~\x80-\xff#-]+")
_NAME = re.compile(r"\$(?:(HOME|PWD)(?![A-Za-z0-9_{])|\{(HOME|PWD)\}|(\?))")
_QUOTED = re.compile(r'[^"$`\\]+|\\[^"$`\\\n][^"$`\\]*')
_SPECIAL_IN_QUOTES = frozenset('$`"\\')
_BRACES = re.compile(r"\{(?:[A-Za-z0-9_./@%+:=^-]+(?:,[A-Za-z0-9_./@%+:=^-]+)+|\d{1,4}\.\.\d{1,4})\}")
_LITERAL_BRACES = re.compile(r"\{[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\}")
_BRACKETS = re.compile(r"\[[!^]?[A-Za-z0-9_.-]+\]")
_TILDE = re.compile(r"\A~(?=/|\Z)|(?<=[A-Za-z0-9_^}-])~")
"""A tilde for the home folder at the start of a word, or a literal one, as in `HEAD~1`."""
_REDIRECT = re.compile(r"(?P<number>[012])?(?P<operator>&>|>&|>>|>|<)(?![<>&|(])")
_OPERATOR = re.compile(r"&&|\|\||\|&|\||;(?![;&])|\n")
_ENDS = frozenset(" \t\n;|&<>")


class NotPlain(Exception):
    """A command line contains something outside the grammar; the message names it."""


def check_plain(text: str, parsed: Script) -> Script:
    """Parse a command line again and compare with `parsed`; raises NotPlain unless they agree."""
    plain = parse_plain(text)
    if parsed.doubts or list(_commands(parsed.steps)) != list(_commands(plain.steps)):
        raise NotPlain("ambiguous words")
    return plain


def parse_plain(text: str) -> Script:
    """Parse a command line; raises NotPlain."""
    return _Parser(text.encode().decode("latin-1")).parse()


def _commands(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the commands in order; their words include their start and end."""
    for step in steps:
        if isinstance(step, Block):
            yield from _commands(step.steps)
        else:
            yield step


class _Parser:
    """Parses a source in which each character is one byte."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._words = 0

    def parse(self) -> Script:
        steps: list[Step] = []
        operator = "\n"
        while True:
            self._pass_blanks(newlines=True)
            if self._is_at_end():
                if operator in ("&&", "||"):
                    raise NotPlain(f"nothing follows {operator}")
                return Script(tuple(steps), (), {}, frozenset())
            step = self._pipeline()
            steps += [Block(step, is_certain=False)] if operator in ("&&", "||") else step
            operator = self._operator() or "\n"

    def _is_at_end(self) -> bool:
        return self._at >= len(self._source)

    def _pass_blanks(self, *, newlines: bool = False) -> None:
        """Skip blanks, continued lines and comments; with `newlines`, line ends too."""
        source = self._source
        while self._at < len(source):
            before = source[self._at - 1] if self._at else " "
            char = source[self._at]
            if char in _BLANKS or (char == "\n" and newlines):
                self._at += 1
            elif char == "\\" and source.startswith("\\\n", self._at) and before in _BLANKS:
                self._at += 2
                if source[self._at : self._at + 1] in ("#", "\\", "\n", ""):
                    raise NotPlain("an unusual line continuation")
            elif char == "#" and before in " \t\n;":
                end = source.find("\n", self._at)
                self._at = len(source) if end < 0 else end
            else:
                return

    def _operator(self) -> str:
        """Read and return the operator that ends a pipeline; empty at the end of the source."""
        self._pass_blanks()
        if self._is_at_end():
            return ""
        found = _OPERATOR.match(self._source, self._at)
        if found is None or found[0] in ("|", "|&"):
            raise NotPlain(self._explain())
        self._at = found.end()
        return found[0]

    def _pipeline(self) -> tuple[Step, ...]:
        commands = [self._command("nothing")]
        while True:
            self._pass_blanks()
            found = _OPERATOR.match(self._source, self._at)
            if found is None or found[0] not in ("|", "|&"):
                break
            self._at = found.end()
            self._pass_blanks(newlines=True)
            commands.append(self._command("pipe"))
        if len(commands) == 1:
            return (commands[0],)
        return tuple(Block((command,), is_own_shell=True) for command in commands)

    def _command(self, feed: Feed) -> SimpleCommand:
        words = [self._program()]
        redirects: list[Redirect] = []
        while True:
            start = self._at
            self._pass_blanks()
            char = self._source[self._at : self._at + 1]
            redirect = _REDIRECT.match(self._source, self._at)
            if redirect is not None and self._at > start:
                redirects.append(self._redirect(redirect))
                feed = "file" if redirects[-1].operator == "<" else feed
            elif char in ("", *"\n;|&"):
                return SimpleCommand(tuple(words), (), tuple(redirects), feed)
            elif self._at == start:
                raise NotPlain(self._explain())
            else:
                words.append(self._word())

    def _program(self) -> Word:
        first = _FIRST_WORD.match(self._source, self._at)
        if first is not None and first[0] in RESERVED:
            raise NotPlain(RESERVED[first[0]])
        if _PROGRAM.match(self._source, self._at) is None:
            raise NotPlain(self._explain())
        return self._word()

    def _redirect(self, found: re.Match[str]) -> Redirect:
        number, operator = found["number"], found["operator"]
        self._at = found.end()
        self._pass_blanks()
        target = self._word()
        match operator:
            case "<":
                is_plain = number is None or number == "0"
            case ">&":
                is_plain = number != "0" and target.source in ("1", "2")
            case "&>":
                is_plain = number is None and target.source == "/dev/null"
            case _:
                is_plain = number != "0"
        if not is_plain:
            raise NotPlain(f"the redirection {utf8(found[0])}{target.source}")
        return Redirect(operator, target)

    # ------------------------------------------------------------------ words

    def _word(self) -> Word:
        self._words += 1
        if self._words > MAX_WORDS:
            raise NotPlain(f"more than {MAX_WORDS} words")
        start = self._at
        pieces = list(self._pieces())
        source = self._source[start : self._at]
        if not pieces or source[0] == "#":
            raise NotPlain(self._explain())
        _check_bare(pieces)
        return Word(utf8(source), tuple(pieces), span=(start, self._at))

    def _pieces(self) -> Iterator[WordPart]:
        source = self._source
        while self._at < len(source) and (char := source[self._at]) not in _ENDS:
            start = self._at
            if char == "'":
                end = source.find("'", start + 1)
                if end < 0:
                    raise NotPlain("an unclosed quote")
                self._at = end + 1
                yield WordPart("quoted", source[start + 1 : end], source[start : self._at])
            elif char == '"':
                self._at += 1
                yield from self._double_quoted()
            elif char == "\\":
                self._at += 2
                if source[start + 1 : start + 2] in ("", "\n"):
                    raise NotPlain("a line continuation inside a word")
                yield WordPart("quoted", source[start + 1], source[start : self._at])
            elif char == "$":
                yield self._name(is_split=True)
            elif bare := _BARE.match(source, start):
                self._at = bare.end()
                yield WordPart("bare", bare[0], bare[0])
            else:
                raise NotPlain(self._explain())

    def _double_quoted(self) -> Iterator[WordPart]:
        source = self._source
        yield WordPart("quoted", "", '""')
        while self._at < len(source):
            start, char = self._at, source[self._at]
            if char == '"':
                self._at += 1
                return
            if char == "$":
                yield self._name(is_split=False)
            elif char == "\\" and source[start + 1 : start + 2] in _SPECIAL_IN_QUOTES:
                self._at += 2
                yield WordPart("quoted", source[start + 1], source[start : self._at])
            elif found := _QUOTED.match(source, start):
                self._at = found.end()
                yield WordPart("quoted", found[0], found[0])
            else:
                raise NotPlain(self._explain())
        raise NotPlain("an unclosed quote")

    def _name(self, *, is_split: bool) -> WordPart:
        found = _NAME.match(self._source, self._at)
        if found is None:
            raise NotPlain(self._explain())
        self._at = found.end()
        return WordPart("name", found[found.lastindex or 0], found[0], is_split)

    def _explain(self) -> str:
        """Return what is at the current position, for the approval prompt."""
        rest = self._source[self._at : self._at + 3]
        for start, what in _UNUSUAL:
            if rest.startswith(start):
                return what
        return f"the character {utf8(rest[:1])!r}" if rest else "an unfinished command"


_UNUSUAL = (
    ("$((", "arithmetic"),
    ("$(", "a substitution"),
    ("`", "a substitution"),
    ("<(", "a substitution"),
    (">(", "a substitution"),
    ("<<<", "a here-string"),
    ("<<", "a here-document"),
    ("$'", "a quote with escapes"),
    ("$", "a variable"),
    ("(", "a subshell"),
    ("&", "a command in the background"),
    (">", "a redirection"),
    ("<", "a redirection"),
    ("\\", "a backslash in an unusual place"),
)


def _check_bare(pieces: list[WordPart]) -> None:
    """Check that braces, brackets and tildes are used only in plain ways; raises NotPlain."""
    for index, piece in enumerate(pieces):
        if piece.kind != "bare":
            continue
        text = piece.text
        is_alone = len(pieces) == 1
        if text in ("{}", "[", "]") and is_alone:
            continue
        if index or is_alone or "/" in text or not text.startswith("~"):
            text = _TILDE.sub("", text)
        text = _BRACKETS.sub("", _LITERAL_BRACES.sub("", _BRACES.sub("", text)))
        if odd := set("{}[]~") & set(text):
            raise NotPlain(f"the character {min(odd)} in an unusual place")
