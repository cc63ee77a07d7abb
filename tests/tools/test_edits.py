"""Edits replace exactly what they name, and keep the kind of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.edits import Document, Edit, EditResult, edit_text, match_format, parse_document

MAX = 10_000


def edit(text: str, old: str, new: str, occurrence: int = 0) -> str:
    return edit_text(text, Edit(old, new, occurrence), max_size=MAX).text


def refusal(text: str, old: str, new: str, occurrence: int = 0, max_size: int = MAX) -> str:
    with pytest.raises(ToolError) as caught:
        edit_text(text, Edit(old, new, occurrence), max_size=max_size)
    return str(caught.value)


# ---------------------------------------------------------------------------- kinds of text


@pytest.mark.parametrize(
    ("data", "document"),
    [
        (b"\xef\xbb\xbfh\xc3\xa9\r\n", Document("hé\r\n", b"\xef\xbb\xbf")),
        (b"h\xc3\xa9\n", Document("hé\n")),
        (b"\xff\xfeh\x00\xe9\x00", Document("hé", b"\xff\xfe")),
        (b"\xfe\xff\x00h\x00\xe9", Document("hé", b"\xfe\xff")),
        (b"\xff\xfe", Document("", b"\xff\xfe")),
    ],
)
def test_a_byte_order_mark_is_kept_apart(data: bytes, document: Document):
    assert parse_document(data) == document
    assert document.encode() == data


@pytest.mark.parametrize(
    ("data", "encoding", "offset"),
    [
        (b"caf\xe9", "utf-8", 3),
        (b"\xef\xbb\xbfcaf\xe9", "utf-8", 6),
        (b"\xff\xfea\x00b", "utf-16-le", 4),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "utf-8", 0),
    ],
    ids=["latin-1", "after a mark", "half a character", "utf-32"],
)
def test_what_is_no_text_we_can_write_back_is_an_error(data: bytes, encoding: str, offset: int):
    with pytest.raises(UnicodeDecodeError) as caught:
        parse_document(data)

    assert (caught.value.encoding, caught.value.start) == (encoding, offset)


@given(
    st.binary(max_size=40)
    | st.tuples(
        st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]),
        st.text(max_size=20).map(str.encode),
    ).map(b"".join)
)
def test_a_document_keeps_every_byte(data: bytes):
    try:
        document = parse_document(data)
    except UnicodeDecodeError:
        return

    assert document.encode() == data


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (Document("a\r\nb\r\n"), "x\ny\n", Document("x\r\ny\r\n")),
        (Document("a\r\nb\n"), "x\ny\n", Document("x\ny\n")),
        (Document("a\r\n"), "x\r\ny\n", Document("x\r\ny\n")),
        (Document("a"), "x\n", Document("x\n")),
        (Document("a", b"\xff\xfe"), "\ufeffx", Document("x", b"\xff\xfe")),
        (Document("a"), "\ufeffx", Document("\ufeffx")),
    ],
)
def test_new_content_is_written_in_kind(old: Document, content: str, new: Document):
    assert match_format(old, content) == new


# ---------------------------------------------------------------------------- exact edits


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
    assert refusal("aaaa", "aa", "b", occurrence) == message


def test_a_text_that_is_not_there_is_refused():
    assert refusal("one\ntwo", "zzz", "c") == "old_str not found in file"


def test_an_edit_of_a_text_to_itself_is_refused():
    assert refusal("a", "a", "a") == "old_str and new_str are the same: nothing to change"


def test_an_edit_that_would_explode_is_refused_before_it_does():
    """The result would have half a million million characters."""
    message = "result would exceed maximum file size of 10000 bytes"

    assert refusal("x" * 1_000_000, "", "y" * 500_000) == message
    assert refusal("x" * 10_000, "x", "xy", 1) == message
    assert len(edit("x" * 9_999, "x", "xy", 1)) == MAX


def test_an_empty_text_occurs_between_all_characters():
    assert edit_text("hé\n", Edit("", "-"), max_size=MAX) == EditResult("-h-é-\n-", "4 occurrence(s)")
    assert [edit("hé", "", "-", number) for number in (0, 1, 2, 3)] == ["-h-é-", "-hé", "h-é", "hé-"]


def test_an_exact_match_is_preferred_to_one_up_to_whitespace():
    text = "\tx = 1\n  x = 1\n"

    assert edit(text, "  x = 1", "  x = 2") == "\tx = 1\n  x = 2\n"


def model(text: str, old: str, new: str, occurrence: int) -> str | None:
    """Split at every occurrence from the left, and put the pieces together again."""
    pieces = list(text) if not old else text.split(old)
    if not old:
        pieces = ["", *pieces, ""]
    if old == new or len(pieces) == 1 or not 0 <= occurrence < len(pieces):
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
        assert refusal(text, old, new, occurrence)
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


# ---------------------------------------------------------------------------- tolerant edits


def test_an_edit_up_to_whitespace_says_so():
    assert edit_text("a\n\tb\n\tc\n", Edit("  b\n  c", "  b\n  d"), max_size=MAX) == EditResult(
        "a\n\tb\n\td\n",
        "1 occurrence(s)",
        "old_str matched lines 2-3 only up to whitespace; new_str was fitted to the file",
    )
    assert edit_text("a\n‘b’\n", Edit("'b'", "c", 1), max_size=MAX) == EditResult(
        "a\nc\n",
        "occurrence 1",
        "old_str matched line 2 only up to whitespace and typographic characters;"
        " new_str was fitted to the file",
    )


def test_a_later_occurrence_is_not_guessed():
    assert refusal("\tlong_name = 1\n", "  long_name = 1", "x", 2).startswith(
        "old_str not found in file: the"
    )


def test_a_reason_is_given_with_what_stands_there():
    assert refusal(
        "def total(values):\n\treturn sum(values)\n", "def total(values):\n    return max()", "x"
    ) == (
        "old_str not found in file: the closest text is at lines 1-2"
        " (with · for a space and → for a tab before a line):\n"
        "1: def total(values):\n"
        "2: →return sum(values)\n"
        "line 2 is in old_str: ····return max()"
    )
