from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.context import ContextUsage, Counted
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.session import RunState, Session, fold
from bridle.core.summary import TITLE_CHARS, SessionSummary, summarise, title_from
from tests.core.logs import Log, logs

S, R = SessionId("s"), RunId("r")
CREATED = SessionCreated(S, "/work", "coder")
A, B = (ToolCall(CallId(name), "read_file", {"path": name}) for name in "ab")
USAGE = Usage(input=100, output=20, cache_read=3)
CONTEXT = ContextUsage(1000, system=10, run=90)


def records_of(*events: Event) -> list[Record]:
    return [Record(seq, 1000 * seq, event, "") for seq, event in enumerate(events, 1)]


def folded(*events: Event) -> Session:
    return fold(records_of(CREATED, *events))


def run_of(*events: Event) -> RunState:
    run = folded(RunStarted(R, "m/x"), MessageAdded(user_message("go")), *events).run
    assert run is not None
    return run


def replied(*calls: ToolCall, text: str = "", turn: int = 1, cost: float | None = 0.5) -> ModelReplied:
    parts = (Text(text), *calls) if text else calls
    return ModelReplied(R, turn, Message("assistant", parts), "tool_use", USAGE, cost, 20)


def result(call: ToolCall, output: str = "done") -> ToolResult:
    return ToolResult(call.id, call.name, output)


def finished(call: ToolCall, output: str = "done") -> ToolFinished:
    return ToolFinished(result(call, output), 5, 7)


def started(call: ToolCall) -> ToolStarted:
    return ToolStarted(call.id, call.name, call.args)


def state_of(session: Session) -> dict[str, Any]:
    state = vars(session).copy()
    state["transcript"] = vars(session.transcript)
    return state


def messages_of(session: Session) -> list[Message]:
    return [item.message for item in session.messages]


# ---------------------------------------------------------------------------- messages


def test_results_join_their_calls_in_call_order_whatever_finished_first():
    session = folded(replied(A, B), started(A), started(B), finished(B), finished(A))

    assert session.messages == [
        Counted(Message("assistant", (A, B)), 20),
        Counted(Message("tool", (result(A), result(B))), 14, result_tokens=(7, 7)),
    ]


def test_results_are_held_back_until_all_are_there():
    session = folded(replied(A, B), finished(B))

    assert messages_of(session) == [Message("assistant", (A, B))]


@pytest.mark.parametrize("end", [TurnEnded(R, 1, USAGE, CONTEXT), RunEnded(R, "cancelled")])
def test_a_turn_that_ends_early_keeps_the_results_it_has(end: Event):
    session = folded(replied(A, B), finished(B), end)

    assert messages_of(session) == [Message("assistant", (A, B)), Message("tool", (result(B),))]


def test_a_result_that_belongs_to_no_call_is_left_out():
    session = folded(finished(A), replied(text="hi"), finished(B), TurnEnded(R, 1, USAGE, CONTEXT))

    assert messages_of(session) == [Message("assistant", (Text("hi"),))]


def test_a_message_in_the_middle_of_a_turn_comes_after_the_results_there_are():
    session = folded(replied(A, B), finished(B), MessageAdded(user_message("well?")))

    assert messages_of(session) == [
        Message("assistant", (A, B)),
        Message("tool", (result(B),)),
        user_message("well?"),
    ]


def test_a_result_recorded_again_does_not_make_a_second_message():
    session = folded(replied(A), finished(A), finished(A, "again"), TurnEnded(R, 1, USAGE, CONTEXT))

    assert messages_of(session) == [Message("assistant", (A,)), Message("tool", (result(A),))]


def test_ids_of_all_calls_are_known():
    assert folded(replied(A), finished(A), replied(B)).transcript.call_ids == {A.id, B.id}


# ---------------------------------------------------------------------------- the active run


def test_a_started_run_is_active_and_knows_its_prompt():
    session = folded(
        MessageAdded(user_message("before")),
        RunStarted(R, "m/x", "plan", Limits(tokens=5)),
        MessageAdded(user_message("go")),
    )

    assert session.run == RunState(
        R,
        "m/x",
        "plan",
        Limits(tokens=5),
        started_at=3000,
        first_message=1,
        turn=0,
        prompt=user_message("go"),
    )


