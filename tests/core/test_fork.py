from itertools import pairwise

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, Text, ToolResult, user_message
from bridle.core.protocol import (
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
