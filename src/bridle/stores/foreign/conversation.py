"""Arrange the records of another program as a conversation that any model accepts.

| in the record | in the session |
|---|---|
| consecutive pieces of one reply | one message |
| results of a reply, whenever they come | one message after it, in the order of the calls |
| a call without a result | a result that says so |
| user messages between calls and results | the same messages, after the results |
| a result without its call | skipped and counted |
| dates | the same dates, but never earlier than the date of the message before |
"""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import Counted
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, Text, ToolCall, ToolResult, with_unique_call_ids
from bridle.stores.kontekst_reader import KontekstConversation

MAX_TEXT_CHARS = 1_000_000
MAX_MEDIA_CHARS = 10 * 1024 * 1024
NO_CALL = "a result without its call"
NO_RESULT = "what this call gave back was not kept"
TOO_LARGE = "[a file that was too large to bring along]"
CUT = "\n[the rest was not brought along]"


class Result(Struct, frozen=True):
    """The result of a call, as another program recorded it."""

    call_id: str
    output: str
    is_error: bool = False
    media: tuple[Media, ...] = ()


class _Dated(Struct, frozen=True):
    message: Message
    at: int


class ConversationBuilder:
    """Collects the pieces of a conversation and puts them in order."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.now = 0
        """Date of the next piece, in milliseconds since 1970; 0 while it is unknown."""
        self._skipped = skipped
        self._messages: list[_Dated] = []
        self._parts: list[Part] = []
        """The parts of the newest reply so far."""
        self._key = ""
        self._replied_at = 0
        self._results: dict[str, Result] = {}
        self._given_at = 0
        self._held: list[_Dated] = []
        """User messages that came between calls and results."""

    def user(self, parts: Sequence[Part]) -> None:
        """Add a user message."""
        if not (said := _shortened(parts)):
            return
        message = _Dated(Message("user", said), self.now)
        if self._missing():
            self._held.append(message)
            return
        self.settle()
        self._messages.append(message)

    def reply(self, parts: Sequence[Part], key: str = "") -> None:
        """Add a piece of a reply; pieces with the same key, or adjacent ones without one, form one reply."""
        is_same = key == self._key if key else not (self._results or self._held)
        if not is_same:
            self.settle()
        self._key = key
        self._parts += _shortened(parts)
        self._replied_at = self._given_at = self.now

    def result(self, result: Result) -> None:
        """Add the result of a call."""
        if result.call_id in self._missing():
            self._results[result.call_id] = result
            self._given_at = self.now
        else:
            self._skipped[NO_CALL] += 1

    def rewind(self, turns: int) -> None:
        """Remove the last `turns` prompts and everything after them."""
        self.settle()
        prompts = [index for index, one in enumerate(self._messages) if one.message.role == "user"]
        if turns > 0 and prompts:
            del self._messages[prompts[-min(turns, len(prompts))] :]

    def settle(self) -> None:
        """Finish the newest reply."""
        if self._parts:
            reply = with_unique_call_ids(Message("assistant", tuple(self._parts)), (), len(self._messages))
            self._messages.append(_Dated(reply, self._replied_at))
            if reply.calls:
                given = Message("tool", tuple(map(self._result_of, reply.calls)))
                self._messages.append(_Dated(given, self._given_at))
        self._messages += self._held
        self._parts, self._key, self._results, self._held = [], "", {}, []

    @property
    def has_begun(self) -> bool:
        """True once anything was said."""
        return bool(self._messages or self._parts)

    def conversation(self) -> KontekstConversation:
        """Return the whole conversation."""
        self.settle()
        messages = tuple(Counted(one.message, 0) for one in self._messages)
        return KontekstConversation(messages, "", dict(self._skipped), self._dates())

    def _dates(self) -> tuple[int, ...]:
        known = [one.at for one in self._messages]
        first = next(filter(None, known), 0)
        return tuple(accumulate(known, max, initial=first)) if first else ()

    def _missing(self) -> set[str]:
        return {str(part.id) for part in self._parts if isinstance(part, ToolCall)} - self._results.keys()

    def _result_of(self, call: ToolCall) -> ToolResult:
        found = self._results.get(call.id)
        if found is None:
            return ToolResult(call.id, call.name, NO_RESULT, is_error=True)
        media = tuple(one for one in found.media if len(one.data) <= MAX_MEDIA_CHARS)
        return ToolResult(call.id, call.name, _cut(found.output), found.is_error, media)


def build_call(call_id: str, name: str, args: object) -> ToolCall:
    """Build a call from another program's data."""
    is_table = isinstance(args, dict) and all(isinstance(key, str) for key in args)
    return ToolCall(CallId(call_id[:200]), name[:128] or "unknown", args if is_table else {})  # type: ignore[arg-type]


def _shortened(parts: Sequence[Part]) -> tuple[Part, ...]:
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Media) and len(part.data) > MAX_MEDIA_CHARS:
            kept.append(Text(TOO_LARGE))
        elif isinstance(part, ToolCall | Media | ToolResult):
            kept.append(part)
        elif part.text.strip():
            kept.append(replace(part, text=_cut(part.text)))
    return tuple(kept)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS] + CUT
