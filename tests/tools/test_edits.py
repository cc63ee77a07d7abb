"""Edits replace what they say and keep what kind of text it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.edits import Document, Edit, apply_edit, find_edit, parse_document


def edit(text: str, old: str, new: str, occurrence: int = 0) -> str:
    return apply_edit(text, find_edit(text, old, new, occurrence), occurrence)


def test_a_byte_order_mark_is_kept_apart():
    data = b"\xef\xbb\xbfh\xc3\xa9\r\n"

    assert parse_document(data) == Document("hé\r\n", has_bom=True)
    assert parse_document(data).encode() == data


def test_what_is_not_utf8_is_an_error():
    with pytest.raises(UnicodeDecodeError):
        parse_document(b"caf\xe9")


@given(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_a_document_keeps_every_byte(data: bytes):
    try:
        document = parse_document(data)
    except UnicodeDecodeError:
        return

    assert document.encode() == data


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"),
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n"),
        ("a\r\nb\r\n", "\n", " ", "a b "),
        ("a\r\nb\r\n", "\r\n", "\n", "a\nb\n"),
        ("a\r\nb\r\n", "a", "x\r\ny", "x\r\ny\r\nb\r\n"),
        ("a\nb\r\nc", "a\nb", "x\ny", "x\ny\r\nc"),
        ("a\nb\r\nc", "b\nc", "x\ny", "a\nx\r\ny"),
        ("a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"),
        ("a\rb", "a\rb", "c", "c"),
    ],
)
def test_line_endings_are_kept(text: str, old: str, new: str, result: str):
    assert edit(text, old, new) == result


@pytest.mark.parametrize(
    ("occurrence", "message"),
    [
        (3, "occurrence 3 of old_str not found (only 2 occurrences exist)"),
        (-1, "occurrence -1 of old_str not found (only 2 occurrences exist)"),
    ],
)
def test_an_occurrence_that_is_not_there_is_refused(occurrence: int, message: str):
    with pytest.raises(ToolError) as caught:
        find_edit("aaaa", "aa", "b", occurrence)

    assert str(caught.value) == message


def test_a_text_that_is_not_there_is_refused():
    with pytest.raises(ToolError) as caught:
        find_edit("a\nb", "a\r\nb", "c", 0)

    assert str(caught.value) == "old_str not found in file"


def test_an_empty_text_occurs_between_all_characters():
    assert find_edit("hé\n", "", "-", 0) == Edit("", "-", 4)
    assert [edit("hé", "", "-", number) for number in (0, 1, 2, 3)] == ["-h-é-", "-hé", "h-é", "hé-"]


def model(text: str, old: str, new: str, occurrence: int) -> str | None:
    """Split at every occurrence from the left, and put the pieces together again."""
    pieces = list(text) if not old else text.split(old)
    if not old:
        pieces = ["", *pieces, ""]
    if len(pieces) == 1 or not 0 <= occurrence < len(pieces):
        return None
    joints = [new if occurrence in (0, number) else old for number in range(1, len(pieces))]
    return pieces[0] + "".join(joint + piece for joint, piece in zip(joints, pieces[1:], strict=True))


@given(
    text=st.text("abé\n", max_size=12),
    old=st.text("abé\n", max_size=3),
    new=st.text("abé\n", max_size=3),
    occurrence=st.integers(-1, 5),
)
def test_an_edit_is_what_the_plainest_model_says(text: str, old: str, new: str, occurrence: int):
    expected = model(text, old, new, occurrence)
    if expected is None:
        with pytest.raises(ToolError):
            edit(text, old, new, occurrence)
    else:
        assert edit(text, old, new, occurrence) == expected


@given(
    lines=st.lists(st.text("ab", max_size=3), min_size=2, max_size=6),
    old=st.text("ab\n", max_size=3),
    new=st.text("ab\n", max_size=3),
)
def test_an_edit_of_a_crlf_file_is_that_of_its_lf_twin(lines: list[str], old: str, new: str):
    text = "\n".join(lines)
    expected = model(text, old, new, 0) if old else None
    if expected is not None:
        assert edit("\r\n".join(lines), old, new) == expected.replace("\n", "\r\n")
