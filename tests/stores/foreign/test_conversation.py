from collections import Counter

from bridle.core.context import Counted
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Text, ToolCall, ToolResult, user_message
from bridle.stores.foreign.conversation import (
    CUT,
    MAX_MEDIA_CHARS,
    MAX_TEXT_CHARS,
    NO_CALL,
    NO_RESULT,
    TOO_LARGE,
    ConversationBuilder,
    Result,
    build_call,
)
from bridle.stores.kontekst_reader import KontekstConversation


def told(*messages: Message, **skipped: int) -> KontekstConversation:
    return KontekstConversation(tuple(Counted(one, 0) for one in messages), "", skipped)


def test_a_time_that_nobody_knows_is_that_of_what_stands_beside_it():
    telling = ConversationBuilder(Counter())
    telling.user([Text("early")])
    telling.now = 5
    telling.reply([Text("yes")])
    telling.now = 0
    telling.user([Text("late")])

    assert telling.conversation().dates == (5, 5, 5, 5)


def test_results_come_behind_their_calls_in_the_order_of_the_calls():
    telling = ConversationBuilder(Counter())
    telling.user([Text("go")])
    telling.reply([build_call("a", "x", {})], "m1")
    telling.result(Result("a", "A"))
    telling.reply([build_call("b", "y", {"k": 1})], "m1")
    telling.user([Text("hurry")])
    telling.result(Result("b", "B", is_error=True))
    telling.reply([Text("done")], "m2")

    assert telling.conversation() == told(
        user_message("go"),
        Message("assistant", (ToolCall(CallId("a"), "x"), ToolCall(CallId("b"), "y", {"k": 1}))),
        Message(
            "tool", (ToolResult(CallId("a"), "x", "A"), ToolResult(CallId("b"), "y", "B", is_error=True))
        ),
        user_message("hurry"),
        Message("assistant", (Text("done"),)),
    )


def test_pieces_without_a_key_belong_together_until_a_result_comes():
    telling = ConversationBuilder(Counter())
    telling.reply([Text("one")])
    telling.reply([build_call("a", "x", {})])
    telling.result(Result("a", "A"))
    telling.reply([Text("two")])

    assert [message.message.role for message in telling.conversation().messages] == [
        "assistant",
        "tool",
        "assistant",
    ]


def test_what_has_no_other_half():
    telling = ConversationBuilder(Counter())
    telling.reply([build_call("a", "x", [])])
    telling.result(Result("zzz", "?"))

    conversation = telling.conversation()

    assert conversation.skipped == {NO_CALL: 1}
    assert conversation.messages[1].message == Message(
        "tool", (ToolResult(CallId("a"), "x", NO_RESULT, is_error=True),)
    )


def test_turns_are_taken_back():
    telling = ConversationBuilder(Counter())
    for words in ("one", "two", "three"):
        telling.user([Text(words)])
        telling.reply([Text(words.upper())])

    telling.rewind(0)
    telling.rewind(2)

    assert telling.conversation() == told(user_message("one"), Message("assistant", (Text("ONE"),)))
    telling.rewind(99)
    assert telling.conversation() == told()


def test_what_is_too_large_is_cut_and_what_is_empty_is_nothing():
    telling = ConversationBuilder(Counter())
    telling.user(
        [Text("x" * (MAX_TEXT_CHARS + 1)), Text(" "), Media("image/png", "A" * (MAX_MEDIA_CHARS + 1))]
    )
    telling.user([Text("")])

    assert telling.conversation() == told(
        Message("user", (Text("x" * MAX_TEXT_CHARS + CUT), Text(TOO_LARGE)))
    )
