"""The toolbox finds tools, checks calls and limits output."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from bridle.core.errors import ToolError, UsageError
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.tools import Toolbox, cap_output, file_tools
from bridle.tools.tool_search import ToolCaller, ToolSearch
from bridle.tools.toolbox import describe_tool
from tests.sessions.stage import SmallTool

BOX = Toolbox(file_tools())
ALL = "hint: available tools: edit_file, list_files, multi_edit, read_file, write_file"


def call(name: str, args: dict[str, Any] | None = None, invalid: str = "") -> ToolCall:
    return ToolCall(CallId("1"), name, args or {}, invalid)


def test_specs_are_sorted_and_the_same_bytes_for_the_same_tools():
    backwards = Toolbox(file_tools()[::-1])

    names = ["edit_file", "list_files", "multi_edit", "read_file", "write_file"]
    assert [spec.name for spec in BOX.specs] == names
    assert encode(BOX.specs) == encode(backwards.specs)


def test_a_tool_is_found_by_its_name():
    assert BOX.get("read_file").spec.name == "read_file"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("readfile", "no tool is named 'readfile' (hint: did you mean read_file?)"),
        ("Edit-File", "no tool is named 'Edit-File' (hint: did you mean edit_file or read_file?)"),
        ("", f"no tool is named '' ({ALL})"),
        ("launch\nrocket", f"no tool is named 'launch\\nrocket' ({ALL})"),
    ],
)
def test_an_unknown_tool_is_an_error_with_similar_names(name: str, message: str):
    for act in (BOX.get, lambda name: BOX.arguments(call(name)), lambda name: BOX.validate(name, {})):
        with pytest.raises(ToolError) as caught:
            act(name)
        assert str(caught.value) == message


def test_an_empty_toolbox_says_so():
    with pytest.raises(ToolError) as caught:
        Toolbox([]).get("read_file")

    assert str(caught.value) == "no tool is named 'read_file' (hint: no tools are available)"


def test_two_tools_of_one_name_are_an_error():
    with pytest.raises(UsageError, match='two tools are named "read_file"'):
        Toolbox([*file_tools(), *file_tools()])


def test_the_arguments_of_a_good_call_are_left_alone():
    good = call("read_file", {"path": "a", "start_line": 2})

    assert BOX.arguments(good) is good.args
    BOX.validate("read_file", good.args)


def test_a_near_miss_is_put_right_but_is_not_valid_as_it_is():
    near = call("read_file", {"path": "a", "start_line": "2"})

    assert BOX.arguments(near) == {"path": "a", "start_line": 2}
    with pytest.raises(ToolError) as caught:
        BOX.validate("read_file", near.args)
    assert str(caught.value) == 'read_file: "start_line" must be an integer, got the string "2"'


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (call("write_file", {"path": "a"}), 'write_file: "content" is missing, it must be a string'),
        (
            call("write_file", invalid='{"path": '),
            (
                "write_file: the arguments are not JSON: Expecting value at line 1 column 10,"
                ' between "{\\"path\\": " and "" (hint: send one JSON object)'
            ),
        ),
    ],
)
def test_a_bad_call_is_an_error(bad: ToolCall, message: str):
    with pytest.raises(ToolError) as caught:
        BOX.arguments(bad)

    assert str(caught.value) == message


# ---------------------------------------------------------------------------- output


def test_short_output_is_left_alone():
    assert cap_output("é" * 5, 10) == "é" * 5


def test_long_output_keeps_head_and_tail_on_whole_lines():
    text = "".join(f"line {number}\n" for number in range(100))

    assert cap_output(text, 150) == (
        "line 0\nline 1\nline 2\nline 3\nline 4\n"
        "[716 of 790 bytes left out here; ask for a smaller part to see it]\n"
        "line 95\nline 96\nline 97\nline 98\nline 99\n"
    )


def test_one_long_line_is_cut_inside():
    assert cap_output("x" * 1000, 88, rest="see page 2") == (
        f"{'x' * 20}\n[960 of 1000 bytes left out here; see page 2]\n{'x' * 20}"
    )


def test_half_characters_become_escapes():
    assert cap_output("a\ud800b", 100) == "a\\ud800b"


@given(text=st.text(st.characters(), max_size=400), limit=st.integers(0, 300))
def test_output_is_never_longer_than_its_limit_and_can_be_stored(text: str, limit: int):
    assert len(cap_output(text, limit).encode()) <= limit


# ---------------------------------------------------------------------------- loading


def test_the_room_loads_no_more_than_it_needs():
    code = "import sys, bridle.tools; print(*{'jsonschema_rs', 'difflib', 'tempfile'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


# ---------------------------------------------------------------------------- what is not shown


def test_wrong_arguments_of_a_tool_that_was_not_shown_are_answered_with_all_about_it():
    box = Toolbox(file_tools(), frozenset({"list_files"}))

    with pytest.raises(ToolError) as caught:
        box.arguments(call("list_files"))
    with pytest.raises(ToolError) as usual:
        box.arguments(call("read_file"))

    assert str(caught.value) == (
        f'list_files: "pattern" is missing, it must be a string\n{describe_tool(BOX.get("list_files").spec)}'
    )
    assert str(usual.value) == 'read_file: "path" is missing, it must be a string'


def test_code_can_call_what_is_not_shown_but_for_what_servers_lend():
    lent, other = SmallTool("mcp__desk__ring", str), SmallTool("wait", str)
    caller, search = ToolCaller(), ToolSearch(())

    own = Toolbox([other, caller], frozenset({"wait"}))
    many = Toolbox([other, lent, caller, search], frozenset({"wait", "mcp__desk__ring"}))

    assert [spec.name for spec in own.specs] == ["tool_call"]
    assert [spec.name for spec in own.functions] == ["wait"]
    assert [spec.name for spec in many.functions] == ["tool_call", "tool_search", "wait"]
