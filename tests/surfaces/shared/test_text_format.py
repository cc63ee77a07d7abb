import io
from typing import Any

import pytest

from bridle.core.ids import CallId
from bridle.core.protocol import ApprovalRequested
from bridle.surfaces.shared.terminal import Screen
from bridle.surfaces.shared.text_format import (
    approval_lines,
    describe_args,
    describe_cost,
    format_elapsed,
    paint_diff,
    short_id,
    summary_line,
)
from tests.surfaces.records import CALL, DIFF, EDIT, SESSION, result


def test_an_approval_shows_the_whole_diff_and_the_reason():
    request = ApprovalRequested(CALL, "edit_file", EDIT, "writes a file (mode ask)", DIFF, ("edit_file(*)",))

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "edit_file greet.py",
        "--- greet.py",
        "+++ greet.py",
        "@@ -1,1 +1,1 @@",
        "-helo",
        "+hello",
        "Needs approval: writes a file (mode ask)",
    ]


def test_nothing_in_a_preview_pushes_the_rest_off_the_screen():
    preview = "$ rm -rf x" + "\n" * 80 + "a" * 1_600 + "\ndone"
    request = ApprovalRequested(CALL, "bash", {"command": "x"}, "it cannot be parsed", preview)

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "bash",
        "$ rm -rf x",
        "",
        "",
        "",
        "a" * 1_000 + " [100 characters not shown] " + "a" * 500,
        "done",
        "Needs approval: it cannot be parsed",
    ]


def test_an_approval_without_a_preview_shows_the_arguments():
    request = ApprovalRequested(CALL, "bash", {"command": "rm x\x1b[2J"}, "rule ask bash")

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "bash rm x\\x1b[2J",
        '{"command":"rm x\\u001b[2J"}',
        "Needs approval: rule ask bash",
    ]


def test_a_command_that_is_shown_whole_is_not_in_the_title_too():
    request = ApprovalRequested(
        CALL, "bash", {"command": "a\nb"}, "runs a command (mode ask)", "$ a\nb\n(in .)"
    )

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "bash",
        "$ a",
        "b",
        "(in .)",
        "Needs approval: runs a command (mode ask)",
    ]


def test_code_is_shown_once_also_when_its_preview_was_cut_or_masked():
    request = ApprovalRequested(
        CALL, "python", {"code": "x = 1\ny = 2\n"}, "runs a command (mode ask)", "x = [cut]\n(sandbox: none)"
    )

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "python",
        "1 x = 1",
        "2 y = 2",
        "(sandbox: none)",
        "Needs approval: runs a command (mode ask)",
    ]


def test_a_diff_is_coloured_by_its_lines():
    screen = Screen(io.StringIO(), {"FORCE_COLOR": "1"})

    assert paint_diff(screen, DIFF.rstrip() + "\n \x1b[2J") == [
        "\x1b[1m--- greet.py\x1b[0m",
        "\x1b[1m+++ greet.py\x1b[0m",
        "\x1b[36m@@ -1,1 +1,1 @@\x1b[0m",
        "\x1b[31m-helo\x1b[0m",
        "\x1b[32m+hello\x1b[0m",
        " \\x1b[2J",
    ]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({}, ""),
        ({"path": "a b"}, "a b"),
        ({"pattern": "*.py", "path": 3}, "*.py"),
        ({"pattern": "TODO", "path": "src"}, "TODO in src"),
        ({"url": "http://h/x", "path": "x"}, "http://h/x"),
        ({"job": 2, "wait": 5}, "job=2 wait=5"),
        ({"todos": [{"text": "x"}, {"text": "y"}]}, "2 items"),
        ({"a": [1], "b": {"c": "\x1b"}}, '{"a":[1],"b":{"c":"\\u001b"}}'),
        ({"command": "ls\n\x1b[2J"}, "ls \\x1b[2J"),
        ({"code": "\n  \nx = 1  \ny"}, "x = 1"),
    ],
)
def test_a_call_is_described_on_one_line(args: dict[str, Any], text: str):
    assert describe_args(args) == text


def test_an_unknown_price_is_not_zero():
    assert [describe_cost(cost) for cost in (None, 0.0, 0.01234, 12.345)] == [
        "price unknown",
        "$0.0000",
        "$0.0123",
        "$12.35",
    ]
    assert summary_line(result(cost=0.5, turns=1, usage={})).endswith(
        "1 turn · 1 tool call · 0 tokens · $0.5000"
    )


def test_small_words():
    assert (format_elapsed(3), format_elapsed(1500)) == ("3 ms", "1.5 s")
    assert (short_id(SESSION), short_id("my-talk")) == ("019a8536-2b7c", "my-talk")


def test_the_approval_of_code_shows_it_with_numbers_and_what_holds_it():
    code = "rows = 1\n\n\n\n\n\nprint('\x1b')" + " + 1" * 500 + "\n"
    request = ApprovalRequested(
        CALL,
        "python",
        {"code": code},
        "runs a command (mode ask)",
        f"{code}\n(sandbox: bubblewrap, no network)",
    )
    long = "print('\\x1b')" + " + 1" * 500
    cut = f"{long[:1003]} [510 characters not shown] {long[-500:]}"

    assert approval_lines(Screen(io.StringIO(), {}), request) == [
        "python",
        "1 rows = 1",
        "2",
        "3",
        "4",
        f"7 {cut}",
        "(sandbox: bubblewrap, no network)",
        "Needs approval: runs a command (mode ask)",
    ]


def test_the_approval_of_code_is_in_colours():
    request = ApprovalRequested(CALL, "python", {"code": "def f(): ..."}, "rule ask python")

    assert approval_lines(Screen(io.StringIO(), {"FORCE_COLOR": "1"}), request)[1] == (
        "\x1b[2m1\x1b[0m \x1b[35mdef\x1b[0m \x1b[1;34mf\x1b[0m(): ..."
    )


def test_an_approval_says_that_code_asks():
    request = ApprovalRequested(
        CallId("call_1.1"), "edit_file", EDIT, "writes a file (mode ask)", DIFF, parent=CALL
    )

    assert approval_lines(Screen(io.StringIO(), {}), request)[-1] == (
        "Needs approval for Python code: writes a file (mode ask)"
    )


def test_code_without_a_preview_or_with_a_strange_one_is_shown_all_the_same():
    for args, preview, lines in (
        ({"code": "x"}, "", ["1 x"]),
        ({"code": "x"}, "another", ["1 x", "another"]),
        ({"code": 3}, "", ['{"code":3}']),
    ):
        request = ApprovalRequested(CALL, "python", args, "rule ask python", preview)

        assert approval_lines(Screen(io.StringIO(), {}), request)[1:-1] == lines
