"""The messages of a session for people, including those that compaction removed for the model."""

from collections.abc import Sequence

from bridle.core.messages import Message
from bridle.core.protocol import Compacted, CompactionFailed, OutputsCleared, Pinned, Record
from bridle.core.transcript import Transcript, drop_rewound, is_visible_to_people
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import format_count

Note = Compacted | CompactionFailed | OutputsCleared | Pinned


def list_visible_messages(records: Sequence[Record]) -> list[Message | Note]:
    """Return the messages that were not rewound, with notes on the context window between them."""
    transcript = Transcript()
    items: list[Message | Note] = []
    for record in drop_rewound(records).records:
        event = record.event
        if is_visible_to_people(event):
            transcript.apply(event)
            items += [counted.message for counted in transcript.messages]
            transcript.messages.clear()
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
