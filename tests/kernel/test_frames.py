"""Frames between host and guest: no bytes, however split, cause a failure."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.kernel import frames
from bridle.kernel.frames import FrameDecoder, Malformed, encode

FROM_GUEST = (
    frames.Ready,
    frames.ToolCall,
    frames.MessageFrame,
    frames.ExecResult,
    frames.SnapshotResult,
    frames.ResetResult,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sent = st.one_of(
    st.builds(frames.Ready, st.integers(0, 9), st.lists(texts, max_size=3).map(tuple), texts),
    st.builds(frames.ToolCall, texts, texts, texts, texts),
    st.builds(frames.MessageFrame, texts, texts, texts),
    st.builds(frames.ExecResult, texts, texts, texts, st.none() | texts),
    st.builds(
        frames.SnapshotResult,
        texts,
        texts,
        st.lists(st.builds(frames.Dropped, texts, texts), max_size=3).map(tuple),
        st.sampled_from(["json", "rich"]),
    ),
    st.builds(frames.ResetResult, texts, st.integers(0, 9)),
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def feed(lines: FrameDecoder, pieces: list[bytes]) -> list[Any]:
    return [frame for piece in pieces for frame in lines.feed(piece)]


@given(st.lists(sent, max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_what_is_sent_arrives_however_it_is_cut(wanted: list[Any], places: list[int]):
    data = b"".join(encode(frame) for frame in wanted)

    assert feed(FrameDecoder(), cut(data, places)) == wanted


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8), sent)
def test_garbage_costs_no_frame_after_it(garbage: bytes, places: list[int], frame: Any):
    found = feed(FrameDecoder(), [*cut(garbage, places), b"\n", encode(frame)])

    assert found[-1] == frame
    assert len(found) == garbage.count(b"\n") + 2
    assert all(isinstance(one, (Malformed, *FROM_GUEST)) for one in found)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b'{"type":"surprise"}',
        b'{"type":"exec","id":"1","code":""}',
        b'{"type":"exec_result"}',
        b'{"type":"exec_result","id":1}',
        b'{"type":"message","text":"\xff"}',
        b'{"type":"surprise","text":"\\ud800"}',
        b'{"type":"message","text":"\\ud800"',
        b'{"type":"ready","more":' + b"[" * 100_000,
    ],
)
def test_what_is_no_frame_is_malformed(line: bytes):
    (found,) = FrameDecoder().feed(line + b"\n")

    assert isinstance(found, Malformed)


def test_a_line_that_is_too_long_is_dropped_while_it_arrives():
    lines = FrameDecoder(max_bytes=100)

    found = feed(lines, [b"x" * 60] * 50)
    kept = sum(map(len, lines._pieces))
    found += lines.feed(b"x\n" + encode(frames.Ready(1)))

    assert kept <= 100
    assert found == [Malformed("a line of 3001 bytes"), frames.Ready(1)]


def test_a_line_of_the_longest_length_is_a_frame():
    line = encode(frames.MessageFrame("x" * 50))
    size = len(line) - 1

    assert FrameDecoder(max_bytes=size).feed(line) == [frames.MessageFrame("x" * 50)]
    assert FrameDecoder(max_bytes=size - 1).feed(line) == [Malformed(f"a line of {size} bytes")]


def test_a_guest_of_the_oldest_protocol_is_understood():
    """Each line as in the document, without Bridle's extra fields."""
    lines = b"""\
{"type": "ready"}
{"type": "tool_call", "id": "1", "name": "echo", "args": "{}"}
{"type": "message", "text": "hi", "kind": "final"}
{"type": "exec_result", "id": "2", "output": "a", "response": "", "error": null}
{"type": "snapshot_result", "id": "3", "data": "{}"}
"""

    assert FrameDecoder().feed(lines) == [
        frames.Ready(),
        frames.ToolCall("1", "echo", "{}"),
        frames.MessageFrame("hi", "final"),
        frames.ExecResult("2", "a"),
        frames.SnapshotResult("3", "{}"),
    ]


def test_what_a_guest_is_sent_has_the_fields_of_the_document():
    sent = [
        frames.Init("[]"),
        frames.Init("[]", output="stream", warm=True),
        frames.Exec("1", "1+1"),
        frames.ToolResult("2", success=True, result='"x"'),
        frames.Snapshot("3"),
        frames.Restore("4", "{}"),
        frames.Shutdown(),
        frames.Interrupt("1"),
        frames.Reset("5"),
    ]

    assert [json.loads(encode(frame)) for frame in sent] == [
        {"type": "init", "tools": "[]"},
        {"type": "init", "tools": "[]", "output": "stream", "warm": True},
        {"type": "exec", "id": "1", "code": "1+1"},
        {"type": "tool_result", "id": "2", "success": True, "result": '"x"'},
        {"type": "snapshot", "id": "3"},
        {"type": "restore", "id": "4", "data": "{}"},
        {"type": "shutdown"},
        {"type": "interrupt", "id": "1"},
        {"type": "reset", "id": "5"},
    ]


def test_half_characters_of_a_guest_are_replaced():
    (found,) = FrameDecoder().feed(
        b'{"type": "exec_result", "id": "1", "output": "\\uD800\\ud83d\\ude00", "new": 1}\n'
    )

    assert found == frames.ExecResult("1", "\ufffd\U0001f600")


def test_half_characters_for_a_guest_are_replaced():
    assert msgspec.json.decode(encode(frames.Exec("1", "'\ud800'"))) == {
        "type": "exec",
        "id": "1",
        "code": "'\ufffd'",
    }
