"""Models without a tool role get every result of a turn, and the next prompt."""

from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Text, ToolCall, ToolResult, user_message
from bridle.providers.llama.tool_plan import merge_tool_messages

CALL_A = ToolCall(CallId("1"), "a", {"x": 1})
CALL_B = ToolCall(CallId("2"), "b")
RESULT_A = ToolResult(CallId("1"), "a", "one")
RESULT_B = ToolResult(CallId("2"), "b", "two", is_error=True)
TALK = (
    user_message("go"),
    Message("assistant", (Text("I look."), CALL_A, CALL_B)),
    Message("tool", (RESULT_A, RESULT_B)),
    user_message("and now?"),
)
RESULTS = "Tool: a\n\nResult:\none\n\n---\n\nTool: b\n\nResult:\ntwo\n\n---\n\nand now?"


def test_all_results_and_the_next_prompt_become_one_message() -> None:
    folded = merge_tool_messages(TALK, "keep")

    assert [message.role for message in folded] == ["user", "assistant", "user"]
    assert folded[1] == TALK[1]
    assert folded[2].text == RESULTS


def test_results_in_messages_of_their_own_are_joined_too() -> None:
    apart = (*TALK[:2], Message("tool", (RESULT_A,)), Message("tool", (RESULT_B,)), TALK[3])

    assert merge_tool_messages(apart, "keep")[2].text == RESULTS


def test_calls_are_written_out_where_the_model_is_to_write_them() -> None:
    folded = merge_tool_messages(TALK, "text")

    assert folded[1].text == 'I look.{"tool":"a","arguments":{"x":1}}\n{"tool":"b","arguments":{}}'
    assert not folded[1].calls


def test_a_message_of_dropped_calls_goes_and_its_neighbours_join() -> None:
    talk = (TALK[0], Message("assistant", (CALL_A,)), Message("tool", (RESULT_A,)))

    assert merge_tool_messages(talk, "drop") == (
        Message("user", (Text("go"), Text("\n\n---\n\n"), Text("Tool: a\n\nResult:\none"))),
    )


def test_images_stay_with_their_result() -> None:
    image = Media("image/png", "AAAA")
    talk = (Message("tool", (ToolResult(CallId("1"), "look", "seen", media=(image,)), RESULT_B)),)

    parts = merge_tool_messages(talk, "keep")[0].parts

    assert parts[1] == image
    assert isinstance(parts[2], Text)
