"""Records become facts: the complete list of facts for each course of a run."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Event,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ReplyLost,
    Retrying,
    RunEnded,
    RunOptions,
    RunResumed,
    RunStarted,
    SessionCreated,
    SessionTitled,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.core.trace import find_parent_trace
from bridle.telemetry.facts import Activity, ExtraUsage, FinishedRun, ModelCall, ToolUse, UserWait
from bridle.telemetry.run_tracker import RunTracker

SESSION = SessionId("s")
RUN = RunId("r")
USAGE = Usage(input=10, output=5)
CREATED = SessionCreated(SESSION, "/", "coder")
STARTED = RunStarted(RUN, "x/large")
TURN = TurnStarted(RUN, 1)
ENDED = RunEnded(RUN, "completed")
SAID = Message("assistant", (Text("ok"), ToolCall(CallId("a"), "ask_user")))
REPLIED = ModelReplied(RUN, 1, SAID, "end_turn", USAGE, 0.5)


def records(*events: Event, first: int = 1) -> list[Record]:
    """Number events, each ten milliseconds after the one before."""
    return [Record(first + index, (first + index) * 10, event, "") for index, event in enumerate(events)]


def told(*events: Event) -> list[tuple[Any, ...]]:
    """Return the facts of a run's events, in short form."""
    return brief(RunTracker().take(SESSION, records(CREATED, STARTED, *events)))


def brief(facts: list[Any]) -> list[tuple[Any, ...]]:
    """Return facts without their run, and without empty fields."""
    kinds = (ModelCall, ToolUse, UserWait, FinishedRun, ExtraUsage)
    return [
        (
            type(fact).__name__,
            {
                key: value
                for key, value in asdict(fact).items()
                if key not in ("run", "message", "end") and value not in (None, "", False)
            },
        )
        for fact in facts
        if isinstance(fact, kinds)
    ]


CALL = {"began": 30, "model": "x/large", "name": "chat 1.1"}
REPLY = {"usage": USAGE, "cost": 0.5, "stop_reason": "end_turn"}


def test_an_answer():
    assert told(TURN, REPLIED, ENDED) == [
        ("ModelCall", {**CALL, "ended": 40, **REPLY}),
        ("FinishedRun", {"began": 20, "ended": 50}),
    ]


def test_a_try_that_failed_and_the_next():
    lost = ReplyLost(RUN, 1, Usage(input=7))
    retrying = Retrying(RUN, 1, 1, 3, "rate_limited", "slow down", delay_ms=5)

    assert told(TURN, lost, retrying, REPLIED) == [
        ("ModelCall", {**CALL, "ended": 50, "error": "rate_limited", "usage": Usage(input=7)}),
        ("ModelCall", {**CALL, "began": 55, "ended": 60, "name": "chat 1.2", **REPLY}),
    ]


def test_another_model_takes_over():
    assert told(TURN, ModelSwitched(RUN, 1, "y/other", "gone"), REPLIED) == [
        ("ModelCall", {**CALL, "ended": 40, "error": "_OTHER"}),
        ("ModelCall", {"began": 40, "ended": 50, "model": "y/other", "name": "chat 1.2", **REPLY}),
    ]


def test_a_compaction_because_it_was_too_long():
    began = CompactionStarted("overflow", 1, 2, 3)
    compacted = Compacted(user_message("sum"), 1, 1, 2, 1, 9, 1, "x/small", USAGE, 0.1)

    assert told(TURN, began, compacted, REPLIED) == [
        ("ModelCall", {**CALL, "ended": 40, "error": "context_length_exceeded"}),
        (
            "ModelCall",
            {
                "began": 40,
                "ended": 50,
                "model": "x/small",
                "name": "compaction 40",
                "usage": USAGE,
                "cost": 0.1,
            },
        ),
        ("ModelCall", {**CALL, "began": 50, "ended": 60, "name": "chat 1.2", **REPLY}),
    ]