def test_a_run_counts_what_it_spent():
    run = run_of(
        TurnStarted(R, 1),
        replied(A, B),
        started(A),
        finished(A),
        finished(B, "refused by a rule"),
        TurnEnded(R, 1, USAGE, CONTEXT),
        TurnStarted(R, 2),
        replied(text="done", turn=2),
    )

    assert (run.turn, run.usage, run.cost) == (2, USAGE + USAGE, 1.0)
    assert run.spent == Spend(tokens=246, tool_calls=1, cost=1.0, turns=2)


def test_a_run_with_an_unpriced_turn_has_no_cost():
    run = run_of(replied(text="a", cost=None), replied(text="b", cost=0.5))

    assert (run.cost, run.spent.cost) == (None, 0.5)


def test_a_turn_is_followed_from_its_start_to_its_end():
    asked = ApprovalRequested(A.id, "read_file", {}, "mode ask")
    decided = ApprovalDecided(A.id, "once")
    reply = replied(A, B)
    run = run_of(TurnStarted(R, 1), reply, asked, decided, started(A), finished(A))

    assert run == RunState(
        R,
        "m/x",
        "ask",
        Limits(),
        started_at=2000,
        first_message=0,
        turn=1,
        replied=reply,
        usage=USAGE,
        spent=Spend(tokens=123, tool_calls=1, cost=0.5, turns=1),
        requested={A.id: asked},
        decided={A.id: decided},
        started={A.id: started(A)},
        finished={A.id: finished(A)},
        prompt=user_message("go"),
    )


def test_the_end_of_a_turn_is_known():
    run = run_of(TurnStarted(R, 1), replied(A), finished(A), TurnEnded(R, 1, USAGE, CONTEXT))

    assert (run.turn, run.turn_ended, run.replied) == (1, True, replied(A))


def test_a_new_turn_forgets_the_calls_of_the_last():
    turn = [TurnStarted(R, 1), replied(A), ApprovalRequested(A.id, "x", {}, ""), started(A), finished(A)]
    run = run_of(*turn, TurnEnded(R, 1, USAGE, CONTEXT), TurnStarted(R, 2))

    assert (run.turn, run.turn_ended, run.replied) == (2, False, None)
    assert (run.requested, run.decided, run.started, run.finished) == ({}, {}, {}, {})


def test_approvals_nobody_answered_are_pending_in_order():
    asks = [ApprovalRequested(call.id, call.name, call.args, "mode ask") for call in (A, B)]
    run = run_of(TurnStarted(R, 1), replied(A, B), *asks)
    answered = run_of(TurnStarted(R, 1), replied(A, B), *asks, ApprovalDecided(A.id, "deny"))

    assert (run.pending, answered.pending) == (asks, asks[1:])


def test_what_code_asked_is_not_pending_any_more_when_the_code_was_cut_off():
    of_code = ApprovalRequested(CallId("a.1"), "bash", {}, "mode ask", parent=A.id)
    other = ApprovalRequested(B.id, B.name, B.args, "mode ask")
    asked = (replied(A, B), started(A), of_code, other)

    assert run_of(*asked).pending == [of_code, other]
    assert run_of(*asked, finished(A)).pending == [other]


def test_calls_that_began_and_did_not_end_are_interrupted():
    run = run_of(TurnStarted(R, 1), replied(A, B), started(A), started(B), finished(A))

    assert run.interrupted == [started(B)]


def test_a_resumed_run_is_the_same_run():
    events = [TurnStarted(R, 1), replied(A), started(A)]
    idle = run_of(*events)
    idle.started_at += 1000  # the time between two records here: no one drove the run

    assert run_of(*events, RunResumed(R, (A.id,))) == idle


def test_an_ended_run_is_no_longer_active():
    ended = RunEnded(R, "completed", "hi")
    session = folded(RunStarted(R, "m/x"), TurnStarted(R, 1), TurnEnded(R, 1, USAGE, CONTEXT), ended)

    assert (session.run, session.last, session.context) == (None, ended, CONTEXT)


def test_states_of_two_runs_share_nothing():
    first, second = run_of(TurnStarted(R, 1)), run_of(TurnStarted(R, 1))
    first.started[A.id] = started(A)

    assert second.started == {}


# ---------------------------------------------------------------------------- folding any log


cuts = st.floats(0, 1, exclude_max=True)


def cut_off(log: Log, cut: float) -> list[Record]:
    """Return the log up to one of its appends."""
    return log.records[: log.appends[int(cut * len(log.appends))]]


