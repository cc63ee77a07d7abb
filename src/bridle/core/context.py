"""Which messages fit into one request: Kontekst's budget, computed anew each turn, with space for the answer.

```
window  =  system + tools + this run + earlier + reserve
```

`earlier` gets what the other four leave, filled from the newest message backwards. A call always stays with
its results, and the first message sent is never a tool result.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from bridle.core.value_types import Count, CountOrZero, Share

LARGE_WINDOW = 200_000  # tokens; in a larger window, a share of it would leave too much unused
RESERVE_SHARE = 0.25  # of the window at most, so that the prompt fits into a small local model too
MESSAGE_FRAME_TOKENS = 12  # role, name and separators, rounded up
MEDIA_TOKENS = 1_600  # an image takes about this many at every vendor


class CompactionPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """`[compaction]`: when a summary replaces older messages, and how many of them stay."""

    auto: bool = True
    window_share: Share = 0.8
    """A request that fills this part of the model's window is compacted before the next one,"""
    remaining_tokens: CountOrZero = 20_000
    """or, in a window of more than LARGE_WINDOW, one that leaves at most this much,"""
    threshold_tokens: CountOrZero = 0
    """and in any window one of this size; 0: no such limit."""
    keep_turns: CountOrZero = 4
    """The newest exchanges that stay verbatim, if they fit."""
    max_summary_tokens: Count = 4096
    min_turns_between: CountOrZero = 3
    clear_outputs: bool = True
    """Old tool outputs go first; a summary is made only if that is not enough."""

    def limit(self, window_tokens: int, usable: int) -> int:
        """Return the size of a request from which a compaction is due; `usable` excludes the answer."""
        limit = int(usable * self.window_share)
        if window_tokens > LARGE_WINDOW:
            limit = usable - self.remaining_tokens
        return max(1, min(limit, self.threshold_tokens or limit))


class Counted(Struct, frozen=True):
    """A message with its size in tokens."""

    message: Message
    tokens: int
    kind: Literal["", "summary", "correction"] = ""
    """`summary`: written by a compaction, always sent. `correction`: sent by the user during a run."""
    result_tokens: tuple[int, ...] = ()
    """The tokens of each result, for a message with the results of a turn."""


class ContextUsage(Struct, frozen=True, omit_defaults=True):
    """What the window is used for, in tokens."""

    window: int = 0
    system: int = 0
    tools: int = 0
    earlier: int = 0
    run: int = 0
    reserve: int = 0
    earlier_messages: int = 0
    run_messages: int = 0
    dropped_messages: int = 0

    @property
    def total(self) -> int:
        """Tokens sent."""
        return self.system + self.tools + self.earlier + self.run

    @property
    def remaining(self) -> int:
        """Tokens left, including the reserve for the answer."""
        return self.window - self.total


class Window(Struct, frozen=True):
    """The fixed part of a request's budget."""

    tokens: int
    system: int
    tools: int
    reserve: int


class Fitted(Struct, frozen=True):
    """The messages that one turn sends."""

    messages: tuple[Message, ...]
    usage: ContextUsage
    tokens: tuple[int, ...] = ()
    """Size of each message."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer: four bytes each, rounded up."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def estimate_message(message: Message) -> int:
    """Estimate a message's tokens, with a few more for role and separators."""
    total = 4
    for part in message.parts:
        match part:
            case Text() | Reasoning():
                total += estimate_tokens(part.text)
            case Media():
                total += MEDIA_TOKENS
            case ToolCall():
                total += 8 + estimate_tokens(part.name) + estimate_tokens(part.invalid or str(part.args))
            case ToolResult():
                total += 8 + estimate_tokens(part.output) + MEDIA_TOKENS * len(part.media)
    return total


def answer_reserve(window_tokens: int, max_output_tokens: int) -> int:
    """Return the tokens reserved for the answer."""
    return min(max_output_tokens, int(window_tokens * RESERVE_SHARE))


def earlier_budget(window: Window, run_tokens: int) -> int:
    """Return the tokens that messages from before this run may use."""
    return max(0, window.tokens - window.system - window.tools - window.reserve - run_tokens)


def fit(earlier: Sequence[Counted], run: Sequence[Counted], window: Window) -> Fitted:
    """Choose the messages to send; raises ProviderError if not even the newest exchange fits.

    Earlier exchanges are dropped first, oldest first; then the oldest exchanges of this run. Its prompt, its
    newest exchange and a compaction's summary are never dropped.
    """
    summary = [item for item in earlier[:1] if item.kind == "summary"]
    budget = earlier_budget(window, _size(run) + _size(summary))
    newest = _newest(_answered(earlier[len(summary) :]), budget)
    kept_earlier = summary + (newest if summary else _from_user(newest))
    prompt, rest = list(run[:1]), _answered(run[1:])
    room = window.tokens - window.system - window.tools - window.reserve - _size(summary)
    kept_run = prompt + _newest(rest, room - _size(prompt), least=1)
    usage = ContextUsage(
        window=window.tokens,
        system=window.system,
        tools=window.tools,
        earlier=_size(kept_earlier),
        run=_size(kept_run),
        reserve=window.reserve,
        earlier_messages=len(kept_earlier),
        run_messages=len(kept_run),
        dropped_messages=len(earlier) + len(run) - len(kept_earlier) - len(kept_run),
    )
    if usage.total + window.reserve > window.tokens:
        raise ProviderError(
            f"the request needs {usage.total:,} tokens and {window.reserve:,} for the answer, "
            f"but the model's window holds {window.tokens:,}",
            kind="context_length_exceeded",
            hint="shorten the prompt, or choose a model with a larger window",
        )
    kept = kept_earlier + kept_run
    return Fitted(tuple([item.message for item in kept]), usage, tuple([item.tokens for item in kept]))


def _answered(items: Sequence[Counted]) -> list[Counted]:
    """Drop results whose calls are missing."""
    kept: list[Counted] = []
    has_calls = False
    for item in items:
        if item.message.role != "tool":
            has_calls = bool(item.message.calls)
        elif not has_calls:
            continue
        kept.append(item)
    return kept


def _newest(items: list[Counted], budget: int, *, least: int = 0) -> list[Counted]:
    """Return the newest exchanges that fit, and at least `least` of them; results stay with their calls."""
    if _size(items) <= budget:
        return items
    first, exchanges, size = len(items), 0, 0
    for index in range(len(items) - 1, -1, -1):
        size += items[index].tokens
        if size > budget and exchanges >= least:
            break
        if items[index].message.role != "tool":
            first, exchanges = index, exchanges + 1
    return items[first:]


def _from_user(items: list[Counted]) -> list[Counted]:
    """Drop messages before the first user message: vendors require one at the start."""
    roles = [item.message.role for item in items]
    return items[roles.index("user") :] if "user" in roles else []


def _size(items: Sequence[Counted]) -> int:
    return sum([item.tokens for item in items])
