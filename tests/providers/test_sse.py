"""The format of server-sent events, at every split of its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.providers.sse import ServerEvent, SseError, SseParser, encode_event

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n"
    b'event: message_start\r\ndata: {"a":"\xc3\xbc"}\r\n\r\n'
    b"data: one\ndata:two\n: in between\ndata\n\n"
    b"id: 7\nretry: 10\nunknown: x\n\n"
    b"event: dropped, it has no data\n\n"
    b"data: cr\r\rdata:  two spaces\r\n\n"
    b"data: cut off"
)
EVENTS = [
    ServerEvent(b'{"a":"\xc3\xbc"}', "message_start"),
    ServerEvent(b"one\ntwo\n"),
    ServerEvent(b"cr"),
    ServerEvent(b" two spaces"),
]


def parse(*chunks: bytes) -> list[ServerEvent]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_a_whole_stream():
    assert parse(STREAM) == EVENTS


def test_a_cut_at_any_place_changes_nothing():
    for place in range(len(STREAM) + 1):
        assert parse(STREAM[:place], STREAM[place:]) == EVENTS, place


def test_single_bytes_change_nothing():
    assert parse(*(bytes([byte]) for byte in STREAM)) == EVENTS


def test_an_event_is_there_as_soon_as_its_blank_line_is():
    parser = SseParser()

    assert parser.feed(b"data: x\r\n\r") == [ServerEvent(b"x")]
    assert parser.feed(b"\ndata: y\n\n") == [ServerEvent(b"y")]


@given(st.lists(st.binary(max_size=20)), st.binary(max_size=200))
def test_garbage_is_the_same_garbage_however_it_is_cut(chunks: list[bytes], rest: bytes):
    assert parse(*chunks, rest) == parse(b"".join([*chunks, rest]))


@given(
    st.lists(
        st.sampled_from(
            [b"\r", b"\n", b"\r\n", b"data", b"event", b":", b" ", b"x", b"\xff", b"\xef\xbb\xbf"]
        )
    ),
    st.data(),
)
def test_likely_garbage_is_the_same_however_it_is_cut(pieces: list[bytes], data: st.DataObject):
    whole = b"".join(pieces)
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    chunks = [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]

    assert parse(*chunks) == parse(whole)


@given(
    st.lists(
        st.tuples(
            st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")),
            st.sampled_from(["", "ping", "response.created"]),
        )
    )
)
def test_what_is_written_is_read_back(events: list[tuple[bytes, str]]):
    stream = b"".join(encode_event(data, name) for data, name in events)

    assert parse(stream) == [ServerEvent(data, name) for data, name in events]


def test_a_long_line_in_many_pieces_is_read_in_linear_time():
    parser = SseParser()
    parser.feed(b"data: ")
    for _ in range(10_000):
        parser.feed(b"x" * 1_000)

    assert parser.feed(b"\n\n") == [ServerEvent(b"x" * 10_000_000)]


@pytest.mark.parametrize(
    "chunks",
    [[b"data: 12345", b"6789\n"], [b"x" * 11], [b"data: 1234\n", b"data: 1234\n"], [b"\n\n" + b":" * 11]],
)
def test_an_event_beyond_the_limit_is_an_error(chunks: list[bytes]):
    parser = SseParser(max_event_bytes=10)

    with pytest.raises(SseError, match="larger than 10 bytes"):
        any(parser.feed(chunk) for chunk in chunks)


def test_many_events_within_the_limit_are_no_error():
    parser = SseParser(max_event_bytes=10)

    assert len(parser.feed(b"data: 12345\n\n" * 100)) == 100