def test_compactions_that_cost_nothing_or_belong_to_no_run():
    automatic = CompactionStarted("automatic", 1, 2, 3)
    failed = CompactionFailed("no", USAGE, 0.1)
    runs = RunTracker()

    assert told(automatic, CompactionFailed("no")) == []
    assert told(automatic, failed) == [
        (
            "ModelCall",
            {
                "began": 30,
                "ended": 40,
                "error": "_OTHER",
                "model": "x/large",
                "name": "compaction 30",
                "usage": USAGE,
                "cost": 0.1,
            },
        )
    ]
    assert brief(runs.take(SESSION, records(CREATED, automatic, failed))) == [
        ("ExtraUsage", {"usage": USAGE, "cost": 0.1})
    ]


def test_tokens_beside_the_turns():
    sampled = ModelSampled(RUN, 1, CallId("a"), "server", USAGE, 0.2)

    by_another = replace(sampled, model="x/small")

    assert told(sampled, by_another, SessionTitled("t", "x/small", USAGE, 0.1), SessionTitled("by hand")) == [
        ("ExtraUsage", {"model": "x/large", "usage": USAGE, "cost": 0.2}),
        ("ExtraUsage", {"model": "x/small", "usage": USAGE, "cost": 0.2}),
        ("ExtraUsage", {"model": "x/small", "usage": USAGE, "cost": 0.1}),
    ]


def result(call_id: str, name: str, *, failed: bool = False) -> ToolResult:
    return ToolResult(CallId(call_id), name, "out", is_error=failed)


def test_calls_nested_failed_and_refused():
    assert told(
        ToolStarted(CallId("a"), "python", {"code": "x"}),
        ToolStarted(CallId("a.1"), "look", {}, parent=CallId("a")),
        ToolFinished(result("a.1", "look", failed=True), parent=CallId("a")),
        ToolFinished(result("a", "python")),
        ToolFinished(result("b", "bash", failed=True), denied=True),
    ) == [
        (
            "ToolUse",
            {
                "began": 40,
                "ended": 50,
                "error": "tool_error",
                "call_id": "a.1",
                "tool": "look",
                "parent": "a",
                "args": {},
                "output": "out",
            },
        ),
        (
            "ToolUse",
            {
                "began": 30,
                "ended": 60,
                "call_id": "a",
                "tool": "python",
                "args": {"code": "x"},
                "output": "out",
            },
        ),
        (
            "ToolUse",
            {
                "began": 70,
                "ended": 70,
                "error": "denied",
                "call_id": "b",
                "tool": "bash",
                "output": "out",
                "denied": True,
            },
        ),
    ]


def test_a_person_is_waited_for_but_not_for_the_question_of_a_child():
    assert told(
        TURN,
        REPLIED,
        ApprovalRequested(CallId("b"), "bash", {}, "why"),
        ApprovalRequested(CallId("c/x"), "bash", {}, "why", child=SessionId("c")),
        ApprovalDecided(CallId("c/x"), "once"),
        ApprovalDecided(CallId("b"), "deny"),
        QuestionAsked(CallId("a"), Question("?")),
        QuestionAnswered(CallId("a"), ("yes",)),
    )[1:] == [
        ("UserWait", {"began": 50, "ended": 80, "call_id": "b", "tool": "bash", "answer": "deny"}),
        ("UserWait", {"began": 90, "ended": 100, "call_id": "a", "tool": "ask_user"}),
    ]


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (RunEnded(RUN, "failed", error="server_error"), "server_error"),
        (RunEnded(RUN, "cancelled"), "cancelled"),
        (RunEnded(RUN, "completed"), "_OTHER"),
    ],
)
def test_a_call_that_is_open_at_the_end_has_failed(end: RunEnded, error: str):
    over = {"began": 20, "ended": 40}

    assert told(TURN, end) == [
        ("ModelCall", {**CALL, "ended": 40, "error": error}),
        ("FinishedRun", over if end.outcome == "completed" else {**over, "error": error}),
    ]


