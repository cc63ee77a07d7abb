"""Code mode: the model writes Python in fenced blocks, which become a call of the tool `python`.

```
reply     Let me count.                         call      python(code="total = 1 + 1\ntotal")
          ~~~python                             result    2
          total = 1 + 1                         request   [Output]
          total                                           2                  (as a user message)
          ~~~
```

A model without tool calling can use tools this way: it gets a conversation of text only. Replies are
untrusted: parsing one takes time linear in its length, whatever it contains.
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
"""Metadata key of a call that was parsed from the text: `format_for_model` does not write it again."""

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
    """A line that opens or closes a fenced block."""

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
    """A Python block, as line indices: `start` follows the opening fence, `end` follows the last line."""

    start: int
    end: int
    indent: int
    is_closed: bool


def read_reply(message: Message, stop_reason: StopReason) -> Message:
    """Add one call that runs the code of all Python blocks in a reply.

    A reply without Python blocks, or with tool calls, is returned unchanged. If the model continues with a
    made-up result, only the blocks before that count. If the last block was cut off, the call is invalid and
    is refused, because the rest of the code is unknown.
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
    """Join the text parts; a part that starts with a fence starts on a new line."""
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
                return  # the rest builds on a result that the model made up
            continue
        if not fence.is_python:
            position = _skip(lines, position, fence)
            continue
        end, quote = _find_end(lines, position, fence, knows_strings=knows_strings)
        if quote in _TRIPLE and not is_cut:
            # The string never ends, so a fence inside it does close the block. From now on ignore strings:
            # a text full of unclosed strings must not be scanned to its end for each of them.
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
    if char == "`" and "`" in info:  # inline code
        return None
    return _Fence(char, len(stripped) - len(info), len(line) - len(stripped), info.strip())


def _skip(lines: Sequence[str], start: int, fence: _Fence) -> int:
    """Return the index of the line after a non-Python block and the blocks nested in it."""
    open_fences = [fence]
    for number in range(start, len(lines)):
        inner = _read_fence(lines[number])
        if open_fences[-1].is_closed_by(inner):
            open_fences.pop()
            if not open_fences:
                return number + 1
        elif inner is not None and inner.char == fence.char and inner.length >= open_fences[-1].length:
            open_fences.append(inner)  # otherwise its end would close the outer block
    return len(lines)


def _find_end(lines: Sequence[str], start: int, fence: _Fence, *, knows_strings: bool) -> tuple[int, str]:
    """Return the line that closes a block, or the number of lines, and the quote of a string open there."""
    quote = ""
    for number in range(start, len(lines)):
        if quote not in _TRIPLE and fence.is_closed_by(_read_fence(lines[number])):
            return number, ""
        if knows_strings:
            quote = _open_quote(lines[number].removesuffix("\r"), quote)
    return len(lines), quote


def _open_quote(line: str, quote: str) -> str:
    """Return the quote of the string that is still open after a line of code; `quote` is open before it.

    String prefixes do not matter: a quote after a backslash does not end a raw string either.
    """
    position = 0
    while True:
        found = (_ENDS[quote] if quote else _STARTS).search(line, position)
        if found is None:
            return quote if quote in _TRIPLE else ""
        if found[0] == "#":
            return ""
        if found[0] == "\\":  # the string continues on the next line
            return quote
        if not found[0].startswith("\\"):
            quote = "" if quote else found[0]
        position = found.end()


def _code(lines: Sequence[str], block: _Block) -> str:
    """Return the code of a block without the indentation of a list item around it."""
    kept = lines[block.start : block.end]
    if block.indent:
        kept = [line[min(block.indent, len(line) - len(line.lstrip(" \t"))) :] for line in kept]
    code = "\n".join(kept)
    first = next((line for line in kept if line.strip()), "")
    return dedent(code) if first.startswith((" ", "\t")) else code


# ---------------------------------------------------------------------------- writing


def as_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a conversation as text only, for a request without tools.

    Calls become Python blocks, results become user messages. Roles alternate: adjacent messages of one role
    are merged. More messages only extend the output for fewer, so a vendor's prompt cache stays valid.
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
    """Yield what replaces a part, with True if it is the part itself."""
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
    """Add a part; with `is_apart` a text starts a new paragraph, because some vendors join texts directly."""
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
    """List tools as Python functions, one line each, with the first paragraph of their description."""
    return "\n".join(_describe(spec, signature(spec)) for spec in specs)


def _describe(spec: ToolSpec, signature: str) -> str:
    paragraph = _PARAGRAPHS.split(spec.description.strip(), maxsplit=1)[0]
    return f"- `{signature}`" + (f" — {' '.join(paragraph.split())}" if paragraph else "")
