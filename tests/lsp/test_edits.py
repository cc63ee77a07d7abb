"""Edits from servers: compared with a plain implementation, and everything that must be rejected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.language_servers import FileEdit
from bridle.lsp.edits import MAX_EDITS, MAX_FILES, Draft, apply_edits
from bridle.lsp.positions import ENCODINGS, Encoding, TextSource
from bridle.lsp.protocol import (
    Change,
    ChangeOptions,
    Position,
    Range,
    TextEdit,
    VersionedDocument,
    WorkspaceEdit,
)

texts = st.text(st.sampled_from("ab\n\r é𝒳"), max_size=40).map(lambda text: text.replace("\r", "\r\n"))


def position(text: str, offset: int, encoding: Encoding) -> Position:
    before = text[:offset]
    source = TextSource(before)
    line = len(source)
    return source.position(line, len(source.line(line - 1)) + 1, encoding)


def is_whole(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] != "\r\n"


@given(
    texts,
    st.lists(st.tuples(st.integers(0, 40), st.text("xy\n𝒵", max_size=3)), max_size=8),
    st.randoms(),
    st.sampled_from(ENCODINGS),
)
def test_edits_do_what_cutting_by_hand_does(
    text: str, cuts: list[tuple[int, str]], random: "st.randoms", encoding: Encoding
):
    places = sorted({min(cut, len(text)) for cut, _ in cuts if is_whole(text, min(cut, len(text)))})
    stretches = list(zip(places[::2], places[1::2], strict=False))
    new = [text for _, text in cuts][: len(stretches)]
    edits = [
        TextEdit(Range(position(text, start, encoding), position(text, end, encoding)), part)
        for (start, end), part in zip(stretches, new, strict=True)
    ]
    expected = text
    for (start, end), part in reversed(list(zip(stretches, new, strict=True))):
        expected = expected[:start] + part + expected[end:]
    random.shuffle(edits)

    assert apply_edits(text, edits, encoding) == expected


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> TextEdit:
    return TextEdit(Range(Position(*start), Position(*end)), text)


def test_insertions_at_one_place_keep_their_order():
    edits = [edit((0, 1), (0, 2), "B"), edit((0, 1), (0, 1), "1"), edit((0, 1), (0, 1), "2")]

    assert apply_edits("abc", edits, "utf-16") == "a12Bc"


def test_places_beyond_the_end_are_the_end():
    assert (
        apply_edits("a\r\nb", [edit((0, 99), (0, 99), "X"), edit((9, 9), (99, 0), "Y")], "utf-16")
        == "aX\r\nbY"
    )


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([edit((0, 0), (0, 2), "x"), edit((0, 1), (0, 3), "y")], "the server sent edits that overlap"),
        ([edit((0, 0), (0, 3), "x"), edit((0, 1), (0, 1), "y")], "the server sent edits that overlap"),
        ([edit((0, 2), (0, 1), "x")], "the server sent an edit that ends before it begins"),
    ],
)
def test_edits_that_contradict_each_other_are_refused(edits: list[TextEdit], message: str):
    with pytest.raises(ToolError) as caught:
        apply_edits("abcd", edits, "utf-8")

    assert caught.value.message == message


# ---------------------------------------------------------------------- whole files

FILES = {"/a": "a\r\n", "/b": "b", "/m": "\ufeffmark"}
OVER = ChangeOptions(overwrite=True)
UNLESS = ChangeOptions(ignore_if_exists=True, ignore_if_not_exists=True)
INSERT = [edit((0, 0), (0, 0), "x")]


def draft(*edits: WorkspaceEdit) -> tuple[FileEdit, ...]:
    made = Draft(FILES.get, lambda uri: uri, {"/a": 3}.get, "utf-16")
    for one in edits:
        made.take(one)
    return made.result()


def changes(*found: Change) -> WorkspaceEdit:
    return WorkspaceEdit(document_changes=list(found))


def text_change(path: str, version: int | None = None) -> Change:
    return Change(text_document=VersionedDocument(path, version), edits=INSERT)


@pytest.mark.parametrize(
    ("given_edit", "expected"),
    [
        (WorkspaceEdit(changes={"/a": INSERT}), [FileEdit("/a", "a\r\n", "xa\r\n")]),
        (WorkspaceEdit(changes={"/m": INSERT}), [FileEdit("/m", "\ufeffmark", "\ufeffxmark")]),
        (WorkspaceEdit(changes={"/a": []}), []),
        (WorkspaceEdit(changes={"/b": INSERT}, document_changes=[]), []),
        (WorkspaceEdit(), []),
        (
            changes(text_change("/a", 3), text_change("/b", 99)),
            [FileEdit("/a", "a\r\n", "xa\r\n"), FileEdit("/b", "b", "xb")],
        ),
        (changes(text_change("/b"), text_change("/b")), [FileEdit("/b", "b", "xxb")]),
        (changes(Change("create", uri="/n"), text_change("/n")), [FileEdit("/n", None, "x")]),
        (changes(Change("create", uri="/n"), Change("delete", uri="/n")), []),
        (changes(Change("create", uri="/b", options=OVER)), [FileEdit("/b", "b", "")]),
        (changes(Change("create", uri="/b", options=UNLESS)), []),
        (
            changes(Change("rename", old_uri="/a", new_uri="/n")),
            [FileEdit("/a", "a\r\n", None), FileEdit("/n", None, "a\r\n")],
        ),
        (
            changes(Change("rename", old_uri="/a", new_uri="/b", options=OVER)),
            [FileEdit("/a", "a\r\n", None), FileEdit("/b", "b", "a\r\n")],
        ),
        (changes(Change("rename", old_uri="/a", new_uri="/b", options=UNLESS)), []),
        (changes(Change("rename", old_uri="/a", new_uri="/a")), []),
        (
            changes(Change("rename", old_uri="/b", new_uri="/n"), text_change("/n")),
            [FileEdit("/b", "b", None), FileEdit("/n", None, "xb")],
        ),
        (changes(Change("delete", uri="/a")), [FileEdit("/a", "a\r\n", None)]),
        (changes(Change("delete", uri="/n", options=UNLESS)), []),
    ],
)
def test_what_becomes_of_files(given_edit: WorkspaceEdit, expected: list[FileEdit]):
    assert draft(given_edit) == tuple(expected)


@pytest.mark.parametrize(
    ("given_edit", "message"),
    [
        (changes(text_change("/a", 2)), "the server's edit is for another version of /a: try again"),
        (changes(text_change("/n")), "the server sent an edit for a missing file: /n"),
        (changes(Change()), "the server sent an edit without a file"),
        (
            changes(Change("create", uri="/b")),
            "the server wants to create a file that already exists: /b",
        ),
        (
            changes(Change("rename", old_uri="/a", new_uri="/b")),
            "the server wants to rename a file that already exists: /b",
        ),
        (
            changes(Change("rename", old_uri="/n", new_uri="/o")),
            "the server wants to rename a missing file: /n",
        ),
        (changes(Change("delete", uri="/n")), "the server wants to delete a missing file: /n"),
        (changes(Change("move")), "the server sent a change of an unknown kind, 'move'"),
        (
            changes(*[Change("create", uri=f"/{n}") for n in range(MAX_FILES + 1)]),
            "the server's edit is too large: 0 changes in 1001 files",
        ),
        (
            WorkspaceEdit(changes={"/a": INSERT * (MAX_EDITS + 1)}),
            "the server's edit is too large: 100001 changes in 1 files",
        ),
        (
            WorkspaceEdit(changes={"/a": [edit((0, 0), (0, 0), "x" * 2**26)]}),
            "the server's edit makes more than 64 MiB of text",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(given_edit: WorkspaceEdit, message: str):
    with pytest.raises(ToolError) as caught:
        draft(given_edit)

    assert caught.value.message == message


def test_edits_follow_each_other():
    first = changes(Change("create", uri="/n"))

    assert draft(first, WorkspaceEdit(changes={"/n": INSERT})) == (FileEdit("/n", None, "x"),)
