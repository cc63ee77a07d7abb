import pytest
from msgspec.structs import replace

from bridle.core.context import Counted
from bridle.core.errors import StoreCorrupt
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, Text, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    Event,
    MessageAdded,
    PromptQueued,
    QueuedPrompt,
    QueueDropped,
    QueueEdited,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionArchived,
    SessionConfigured,
    SessionFacts,
    SessionLabelled,
    SessionOptions,
    SessionTitled,
    Totals,
    TurnEnded,
    TurnStarted,
)
from bridle.core.session import fold
from tests.core.test_session import (
    CONTEXT,
    CREATED,
    USAGE,
    A,
    B,
    R,
    finished,
    folded,
    records_of,
    replied,
    started,
)


def test_creation_gives_the_first_facts():
    session = fold(records_of(replace(CREATED, title="mine")))

    assert session.known == SessionFacts(replace(CREATED, title="mine"), 1000, "mine")
    assert (session.seq, session.updated_at, session.messages, session.run) == (1, 1000, [], None)


def test_records_without_a_creation_or_checkpoint_are_corrupt():
    with pytest.raises(StoreCorrupt) as caught:
        fold(records_of(SessionTitled("x")))

    assert str(caught.value) == "the session's first record is not its creation"


def test_a_session_without_records_is_not_known():
    session = fold([])

    assert (session.seq, session.updated_at, session.messages) == (0, 0, [])
    with pytest.raises(StoreCorrupt, match="first record is not its creation"):
        _ = session.known


def test_options_come_from_the_creation_and_are_replaced_as_a_whole():
    made = SessionOptions(model="scripted/a", mode="plan", without_builtins=("bash",))
    created = replace(CREATED, options=made)
    session = fold(records_of(created))
    changed = fold(records_of(created, SessionConfigured(SessionOptions(system="Be short."))))

    assert (session.known.settings, session.known.model) == (made, "scripted/a")
    assert (changed.known.settings, changed.known.model) == (SessionOptions(system="Be short."), "")


def test_labels_come_from_the_creation_and_are_replaced_as_a_whole():
    created = replace(CREATED, labels={"team": "red"})

    assert fold(records_of(created)).known.labels == {"team": "red"}
    assert fold(records_of(created, SessionLabelled({"x": "y"}))).known.labels == {"x": "y"}


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
