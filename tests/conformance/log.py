"""A stored log without parts that differ from run to run: ids, times, hashes, durations, paths."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bridle.core.protocol import Record

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

DROPPED = frozenset(("duration_ms", "delay_ms", "created_at", "snapshot", "key", "taken"))
"""Times, the wait before a retry, which has a random part, the seal of what a kernel holds, and the keys of
those who send a prompt so that it is not taken twice."""

SPARSE = frozenset(("options", "limits", "hooks"))
"""Where nothing was asked for, that may be written or not."""


def normal(records: Sequence[Record], places: Mapping[str, str]) -> list[Any]:
    """Return the events of a log; ids are numbered in the order in which they come up."""
    names: dict[str, str] = {}

    def numbered(text: str) -> str:
        return UUID.sub(lambda found: names.setdefault(found[0], f"ID{len(names) + 1}"), plain(text, places))

    def clean(value: Any) -> Any:
        match value:
            case str():
                return numbered(value)
            case dict():
                cleaned = {numbered(key): clean(item) for key, item in value.items() if key not in DROPPED}
                return {key: item for key, item in cleaned.items() if item != {} or key not in SPARSE}
            case list() | tuple():
                return [clean(item) for item in value]
            case _:
                return value

    return _in_order([clean(_without_reason(msgspec.to_builtins(record.event))) for record in records])


def _without_reason(event: dict[str, Any]) -> dict[str, Any]:
    """Leave out who has stopped a run: each surface has its own words for that."""
    is_stop = event.get("outcome") in ("cancelled", "denied") or event.get("answer") == "stop"
    return {key: value for key, value in event.items() if key != "reason"} if is_stop else event


def plain(text: str, places: Mapping[str, str]) -> str:
    """Return a text with the names of places for their paths."""
    for path, name in places.items():
        text = text.replace(path, name)
    return text


def _in_order(events: list[Any]) -> list[Any]:
    """Put calls that ran beside each other one after the other: which of them is first is chance."""
    ordered: list[Any] = []
    beside: list[Any] = []
    for event in events:
        if event["type"] in ("tool_started", "tool_finished"):
            beside.append(event)
            continue
        ordered += [*sorted(beside, key=_call_of), event]
        beside = []
    return [*ordered, *sorted(beside, key=_call_of)]


def _call_of(event: Any) -> str:
    name: str = event["call_id"] if event["type"] == "tool_started" else event["result"]["call_id"]
    return name
