"""What a small model copies wrongly is put right, and what it must not change stays."""

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult, user_message
from bridle.providers.embedded.call_repair import (
    KnownNames,
    WrittenCall,
    call_args,
    parse_call,
    read_conversation,
    repair_call,
)
from bridle.providers.embedded.trained_messages import TOOLS

FILE = "port = 80\nport = 8080\nname = blue"


def conversation(prompt: str, **files: str) -> KnownNames:
    messages = [user_message(prompt)]
    for at, (name, text) in enumerate(files.items()):
        call = ToolCall(CallId(str(at)), "read_file", {"path": name})
        numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(text.split("\n"), 1))
        messages.append(Message("assistant", (call,)))
        messages.append(Message("tool", (ToolResult(call.id, "read_file", numbered),)))
    return read_conversation(messages)


def edit(path: str, old: str, new: str) -> WrittenCall:
    return WrittenCall("edit_file", {"path": path, "old_str": old, "new_str": new})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<tool_call>",
        "<tool_call>{}</tool_call>",
        "<tool_call>[1]</tool_call>",
        "<tool_call><tool_call>read_file</tool_call>",
        '<tool_call>{"name": "read_file", "arguments": {"path": "a',
        '<tool_call>{"name": "read_file", "arguments": {"path": 7}}</tool_call>',
        '<tool_call>{"name": "read_file", "arguments": "a"}</tool_call>',
        '<tool_call>{"name": "launch", "arguments": {}}</tool_call>',
        "<tool_call>" + "[" * 100_000,
    ],
)
def test_malformed_calls_are_none(text: str) -> None:
    assert parse_call(text, TOOLS) is None


def test_a_tool_that_is_not_offered_cannot_be_called() -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'

    assert parse_call(text, ("glob",)) is None
    assert parse_call(text, ("bash",)) == WrittenCall("bash", {"command": "ls"})


def test_a_path_becomes_the_one_that_was_named() -> None:
    known = conversation("show me src/invoice_parser.py please")

    found = repair_call(WrittenCall("read_file", {"path": "src/invoice_praser.py"}), known)

    assert found == WrittenCall("read_file", {"path": "src/invoice_parser.py"})


def test_an_unknown_path_is_left_to_the_tool() -> None:
    call = WrittenCall("read_file", {"path": "zebra.md"})

    assert repair_call(call, conversation("read the notes")) == call


def test_a_file_is_read_before_it_is_edited() -> None:
    found = repair_call(edit("a.toml", "port = 80", "port = 81"), conversation("set port to 81 in a.toml"))

    assert found == WrittenCall("read_file", {"path": "a.toml"})


def test_an_old_text_that_was_copied_wrongly_is_put_right() -> None:
    known = conversation("make the name green", a=FILE)

    found = repair_call(edit("a", "nmae = blue", "nmae = green"), known)

    assert found == edit("a", "name = blue", "name = green")


def test_a_line_is_deleted_with_its_line_break() -> None:
    known = conversation("delete the name blue", a=FILE)

    assert repair_call(edit("a", "name = blue", ""), known) == edit("a", "\nname = blue", "")


def test_a_line_that_is_part_of_another_is_meant_alone() -> None:
    known = conversation("the port must be 90", a=FILE)
    call = edit("a", "port = 80", "port = 90")

    assert repair_call(call, known) == call
    assert call_args(call, known)["occurrence"] == 1
    assert "occurrence" not in call_args(edit("a", "name = blue", "name = red"), known)


def test_an_edit_that_the_user_did_not_speak_of_is_not_made() -> None:
    known = conversation("which test fails", a="def one():\ndef two():")

    assert repair_call(edit("a", "def one():", "def three():"), known) is None


def test_a_question_changes_nothing() -> None:
    known = conversation("where is the port set?", a=FILE)

    assert repair_call(edit("a", "port = 80", "port = 90"), known) is None
    assert repair_call(WrittenCall("write_file", {"path": "b", "content": "port"}), known) is None


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("delete my home folder", "rm -rf ~"),
        ("clean up", "rm -rf *"),
        ("remove the old file", "rm data.csv"),
        ("what is new", "mv a.txt b.txt"),
        ("turn the feature on", 'git add -A && git commit -m "feature"'),
        ("delete a.txt", "rm 'a.txt"),
    ],
)
def test_what_was_not_named_is_not_changed(prompt: str, command: str) -> None:
    assert repair_call(WrittenCall("bash", {"command": command}), conversation(prompt)) is None


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("delete old/a.txt", "rm old/a.txt"),
        ("rename a.txt to b.txt", "mv a.txt b.txt"),
        ("commit everything as Fix", 'git add -A && git commit -m "Fix"'),
        ("git status", "git status --short"),
    ],
)
def test_what_was_ordered_is_run(prompt: str, command: str) -> None:
    call = WrittenCall("bash", {"command": command})

    assert repair_call(call, conversation(prompt)) == call


def test_a_pattern_that_is_no_expression_is_searched_for_literally() -> None:
    found = repair_call(WrittenCall("grep", {"pattern": "load("}), conversation("find load("))

    assert found == WrittenCall("grep", {"pattern": "load\\("})