def test_who_runs_and_in_which_trace():
    text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    other = RunOptions(agent="tester", trace=text)
    runs = RunTracker()

    runs.take(
        SESSION, records(CREATED, STARTED, MessageAdded(user_message("do")), MessageAdded(user_message("x")))
    )
    first = runs.run(SESSION)
    runs.take(SESSION, records(RunStarted(RunId("q"), "x/y", options=other), first=9))
    second = runs.run(SESSION)

    assert first is not None
    assert second is not None
    assert (first.agent, first.trace, first.prompt) == ("coder", find_parent_trace(RUN), "do")
    assert (second.agent, second.trace.text) == ("tester", text)


def test_a_run_goes_on_where_another_process_left_it():
    begun = records(CREATED, STARTED, TURN, REPLIED, ToolStarted(CallId("a"), "bash", {}))
    runs = RunTracker()

    assert runs.needs_history(SESSION, RunResumed(RUN))
    runs.recall(SESSION, begun)
    facts = runs.take(SESSION, records(RunResumed(RUN), ToolFinished(result("a", "bash")), ENDED, first=9))

    assert brief(facts) == [
        (
            "ToolUse",
            {"began": 50, "ended": 100, "call_id": "a", "tool": "bash", "args": {}, "output": "out"},
        ),
        ("FinishedRun", {"began": 20, "ended": 110}),
    ]


def test_a_question_to_the_model_that_died_with_its_process_is_another_try():
    runs = RunTracker()
    runs.recall(SESSION, records(CREATED, STARTED, TURN))

    facts = runs.take(SESSION, records(RunResumed(RUN), REPLIED, first=9))

    assert brief(facts) == [("ModelCall", {**CALL, "began": 90, "ended": 100, "name": "chat 1.2", **REPLY})]


def test_a_run_whose_beginning_is_lost_is_told_from_where_it_was_taken_up():
    runs = RunTracker()

    facts = runs.take(SESSION, records(RunResumed(RUN), ENDED, first=9))

    assert brief(facts) == [("FinishedRun", {"began": 90, "ended": 100})]
    assert runs.run(SESSION) is None


def test_only_what_is_needed_is_asked_of_the_store():
    runs = RunTracker()
    runs.take(SESSION, records(CREATED))

    assert [runs.needs_history(SESSION, event) for event in (STARTED, ENDED, RunResumed(RUN))] == [
        False,
        False,
        True,
    ]
    assert [runs.needs_history(SessionId("t"), event) for event in (CREATED, STARTED)] == [False, True]


def test_no_more_sessions_are_known_than_there_is_room_for():
    runs = RunTracker(max_sessions=2)
    names = [SessionId(name) for name in "abac"]

    for name in names:
        runs.take(name, records(STARTED))

    assert [runs.run(SessionId(name)) is not None for name in "abc"] == [True, False, True]


EVENTS = [
    CREATED,
    STARTED,
    TURN,
    REPLIED,
    RunResumed(RUN),
    ReplyLost(RUN, 1, USAGE),
    Retrying(RUN, 1, 1, 3, "x", "y", 5),
    ModelSwitched(RUN, 1, "y/z", "r"),
    CompactionStarted("overflow", 1, 2, 3),
    CompactionFailed("no", USAGE),
    ToolStarted(CallId("a"), "t", {}),
    ToolFinished(result("a", "t")),
    ApprovalRequested(CallId("a"), "t", {}, ""),
    ApprovalDecided(CallId("a"), "once"),
    QuestionAsked(CallId("a"), Question("?")),
    QuestionAnswered(CallId("a")),
    ENDED,
]


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 100)), max_size=40))
def test_no_order_of_records_is_too_much_and_nothing_ends_before_it_began(steps: list[tuple[Event, int]]):
    runs = RunTracker()

    facts = runs.take(SESSION, [Record(index, at, event, "") for index, (event, at) in enumerate(steps)])

    assert all(fact.began <= fact.ended for fact in facts if isinstance(fact, Activity))
