"""The conversation as input for the summarising model: everything fits, and every omission is noted."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.compaction import MIN_PART_TOKENS, cut_at_paragraph, render_for_summary
from bridle.core.context import estimate_tokens
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message


def test_a_conversation_is_told_part_by_part_without_what_was_thought():
    call = ToolCall(CallId("c"), "read_file", {"path": "greet.py"})
    bad = ToolCall(CallId("d"), "bash", invalid='{"command": ')
    told = render_for_summary(
        [
            Message("user", (Text("fix the greeting "), Media("image/png", "AAAA", "shot.png"))),
            Message("assistant", (Reasoning("hm"), Text("I look first."), call, bad)),
            Message(
                "tool",
                (
                    ToolResult(call.id, "read_file", '1: print("helo")\n'),
                    ToolResult(bad.id, "bash", "no such command", is_error=True),
                ),
            ),
            user_message("  "),
        ],
        1_000,
    )

    assert "\n\n".join(told) == (
        "[user] fix the greeting\n"
        "[user] (image/png shot.png)\n"
        "[assistant] I look first.\n"
        '[call] read_file {"path":"greet.py"}\n'
        '[call] bash {"command": \n'
        '[result of read_file] 1: print("helo")\n'
        "[result of bash (failed)] no such command"
    )


def test_what_is_long_loses_its_middle():
    [told] = render_for_summary(
        [Message("tool", (ToolResult(CallId("c"), "read_file", "a" * 5_000 + "z" * 5_000),))], 5_000
    )

    assert told.startswith("[result of read_file] aaaa")
    assert told.endswith("zzzz")
    assert "characters left out …]" in told
    assert estimate_tokens(told) < 320


def test_a_history_that_has_no_end_is_shortened_until_it_fits():
    messages = [user_message(f"{number} " + "word " * 400) for number in range(150)]

    told = render_for_summary(messages, 1_000, most_parts=16)

    assert len(told) <= 16
    assert "[user] 0 " in told[0]
    assert "[user] 149 " in told[-1]


def test_what_is_oldest_goes_when_nothing_else_helps_and_it_says_so():
    told = render_for_summary(
        [user_message(f"prompt {number}") for number in range(1_000)], 128, most_parts=3
    )

    assert len(told) == 3
    assert told[0].startswith("[the oldest ")
    assert "[user] prompt 999" in told[-1]


texts = st.builds(lambda text, times: text * times, st.text(max_size=8), st.sampled_from([1, 3, 100, 500]))
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Reasoning, texts),
    st.builds(lambda text: ToolCall(CallId("c"), "x", {"a": text}), texts),
    st.builds(lambda text: ToolResult(CallId("c"), "x", text), texts),
)
conversations = st.lists(
    st.lists(parts, max_size=2).map(lambda some: Message("user", tuple(some))), max_size=12
)


@given(conversations, st.integers(-100, 500), st.integers(1, 5))
def test_no_part_is_longer_than_asked_and_there_are_not_too_many(
    messages: list[Message], tokens: int, most: int
):
    told = render_for_summary(messages, tokens, most)

    assert len(told) <= most
    assert all(estimate_tokens(part) <= max(tokens, MIN_PART_TOKENS) for part in told)
    assert all(part.strip() for part in told)


def test_a_text_is_cut_where_a_paragraph_ends():
    text = "one one\n\ntwo two\n\nthree three three"

    assert cut_at_paragraph(text, 100) == text
    assert cut_at_paragraph(text, 6) == "one one\n\ntwo two"
    assert cut_at_paragraph("one two three four\nfive", 5) == "one two three four"
    assert cut_at_paragraph("one two three", 2) == "one two"
    assert cut_at_paragraph("x" * 100, 2) == "x" * 8


@given(st.text(), st.integers(0, 30))
def test_a_cut_text_is_the_beginning_of_the_whole(text: str, tokens: int):
    cut = cut_at_paragraph(text, tokens)

    assert text.startswith(cut)
    assert estimate_tokens(cut) <= tokens or cut == text
