"""Unified diffs: the recorded ones, and that each turns the old text into the new one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools import diff
from bridle.tools.diff import new_file_diff, unified_diff

DEVIATIONS = {
    "two-hunks": (
        "@@ -27,7 +27,7 @@",
        "@@ -27,7 +28,7 @@",
        "Kontekst ignores that the first hunk grew the file",
    )
}


def test_the_vectors_of_changed_files(vectors):
    for vector in vectors("diff"):
        theirs, ours, _ = DEVIATIONS.get(vector["name"], ("", "", ""))
        expected = vector["diff"].replace(theirs, ours) if theirs else vector["diff"]

        assert unified_diff(vector["old"], vector["new"], "f.txt") == expected, vector["name"]


def test_the_vectors_of_new_files(vectors):
    for vector in vectors("newfile_diff"):
        content = "".join(f"L{number}\n" for number in range(1, vector["lines"] + 1))

        assert new_file_diff(content, "n.txt", vector["max"]) == vector["diff"], vector["lines"]


def test_an_empty_file_that_gets_content_shows_a_thousand_lines():
    content = "".join(f"L{number}\n" for number in range(1, 1502))

    assert unified_diff("", content, "n.txt") == new_file_diff(content, "n.txt", 1000)


def test_a_new_file_is_shown_whole_up_to_a_thousand_lines():
    content = "x\n" * 1000

    assert new_file_diff(content, "n.txt").count("+x") == 1000
    assert new_file_diff(content + "x\n", "n.txt") == new_file_diff(content + "x\n", "n.txt", 1000)


# ---------------------------------------------------------------------------- applying a diff

HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def lines_of(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def apply(old: list[str], patch: str) -> list[str]:
    """Apply a diff like `patch`, but without any tolerance."""
    if not patch:
        return old
    new: list[str] = []
    taken = 0
    _, _, *body = lines_of(patch)
    numbers = [0, 0, 0, 0]
    counts = (0, 0)
    for line in body:
        if match := HUNK.fullmatch(line):
            assert counts == (numbers[1], numbers[3])
            numbers = [int(number) for number in match.groups()]
            new += old[taken : max(0, numbers[0] - 1)]
            taken = max(0, numbers[0] - 1)
            counts = (0, 0)
            assert len(new) == max(0, numbers[2] - 1)
            continue
        mark, text = line[0], line[1:]
        if mark in " -":
            assert old[taken] == text
            taken += 1
        if mark in " +":
            new.append(text)
        counts = (counts[0] + (mark in " -"), counts[1] + (mark in " +"))
    assert counts == (numbers[1], numbers[3])
    return new + old[taken:]


TEXTS = st.lists(
    st.sampled_from(["a", "b", "c", "", "+", "-x", "@@ -1,1 +1,1 @@ x", "é\r"]), max_size=30
).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(old=TEXTS, new=TEXTS)
def test_a_diff_turns_the_old_text_into_the_new_one(old: str, new: str):
    assert apply(lines_of(old), unified_diff(old, new, "f")) == lines_of(new)


@given(
    old=st.lists(st.integers(0, 40), max_size=60),
    new=st.lists(st.integers(0, 40), max_size=60),
    cells=st.sampled_from([0, 20, 400]),
)
def test_a_diff_of_a_large_change_is_right_too(old: list[int], new: list[int], cells: int):
    """With a small table the lines that occur once divide the texts."""
    old_lines, new_lines = [str(number) for number in old], [str(number) for number in new]
    changes = diff.changed_regions(old_lines, new_lines, max_cells=cells)

    result: list[str] = []
    top = 0
    for change in changes:
        assert (change.top, change.left) != (change.bottom, change.right)
        result += old_lines[top : change.top]
        assert len(result) == change.left
        result += new_lines[change.left : change.right]
        top = change.bottom
    assert result + old_lines[top:] == new_lines


@given(old=TEXTS, new=TEXTS)
def test_a_diff_is_a_shortest_one(old: str, new: str):
    """The number of unchanged lines is the length of the longest common subsequence."""
    lengths = [[0] * (len(lines_of(new)) + 1)]
    for line in lines_of(old):
        row = [0]
        for column, other in enumerate(lines_of(new)):
            row.append(lengths[-1][column] + 1 if line == other else max(row[-1], lengths[-1][column + 1]))
        lengths.append(row)

    changes = diff.changed_regions(lines_of(old), lines_of(new))

    assert len(lines_of(old)) - sum(change.bottom - change.top for change in changes) == lengths[-1][-1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["same"] * 100_000, ["same"] * 50_000 + ["other"] + ["same"] * 49_000),
        ([str(n % 7) for n in range(100_000)], [str(n % 5) for n in range(100_000)]),
        ([str(n) for n in range(100_000)], [str(n) if n % 10 else "x" for n in range(100_000)]),
        ([str(n) for n in range(50_000)], [str(n) for n in reversed(range(50_000))]),
    ],
    ids=["one line inside", "repeated lines", "many hunks", "reversed"],
)
def test_a_huge_change_is_compared_in_bounded_time(old: list[str], new: list[str]):
    patch = unified_diff("\n".join(old), "\n".join(new), "f")

    assert apply(old, patch) == new


def test_one_changed_line_of_a_huge_file_is_one_small_hunk():
    old = [str(number) for number in range(200_000)]
    new = [*old[:100_000], "x", *old[100_001:]]

    assert unified_diff("\n".join(old), "\n".join(new), "f") == (
        "--- f\n+++ f\n@@ -99998,7 +99998,7 @@\n"
        " 99997\n 99998\n 99999\n-100000\n+x\n 100001\n 100002\n 100003\n"
    )


def test_a_small_change_of_a_long_text_is_one_of_its_lines_only(vectors):
    """What stands before and after is left out without being split; the diff is the same."""
    for vector in vectors("diff"):
        head = [f"head {number}" for number in range(20_000)]
        tail = [f"tail {number}" for number in range(20_000)]
        old, new = ([*head, *lines_of(vector[side]), *tail] for side in ("old", "new"))

        patch = unified_diff("\n".join(old), "\n".join(new), "f.txt")

        assert apply(old, patch) == new
        changed = sum(line[0] in "+-" for line in lines_of(patch)[2:])
        assert changed <= len(lines_of(vector["old"])) + len(lines_of(vector["new"])), vector["name"]


LONG = "x" * 100_000


@given(
    head=st.lists(st.sampled_from(["a", "", "b"]), max_size=6),
    old=st.lists(st.sampled_from(["a", "", "c"]), max_size=6),
    new=st.lists(st.sampled_from(["a", "", "c"]), max_size=6),
    tail=st.lists(st.sampled_from(["a", "", "b"]), max_size=6),
    ends=st.tuples(st.booleans(), st.booleans()),
)
def test_a_diff_of_long_texts_is_right_too(
    head: list[str], old: list[str], new: list[str], tail: list[str], ends: tuple[bool, bool]
):
    old_lines, new_lines = [LONG, *head, *old, *tail, LONG], [LONG, *head, *new, *tail, LONG]
    texts = ["\n".join(lines) + "\n" * end for lines, end in zip((old_lines, new_lines), ends, strict=True)]

    assert apply(old_lines, unified_diff(texts[0], texts[1], "f")) == new_lines


@pytest.mark.parametrize(("before", "after"), [(20, 21), (21, 20), (20, 40), (0, 9)])
def test_lines_that_repeat_are_not_both_start_and_end(before: int, after: int):
    old, new = ([LONG, *["a"] * count, LONG] for count in (before, after))

    assert apply(old, unified_diff("\n".join(old), "\n".join(new), "f")) == new


def test_more_lines_than_can_be_compared_are_shown_in_part():
    patch = unified_diff("same\n" + "old\n" * 300_000, "same\n" + "new\n" * 100_001, "f")

    lines = lines_of(patch)
    assert lines[:4] == [
        "--- f",
        "+++ f",
        "@@ -1,300001 +1,100002 @@ (too many lines to be compared)",
        "-same",
    ]
    assert [line for line in lines if line.startswith("@@ ...")] == [
        "@@ ... 299001 lines omitted ... @@",
        "@@ ... 99002 lines omitted ... @@",
    ]
    assert len(lines) == 3 + 2 * 1001
    assert lines[-1] == "+new"


def test_millions_of_empty_lines_cost_little():
    assert unified_diff("\n" * 5_000_000, "\n" * 4_999_999 + "x\n", "f") == (
        "--- f\n+++ f\n@@ -4999997,4 +4999997,4 @@\n-\n \n \n \n+x\n"
    )
