from typing import Any

import pytest

from bridle.core.claude_code import (
    EVENT_AT,
    EVENTS,
    TOOLS,
    from_claude_arguments,
    to_claude_arguments,
    to_claude_tool,
)


def test_every_name_has_one_counterpart():
    assert {point: event for event, point in EVENTS.items()} == EVENT_AT
    assert {ours: to_claude_tool(ours) for ours in TOOLS.values()} == {
        ours: theirs for theirs, ours in TOOLS.items()
    }


def test_other_tools_have_one_name():
    assert to_claude_tool("mcp__git__push") == "mcp__git__push"


@pytest.mark.parametrize(
    ("tool", "ours", "theirs"),
    [
        ("bash", {"command": "ls"}, {"command": "ls"}),
        ("read_file", {"path": "/a", "start_line": 2}, {"file_path": "/a", "start_line": 2}),
        ("write_file", {"path": "/a", "content": "x"}, {"file_path": "/a", "content": "x"}),
        (
            "edit_file",
            {"path": "/a", "old_str": "x", "new_str": "y"},
            {"file_path": "/a", "old_string": "x", "new_string": "y"},
        ),
        (
            "multi_edit",
            {"path": "/a", "edits": [{"old_str": "x", "new_str": "y"}]},
            {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]},
        ),
        ("grep", {"pattern": "x", "include": "*.py"}, {"pattern": "x", "glob": "*.py"}),
        ("mcp__x", {"path": "a", "edits": [1]}, {"path": "a", "edits": [1]}),
    ],
)
def test_arguments_are_told_in_their_words_and_back(tool: str, ours: dict[str, Any], theirs: dict[str, Any]):
    assert to_claude_arguments(tool, ours, "/work") == theirs
    assert from_claude_arguments(tool, theirs) == ours


@pytest.mark.parametrize(
    ("path", "cwd", "told"),
    [
        ("a/b", "/w", "/w/a/b"),
        ("a", "/", "/a"),
        ("~/a", "/w", "~/a"),
        ("/a", "/w", "/a"),
        ("a", "", "a"),
        (5, "/w", 5),
    ],
)
def test_files_are_named_by_absolute_paths(path: Any, cwd: str, told: Any):
    assert to_claude_arguments("read_file", {"path": path}, cwd) == {"file_path": told}
