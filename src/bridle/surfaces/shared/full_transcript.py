"""What people see of a session: all messages, even compacted ones, and the calls made by code."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalRequested,
    Compacted,
    CompactionFailed,
    MessageAdded,
    OutputsCleared,
    Pinned,
    Record,
    ToolFinished,
    ToolStarted,
)
from bridle.core.transcript import Transcript, drop_rewound, is_visible_to_people
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import format_count

Note = Compacted | CompactionFailed | OutputsCleared | Pinned


class FromAgent(Struct, frozen=True):
    """Comes before a message that another agent wrote, not the user."""

    name: Literal["sub-agent", "another agent"]


_AGENTS: dict[str, FromAgent] = {"child": FromAgent("sub-agent"), "peer": FromAgent("another agent")}


def list_visible_messages(records: Sequence[Record]) -> list[Message | Note | FromAgent]:
    """Return the messages that were not rewound, with notes on the context window between them."""
    transcript = Transcript()
    items: list[Message | Note | FromAgent] = []
    for record in drop_rewound(records):
        event = record.event
        if is_visible_to_people(event):
            messages: list[Message | FromAgent] = [counted.message for counted in transcript.take(event)]
            if isinstance(event, MessageAdded) and event.source in _AGENTS:
                messages.insert(-1, _AGENTS[event.source])
            items += messages
        if isinstance(event, Note) and not (isinstance(event, Compacted) and is_visible_to_people(event)):
            items.append(event)
    return items


def describe_note(note: Note) -> str:
    """Return on one line how the context window changed."""
    match note:
        case Compacted():
            left_out = f", without {'; '.join(note.left_out)}" if note.left_out else ""
            return one_line(
                f"compacted: {note.messages_before:,} messages to {note.messages_after:,}, "
                f"{note.tokens_before:,} tokens to {note.tokens_after:,}{left_out}"
            )
        case CompactionFailed():
            return one_line(f"not compacted: {note.error}")
        case OutputsCleared():
            saved = note.tokens_before - note.tokens_after
            return (
                f"cleared for the model: {format_count(len(note.call_ids), 'old output')}, {saved:,} tokens"
            )
        case Pinned():
            return one_line(f"{'pinned' if note.pinned else 'no longer pinned'}: {note.text}")


class NestedCall(Struct, frozen=True, omit_defaults=True):
    """A tool call made by the code of another call."""

    call: ToolCall
    result: ToolResult | None = None
    """None when its end is not recorded."""

    @property
    def parts(self) -> tuple[ToolCall | ToolResult, ...]:
        """The call, and its result if there is one."""
        return (self.call,) if self.result is None else (self.call, self.result)


class CodeCall(Struct, frozen=True, omit_defaults=True):
    """The calls and the final answer of one code call."""

    calls: tuple[NestedCall, ...] = ()
    answer: str = ""
    """The final answer of the run, if the code gave one."""


def collect_code_calls(records: Sequence[Record]) -> dict[CallId, CodeCall]:
    """Return the cells of code calls by call id; those without nested calls or an answer are left out.

    Rewound records are left out. Of a call that was refused without a question only the name is known.
    """
    made: dict[CallId, dict[CallId, NestedCall]] = {}
    answers: dict[CallId, str] = {}
    for record in drop_rewound(records):
        match record.event:
            case ToolStarted(parent=str() as parent) | ApprovalRequested(parent=str() as parent) as event:
                call = ToolCall(event.call_id, event.tool, event.args)
                made.setdefault(CallId(parent), {})[call.id] = NestedCall(call)
            case ToolFinished(parent=str() as parent, result=result):
                calls = made.setdefault(CallId(parent), {})
                begun = calls.get(result.call_id)
                call = ToolCall(result.call_id, result.name) if begun is None else begun.call
                calls[result.call_id] = NestedCall(call, result)
            case ToolFinished(answer=answer, result=result) if answer:
                answers[result.call_id] = answer
            case _:
                pass
    return {
        call_id: CodeCall(tuple(made.get(call_id, {}).values()), answers.get(call_id, ""))
        for call_id in made | answers
    }
