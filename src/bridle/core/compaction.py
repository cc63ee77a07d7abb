"""Compaction decisions: when a summary replaces old messages, which stay unchanged, what is summarized.

```
before   summary? │ old messages …                     │ the newest exchanges
after    summary + what is kept word for word          │ the newest exchanges
```

Old tool outputs are cleared first; if that is enough, no summary is made. All sizes are the session's own
estimates. If the vendor counts more tokens, the window is treated as smaller by the same factor.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.json import encode

from bridle.core.context import MEDIA_TOKENS, CompactionPolicy, Counted, Window, estimate_tokens
from bridle.core.errors import UsageError
from bridle.core.ids import CallId
from bridle.core.kept_context import VerbatimText, select_verbatim, shorten_middle
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import CompactionTrigger, OutputsCleared
from bridle.core.session import Session
from bridle.core.transcript import CLEARED, clear_results

# ---------------------------------------------------------------------------- summary input
# A conversation as plain text for the model that summarizes it, in parts that fit its window.
#
# ```
# [user] fix the greeting
# [assistant] I look at the file first.
# [call] read_file {"path":"greet.py"}
# [result of read_file] 1: print("helo")
# ```
#
# Long texts are shortened in the middle, results most of all; reasoning is left out.


MAX_PARTS = 16
MIN_PART_TOKENS = 128


class Lengths(Struct, frozen=True):
    """The maximum length of each kind of entry, in tokens."""

    text: int = 1_500
    args: int = 150
    result: int = 300


SHORTER = (1, 2, 4, 8, 16)
"""Divisors for the lengths, tried in order until everything fits."""


def render_for_summary(
    messages: Sequence[Message], part_tokens: int, most_parts: int = MAX_PARTS
) -> list[str]:
    """Return a conversation as at most `most_parts` texts of `part_tokens`; drop the oldest if necessary."""
    part_tokens = max(part_tokens, MIN_PART_TOKENS)
    parts: list[str] = []
    for divisor in SHORTER:
        lengths = Lengths(1_500 // divisor, 150 // divisor, 300 // divisor)
        parts = _packed([_told(message, lengths) for message in messages], part_tokens)
        if len(parts) <= most_parts:
            return parts
    left_out = len(parts) - most_parts
    note = f"[the oldest {left_out} of {len(parts)} parts of the record are left out]"
    first = shorten_middle(parts[left_out], part_tokens - estimate_tokens(note) - 1)
    return [f"{note}\n{first}", *parts[left_out + 1 :]]


def cut_at_paragraph(text: str, tokens: int) -> str:
    """Cut a text to at most `tokens` tokens, at the end of a paragraph, a line or a word."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= tokens * 4:
        return text
    head = data[: tokens * 4].decode("utf-8", "ignore")
    ends = (head.rfind(mark, len(head) // 2) for mark in ("\n\n", "\n", " "))
    return head[: next((end for end in ends if end > 0), len(head))].rstrip()


def _packed(entries: Sequence[str], tokens: int) -> list[str]:
    parts: list[list[str]] = []
    left = 0
    for entry in filter(None, entries):
        entry = shorten_middle(entry, tokens)
        size = estimate_tokens(entry) + 1
        if not parts or size > left:
            parts.append([])
            left = tokens
        parts[-1].append(entry)
        left -= size
    return ["\n".join(part) for part in parts]


def _told(message: Message, lengths: Lengths) -> str:
    lines = []
    for part in message.parts:
        match part:
            case Text() if part.text.strip():
                lines.append(f"[{message.role}] {shorten_middle(part.text.strip(), lengths.text)}")
            case Text() | Reasoning():
                pass
            case Media():
                lines.append(f"[{message.role}] ({part.mime} {part.name})".rstrip())
            case ToolCall():
                args = part.invalid or encode(part.args).decode()
                lines.append(f"[call] {part.name} {shorten_middle(args, lengths.args)}")
            case ToolResult():
                failed = " (failed)" if part.is_error else ""
                lines.append(
                    f"[result of {part.name}{failed}] {shorten_middle(part.output.strip(), lengths.result)}"
                )
    return "\n".join(lines)


# ---------------------------------------------------------------------------- compaction


CLEARABLE_TOKENS = 200  # a shorter output is not worth replacing with a note
CLEARED_SHARE = 0.6  # of the limit; clearing outputs is enough if at most this much is left
KEPT_SHARE = 0.3  # of the window, for the newest exchanges
CARRIED_SHARE = 0.25  # of the window, for what is kept word for word
NEWEST_SHARE = 0.7  # of the room, for the results of the newest calls
AFTER_SHARE = 0.75  # of the room, used afterwards at most; with more, the next compaction is due at once
SUMMARY_SHARE = 4  # a summary gets at most 1/4 of the room
MIN_SUMMARY_TOKENS = 64
MIN_GAIN_TOKENS = 200  # an automatic compaction that saves less is not worth a model call
OVERFLOW_SHARE = 0.8  # of a request that was too long; the vendor is assumed to accept this much
MAX_SCALE = 8.0

MAX_PINS = 100
MAX_PIN_BYTES = 16 * 1024

HEADING = (
    "[Context compacted] What was said up to here is left out to save room. "
    "This summary stands in its place; the work goes on from here."
)
RECALL = " Details of it can be found with the tool memory_search."


class Sizes(Struct, frozen=True):
    """How full the window is, in tokens."""

    history: int
    """Size of all messages."""
    total: int
    """Size of the request with all messages."""
    limit: int
    """Size of a request from which a compaction is due."""
    room: int
    """Space for messages."""
    window: int
    is_full: bool
    """True if the limit is reached, by our estimate or the vendor's count."""
    overflows: bool
    """True if not all messages can be sent."""


class Plan(Struct, frozen=True):
    """What a compaction would do."""

    cleared: OutputsCleared | None
    """Tool outputs to clear; if not None, clearing them is enough and no summary is needed."""
    first_kept: int
    """Index of the first message that stays; the summary replaces all before it."""
    carried: VerbatimText
    most_tokens: int
    """Upper bound for the summary."""


def measure(session: Session, window: Window, policy: CompactionPolicy, trigger: CompactionTrigger) -> Sizes:
    """Measure how full the window is."""
    history = _size(session.messages)
    total = history + window.system + window.tools
    usable = max(1, window.tokens - window.reserve)
    scale = max(1.0, session.input_tokens / max(1, total))
    if trigger == "overflow":
        scale = max(scale, usable / max(1.0, OVERFLOW_SHARE * total))
    scale = min(scale, MAX_SCALE)
    limit = policy.limit(window.tokens, usable)
    return Sizes(
        history,
        total,
        limit=int(limit / scale),
        room=max(0, int(usable / scale) - window.system - window.tools),
        window=int(window.tokens / scale),
        is_full=max(total, session.input_tokens) >= limit,
        overflows=total > usable,
    )


def is_due(sizes: Sizes, policy: CompactionPolicy, session: Session, turn: int, last_turn: int) -> bool:
    """Return True if an automatic compaction is due; `last_turn` had the run's last one, 0 for none."""
    if not policy.auto or not (sizes.is_full or sizes.overflows):
        return False
    has_failed = session.run is not None and session.run.compaction_failed
    is_early = last_turn > 0 and turn - last_turn < policy.min_turns_between
    return not is_early or (sizes.overflows and not has_failed)


def plan(
    session: Session,
    window: Window,
    policy: CompactionPolicy,
    trigger: CompactionTrigger,
    pins: Sequence[str] | None = None,
) -> Plan | None:
    """Plan a compaction; None if it would gain nothing. `pins` default to those of the session."""
    sizes = measure(session, window, policy, trigger)
    messages = session.messages
    pins = session.known.pins if pins is None else pins
    newest = _newest(messages, policy.keep_turns, sizes.room)
    left = max(0, sizes.room - _size(messages[newest:]) - estimate_tokens(HEADING))
    budget = min(int(sizes.window * CARRIED_SHARE), left // 2)
    left -= estimate_tokens(_carried(session, newest, pins, budget).text)
    most_tokens = min(policy.max_summary_tokens, sizes.room // SUMMARY_SHARE, left)
    most_tokens = max(MIN_SUMMARY_TOKENS, most_tokens)
    first = newest
    if newest < len(messages):
        others = left - most_tokens - int(sizes.room * (1 - AFTER_SHARE))
        most_kept = min(int(sizes.window * KEPT_SHARE), sizes.limit // 2)
        most_kept = min(most_kept, _size(messages[newest:]) + others)
        first = min(newest, first_kept(messages, policy.keep_turns, budget=most_kept, room=sizes.total))
    carried = _carried(session, first, pins, budget)
    to_clear = None
    if trigger != "manual" and policy.clear_outputs:
        to_clear = clear_outputs(messages, policy.keep_turns, _target(sizes, window))
    gain = _size(messages[:first]) - estimate_tokens(carried.text)
    least = MIN_SUMMARY_TOKENS if sizes.overflows or trigger != "automatic" else MIN_GAIN_TOKENS
    if to_clear is None and (first <= _old_summary(messages) or gain <= least):
        return None
    return Plan(to_clear, first, carried, most_tokens)


def _newest(messages: Sequence[Counted], keep_turns: int, room: int) -> int:
    """Return the index of the newest exchange; the number of messages if its results are too long to stay."""
    is_waiting = bool(messages) and messages[-1].message.role == "user"
    most = _size(messages) if is_waiting else int(room * NEWEST_SHARE)
    return first_kept(messages, keep_turns, budget=0, room=most)


def first_kept(messages: Sequence[Counted], keep_turns: int, *, budget: int, room: int) -> int:
    """Return the index of the first message that stays.

    The newest exchange stays if it fits into `room`, older ones as long as all fit into `budget`. A result
    always stays with its call, and the summary of an earlier compaction never stays.
    """
    first, replies, size = len(messages), 0, 0
    for index in range(len(messages) - 1, _old_summary(messages) - 1, -1):
        size += messages[index].tokens
        role = messages[index].message.role
        if role == "tool":
            continue
        replies += role == "assistant"
        if replies > keep_turns or size > (room if first == len(messages) else budget):
            break
        first = index
    return first


def clear_outputs(messages: Sequence[Counted], keep_turns: int, target: int) -> OutputsCleared | None:
    """Choose long outputs, oldest first, until at most `target` tokens are left; None if more stay."""
    before = after = _size(messages)
    everything = before + 1
    protected = first_kept(messages, keep_turns, budget=everything, room=everything)
    ids: list[CallId] = []
    for item in messages[:protected]:
        if after <= target:
            break
        found = [
            part.call_id for part in item.message.parts if isinstance(part, ToolResult) and _is_long(part)
        ]
        after -= item.tokens - clear_results(item, frozenset(found)).tokens
        ids += found
    return OutputsCleared(tuple(ids), before, after) if ids and after <= target else None


def compose(summary: str, carried: VerbatimText, *, can_recall: bool) -> Message:
    """Build the message that replaces the compacted ones."""
    heading = HEADING + (RECALL if can_recall else "")
    missing = f"Left out for lack of room: {'; '.join(carried.left_out)}" if carried.left_out else ""
    return user_message("\n\n".join(filter(None, (heading, summary, carried.text, missing))))


def check_pin(pins: Sequence[str], text: str) -> None:
    """Raise UsageError if a text is empty or too long to pin, or if too many texts are pinned."""
    if not text.strip():
        raise UsageError("nothing to pin: the text is empty")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PIN_BYTES:
        raise UsageError(
            f"the text to pin is longer than {MAX_PIN_BYTES // 1024} KiB",
            hint="put it into a file and pin the file's name",
        )
    if text not in pins and len(pins) >= MAX_PINS:
        raise UsageError(
            f"{len(pins)} texts are already pinned, the maximum",
            hint="bridle session pin SESSION --remove TEXT",
        )


def _is_long(result: ToolResult) -> bool:
    tokens = estimate_tokens(result.output) + MEDIA_TOKENS * len(result.media)
    return tokens > CLEARABLE_TOKENS and result.output != CLEARED


def _size(items: Sequence[Counted]) -> int:
    return sum([item.tokens for item in items])


def _target(sizes: Sizes, window: Window) -> int:
    return int(sizes.limit * CLEARED_SHARE) - window.system - window.tools


def _carried(session: Session, first: int, pins: Sequence[str], tokens: int) -> VerbatimText:
    """Choose what to keep word for word when the messages before `first` are replaced."""
    compacted, run = session.transcript.compacted, session.run
    said = [item.message.text for item in session.messages[:first] if item.kind == "correction"]
    corrections = (*(compacted.corrections if compacted is not None else ()), *said)
    prompt = run.prompt if run is not None and run.first_message < first else None
    return select_verbatim(session.known, pins, corrections, prompt, tokens)


def _old_summary(messages: Sequence[Counted]) -> int:
    """Return 1 if the first message is the summary of an earlier compaction, else 0."""
    return sum(item.kind == "summary" for item in messages[:1])
