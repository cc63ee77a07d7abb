"""Addresses and positions in both directions, with characters of every width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.language_servers import Span
from bridle.lsp.positions import (
    ENCODINGS,
    Encoding,
    TextSource,
    is_inside,
    span_as_ascii,
    to_characters,
    to_path,
    to_units,
    to_uri,
)
from bridle.lsp.protocol import Position, Range

lines = st.text(st.sampled_from("ab é\u0301€\u2028\x0b𝒳🏳"), max_size=20)
texts = st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r", ""])), max_size=8).map(
    lambda parts: "".join(line + end for line, end in parts)
)
encodings = st.sampled_from(ENCODINGS)
WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def length(text: str, encoding: Encoding) -> int:
    name, width = WIDTHS[encoding]
    return len(text.encode(name)) // width


@given(lines, st.integers(0, 25), encodings)
def test_units_are_those_of_the_encoding(line: str, characters: int, encoding: Encoding):
    assert to_units(line, characters, encoding) == length(line[:characters], encoding)


@given(lines, st.integers(0, 100), encodings)
def test_characters_are_the_whole_ones_that_fit(line: str, units: int, encoding: Encoding):
    expected = max(count for count in range(len(line) + 1) if length(line[:count], encoding) <= units)

    assert to_characters(line, units, encoding) == expected


@given(texts, encodings, st.data())
def test_every_place_of_a_text_survives_the_way_there_and_back(
    text: str, encoding: Encoding, data: st.DataObject
):
    source = TextSource(text)
    line = data.draw(st.integers(1, len(source)))
    column = data.draw(st.integers(1, len(source.line(line - 1)) + 1))

    position = source.position(line, column, encoding)
    span = source.span("/a", Range(position, position), encoding)

    assert span == Span("/a", line, column, line, column)
    assert text[: source.offset(position, encoding)] + text[source.offset(position, encoding) :] == text
    assert text[source.offset(Position(line - 1, 0), encoding) :].startswith(source.line(line - 1))


@given(texts)
def test_lines_end_where_the_protocol_says(text: str):
    source = TextSource(text)

    assert [source.line(number) for number in range(len(source))] == text.replace("\r\n", "\n").replace(
        "\r", "\n"
    ).split("\n")


@given(texts, st.integers(0, 2**31), st.integers(0, 2**31), encodings)
def test_a_place_beyond_the_end_is_the_end(text: str, line: int, character: int, encoding: Encoding):
    source = TextSource(text)
    place = Range(Position(line, character), Position(line, character))
    span = source.span("/a", place, encoding)

    assert 1 <= span.line <= len(source)
    assert 1 <= span.column <= len(source.line(span.line - 1)) + 1
    assert 0 <= source.offset(place.start, encoding) <= len(text)


def test_a_file_that_is_not_read_counts_units():
    assert span_as_ascii("/a", Range(Position(0, 5), Position(0, 1))) == Span("/a", 1, 6, 1, 6)


paths = st.lists(
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=10
    ).filter(lambda part: part not in (".", "..")),
    min_size=1,
    max_size=4,
).map(lambda parts: "/" + "/".join(parts))


@given(paths)
def test_a_path_survives_the_way_there_and_back(path: str):
    assert to_path(to_uri(path)) == path


def test_a_path_that_is_no_text_survives_too():
    assert to_path(to_uri("/a\udcff")) == "/a\udcff"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "a",
        "/a",
        "http:///a",
        "file:a",
        "file://host/a",
        "file:///a/../b",
        "file:///a/%2e%2e/b",
        "file:///a/./b",
        "file:///a//b",
        "file:////a",
        "file:///a/",
        "file:///a?b",
        "file:///a#b",
        "file:///a%00b",
        "file://[/a",
        "file:///" + "a" * 20_000,
    ],
)
def test_what_is_no_plain_path_here_has_none(uri: str):
    assert to_path(uri) is None


def test_localhost_is_here():
    assert to_path("file://localhost/a%20b") == "/a b"


def test_inside_is_a_matter_of_whole_names():
    assert [is_inside(path, "/a/b") for path in ("/a/b", "/a/b/c", "/a/bc", "/a", "/")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert is_inside("/a", "/") is True
