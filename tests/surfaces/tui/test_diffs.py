"""A parsed diff has every line of both files, whatever they contain."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.tui.diffs import DiffLine, FileDiff, parse_diff, side_by_side
from bridle.tools.diff import new_file_diff, unified_diff

LINES = st.lists(
    st.sampled_from(["", "a", "b", "- c", "-- d", "++ e", "@@ -1,1 +1,1 @@", "\\ f", " g", "漢"]), max_size=12
)

TWO = """\
note before
--- a.py
+++ a.py
@@ -1,2 +1,3 @@
 same
-old
+new
+more
--- /dev/null
+++ b.py
@@ -0,0 +1,1 @@
+all new
b.py: mode 644 becomes 755
"""


def test_files_lines_and_notes():
    assert parse_diff(TWO) == [
        FileDiff("", (DiffLine("note", "note before"),)),
        FileDiff(
            "a.py",
            (
                DiffLine("gap", "@@ -1,2 +1,3 @@"),
                DiffLine("same", "same", 1, 1),
                DiffLine("removed", "old", 2),
                DiffLine("added", "new", None, 2),
                DiffLine("added", "more", None, 3),
            ),
            added=2,
            removed=1,
        ),
        FileDiff(
            "b.py",
            (
                DiffLine("gap", "@@ -0,0 +1,1 @@"),
                DiffLine("added", "all new", None, 1),
                DiffLine("note", "b.py: mode 644 becomes 755"),
            ),
            created=True,
            added=1,
        ),
    ]


def test_two_columns_pair_what_was_with_what_is():
    [_, file, _] = parse_diff(TWO)
    gap, same, removed, added, more = file.lines

    assert list(side_by_side(file.lines)) == [(gap, gap), (same, same), (removed, added), (None, more)]


def test_a_diff_of_git_is_read_too():
    text = (
        "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -3 +3 @@ def f():\n-a\n+b\n"
        "\\ No newline at end of file\n"
    )

    assert parse_diff(text) == [
        FileDiff(
            "x.py",
            (
                DiffLine("gap", "@@ -3 +3 @@ def f():"),
                DiffLine("removed", "a", 3),
                DiffLine("added", "b", None, 3),
                DiffLine("note", "\\ No newline at end of file"),
            ),
            added=1,
            removed=1,
        )
    ]


def test_of_a_cut_diff_the_marks_still_count():
    cut = "--- a\n+++ a\n@@ -1,9 +1,9 @@\n x\n[... 99 bytes left out ...]\n-y\n+z\n"
    text = f"{cut}--- b\n+++ b\n@@ -1,1 +1,1 @@\n-p\n+q\n"
    first, second = parse_diff(text)

    assert [line.kind for line in first.lines] == ["gap", "same", "note", "removed", "added"]
    assert (first.lines[3].old, second.path, second.added) == (None, "b", 1)


def test_what_is_no_diff_is_none():
    assert parse_diff("ls -la\n--- not one\n+ nor this") == []
    assert parse_diff("") == []


def test_a_long_diff_is_bounded():
    [file] = parse_diff(new_file_diff("x\n" * 500, "a", 500), most_lines=10)

    assert len(file.lines) == 9
    assert file.lines[-1] == DiffLine("note", "[493 more lines not shown]")


@given(LINES, LINES)
def test_both_files_can_be_read_off_a_diff(old: list[str], new: list[str]):
    diff = unified_diff(
        "".join(f"{line}\n" for line in ["head", *old]), "".join(f"{line}\n" for line in ["head", *new]), "p"
    )
    files = parse_diff(diff)

    lines = files[0].lines if files else ()
    assert len(files) <= 1
    for line in lines:
        if line.old is not None:
            assert ["head", *old][line.old - 1] == line.text
        if line.new is not None:
            assert ["head", *new][line.new - 1] == line.text
    marks = {"same": " ", "added": "+", "removed": "-", "gap": ""}
    assert [marks[line.kind] + line.text for line in lines] == diff.split("\n")[2:-1]


@given(st.text(alphabet="+-@ \\\n1,abc", max_size=200))
def test_nothing_is_lost_of_any_text(text: str):
    shown = [line.text for file in parse_diff(f"@@ x\n{text}") for line in file.lines]
    heads = ("--- ", "+++ ")

    assert len(shown) >= len([line for line in text.split("\n") if line and not line.startswith(heads)])