def written(log: Log, first: int, last: int) -> list[Message]:
    return [item.message for item in log.messages if first <= item.first and item.last <= last]


@given(logs(), cuts)
def test_folding_at_once_equals_folding_step_by_step(log: Log, cut: float):
    records = cut_off(log, cut)
    whole = fold(records)
    step_by_step = fold(records[:1])
    for record in records[1:]:
        step_by_step.apply(record)

    assert state_of(whole) == state_of(step_by_step)
    assert (whole.seq, whole.updated_at) == (records[-1].seq, records[-1].at)


@given(logs(), cuts)
def test_folding_gives_the_messages_that_were_written(log: Log, cut: float):
    records = cut_off(log, cut)
    session = fold(records)

    assert messages_of(session) == written(log, 1, records[-1].seq)
    assert session.known.totals.messages == len(session.messages)


@given(logs(), cuts)
def test_folding_gives_the_options_as_last_set_and_the_model_as_last_used(log: Log, cut: float):
    records = cut_off(log, cut)

    assert fold(records).known.settings == log.settings[len(records) - 1]


@given(logs(), cuts)
def test_any_tail_with_a_checkpoint_gives_the_same_facts_and_the_messages_it_holds(log: Log, cut: float):
    """Opening a long session reads its end only."""
    records = cut_off(log, cut)
    whole = fold(records)
    checkpoints = [record.seq for record in records if isinstance(record.event, Checkpoint)]
    for first in range(2, max(checkpoints, default=1) + 1):
        tail = fold(records[first - 1 :])

        assert messages_of(tail) == written(log, first, records[-1].seq)
        assert tail.messages == whole.messages[len(whole.messages) - len(tail.messages) :]
        assert (tail.facts, tail.last, tail.seq, tail.updated_at) == (
            whole.facts,
            whole.last,
            whole.seq,
            whole.updated_at,
        )
        assert tail.context in (whole.context, None)
        assert relative(tail) == relative(whole)


def relative(session: Session) -> RunState | None:
    """Count the run's first message from the end, so that a tail can be compared with the whole."""
    if session.run is None:
        return None
    return replace(session.run, first_message=session.run.first_message - len(session.messages))


def test_the_context_of_the_last_turn_is_known_from_a_tail_that_holds_it():
    facts = folded().known
    records = records_of(TurnEnded(R, 1, USAGE, CONTEXT), Checkpoint(facts), RunEnded(R, "completed"))
    tail = [replace(record, seq=record.seq + 100) for record in records]

    assert fold(tail).context == CONTEXT


@given(logs(), cuts)
def test_a_summary_says_what_the_fold_says(log: Log, cut: float):
    check_summary(cut_off(log, cut))


def test_a_summary_takes_no_title_from_the_model():
    check_summary(records_of(CREATED, MessageAdded(Message("assistant", (Text("Hi"),)), "import")))


def check_summary(records: list[Record]) -> None:
    session = fold(records)
    facts = session.known

    summary = None
    for record in records:
        summary = summarise(summary, S, record)

    assert summary == SessionSummary(
        S,
        facts.title,
        facts.created.cwd,
        facts.created.agent,
        facts.created_at,
        session.updated_at,
        session.seq,
        facts.archived,
        facts.created.parent,
        session.run is not None,
        session.last.outcome if session.last is not None and session.run is None else None,
        facts.created.parent is not None and facts.created.forked_at is None,
        facts.labels,
    )


# ---------------------------------------------------------------------------- titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("Fix the bug", "Fix the bug"),
        ("\n\n  Fix the bug  \nin core", "Fix the bug"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("word " * 20, "word word word word word word word word word word word…"),
        ("a" * 58 + " tail that is long", "a" * 58 + "…"),
        ("日本語のタイトル", "日本語のタイトル"),
    ],
)
def test_a_title_is_the_first_line_with_words_cut_at_a_word(text: str, title: str):
    assert title_from(text) == title


@given(st.text(max_size=200) | st.text("ab \n", max_size=200))
def test_a_title_is_short_has_one_line_and_words_if_there_are_any(text: str):
    title = title_from(text)

    assert len(title) <= TITLE_CHARS
    assert title.splitlines() in ([], [title])
    assert bool(title.strip("…")) == bool(text.strip()) or text.strip("… \n") == ""
