from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.context import ContextUsage, Counted
from bridle.core.errors import StoreCorrupt
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    Event,
    MessageAdded,
    ModelReplied,
    PromptQueued,
    QueuedPrompt,
    QueueDropped,
    QueueEdited,
    Record,
    RunEnded,
    RunOptions,
    RunResumed,
    RunStarted,
    SessionArchived,
    SessionCreated,
    SessionFacts,
    SessionTitled,
    ToolFinished,
    ToolStarted,
    Totals,
    TurnEnded,
    TurnStarted,
)
from bridle.core.session import RunState, Session, fold, fork_at
from bridle.core.summary import TITLE_CHARS, SessionSummary, summarise, title_from
from tests.core.logs import Log, logs

S, R = SessionId("s"), RunId("r")
CREATED = SessionCreated(S, "/work", "coder")
CHILD = SessionCreated(SessionId("child"), "/work", "coder", parent=S)
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
        Counted(Message("tool", (result(A), result(B))), 14),
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


# ---------------------------------------------------------------------------- facts


def test_creation_gives_the_first_facts():
    session = fold(records_of(replace(CREATED, title="mine")))

    assert session.known == SessionFacts(replace(CREATED, title="mine"), 1000, "mine")
    assert (session.seq, session.updated_at, session.messages, session.run) == (1, 1000, [], None)


def test_records_without_a_creation_or_checkpoint_are_corrupt():
    with pytest.raises(StoreCorrupt) as caught:
        fold(records_of(SessionTitled("x")))

    assert str(caught.value) == "the session's records do not begin with its creation"


def test_a_session_without_records_is_not_known():
    session = fold([])

    assert (session.seq, session.updated_at, session.messages) == (0, 0, [])
    with pytest.raises(StoreCorrupt, match="do not begin with its creation"):
        _ = session.known


def test_title_and_archive_are_the_last_said():
    session = folded(SessionTitled("a"), SessionArchived(True), SessionTitled("b"), SessionArchived(False))

    assert session.known == SessionFacts(CREATED, 1000, "b")


def test_the_first_prompt_gives_the_title_unless_there_is_one():
    named, unnamed = (
        folded(*first, MessageAdded(user_message("Fix it")), MessageAdded(user_message("More")))
        for first in ([SessionTitled("mine")], [])
    )

    assert (named.known.title, unnamed.known.title) == ("mine", "Fix it")


def test_what_the_model_says_gives_no_title():
    assert folded(MessageAdded(Message("assistant", (Text("Hi"),)), "import")).known.title == ""


def test_a_rule_granted_for_the_session_is_kept_once_and_in_order():
    session = folded(
        ApprovalDecided(CallId("a"), "session", rules=("bash(git:*)",)),
        ApprovalDecided(CallId("b"), "once"),
        ApprovalDecided(CallId("c"), "session", rules=("edit_file(src/**)",)),
        ApprovalDecided(CallId("d"), "session", rules=("bash(git:*)",)),
    )

    assert session.known.granted == ("bash(git:*)", "edit_file(src/**)")


def test_the_model_is_that_of_the_last_run():
    runs = [RunStarted(R, "a/b"), RunEnded(R, "completed"), RunStarted(RunId("r2"), "c/d")]

    assert [folded(*runs[:count]).known.model for count in range(4)] == ["", "a/b", "a/b", "c/d"]


def test_totals_add_up_over_runs():
    session = folded(
        RunStarted(R, "m/x"),
        MessageAdded(user_message("go")),
        TurnStarted(R, 1),
        replied(A, B),
        started(A),
        finished(A),
        finished(B, "refused by a rule"),
        TurnEnded(R, 1, USAGE, CONTEXT),
        TurnStarted(R, 2),
        replied(text="so", turn=2, cost=None),
        replied(text="done", turn=3, cost=None),
        RunEnded(R, "completed"),
        RunStarted(RunId("r2"), "m/x"),
    )

    assert session.known.totals == Totals(
        messages=5, runs=2, turns=3, tool_calls=1, usage=USAGE + USAGE + USAGE, cost=0.5, unpriced_turns=2
    )


# ---------------------------------------------------------------------------- the queue


FIRST = PromptQueued("1", user_message("first"), RunOptions(mode="plan"))
SECOND = PromptQueued("2", user_message("second"), delivery="steer")


def test_queued_prompts_wait_in_order_with_their_options_and_delivery():
    assert folded(FIRST, SECOND).known.queue == (
        QueuedPrompt("1", user_message("first"), RunOptions(mode="plan"), "queue"),
        QueuedPrompt("2", user_message("second"), RunOptions(), "steer"),
    )


def test_a_queued_prompt_can_be_edited_in_place():
    session = folded(FIRST, SECOND, QueueEdited("1", user_message("better")))

    assert session.known.queue == (
        QueuedPrompt("1", user_message("better"), RunOptions(mode="plan"), "queue"),
        QueuedPrompt("2", user_message("second"), RunOptions(), "steer"),
    )


