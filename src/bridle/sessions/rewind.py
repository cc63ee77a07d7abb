"""Rewinds a session: plans what would change, and does it.

One event takes the conversation back (`core/transcript.py`); the states recorded with every change take the
files back (`core/revision.py`). A file that was changed from outside since is a conflict and stays.
"""

import asyncio
from collections.abc import Iterable, Sequence

from bridle.core.errors import SessionConflict, StoreError, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Blobs, FileTracker, Store
from bridle.core.protocol import Event, Record, Rewind, Rewound, Todo, TodosChanged
from bridle.core.queries import RewindPlan
from bridle.core.revision import FileChange, FileState, conflicts, last_states, net_changes, states_at
from bridle.core.session import snapshot_at
from bridle.core.transcript import drop_open_calls, drop_rewound
from bridle.core.turns import file_changes, make_change_events
from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.toolbox import cap_output

MAX_DIFF_BYTES = 64 * 1024  # per file


def check_seq(session: SessionId, records: Sequence[Record], seq: int) -> None:
    """Raise UsageError if no record has this number."""
    if not 1 <= seq <= records[-1].seq:
        raise UsageError(f"session {session} has events 1 to {records[-1].seq}, not {seq}")


async def plan_rewind(records: Sequence[Record], to_seq: int, keeper: FileTracker) -> RewindPlan:
    """Return what a rewind would do to the files; changes nothing."""
    changes = file_changes(records, after=to_seq)
    targets, expected = states_at(changes), last_states(changes)
    found = await asyncio.to_thread(keeper.look, list(targets))
    todo = [FileChange(path, found[path], target) for path, target in sorted(targets.items())]
    steps = tuple(change for change in todo if change.before != change.after)
    return RewindPlan(
        to_seq,
        steps,
        tuple(conflicts({step.path: expected[step.path] for step in steps}, found)),
        tuple(change.path for change in todo if change.after is not None and not change.after.kept),
    )


async def rewind(
    session: SessionId, command: Rewind, store: Store, keeper: FileTracker | None, *, is_over: bool = False
) -> list[Event]:
    """Restore the files and return what to record; raises SessionConflict before anything is touched.

    `is_over` is passed to `FileTracker.collect`.
    """
    records = await store.read(session)
    check_seq(session, records, command.to_seq)
    changed: list[Event] = []
    left: tuple[str, ...] = ()
    if command.scope != "conversation" and keeper is not None:
        plan = await plan_rewind(records, command.to_seq, keeper)
        if plan.conflicts and not command.force:
            raise SessionConflict(
                f"changed outside the session: {', '.join(plan.conflicts[:10])}",
                hint="check them, then rewind with --force, or skip files with --only conversation",
            )
        targets = {change.path: change.after for change in plan.changes}
        left = await asyncio.to_thread(keeper.restore, targets)
        changed = make_change_events(await asyncio.to_thread(keeper.collect, is_over=is_over), rewind=True)
    past = drop_rewound([record for record in records if record.seq <= command.to_seq])
    whole = drop_open_calls(past)
    is_cut = len(whole) < len(past) and command.scope != "files"
    to_seq = past[len(whole)].seq - 1 if is_cut else command.to_seq
    return [*changed, Rewound(to_seq, command.scope, _todos_at(past), left, snapshot_at(past))]


def _todos_at(past: Sequence[Record]) -> tuple[Todo, ...]:
    found = (record.event.todos for record in reversed(past) if isinstance(record.event, TodosChanged))
    return next(found, ())


def describe_changes(changes: Iterable[FileChange], blobs: Blobs) -> str:
    """Return changes as one unified diff; content that is not text gets one line."""
    return "".join(_describe(change, blobs) for change in net_changes(changes))


def _describe(change: FileChange, blobs: Blobs) -> str:
    before, after = change.before, change.after
    if before is None or after is None or before.kind != after.kind:
        return _describe_content(change, blobs)
    mode = (
        f"{change.path}: mode {before.mode:o} becomes {after.mode:o}\n" if before.mode != after.mode else ""
    )
    return mode + (_describe_content(change, blobs) if before.digest != after.digest else "")


def _describe_content(change: FileChange, blobs: Blobs) -> str:
    before, after = change.before, change.after
    old, new = _text(before, blobs), _text(after, blobs)
    if _is_file(after) and before is None and new is not None:
        return cap_output(new_file_diff(new, change.path), MAX_DIFF_BYTES)
    if (_is_file(before) or _is_file(after)) and old is not None and new is not None:
        return cap_output(unified_diff(old, new, change.path), MAX_DIFF_BYTES)
    return f"{change.path}: {_word(before)} becomes {_word(after)}\n"


def _is_file(state: FileState | None) -> bool:
    return state is not None and state.kind == "file"


def _word(state: FileState | None) -> str:
    if state is None:
        return "nothing"
    return f"a file of {state.size} bytes" if state.kind == "file" else f"a {state.kind}"


def _text(state: FileState | None, blobs: Blobs) -> str | None:
    """Return a file's content if it is text; empty if there is no file."""
    if state is None:
        return ""
    if state.kind != "file" or not state.kept:
        return None
    try:
        return blobs.get(state.digest).decode()
    except (StoreError, UnicodeDecodeError):
        return None
