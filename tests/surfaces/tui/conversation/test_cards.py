"""Calls as cards."""

import pytest

from bridle.core.ids import CallId, SessionId
from bridle.surfaces.shared.view_model.view_types import Attached, Call
from bridle.surfaces.tui.conversation.cards import LIVE_LINES, card_flows
from tests.surfaces.tui.conversation.samples import call, wrapped

DIFF = "--- a.py\n+++ a.py\n@@ -9,2 +9,3 @@\n import os\n-helo()\n+hello()\n+world()\n"
LONG = "\n".join(f"line {number}" for number in range(30))


def card(call: Call, *, is_open: bool = False, depth: int = 0, now_ms: int = 0) -> list[str]:
    return wrapped(card_flows(call, is_open=is_open, depth=depth, now_ms=now_ms))


def test_a_call_that_is_done():
    assert card(call(output="a\nb\n", duration_ms=1500)) == ["✓ bash ls · 1.5 s", "  │ a", "  │ b"]


def test_output_is_folded_and_opens():
    done = call(output=LONG)

    assert card(done)[1:] == ["  │ line 0", "  │ line 1", "  │ line 2", "  │ line 3", "  ▸ 26 more lines"]
    assert card(done, is_open=True)[1:] == [*(f"  │ line {number}" for number in range(30)), "  ▾ fold"]


def test_of_a_failed_call_the_end_is_seen():
    assert card(call(state="failed", output=LONG)) == [
        "✗ bash ls",
        "  ▸ 26 more lines",
        *(f"  │ line {number}" for number in range(26, 30)),
    ]


def test_a_running_call_shows_its_time_and_the_end_of_its_output():
    lines = card(call(state="running", started_at=1000, output=LONG), now_ms=66_000)

    assert lines[:3] == ["… bash ls · 65 s", "  ▸ 20 more lines", "  │ line 20"]
    assert len(lines) == 2 + LIVE_LINES


def test_a_change_is_a_diff_with_the_numbers_of_its_lines():
    assert card(call(tool="edit_file", brief="a.py", diff=DIFF, output="edited a.py")) == [
        "✓ edit_file a.py",
        "  │ a.py · +2 -1",
        "  │      @@ -9,2 +9,3 @@",
        "  │  9   import os",
        "  │ 10 - helo()",
        "  │ 10 + hello()",
        "  │ 11 + world()",
    ]


def test_python_shows_its_code_its_output_and_its_answer():
    assert card(call(tool="python", brief="", code="x = 1\nprint(x)", output="1", answer="42")) == [
        "✓ python",
        "  │ x = 1",
        "  │ print(x)",
        "  ├ output",
        "  │ 1",
        "  ├ answer",
        "  │ 42",
    ]


def test_a_nested_call_is_indented():
    assert card(call(output="a", parent=CallId("p")), depth=1) == ["  ✓ bash ls", "    │ a"]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"state": "denied", "why": "rule bash(rm:*)"}, ["✗ bash ls · denied", "  │ rule bash(rm:*)"]),
        (
            {"state": "waiting", "why": "mode ask", "preview": "ls -l", "code": "x = 1"},
            ["? bash ls · waits for you"],
        ),
        ({"state": "lost"}, ["! bash ls · did not finish"]),
        ({"state": "running"}, ["… bash ls · waits for its turn"]),
        (
            {"state": "writing", "written": '{"command": "a\\nb'},
            ["… bash ls · is being written", '  │ {"command": "a', "  │ b"],
        ),
        ({"child": SessionId("kid")}, ["✓ bash ls · sub-agent kid"]),
        ({"changed": "changed a.py"}, ["✓ bash ls", "  │ changed a.py"]),
        ({"attached": (Attached("image/png", "a.png"),)}, ["✓ bash ls", "  │ [a.png · image/png]"]),
    ],
)
def test_other_states(given, lines):
    assert card(call(**given)) == lines


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"why": "mode ask", "preview": "ls -l"}, ["  │ mode ask", "  │ ls -l"]),
        (
            {"preview": "$ true\nindex $(evil)\n@@ -1 +1 @@"},
            ["  │ $ true", "  │ index $(evil)", "  │ @@ -1 +1 @@"],
        ),
    ],
)
def test_what_waits_is_shown_above_the_prompt_and_here_only_when_it_is_opened(given, lines):
    assert card(call(state="waiting", **given), is_open=True) == ["? bash ls · waits for you", *lines]


def test_hostile_text_is_shown_and_stays_on_its_line():
    hostile = "\x1b]0;title\x07\u202e"
    lines = card(call(tool=f"b{hostile}", brief=f"a\n{hostile}", state="denied", why=hostile, output=hostile))

    assert not {"\x1b", "\x07", "\u202e", "\n"} & set("".join(lines))


def test_a_line_without_end_is_cut_until_it_is_opened():
    done = call(output="x" * 500)

    assert card(done)[1] == "  │ " + "x" * 55 + "…"
    assert sum(line.count("x") for line in card(done, is_open=True)) == 500