def test_a_queued_prompt_can_become_a_steer():
    session = folded(FIRST, SECOND, QueueEdited("1", user_message("first"), "steer"))

    assert [item.delivery for item in session.known.queue] == ["steer", "steer"]


def test_a_queued_prompt_can_be_dropped():
    assert folded(FIRST, SECOND, QueueDropped("1")).known.queue == (
        QueuedPrompt("2", user_message("second"), RunOptions(), "steer"),
    )


def test_a_prompt_leaves_the_queue_with_the_message_that_delivers_it():
    session = folded(FIRST, SECOND, MessageAdded(user_message("second"), "steer", 5, "2"))

    assert [item.item_id for item in session.known.queue] == ["1"]
    assert session.messages == [Counted(user_message("second"), 5, "correction")]


@pytest.mark.parametrize(
    "event",
    [
        QueueEdited("9", user_message("x")),
        QueueDropped("9"),
        MessageAdded(user_message("x"), item_id="9"),
        MessageAdded(user_message("x")),
    ],
)
def test_what_speaks_of_no_queued_prompt_leaves_the_queue(event: Event):
    assert folded(FIRST, SECOND, event).known.queue == folded(FIRST, SECOND).known.queue


def test_a_queued_prompt_is_not_yet_a_message_and_gives_no_title():
    session = folded(FIRST)

    assert (session.messages, session.known.title) == ([], "")


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
    idle.started_at += 1000  # the time between two records here: nobody drove the run

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
    )


# ---------------------------------------------------------------------------- forks


def test_a_fork_copies_the_messages_with_their_sizes():
    records = records_of(
        CREATED,
        MessageAdded(user_message("go"), "prompt", 3),
        replied(A),
        finished(A),
        TurnEnded(R, 1, USAGE, CONTEXT),
        replied(text="done"),
    )

    assert fork_at(records, 6, CHILD) == [
        replace(CHILD, forked_at=6),
        MessageAdded(user_message("go"), "fork", 3),
        MessageAdded(Message("assistant", (A,)), "fork", 20),
        MessageAdded(Message("tool", (result(A),)), "fork", 7),
        MessageAdded(Message("assistant", (Text("done"),)), "fork", 20),
    ]


@pytest.mark.parametrize("seq", [3, 4])
def test_a_fork_in_the_middle_of_a_turn_leaves_the_turn_out(seq: int):
    records = records_of(CREATED, MessageAdded(user_message("go")), replied(A, B), finished(A), finished(B))

    assert fork_at(records, seq, CHILD) == [
        replace(CHILD, forked_at=seq),
        MessageAdded(user_message("go"), "fork"),
    ]


def test_a_fork_where_all_results_are_there_keeps_the_turn():
    records = records_of(CREATED, replied(A), finished(A), TurnEnded(R, 1, USAGE, CONTEXT))

    assert [type(event) for event in fork_at(records, 3, CHILD)] == [
        SessionCreated,
        MessageAdded,
        MessageAdded,
    ]


def test_a_fork_at_the_creation_has_no_messages():
    assert fork_at(records_of(CREATED, MessageAdded(user_message("go"))), 1, CHILD) == [
        replace(CHILD, forked_at=1)
    ]


@settings(max_examples=60)
@given(logs())
def test_a_fork_anywhere_is_a_conversation_that_can_go_on(log: Log):
    for seq in range(1, len(log.records) + 1):
        events = fork_at(log.records, seq, CHILD)
        child = fold(records_of(*events))
        messages = messages_of(child)

        assert events[0] == replace(CHILD, forked_at=seq)
        assert messages == complete(written(log, 1, seq))
        assert child.known.totals.messages == len(messages)
        assert not messages or messages[0].role == "user"
        assert unanswered(messages) == []


def complete(messages: list[Message]) -> list[Message]:
    """Leave out a last message whose calls have no results yet."""
    return messages[:-1] if messages and messages[-1].calls else messages


def unanswered(messages: list[Message]) -> list[CallId]:
    """Return the calls that the very next message does not answer, and answers without a call."""
    wrong: list[CallId] = []
    for message, following in pairwise([*messages, Message("user", ())]):
        answers = [part.call_id for part in following.parts if isinstance(part, ToolResult)]
        calls = [call.id for call in message.calls]
        wrong += [] if answers == calls else calls + answers
    return wrong


@given(logs(), cuts)
def test_a_fork_of_a_fork_is_the_same_conversation(log: Log, cut: float):
    child = records_of(*fork_at(log.records, len(cut_off(log, cut)), CHILD))

    grandchild = records_of(*fork_at(child, len(child), CHILD))

    assert fold(grandchild).messages == fold(child).messages


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
