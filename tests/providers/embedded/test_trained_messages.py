"""Conversations are sent in the shapes that the adapter was trained on, and always fit."""

from typing import Any

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.providers.embedded.trained_messages import (
    MAX_CHARS,
    MAX_FILLER_CHARS,
    MAX_PROMPT_CHARS,
    NO_PROMPT,
    TOOLS,
    offered_tools,
    result_text,
    system_text,
    trained_messages,
)

TRAINED_SYSTEM = (
    "You are Bridle, a small model that works in the user's folder. Tools: glob, read_file, grep, "
    "write_file, set_lines, insert_after, delete_lines, replace_all, bash."
)


def exchange(number: int, name: str, args: dict[str, Any], output: str) -> tuple[Message, Message]:
    call = CallId(str(number))
    return (
        Message("assistant", (ToolCall(call, name, dict(args)),)),
        Message("tool", (ToolResult(call, name, output),)),
    )


def test_the_system_text_is_the_trained_one() -> None:
    assert system_text(TOOLS) == TRAINED_SYSTEM
    assert offered_tools(("bash", "edit_file", "glob", "grep", "read_file", "write_file", "x")) == tuple(
        TOOLS
    )


def test_only_offered_tools_are_named() -> None:
    text = system_text(offered_tools(("glob", "read_file", "grep", "web_fetch")))

    assert "Tools: glob, read_file, grep." in text
    assert "Tools" not in system_text(())


def test_calls_and_results_become_text() -> None:
    call, result = exchange(1, "read_file", {"path": "ü.txt"}, " 9: a\n10: b")

    shaped = trained_messages((user_message("read ü.txt"), call, result))

    assert [(each.role, each.text) for each in shaped] == [
        ("user", "read ü.txt"),
        ("assistant", "<tool_call>read_file\nü.txt\n</tool_call>"),
        ("user", "<tool_response>\n9: a\n10: b\n</tool_response>"),
    ]


@pytest.mark.parametrize(
    ("name", "output", "text"),
    [
        ("glob", "b.py\na.py\n[a note]", "a.py\nb.py"),
        ("glob", "no files match", "No files found"),
        ("grep", "a.py\n3: x = 1\n7: x\n\nb/c.py\n12: x", "a.py:3: x = 1\na.py:7: x\nb/c.py:12: x"),
        ("grep", "no matches", "No matches found"),
        ("write_file", "Successfully wrote 3 bytes to a", "Done."),
        ("edit_file", "Replaced 1 occurrence(s) in a", "Done."),
        ("bash", "[no output]", "(no output)"),
    ],
)
def test_results_get_the_trained_shape(name: str, output: str, text: str) -> None:
    assert result_text(ToolResult(CallId("1"), name, output), "") == text


@pytest.mark.parametrize(
    ("args", "written"),
    [
        ({"old_str": "b", "new_str": "B"}, "set_lines\na.txt\n2\nB"),
        ({"old_str": "a\nb", "new_str": "x"}, "set_lines\na.txt\n1-2\nx"),
        ({"old_str": "b\n", "new_str": ""}, "delete_lines\na.txt\n2"),
        ({"old_str": "b", "new_str": "b\nnew\nnewer"}, "insert_after\na.txt\n2\nnew\nnewer"),
        ({"old_str": "a", "new_str": "top\na", "occurrence": 1}, "insert_after\na.txt\n0\ntop"),
        ({"old_str": "a", "new_str": "z"}, "replace_all\na.txt\na\nz"),
        ({"old_str": "a", "new_str": "z", "occurrence": 2}, "set_lines\na.txt\n3\nz"),
    ],
)
def test_an_edit_is_written_with_the_numbers_of_the_lines(args: dict[str, Any], written: str) -> None:
    read = exchange(1, "read_file", {"path": "a.txt"}, "1: a\n2: b\n3: a")
    edited = exchange(2, "edit_file", {"path": "a.txt", **args}, "Replaced 1 occurrence(s) in a.txt")

    shaped = trained_messages((user_message("go"), *read, *edited))

    assert shaped[3].text == f"<tool_call>{written}\n</tool_call>"


def test_an_edit_of_a_file_that_was_not_shown_is_written_with_its_texts() -> None:
    edited = exchange(1, "edit_file", {"path": "a.txt", "old_str": "a", "new_str": "b"}, "Replaced")

    shaped = trained_messages((user_message("go"), *edited))

    assert shaped[1].text == "<tool_call>replace_all\na.txt\na\nb\n</tool_call>"


def test_a_refused_call_is_told_in_the_trained_words() -> None:
    denied = ToolResult(CallId("1"), "bash", "denied: user denied", is_error=True)

    assert result_text(denied, "") == "The user refused this call."


def test_of_a_long_file_the_lines_that_matter_are_kept() -> None:
    lines = [f"{at}: key_{at} = {at}" for at in range(1, 400)]

    text = result_text(ToolResult(CallId("1"), "read_file", "\n".join(lines)), "what is key_250")

    assert "250: key_250 = 250" in text.split("\n")
    assert "399: key_399 = 399" in text.split("\n")
    assert len(text) <= MAX_CHARS


@pytest.mark.parametrize("prompt", ["what does feature 250 do?", "which number has the closing hour"])
def test_beside_a_line_that_matters_its_neighbours_are_kept(prompt: str) -> None:
    lines = [f"{at}: feature_{at} closes a {'x' * (at % 7)}" for at in range(1, 400)]
    lines[249:251] = ["250: # feature_250: closing hours", "251: at six o'clock"]

    text = result_text(ToolResult(CallId("1"), "read_file", "\n".join(lines)), prompt)

    assert [line for line in text.split("\n") if line in lines[247:252]] == lines[247:252]


def test_what_has_nothing_to_do_with_the_prompt_is_cut_first() -> None:
    lines = [f"{at}: row {at} of a table" for at in range(1, 400)]

    text = result_text(ToolResult(CallId("1"), "read_file", "\n".join(lines)), "what is in row 250?")

    assert "250: row 250 of a table" in text
    assert len(text) <= MAX_FILLER_CHARS
    assert text.startswith("1: row 1 of a table\n2: ")


def test_the_newest_messages_are_kept() -> None:
    talk = [user_message(f"{at} {'x' * 500}") for at in range(50)]

    kept = trained_messages(talk)

    assert kept[-1] == talk[-1]
    assert sum(len(message.text) for message in kept) <= MAX_CHARS


def test_the_prompt_is_kept_with_the_newest_results() -> None:
    messages = [user_message("old"), Message("assistant", (Text("done"),)), user_message("go on")]
    for at in range(20):
        messages += exchange(at, "bash", {"command": f"echo {at}"}, "y" * 900)

    kept = trained_messages(messages)

    assert kept[0].text == "go on"
    assert "echo 19" in kept[-2].text


@pytest.mark.parametrize("prompt", ["", "   ", "\n"])
def test_an_empty_prompt_is_a_greeting(prompt: str) -> None:
    assert [message.text for message in trained_messages((user_message(prompt),))] == [NO_PROMPT]


def test_a_huge_prompt_is_shortened() -> None:
    (message,) = trained_messages((user_message("word " * 4000 + "and the end"),))

    assert len(message.text) < MAX_PROMPT_CHARS + 10
    assert message.text.endswith("and the end")
