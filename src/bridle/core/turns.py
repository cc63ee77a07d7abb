"""The turns of a session and its file changes: folds over its records."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from bridle.core.errors import UsageError
from bridle.core.ids import CallId
from bridle.core.protocol import Event, FilesChanged, MessageAdded, Record, Rewound, RunStarted, TurnEnded
from bridle.core.revision import FileChange
from bridle.core.transcript import drop_rewound

MAX_CHANGES_PER_EVENT = 500


class Turn(Struct, frozen=True):
    """One turn of the current conversation; turn 0 is the time before the first prompt."""

    number: int
    seq: int
    """The event that ended the turn."""
    prompt: str = ""
    """The prompt of its run."""
    files: int = 0
    """How many files it changed."""


def list_turns(records: Sequence[Record]) -> list[Turn]:
    """Return the turns of the current conversation, numbered from 1, after turn 0."""
    turns = [Turn(0, 1)]
    prompt, files, starts = "", 0, False
    for record in drop_rewound(records):
        match record.event:
            case RunStarted():
                starts = True
            case MessageAdded() as added if starts:
                prompt, starts = added.message.text, False
            case FilesChanged() as changed:
                files += len(changed.changes)
            case TurnEnded():
                turns.append(Turn(len(turns), record.seq, prompt, files))
                files = 0
            case _:
                pass
    return turns


def find_turn(records: Sequence[Record], number: int) -> Turn:
    """Return a turn by its number; raises UsageError."""
    turns = list_turns(records)
    if not 0 <= number < len(turns):
        raise UsageError(
            f"the session has turns 0 to {len(turns) - 1}, not {number}", hint="bridle session turns ID"
        )
    return turns[number]


def last_rewind(records: Sequence[Record]) -> int:
    """Return the sequence number just before the newest rewind, to undo it; raises UsageError if none."""
    for record in reversed(records):
        if isinstance(record.event, Rewound):
            first = record.seq - 1
            while first > 1 and _is_part_of_rewind(records[first - 1].event):
                first -= 1
            return first
    raise UsageError("this session has no rewind to undo")


def _is_part_of_rewind(event: Event) -> bool:
    return isinstance(event, FilesChanged) and event.rewind


def file_changes(records: Iterable[Record], after: int = 0, upto: int | None = None) -> list[FileChange]:
    """Return every recorded change with after < seq <= upto, in order."""
    return [
        change
        for record in records
        if record.seq > after and (upto is None or record.seq <= upto)
        if isinstance(record.event, FilesChanged)
        for change in record.event.changes
    ]


def make_change_events(
    changes: Sequence[FileChange], call_id: CallId | None = None, *, rewind: bool = False
) -> list[Event]:
    """Return the events that record changes, with at most `MAX_CHANGES_PER_EVENT` changes each."""
    starts = range(0, len(changes), MAX_CHANGES_PER_EVENT)
    return [FilesChanged(tuple(changes[at : at + MAX_CHANGES_PER_EVENT]), call_id, rewind) for at in starts]
