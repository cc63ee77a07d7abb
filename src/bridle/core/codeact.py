"""Code mode: the model writes Python between fences, which becomes a call of the tool `python`.

```
reply     Let me count.                         call      python(code="total = 1 + 1\ntotal")
          ~~~python                             result    2
          total = 1 + 1                         request   [Output]
          total                                           2                  (as the user's words)
          ~~~
```

A model without tool calling can use tools this way: it is sent a conversation of words alone. Replies are
the words of a stranger: reading one takes time in proportion to its length, whatever it says.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from keyword import iskeyword
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    Role,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
)
from bridle.core.tool import ToolSpec

PYTHON = "python"
FENCED = "fenced"
"""The key in the metadata of a call that was read from the text: there it need not be written again."""

_FENCES = ("```", "~~~")
_PYTHON_FENCE = re.compile(r"(?:python3?|py)(?![^\s{,:;])", re.IGNORECASE)
_CUT: frozenset[StopReason] = frozenset({"max_tokens", "content_filter", "cancelled"})
_STARTS = re.compile(r"""#|'{3}|"{3}|['"]""")
_RESULT = re.compile(r"\[(?:Output|Error)(?: of .+)?\]")
_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n")
_BACKTICKS = re.compile("`+")
_NO_IDENTIFIER = re.compile(r"\W")
_TRIPLE = ("'''", '"""')
_ENDS = {quote: re.compile(rf"\\.?|{quote}", re.DOTALL) for quote in ("'", '"', *_TRIPLE)}


# ---------------------------------------------------------------------------- reading


class _Fence(Struct, frozen=True):
    """A line that opens or closes a block."""

    char: str
    length: int
    indent: int
    info: str

    @property
    def is_python(self) -> bool:
        return _PYTHON_FENCE.match(self.info) is not None

    def is_closed_by(self, other: "_Fence | None") -> bool:
        return (
            other is not None and not other.info and other.char == self.char and other.length >= self.length
        )


class _Block(Struct, frozen=True):
    """Lines of Python: `start` is the one after the fence, `end` the one after the last."""

    start: int
    end: int
    indent: int
    is_closed: bool


def read_reply(message: Message, stop_reason: StopReason) -> Message:
    """Add the call that the Python blocks of a reply ask for, all of them as one piece of code.

    A reply without any, or with calls of its own, stays as it is. Where the model goes on with a result of
    its own invention, only the blocks before that count. A block that was cut off makes the call an invalid
    one, which is refused: nobody knows what would have followed.
    """
    if message.calls:
        return message
    lines = _joined(message).split("\n")
    is_cut = stop_reason in _CUT
    blocks = list(_blocks(lines, is_cut=is_cut))
    if is_cut and blocks and not blocks[-1].is_closed:
        as_sent = "\n".join(lines[blocks[0].start - 1 :])
        return _with_call(message, ToolCall(CallId(""), PYTHON, invalid=as_sent, meta={FENCED: True}))
    pieces = [_code(lines, block) for block in blocks]
    code = "\n\n".join(piece for piece in pieces if piece.strip())
    if not code:
        return message
    return _with_call(message, ToolCall(CallId(""), PYTHON, {"code": code}, meta={FENCED: True}))


def _with_call(message: Message, call: ToolCall) -> Message:
    return Message(message.role, (*message.parts, call))


def _joined(message: Message) -> str:
    """Join the text parts; a fence at the start of one is at the start of a line, whatever came before."""
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, Text) and part.text:
            is_midline = bool(pieces) and not pieces[-1].endswith("\n")
            pieces.append("\n" if is_midline and _read_fence(part.text.partition("\n")[0]) else "")
            pieces.append(part.text)
    return "".join(pieces)


def _blocks(lines: Sequence[str], *, is_cut: bool) -> Iterator[_Block]:
    knows_strings, found_code = True, False
    position = 0
    while position < len(lines):
        fence = _read_fence(lines[position])
        position += 1
        if fence is None:
            if found_code and _RESULT.fullmatch(lines[position - 1].rstrip()):
                return  # what follows rests on a result that the model has made up
            continue
        if not fence.is_python:
            position = _skip(lines, position, fence)
            continue
        end, quote = _find_end(lines, position, fence, knows_strings=knows_strings)
        if quote in _TRIPLE and not is_cut:
            # Its string never ends, so what looks like a fence in it is one. From now on all are: a text
            # full of such strings must not be read to its end for each of them.
            knows_strings = False
            end, _ = _find_end(lines, position, fence, knows_strings=False)
        yield _Block(position, end, fence.indent, is_closed=end < len(lines))
        position, found_code = end + 1, True


def _read_fence(line: str) -> _Fence | None:
    stripped = line.lstrip(" \t")
    if not stripped.startswith(_FENCES):
        return None
    char = stripped[0]
    info = stripped.lstrip(char)
    if char == "`" and "`" in info:  # code within a line of prose
        return None
    return _Fence(char, len(stripped) - len(info), len(line) - len(stripped), info.strip())


