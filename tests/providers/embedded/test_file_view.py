"""An edit of lines and the call of edit_file that it becomes have the same effect."""

from hypothesis import assume, given
from hypothesis import strategies as st

from bridle.providers.embedded.file_view import (
    FileView,
    LineEdit,
    edit_args,
    line_edit,
    parse_lines,
    view_output,
    view_text,
)
from bridle.tools.edits import Edit, edit_text

LINES = st.lists(st.sampled_from(["a", "b", "aa", "  a", "", "a b", "ü = 1"]), min_size=1, max_size=8)
FILE = view_text("port = 80\nport = 8080\n\nname = blue\n")


@st.composite
def edits(draw: st.DrawFn) -> tuple[FileView, LineEdit]:
    lines = draw(LINES)
    first = draw(st.integers(1, len(lines)))
    last = draw(st.integers(first - 1, len(lines)))
    new = draw(st.lists(st.sampled_from(["a", "x", "", "  y"]), max_size=3))
    assume(new or last >= first)
    return view_text("\n".join(lines) + "\n"), LineEdit(first, last, tuple(new))


def applied(view: FileView, edit: LineEdit, end: str = "\n") -> str | None:
    """Return the file after the call of edit_file; None if there is no such call."""
    args = edit_args(view, edit)
    if args is None or args["old_str"] == args["new_str"]:
        return None
    wanted = Edit(args["old_str"], args["new_str"], args.get("occurrence", 0))
    return edit_text(f"{view.text}{end}", wanted, max_size=1000).text


@given(edits(), st.sampled_from(["\n", ""]))
def test_the_call_does_what_the_edit_says(case: tuple[FileView, LineEdit], end: str) -> None:
    view, edit = case
    after = applied(view, edit, end)
    assume(after is not None)

    assert after is not None
    assert after == view.changed(edit).text + end


@given(edits())
def test_a_call_is_told_as_an_edit_with_the_same_effect(case: tuple[FileView, LineEdit]) -> None:
    view, edit = case
    args = edit_args(view, edit)
    assume(args is not None)
    assert args is not None
    told = line_edit(view, args["old_str"], args["new_str"], args.get("occurrence", 0))

    assert told is not None
    assert view.changed(told).text == view.changed(edit).text


def test_most_edits_can_be_expressed() -> None:
    assert applied(FILE, LineEdit(1, 1, ("port = 81",))) == "port = 81\nport = 8080\n\nname = blue\n"
    assert applied(FILE, LineEdit(4, 4, ())) == "port = 80\nport = 8080\n\n"
    assert applied(FILE, LineEdit(3, 3, ("x",))) == "port = 80\nport = 8080\nx\nname = blue\n"
    assert applied(FILE, LineEdit(1, 0, ("top",))) == "top\nport = 80\nport = 8080\n\nname = blue\n"
    assert applied(FILE, LineEdit(5, 4, ("end",))) == "port = 80\nport = 8080\n\nname = blue\nend\n"


def test_lines_that_do_not_exist_cannot_be_edited() -> None:
    for edit in (LineEdit(5, 5, ("x",)), LineEdit(7, 6, ("x",)), LineEdit(3, 9, ())):
        assert edit_args(FILE, edit) is None
        assert FILE.changed(edit) == FILE


def test_numbers_stay_those_that_were_shown() -> None:
    view = FILE.changed(LineEdit(1, 1, ())).changed(LineEdit(3, 2, ("new", "newer")))

    assert [row.number for row in view.rows] == [2, 0, 0, 3, 4]
    assert applied(view, LineEdit(4, 4, ("name = red",))) == "port = 8080\nnew\nnewer\n\nname = red\n"
    assert applied(view, LineEdit(3, 2, ("newest",))) == "port = 8080\nnew\nnewer\nnewest\n\nname = blue\n"


def test_a_file_that_was_shown_in_part_is_not_edited() -> None:
    view = view_output("1: a\n2: b\n[9 of 20 bytes left out here]\n8: c")

    assert view.is_whole is False
    assert edit_args(view, LineEdit(2, 2, ("x",))) is None


def test_the_numbers_of_lines_are_read() -> None:
    assert parse_lines("3") == (3, 3)
    assert parse_lines(" 3-5 ") == (3, 5)
    assert [parse_lines(text) for text in ("", "x", "5-3", "3,5", "-1", "9" * 9)] == [None] * 6
