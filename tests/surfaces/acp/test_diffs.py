"""Diffs, split into files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.acp.tool_calls import Edit, edits_in
from bridle.tools.diff import new_file_diff, unified_diff

LINES = st.lists(st.text("ab-+ @", max_size=4), min_size=1, max_size=12).map("\n".join)


def test_each_place_is_an_edit_of_its_own():
    old = "".join(f"{number}\n" for number in range(1, 21))
    new = old.replace("2\n", "two\n", 1).replace("18\n", "", 1)

    assert edits_in(unified_diff(old, new, "src/a.py")) == [
        Edit("src/a.py", "1\n2\n3\n4\n5", "1\ntwo\n3\n4\n5", 1),
        Edit("src/a.py", "15\n16\n17\n18\n19\n20", "15\n16\n17\n19\n20", 15),
    ]


def test_a_new_file_has_no_old_text():
    assert edits_in(new_file_diff("a\nb\n", "new.txt")) == [Edit("new.txt", None, "a\nb", 1)]


def test_several_files_follow_each_other():
    both = unified_diff("-- x\n", "++ y\n", "a") + unified_diff("1\n", "2\n", "b")

    assert edits_in(both) == [Edit("a", "-- x", "++ y", 1), Edit("b", "1", "2", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "would change things",
        "--- a\n",
        "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n",
        "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\nand more",
        "@@ -1,1 +1,1 @@\n-x\n+y",
        "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n-z\n+y",
        "--- a\n+++ a\n@@ -0,0 +1,9 @@ (showing 9 of 90 lines)\n",
        "--- a\n+++ a\n@@ -1,1 +1,99999999999999999999 @@\n x\n",
        new_file_diff("\n".join(map(str, range(2_000))), "long.txt"),
    ],
)
def test_what_is_no_whole_diff_is_none(text: str):
    assert edits_in(text) is None


@given(LINES, LINES)
def test_the_edits_lead_from_the_old_text_to_the_new_one(old: str, new: str):
    diff = unified_diff(old, new, "a")
    edits = edits_in(diff) if diff else []

    assert edits is not None
    lines = new.split("\n")
    for edit in reversed(edits):
        count = edit.new.count("\n") + 1
        assert lines[edit.line - 1 : edit.line - 1 + count] == edit.new.split("\n") or edit.new == ""