def _skip(lines: Sequence[str], start: int, fence: _Fence) -> int:
    """Return the line after a block that is no Python, with the blocks that stand in it."""
    open_fences = [fence]
    for number in range(start, len(lines)):
        inner = _read_fence(lines[number])
        if open_fences[-1].is_closed_by(inner):
            open_fences.pop()
            if not open_fences:
                return number + 1
        elif inner is not None and inner.char == fence.char and inner.length >= open_fences[-1].length:
            open_fences.append(inner)  # its end would otherwise be taken for ours
    return len(lines)


def _find_end(lines: Sequence[str], start: int, fence: _Fence, *, knows_strings: bool) -> tuple[int, str]:
    """Return the line that closes a block, or the end, and the quotes of the string that is open there."""
    quote = ""
    for number in range(start, len(lines)):
        if quote not in _TRIPLE and fence.is_closed_by(_read_fence(lines[number])):
            return number, ""
        if knows_strings:
            quote = _open_quote(lines[number].removesuffix("\r"), quote)
    return len(lines), quote


def _open_quote(line: str, quote: str) -> str:
    """Return the quotes of the string that is open after a line of code, given those before it.

    Prefixes do not matter: in raw strings, too, a quote after a backslash ends nothing.
    """
    position = 0
    while True:
        found = (_ENDS[quote] if quote else _STARTS).search(line, position)
        if found is None:
            return quote if quote in _TRIPLE else ""
        if found[0] == "#":
            return ""
        if found[0] == "\\":  # the string goes on in the next line
            return quote
        if not found[0].startswith("\\"):
            quote = "" if quote else found[0]
        position = found.end()


def _code(lines: Sequence[str], block: _Block) -> str:
    """Return the code of a block without the indentation that it has from a list around it."""
    kept = lines[block.start : block.end]
    if block.indent:
        kept = [line[min(block.indent, len(line) - len(line.lstrip(" \t"))) :] for line in kept]
    code = "\n".join(kept)
    first = next((line for line in kept if line.strip()), "")
    return dedent(code) if first.startswith((" ", "\t")) else code


# ---------------------------------------------------------------------------- writing


def as_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a conversation in words alone, for a request without tools.

    Calls become Python blocks and results what the user says. Roles alternate: neighbours of one role
    become one message. More messages only add to what fewer gave, so a vendor's cache still fits.
    """
    written: list[tuple[Role, list[Part]]] = []
    for message in messages:
        role: Role = "user" if message.role == "tool" else message.role
        parts = [(part, is_plain) for piece in message.parts for part, is_plain in _in_words(piece)]
        if role == "assistant" and not parts:
            continue
        if not written or role == "system" or written[-1][0] != role:
            written.append((role, []))
        follows_plain = False
        for part, is_plain in parts:
            _append(written[-1][1], part, is_apart=not (is_plain and follows_plain))
            follows_plain = is_plain
    return tuple(Message(role, tuple(parts)) for role, parts in written)


def _in_words(part: Part) -> Iterator[tuple[Part, bool]]:
    """Give what stands for a part, and whether that is the part itself."""
    match part:
        case Text() | Reasoning() | Media():
            yield part, True
        case ToolCall():
            if not part.meta.get(FENCED):
                yield Text(_call_block(part)), False
        case ToolResult():
            kind = "Error" if part.is_error else "Output"
            of = "" if part.name == PYTHON else f" of {part.name}"
            yield Text(f"[{kind}{of}]\n{part.output}".rstrip("\n")), False
            yield from ((media, False) for media in part.media)


def _append(parts: list[Part], part: Part, *, is_apart: bool) -> None:
    """Add a part; as some vendors join texts as they are, one that stands apart begins a paragraph."""
    if is_apart and isinstance(part, Text) and part.text and any(isinstance(old, Text) for old in parts):
        part = replace(part, text=f"\n\n{part.text}")
    parts.append(part)


def _call_block(call: ToolCall) -> str:
    code = call.args.get("code")
    if call.name != PYTHON or call.invalid or not isinstance(code, str):
        code = f"await {_NO_IDENTIFIER.sub('_', call.name)}({'...' if call.invalid else _arguments(call)})"
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{PYTHON}\n{code}\n{fence}"


def _arguments(call: ToolCall) -> str:
    named = [f"{name}={value!r}" for name, value in call.args.items() if _is_name(name)]
    others = {name: value for name, value in call.args.items() if not _is_name(name)}
    return ", ".join([*named, f"**{others!r}"] if others else named)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def describe_tools(specs: Sequence[ToolSpec], signature: Callable[[ToolSpec], str]) -> str:
    """List tools as Python functions, a line each, with the first paragraph of what they are for."""
    return "\n".join(_describe(spec, signature(spec)) for spec in specs)


def _describe(spec: ToolSpec, signature: str) -> str:
    paragraph = _PARAGRAPHS.split(spec.description.strip(), maxsplit=1)[0]
    return f"- `{signature}`" + (f" — {' '.join(paragraph.split())}" if paragraph else "")
