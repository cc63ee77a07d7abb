"""The wire shape of an event, which differs between contract versions, and its envelope."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.surfaces.meerkat.contract import Contract
from bridle.surfaces.meerkat.events import (
    AgentEvent,
    CompactionFailed,
    HookPatchPublished,
    HookRewriteApplied,
    RunFailed,
    RunStarted,
    SkillsResolved,
    StreamTruncated,
    ToolExecutionCompleted,
    ToolResultReceived,
)

SKILL_SOURCE = "b21d1e00-0000-8000-8000-000000000001"
"""The source of all skills, for clients that name a skill by its source; skills here are folders on disk."""

_VARYING = (
    RunStarted
    | RunFailed
    | HookRewriteApplied
    | HookPatchPublished
    | ToolExecutionCompleted
    | ToolResultReceived
    | CompactionFailed
    | SkillsResolved
    | StreamTruncated
)
"""Events whose shape differs between versions."""


class Envelope(Struct, frozen=True):
    """An event with its source, its number and its time."""

    event_id: str
    source_id: str
    source: dict[str, str]
    seq: int
    timestamp_ms: int
    payload: Any


class Envelopes:
    """Puts the events of one session into envelopes, numbered in order."""

    def __init__(self, session: SessionId, stream: UUID) -> None:
        """Number events from 1; `stream` is unique, which makes each event id unique."""
        self._session = session
        self._prefix = str(stream)[:24]
        self._source = _source(session)
        self._seq = 0

    def wrap(self, payload: Any, timestamp_ms: int) -> Envelope:
        """Return the next envelope."""
        self._seq += 1
        event_id = f"{self._prefix}{self._seq:012x}"
        return Envelope(event_id, self._session, self._source, self._seq, timestamp_ms, payload)


def to_wire(event: AgentEvent, contract: Contract) -> Any:
    """Return an event in the shape to encode; None for one that clients of this version reject."""
    return _shaped(event, contract) if isinstance(event, _VARYING) else event


def _shaped(event: Any, contract: Contract) -> Any:
    data: dict[str, Any] = msgspec.to_builtins(event)
    match event:
        case HookRewriteApplied() | HookPatchPublished():
            return None if contract.since(0, 7) else data
        case RunStarted() if contract.since(0, 9):
            content = {"kind": "content", "content": event.prompt}
            data["input"] = content if event.prompt else {"kind": "pending_tool_results"}
        case RunFailed():
            if contract.since(0, 6):
                data["error_report"] = {"class": event.error_class, "message": event.error}
            else:
                del data["error_class"]
        case ToolExecutionCompleted() if contract.since(0, 7):
            del data["result"]
            if not contract.since(0, 9, 5):
                data["content"] = text_blocks(event.result)
        case ToolResultReceived():
            del data["result"]
            if contract.since(0, 9, 5):
                data["content"] = text_blocks(event.result)
        case CompactionFailed() if contract.since(0, 7):
            error = data.pop("error")
            told = {"kind": "llm_failed", "error_class": "llm", "message": error}
            data["reason"] = told if contract.since(0, 9) else error
        case SkillsResolved() if contract.since(0, 6):
            data["skills"] = [skill_key(name) for name in event.skills]
        case StreamTruncated():
            lagged = {"kind": "stream_lagged", "dropped": data.pop("dropped")}
            words = f"{event.dropped} fragments were left out"
            data["reason"] = lagged if contract.since(0, 8) else words
        case _:
            pass
    return data


def text_blocks(text: str) -> list[dict[str, str]]:
    """Return a text as content blocks."""
    return [{"type": "text", "text": text}]


def skill_key(name: str) -> dict[str, str]:
    """Return the key of a skill: its source and its name."""
    return {"source_uuid": SKILL_SOURCE, "skill_name": name}


def _source(session: SessionId) -> dict[str, str]:
    try:
        is_uuid = str(UUID(session)) == session
    except ValueError:
        is_uuid = False
    if is_uuid:
        return {"type": "session", "session_id": session}
    return {"type": "external", "source_id": session}
