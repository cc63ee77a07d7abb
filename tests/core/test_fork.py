from itertools import pairwise

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from bridle.core.errors import UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, Text, ToolResult, user_message
from bridle.core.protocol import (
    Compacted,
    KernelSaved,
    MessageAdded,
    SessionCreated,
    TurnEnded,
)
from bridle.core.session import fold, fork_at
from tests.core.logs import Log, logs
from tests.core.test_session import (
    CONTEXT,
    CREATED,
    USAGE,
    A,
    B,
    R,
    S,
    cut_off,
    cuts,
    finished,
    messages_of,
    records_of,
    replied,
    result,
    written,
)

CHILD = SessionCreated(SessionId("child"), "/work", "coder", parent=S)


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


@pytest.mark.parametrize(
    ("count", "taken", "forked_at"), [(0, 0, 1), (1, 1, 2), (2, 1, 3), (3, 3, 5), (4, 4, 7)]
)
def test_a_fork_takes_the_first_messages_and_leaves_out_a_call_without_its_result(
    count: int, taken: int, forked_at: int
):
    records = records_of(
        CREATED,
        MessageAdded(user_message("go"), "prompt", 3),
        replied(A),
        finished(A),
        TurnEnded(R, 1, USAGE, CONTEXT),
        replied(text="done"),
        KernelSaved("late"),
    )
    created, *copies = fork_at(records, 7, CHILD, count)
    whole = [event for event in fork_at(records, 7, CHILD)[1:] if isinstance(event, MessageAdded)]

    assert created == replace(CHILD, forked_at=forked_at)
    assert copies == [*whole[:taken], *([KernelSaved("late")] if count == 4 else [])]


def test_the_first_messages_after_a_compaction_begin_with_the_summary():
    summary = Compacted(user_message("sum"), 1, 7, 0, 0, 0, 0, summary="sum")
    records = records_of(
        CREATED,
        *(MessageAdded(user_message(text)) for text in ("one", "two", "three")),
        summary,
        MessageAdded(user_message("four")),
    )
    [_, first, second] = fork_at(records, 6, CHILD, 2)

    assert isinstance(first, Compacted)
    assert first.message == summary.message
    assert isinstance(second, MessageAdded)
    assert second.message.text == "three"


@pytest.mark.parametrize("count", [-1, 2])
def test_more_messages_than_there_are_are_refused(count: int):
    records = records_of(CREATED, MessageAdded(user_message("go")))
    with pytest.raises(UsageError, match=f"the session has 1 messages, not {count}"):
        fork_at(records, 2, CHILD, count)
