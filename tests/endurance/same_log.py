"""Compares the log of a disturbed play with that of an undisturbed one.

| the disturbed one says | is |
|---|---|
| a run was resumed | left out |
| a call that only reads, a question or a compaction began again | counted once |
| a call was interrupted | its result, its changes and the sizes that follow from them are left out of both |

All else is compared as it is written.
"""

import errno
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.protocol import (
    ApprovalRequested,
    Checkpoint,
    CompactionStarted,
    FilesChanged,
    FilesSeen,
    MessageAdded,
    PromptQueued,
    Record,
    RunResumed,
    ToolFinished,
    ToolStarted,
)
from bridle.core.recovery import INTERRUPTED
from tests.conformance.log import normal

Records = dict[str, list[Record]]
"""By the name of the session."""

_SIZES = frozenset(("tokens", "context", "history_tokens", "input_tokens"))
_HARMED = (INTERRUPTED, *(os.strerror(number).lower() for number in (errno.ENOSPC, errno.EIO)))


class Logs(Struct, frozen=True):
    """What is compared of all sessions of a play."""

    exact: dict[str, list[Any]] = {}
    rough: dict[str, list[Any]] = {}
    """Without what a call that was cut off may or may not have come to."""
    lost: list[str] = []
    """Calls that have a result which says that they were interrupted, or that the disk has failed them."""
    again: list[str] = []
    """Calls that began more than once: each beginning counts in the totals."""
    resumed: int = 0

    def differences(self, expected: "Logs") -> list[str]:
        """Return where these logs differ from the expected ones."""
        ours, theirs = (expected.rough, self.rough) if self.lost else (expected.exact, self.exact)
        wrong = []
        if ours.keys() != theirs.keys():
            wrong.append(f"there are {sorted(theirs)}, expected {sorted(ours)}")
        for name in ours.keys() & theirs.keys():
            one, other = _known(ours[name], self), _known(theirs[name], self)
            if one != other:
                wrong.append(f"{name}: {_first_difference(one, other)}")
        return wrong


def logs_of(records: Records, folder: Path) -> Logs:
    """Return what is compared of a play in a folder."""
    places = {f"scripted/{folder}/script.json": "MODEL", str(folder): "FOLDER"}
    begun = Counter(one.event.call_id for one in _all(records) if isinstance(one.event, ToolStarted))
    return Logs(
        exact={name: normal(_once(log), places) for name, log in records.items()},
        rough={name: normal(_certain(_once(log)), places) for name, log in records.items()},
        lost=[
            one.event.result.call_id
            for one in _all(records)
            if isinstance(one.event, ToolFinished)
            and any(text in one.event.result.output.lower() for text in _HARMED)
        ],
        again=[call for call, times in begun.items() if times > 1],
        resumed=sum(isinstance(one.event, RunResumed) for one in _all(records)),
    )


def _all(records: Records) -> list[Record]:
    return [one for log in records.values() for one in log]


def _once(records: Sequence[Record]) -> list[Record]:
    """Leave out that a run was resumed, and what was said again because of that."""
    kept: list[Record] = []
    said: set[tuple[type, str]] = set()
    for record in records:
        match record.event:
            case RunResumed():
                continue
            case ToolStarted(call_id=call_id) | ApprovalRequested(call_id=call_id):
                key = (type(record.event), call_id)
                if key in said:
                    continue
                said.add(key)
            case CompactionStarted() if kept and isinstance(kept[-1].event, CompactionStarted):
                kept.pop()
            case _:
                pass
        kept.append(record)
    return kept


def _certain(records: Sequence[Record]) -> list[Record]:
    """Leave out what a call that was cut off may or may not have done: also a prompt that it has queued."""
    kept = []
    for record in records:
        match record.event:
            case FilesSeen() | FilesChanged() | PromptQueued():
                continue
            case MessageAdded() as added:
                record = replace(record, event=replace(added, item_id=None))
            case Checkpoint(facts=facts):
                record = replace(record, event=Checkpoint(replace(facts, queue=())))
            case _:
                pass
        kept.append(record)
    return kept


def _known(events: Sequence[Any], disturbed: Logs) -> list[Any]:
    dropped: frozenset[str] = frozenset(("tool_calls",)) if disturbed.again else frozenset()
    if disturbed.lost:
        dropped |= _SIZES
        events = [_known_event(event, disturbed.lost) for event in events]
    return [_without(event, dropped) for event in events]


def _known_event(event: dict[str, Any], lost: Sequence[str]) -> dict[str, Any]:
    match event:
        case {"type": "tool_finished", "result": {"call_id": call_id}} if call_id in lost:
            return {"type": "tool_finished", "call_id": call_id}
        case {"type": "checkpoint", "facts": {"totals": totals}}:
            return {"type": "checkpoint", "totals": totals}
        case {"type": "compacted"}:  # it names the files that are known
            return {"type": "compacted"}
        case _:
            return event


def _without(value: Any, dropped: frozenset[str]) -> Any:
    match value:
        case dict():
            return {key: _without(item, dropped) for key, item in value.items() if key not in dropped}
        case list():
            return [_without(item, dropped) for item in value]
        case _:
            return value


def _first_difference(ours: list[Any], theirs: list[Any]) -> str:
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return f"event {number} is {other}, expected {one}"
    more = (theirs if len(theirs) > len(ours) else ours)[min(len(ours), len(theirs))]
    return f"{len(theirs)} events, expected {len(ours)}: {more}"
