"""From records to Meerkat's events: the documented order, for every possible stream."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import ContextUsage
from bridle.core.hook import ToolArgsPatch
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Aborted,
    ApprovalRequested,
    BudgetExhausted,
    BudgetWarned,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Delta,
    Event,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    HookStarted,
    Lagged,
    MessageAdded,
    ModelReplied,
    Notice,
    ReasoningDelta,
    Record,
    Retrying,
    RunEnded,
    RunResumed,
    RunStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.surfaces.meerkat import events as told
from bridle.surfaces.meerkat.event_translator import EventTranslator
from bridle.surfaces.meerkat.events import AgentEvent, token_usage
from tests.stores.strategies import events as stored_events

SESSION = SessionId("0199f6d0-0000-7000-8000-000000000001")
RUN = RunId("run")
USAGE = Usage(input=10, output=5, cache_read=3)
BEGUN = (RunStarted(RUN, "m/m"), MessageAdded(user_message("Look.")))


def translate(*items: Event | Delta) -> list[AgentEvent]:
    """Translate these records, as one session."""
    translation = EventTranslator(SESSION)
    deltas = get_args(Delta)
    records = (
        item if isinstance(item, deltas) else Record(seq, 1_000, item, "")  # type: ignore[arg-type]
        for seq, item in enumerate(items, 1)
    )
    return [event for item in records for event in translation.add(item)]  # type: ignore[arg-type]


def reply(turn: int, *parts: Any, stop: Any = "end_turn") -> ModelReplied:
    return ModelReplied(RUN, turn, Message("assistant", parts), stop, USAGE)


def finished(call_id: str, output: str, *, is_error: bool = False, **more: Any) -> ToolFinished:
    return ToolFinished(ToolResult(CallId(call_id), "glob", output, is_error=is_error), 7, **more)


def test_a_plain_answer_is_told_in_the_documented_order():
    items = (
        *BEGUN,
        TurnStarted(RUN, 1),
        ReasoningDelta("h"),
        TextDelta("He"),
        TextDelta("llo."),
        reply(1, Reasoning("h"), Text("Hello.")),
        TurnEnded(RUN, 1, USAGE, ContextUsage()),
        RunEnded(RUN, "completed", "Hello.", usage=USAGE),
    )

    assert translate(*items) == [
        told.RunStarted(SESSION, "Look."),
        told.TurnStarted(0),
        told.ReasoningDelta("h"),
        told.TextDelta("He"),
        told.TextDelta("llo."),
        told.ReasoningComplete("h"),
        told.TextComplete("Hello."),
        told.TurnCompleted("end_turn", token_usage(USAGE)),
        told.RunCompleted(SESSION, "Hello.", token_usage(USAGE)),
    ]


def test_a_turn_with_tools_is_told_in_the_documented_order():
    calls = [ToolCall(CallId(name), "glob", {"pattern": name}) for name in ("a", "b")]
    items = (
        *BEGUN,
        TurnStarted(RUN, 1),
        reply(1, *calls, stop="tool_use"),
        ToolStarted(CallId("a"), "glob", {}),
        ToolStarted(CallId("b"), "glob", {}),
        finished("a", "A"),
        finished("b", "B", is_error=True),
        TurnEnded(RUN, 1, USAGE, ContextUsage()),
        TurnStarted(RUN, 2),
    )

    assert translate(*items)[2:] == [
        told.ToolCallRequested("a", "glob", {"pattern": "a"}),
        told.ToolCallRequested("b", "glob", {"pattern": "b"}),
        told.ToolExecutionStarted("a", "glob"),
        told.ToolExecutionStarted("b", "glob"),
        told.ToolExecutionCompleted("a", "glob", "A", is_error=False, duration_ms=7),
        told.ToolResultReceived("a", "glob", is_error=False, result="A"),
        told.ToolExecutionCompleted("b", "glob", "B", is_error=True, duration_ms=7),
        told.ToolResultReceived("b", "glob", is_error=True, result="B"),
        told.TurnCompleted("tool_use", token_usage(USAGE)),
        told.TurnStarted(1),
    ]


def test_a_refused_call_starts_before_it_is_completed():
    items = (reply(1, ToolCall(CallId("a"), "glob", {})), finished("a", "denied", is_error=True, denied=True))

    assert translate(*items)[1:] == [
        told.ToolExecutionStarted("a", "glob"),
        told.ToolExecutionCompleted("a", "glob", "denied", is_error=True, duration_ms=7),
        told.ToolResultReceived("a", "glob", is_error=True, result="denied"),
    ]


def test_calls_that_code_makes_are_told_without_a_result_for_the_model():
    nested = ToolStarted(CallId("n"), "glob", {"pattern": "*"}, parent=CallId("a"))

    assert translate(nested, finished("n", "N", parent=CallId("a"))) == [
        told.ToolCallRequested("n", "glob", {"pattern": "*"}),
        told.ToolExecutionStarted("n", "glob"),
        told.ToolExecutionCompleted("n", "glob", "N", is_error=False, duration_ms=7),
    ]


def test_a_tool_that_was_too_slow_is_told_as_one():
    late = finished("a", "glob did not finish within 1.5 s", is_error=True)

    assert translate(late)[0] == told.ToolExecutionTimedOut("a", "glob", 1500)
    assert len(translate(finished("a", "glob did not finish within 1.5 s"))) == 2


@pytest.mark.parametrize("amount", [".", "1.2.3", "1e", "e+", "1e999", "9" * 5000, "1e+99"])
def test_what_a_tool_says_of_being_slow_is_not_taken_for_a_number_of_ours(amount: str):
    """Every tool can fail with these words; they may not end the stream of a client."""
    said = f"glob did not finish within {amount} s"

    assert translate(finished("a", said, is_error=True)) == [
        told.ToolExecutionCompleted("a", "glob", said, is_error=True, duration_ms=7),
        told.ToolResultReceived("a", "glob", is_error=True, result=said),
    ]


def test_hooks_are_told_where_they_happen():
    patch = ToolArgsPatch({"pattern": "*"})
    items = (
        HookStarted("h", "run_started"),
        HookCompleted("h", "run_started", 3),
        HookFailed("h", "turn_boundary", "broke"),
        HookDenied("h", "pre_tool_execution", "policy_violation", "no", {"why": 1}),
        HookRewrote("h", "pre_tool_execution", patch),
        HookPublished("h", "pre_tool_execution", patch, 4),
    )
    published = {
        "revision": 4,
        "hook_id": "h",
        "point": "pre_tool_execution",
        "patch": {"patch_type": "tool_args", "args": {"pattern": "*"}},
        "published_at": "1970-01-01T00:00:01.000Z",
    }

    assert translate(*items) == [
        told.HookStarted("h", "run_started"),
        told.HookCompleted("h", "run_started", 3),
        told.HookFailed("h", "turn_boundary", "broke"),
        told.HookDenied("h", "pre_tool_execution", "policy_violation", "no", {"why": 1}),
        told.HookRewriteApplied("h", "pre_tool_execution", published["patch"]),
        told.HookPatchPublished("h", "pre_tool_execution", published),
    ]


def test_compaction_budget_and_retry_have_their_events():
    summary = Compacted(user_message("s"), 2, 30, 10, 3, 900, 90)
    items = (
        CompactionStarted("automatic", 900, 800, 10),
        summary,
        CompactionFailed("no room"),
        BudgetWarned("tokens", 80, 100),
        BudgetWarned("cost", 0.8, 1.0),
        BudgetExhausted("duration", 61.5, 60.0),
        BudgetExhausted("tool_calls", 0, 0),
        Retrying(RUN, 1, 2, 3, "rate_limited", "slow down", 500),
    )

    assert translate(*items) == [
        told.CompactionStarted(900, 800, 10),
        told.CompactionCompleted(30, 10, 3),
        told.CompactionFailed("no room"),
        told.BudgetWarning("tokens", 80, 100, 0.8),
        told.BudgetWarning("time", 61, 60, 1.0),
        told.BudgetWarning("tool_calls", 0, 0, 1.0),
        told.Retrying(2, 3, "slow down", 500),
    ]


def test_every_end_but_an_answer_is_a_failure_that_says_why():
    ends = {
        "cancelled": RunEnded(RUN, "cancelled", reason="interrupted"),
        "budget": RunEnded(RUN, "budget_exhausted", reason="tokens"),
        "max_turns": RunEnded(RUN, "limit", reason="100 turns"),
        "llm": RunEnded(RUN, "failed", reason="busy", error="server_overloaded"),
        "internal": RunEnded(RUN, "failed", reason="broke"),
        "tool": RunEnded(RUN, "denied", reason="nobody"),
    }

    assert {name: translate(*BEGUN, end)[-1] for name, end in ends.items()} == {
        name: told.RunFailed(SESSION, end.reason, name) for name, end in ends.items()
    }
    refusal = HookDenied("h", "run_started", "policy_violation", "no")
    denied = translate(*BEGUN, refusal, RunEnded(RUN, "denied", reason="no"))
    assert denied[-1] == told.RunFailed(SESSION, "no", "hook")
    assert translate(Aborted(RUN, "disk full")) == [told.RunFailed(SESSION, "disk full", "store")]


def test_a_resumed_run_begins_without_a_prompt():
    assert translate(RunResumed(RUN)) == [told.RunStarted(SESSION, "")]


def test_what_was_left_out_for_a_slow_reader_is_told():
    assert translate(Lagged(12), Notice("loading")) == [told.StreamTruncated(12)]


def test_skills_in_the_prompt_are_told():
    skill = "[Skill: review]\nBase path: .\n\nLook at it."
    prompt = Message("user", (Text(skill), Text("now")))

    assert translate(RunStarted(RUN, "m/m"), MessageAdded(prompt)) == [
        told.RunStarted(SESSION, f"{skill}now"),
        told.SkillsResolved(("review",), len(skill)),
    ]


def test_what_meerkat_has_no_word_for_is_left_out():
    assert translate(ApprovalRequested(CallId("a"), "bash", {}, "why")) == []


MIDDLE = st.sampled_from(
    [
        TurnStarted(RUN, 1),
        TurnEnded(RUN, 1, USAGE, ContextUsage()),
        reply(1, Text("x")),
        reply(1, ToolCall(CallId("a"), "glob", {}), stop="tool_use"),
        ToolStarted(CallId("a"), "glob", {}),
        finished("a", "A"),
        finished("a", "glob did not finish within 9 s", is_error=True),
        TextDelta("x"),
        ReasoningDelta("y"),
        Lagged(1),
        Notice("n"),
        HookStarted("h", "run_started"),
        HookDenied("h", "run_started", "timeout", "late"),
        HookFailed("h", "turn_boundary", "broke"),
        MessageAdded(user_message("more"), "steer"),
        BudgetExhausted("turns", 1, 1),
        CompactionFailed("no"),
        RunResumed(RUN),
    ]
)
ENDS = st.sampled_from(["completed", "denied", "cancelled", "failed", "budget_exhausted", "limit"])


@given(st.lists(MIDDLE, max_size=30), ENDS)
def test_any_run_begins_and_ends_as_clients_expect(middle: list[Any], outcome: Any):
    events = translate(*BEGUN, *middle, RunEnded(RUN, outcome, "x", "because"))

    kinds = [type(event) for event in events]
    last = told.RunCompleted if outcome == "completed" else told.RunFailed
    assert kinds[0] is told.RunStarted
    assert kinds[-1] is last
    assert not {told.RunCompleted, told.RunFailed} & set(kinds[:-1])
    assert kinds.count(told.RunStarted) == 1 + sum(isinstance(item, RunResumed) for item in middle)


@given(st.lists(st.one_of(MIDDLE, st.sampled_from(BEGUN), stored_events), max_size=30))
def test_any_stream_can_be_told_from_anywhere(items: list[Any]):
    """A client may come in the middle, a store may hold a run that was cut off, and kinds may be new."""
    assert all(isinstance(event, get_args(AgentEvent)) for event in translate(*items))
