"""What a small model copies wrongly is put right, and what it must not change stays."""

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult, user_message
from bridle.providers.embedded.call_repair import (
    KnownNames,
    parse_call,
    read_conversation,
    real_call,
    repair_call,
)
from bridle.providers.embedded.trained_messages import TOOLS, WrittenCall, call_text

FILE = "port = 80\nport = 8080\nname = blue"


def conversation(prompt: str, **files: str) -> KnownNames:
    messages = [user_message(prompt)]
    for at, (name, text) in enumerate(files.items()):
        call = ToolCall(CallId(str(at)), "read_file", {"path": name})
        numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(text.splitlines(), 1))
        messages.append(Message("assistant", (call,)))
        messages.append(Message("tool", (ToolResult(call.id, "read_file", numbered),)))
    return read_conversation(messages)


def read(path: str) -> WrittenCall:
    return WrittenCall("read_file", {"path": path})


def set_line(path: str, lines: str, text: str) -> WrittenCall:
    return WrittenCall("set_lines", {"path": path, "lines": lines, "text": text})


CALLS = (
    WrittenCall("glob", {"pattern": "**/*.py"}),
    WrittenCall("grep", {"pattern": "a b"}),
    WrittenCall("grep", {"pattern": "a b", "include": "*.py"}),
    WrittenCall("write_file", {"path": "a.txt", "content": ""}),
    WrittenCall("write_file", {"path": "a.txt", "content": '\n  two: "x" \\ \n\n'}),
    WrittenCall("set_lines", {"path": "a.txt", "lines": "3-4", "text": "    return 1\n"}),
    WrittenCall("set_lines", {"path": "a.txt", "lines": "3", "text": ""}),
    WrittenCall("insert_after", {"path": "a.txt", "line": "0", "text": "# ü"}),
    WrittenCall("delete_lines", {"path": "a.txt", "lines": "3"}),
    WrittenCall("replace_all", {"path": "a.txt", "old": "one", "new": ""}),
    WrittenCall("bash", {"command": "cat <<E\nx\nE"}),
)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_written_call_is_read_again(call: WrittenCall) -> None:
    assert parse_call(call_text(call), TOOLS) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<tool_call>",
        "<tool_call></tool_call>",
        "<tool_call><tool_call>read_file</tool_call>",
        "<tool_call>read_file\n</tool_call>",
        "<tool_call>launch\nrocket\n</tool_call>",
        "<tool_call>write_file\na.txt\n</tool_call>",
        "<tool_call>set_lines\na.txt\nport = 80\nport = 90\n</tool_call>",
        "<tool_call>delete_lines\na.txt\n5-3\n</tool_call>",
        '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>',
    ],
)
def test_malformed_calls_are_none(text: str) -> None:
    assert parse_call(text, TOOLS) is None


def test_a_tool_that_is_not_offered_cannot_be_called() -> None:
    text = "<tool_call>bash\nls\n</tool_call>"

    assert parse_call(text, ("glob",)) is None
    assert parse_call(text, ("bash",)) == WrittenCall("bash", {"command": "ls"})


def test_a_path_becomes_the_one_that_was_named() -> None:
    known = conversation("show me src/invoice_parser.py please")

    found = repair_call(WrittenCall("read_file", {"path": "src/invoice_praser.py"}), known)

    assert found == WrittenCall("read_file", {"path": "src/invoice_parser.py"})


def test_a_number_in_a_path_is_never_corrected() -> None:
    known = conversation("copy times7.py", **{"times7.py": "x"})

    for call in (WrittenCall("write_file", {"path": "times8.py", "content": "x"}), read("times8.py")):
        assert repair_call(call, known) == call


@pytest.mark.parametrize(
    ("prompt", "written", "path"),
    [
        ("write greeting.txt", "greting.txt", "greeting.txt"),
        ("put moss.txt into the new folder plants", "plants/moss.txt", "plants/moss.txt"),
        ("new file .env with PORT=80", ".env", ".env"),
        ("I need a `.gitignore`.", ".gitignore", ".gitignore"),
    ],
)
def test_a_new_file_gets_the_name_that_was_typed(prompt: str, written: str, path: str) -> None:
    known = conversation(prompt, **{"greetings.txt": "hello"})

    found = repair_call(WrittenCall("write_file", {"path": written, "content": "x"}), known)

    assert found is not None
    assert found.args["path"] == path


def test_an_unknown_path_is_left_to_the_tool() -> None:
    call = read("zebra.md")

    assert repair_call(call, conversation("read the notes")) == call


def test_a_file_is_read_before_it_is_edited() -> None:
    found = repair_call(set_line("a.toml", "1", "port = 81"), conversation("set port to 81 in a.toml"))

    assert found == read("a.toml")


def test_lines_become_the_text_that_the_tool_replaces() -> None:
    known = conversation("the port must be 90", a=FILE)
    call = set_line("a", "1", "port = 90")

    assert repair_call(call, known) == call
    args = {"path": "a", "old_str": "port = 80", "new_str": "port = 90", "occurrence": 1}
    assert real_call(call, known) == ("edit_file", args)
    assert real_call(set_line("a", "9", "x"), known) is None
    assert real_call(set_line("a", "1", "port = 80"), known) is None
    assert real_call(WrittenCall("replace_all", {"path": "a", "old": "PORT", "new": "x"}), known) is None


def test_a_name_in_code_is_not_replaced_inside_of_other_names() -> None:
    known = conversation("rename s to total", **{"a.py": "s = 0\nfor i in items:\n    s += i\nreturn 1"})
    call = WrittenCall("replace_all", {"path": "a.py", "old": "s", "new": "total"})

    assert real_call(call, known) == (
        "edit_file",
        {
            "path": "a.py",
            "old_str": "s = 0\nfor i in items:\n    s += i",
            "new_str": "total = 0\nfor i in items:\n    total += i",
        },
    )


@pytest.mark.parametrize(
    ("call", "real"),
    [
        (WrittenCall("grep", {"pattern": "x", "include": ""}), ("grep", {"pattern": "x"})),
        (
            WrittenCall("write_file", {"path": "b", "content": "x"}),
            ("write_file", {"path": "b", "content": "x\n"}),
        ),
        (
            WrittenCall("replace_all", {"path": "a", "old": "port", "new": "y"}),
            ("edit_file", {"path": "a", "old_str": "port", "new_str": "y"}),
        ),
        (
            WrittenCall("delete_lines", {"path": "a", "lines": "3"}),
            ("edit_file", {"path": "a", "old_str": "\nname = blue", "new_str": ""}),
        ),
        (
            WrittenCall("insert_after", {"path": "empty", "line": "0", "text": "x"}),
            ("write_file", {"path": "empty", "content": "x\n"}),
        ),
    ],
    ids=["grep", "write_file", "replace_all", "delete_lines", "insert_after"],
)
def test_a_call_becomes_one_of_the_real_tool(call: WrittenCall, real: tuple[str, dict[str, str]]) -> None:
    assert real_call(call, conversation("go", a=FILE, empty="")) == real


def test_a_question_changes_nothing() -> None:
    known = conversation("where is the port set?", a=FILE)

    assert repair_call(set_line("a", "1", "port = 90"), known) is None
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
