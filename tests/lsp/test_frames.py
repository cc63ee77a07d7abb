"""Messages survive every split of the pipe, and text between them."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.lsp.connection import (
    MAX_HEADER_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_NOISE_BYTES,
    Frames,
    Malformed,
    encode,
)

messages = st.lists(st.dictionaries(st.text(max_size=10), st.text() | st.integers(), max_size=5), max_size=5)
noise = st.binary(max_size=200).filter(lambda data: b"content-length" not in data.lower())


def feed(data: bytes, cuts: list[int]) -> list[Any]:
    frames = Frames()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    parts = [data[start:end] for start, end in pairwise(places)]
    return [json.loads(body) for part in parts for body in frames.feed(part)]


@given(messages, st.lists(st.integers(min_value=0), max_size=10))
def test_messages_survive_every_cut(sent: list[dict[str, Any]], cuts: list[int]):
    data = b"".join(encode(message) for message in sent)

    assert feed(data, cuts) == sent


@given(messages, noise, st.lists(st.integers(min_value=0), max_size=10))
def test_what_stands_between_messages_is_skipped(sent: list[dict[str, Any]], between: bytes, cuts: list[int]):
    data = b"".join(between + b"\n" + encode(message) for message in sent)

    assert feed(data, cuts) == sent


def test_other_headers_and_other_ends_of_lines_are_read():
    data = b"Content-Type: x\r\ncontent-length:  2 \r\nX: y\r\n\r\n{}Content-Length: 2\n\n[]"

    assert feed(data, []) == [{}, []]


def feed_slowly(data: bytes) -> None:
    frames = Frames()
    for start in range(0, len(data), 1000):
        list(frames.feed(data[start : start + 1000]))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x" * (MAX_NOISE_BYTES + 1), "it writes other text than messages to its output"),
        (b"Content-Length: 2\r\n" + b"X: y\r\n" * MAX_HEADER_BYTES, "a header has no end"),
        (
            b"Content-Length: " + b"9" * MAX_NOISE_BYTES,
            "it writes other text than messages to its output",
        ),
        (b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE_BYTES + 1), "a message of 67108865 bytes is too long"),
    ],
    ids=["noise", "header", "number", "message"],
)
def test_what_would_never_end_is_refused(data: bytes, why: str):
    with pytest.raises(Malformed) as caught:
        feed_slowly(data)

    assert str(caught.value) == why


def test_a_message_without_end_is_kept_up_to_its_length():
    frames = Frames()

    assert list(frames.feed(b"Content-Length: 4\r\n\r\n{ ")) == []
    assert list(frames.feed(b" }{}")) == [b"{  }"]
