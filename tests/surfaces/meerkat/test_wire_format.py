"""The formats that clients of each version read, and the envelope."""

from typing import Any
from uuid import UUID

import meerkat.events
import msgspec
import pytest

from bridle.core.ids import SessionId
from bridle.surfaces.meerkat import events as told
from bridle.surfaces.meerkat.contract import parse_contract
from bridle.surfaces.meerkat.events import TokenUsage
from bridle.surfaces.meerkat.wire_format import SKILL_SOURCE, Envelopes, to_wire

SESSION = SessionId("0199f6d0-0000-7000-8000-000000000001")
USAGE = TokenUsage(1, 2, 3, None, None)

EVERY: list[told.AgentEvent] = [
    told.RunStarted(SESSION, "hi"),
    told.RunCompleted(SESSION, "x", USAGE),
    told.RunFailed(SESSION, "broke", "llm"),
    told.HookStarted("h", "run_started"),
    told.HookCompleted("h", "run_started", 1),
    told.HookFailed("h", "run_started", "e"),
    told.HookDenied("h", "run_started", "timeout", "m"),
    told.HookRewriteApplied("h", "pre_tool_execution", {"patch_type": "tool_args"}),
    told.HookPatchPublished("h", "pre_tool_execution", {"revision": 1}),
    told.TurnStarted(0),
    told.TextDelta("x"),
    told.TextComplete("x"),
    told.ToolCallRequested("a", "glob", {}),
    told.ToolExecutionStarted("a", "glob"),
    told.ToolExecutionCompleted("a", "glob", "r", False, 1),
    told.ToolExecutionTimedOut("a", "glob", 1),
    told.ToolResultReceived("a", "glob", False, "r"),
    told.TurnCompleted("end_turn", USAGE),
    told.CompactionStarted(1, 2, 3),
    told.CompactionCompleted(1, 2, 3),
    told.CompactionFailed("e"),
    told.BudgetWarning("tokens", 1, 2, 0.5),
    told.Retrying(1, 2, "e", 3),
    told.SkillsResolved(("review",), 9),
    told.SkillResolutionFailed("review", "no"),
    told.StreamTruncated(3),
]
NEWER = [told.ReasoningDelta("x"), told.ReasoningComplete("x")]


def wire(event: told.AgentEvent, contract: str) -> Any:
    """Return what a client decodes."""
    return msgspec.json.decode(msgspec.json.encode(to_wire(event, parse_contract(contract))))


@pytest.mark.parametrize("event", EVERY, ids=lambda event: type(event).__name__)
def test_the_sdk_of_0_5_2_knows_every_event(event: told.AgentEvent):
    raw = wire(event, "0.5.2")

    parsed = meerkat.events.parse_event(raw)

    assert type(parsed).__name__ == type(event).__name__
    assert {name: getattr(parsed, name) for name in raw.keys() - {"type", "usage", "name"}} == {
        name: value for name, value in raw.items() if name not in ("type", "usage", "name")
    }


def test_it_takes_newer_ones_as_unknown():
    parsed = [meerkat.events.parse_event(wire(event, "0.5.2")) for event in NEWER]

    assert [type(event).__name__ for event in parsed] == ["UnknownEvent", "UnknownEvent"]


def test_a_run_that_begins_differs_between_versions():
    event = told.RunStarted(SESSION, "hi")
    resumed = told.RunStarted(SESSION, "")

    assert wire(event, "0.8.26") == {"type": "run_started", "session_id": SESSION, "prompt": "hi"}
    assert wire(event, "0.9.6")["input"] == {"kind": "content", "content": "hi"}
    assert wire(resumed, "0.9.6")["input"] == {"kind": "pending_tool_results"}


def test_a_run_that_fails_differs_between_versions():
    event = told.RunFailed(SESSION, "broke", "llm")
    old = {"type": "run_failed", "session_id": SESSION, "error": "broke"}
    new = {**old, "error_class": "llm", "error_report": {"class": "llm", "message": "broke"}}

    assert [wire(event, version) for version in ("0.5.2", "0.6.0", "0.9.6")] == [old, new, new]


def test_the_result_of_a_tool_moves_between_events():
    done = told.ToolExecutionCompleted("a", "glob", "r", False, 1)
    received = told.ToolResultReceived("a", "glob", False, "r")
    facts = {"id": "a", "name": "glob", "is_error": False}
    blocks = [{"type": "text", "text": "r"}]

    ended = {"type": "tool_execution_completed", **facts, "duration_ms": 1}
    assert wire(done, "0.6.34") == {**ended, "result": "r"}
    assert wire(done, "0.8.26") == {**ended, "content": blocks}
    assert wire(done, "0.9.6") == ended
    assert wire(received, "0.8.26") == {"type": "tool_result_received", **facts}
    assert wire(received, "0.9.6") == {"type": "tool_result_received", **facts, "content": blocks}


def test_a_failed_compaction_says_why_in_the_words_of_each_version():
    event = told.CompactionFailed("e")

    assert wire(event, "0.6.34") == {"type": "compaction_failed", "error": "e"}
    assert wire(event, "0.8.26") == {"type": "compaction_failed", "reason": "e"}
    assert wire(event, "0.9.6")["reason"] == {"kind": "llm_failed", "error_class": "llm", "message": "e"}


def test_skills_and_lost_fragments_differ_between_versions():
    skills, lost = told.SkillsResolved(("review",), 9), told.StreamTruncated(3)

    assert wire(skills, "0.5.2")["skills"] == ["review"]
    assert wire(skills, "0.6.0")["skills"] == [{"source_uuid": SKILL_SOURCE, "skill_name": "review"}]
    assert wire(lost, "0.7.31")["reason"] == "3 fragments were left out"
    assert wire(lost, "0.8.26")["reason"] == {"kind": "stream_lagged", "dropped": 3}


@pytest.mark.parametrize("event", EVERY[7:9])
def test_events_that_newer_clients_refuse_are_kept_from_them(event: told.AgentEvent):
    assert to_wire(event, parse_contract("0.6.34")) is not None
    assert to_wire(event, parse_contract("0.7.0")) is None


def test_envelopes_are_numbered_and_have_ids_of_their_own():
    envelopes = Envelopes(SESSION, UUID(int=7))

    first, second = (msgspec.to_builtins(envelopes.wrap({"type": "x"}, 5)) for _ in range(2))

    assert first == {
        "event_id": "00000000-0000-0000-0000-000000000001",
        "source_id": SESSION,
        "source": {"type": "session", "session_id": SESSION},
        "seq": 1,
        "timestamp_ms": 5,
        "payload": {"type": "x"},
    }
    assert (second["seq"], str(UUID(second["event_id"]))) == (2, second["event_id"])


def test_a_session_with_another_id_is_a_source_all_the_same():
    envelope = Envelopes(SessionId("my-session"), UUID(int=7)).wrap({}, 5)

    assert envelope.source == {"type": "external", "source_id": "my-session"}
