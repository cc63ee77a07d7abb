"""The stream of matches: read in any pieces, limited, and checked against the file."""

import json
import os
import threading
from base64 import b64encode
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.grep_matches import (
    Matches,
    MatchFilter,
    MatchLine,
    confirm_matches,
    format_matches,
    read_matches,
)

GO = threading.Event()


def everything(path: str) -> bool:
    return True


def message(kind: str, path: str, number: int, text: str | bytes, offset: int = 0, start: int = 0) -> bytes:
    found: dict[str, Any] = {
        "path": {"text": path},
        "lines": {"text": text} if isinstance(text, str) else {"bytes": b64encode(text).decode()},
        "line_number": number,
        "absolute_offset": offset,
        "submatches": [{"match": {"text": '"start":7'}, "start": start, "end": start + 1}],
    }
    return json.dumps({"type": kind, "data": found}, separators=(",", ":")).encode() + b"\n"


SUMMARY = b'{"data":{"elapsed_total":{"human":"0.1s","nanos":1,"secs":0},"stats":{}},"type":"summary"}\n'


def read(
    *pieces: bytes, limit: int = 10, context: int = 0, accepts: Callable[[str], bool] = everything
) -> Matches:
    return read_matches(iter(pieces), GO, MatchFilter(limit, context, accepts))


@given(cuts=st.lists(st.integers(0, 500), max_size=6))
def test_a_stream_may_come_in_any_pieces(cuts: list[int]):
    stream = (
        b'{"type":"begin","data":{"path":{"text":"./a"}}}\n'
        + message("match", "./a", 1, "é1\n")
        + message("context", "./a", 2, b"\xff\r\n", 4)
        + message("match", "./b\n", 9, "x", 7)
        + SUMMARY
    )
    edges = [0, *sorted(cut % len(stream) for cut in cuts), len(stream)]

    found = read(*(stream[begin:end] for begin, end in pairwise(edges)), context=1)

    assert found == Matches(
        {
            "a": [MatchLine(1, 0, "é1".encode(), True), MatchLine(2, 4, b"\xff", False)],
            "b\n": [MatchLine(9, 7, b"x", True)],
        },
        count=2,
    )


def test_reading_stops_at_the_line_after_the_limit():
    def pieces():
        yield message("match", "a", 1, "1")
        yield message("context", "a", 2, "2")
        yield message("context", "a", 8, "8")
        yield message("match", "a", 9, "9")
        raise AssertionError("read too far")

    found = read_matches(pieces(), GO, MatchFilter(1, 1, everything))

    assert found == Matches(
        {"a": [MatchLine(1, 0, b"1", True), MatchLine(2, 0, b"2", False)]}, count=1, is_cut=True
    )


def test_what_is_not_accepted_does_not_count():
    found = read(
        message("match", "./no", 1, "x"), message("match", "yes", 1, "x"), limit=1, accepts="yes".__eq__
    )

    assert found == Matches({"yes": [MatchLine(1, 0, b"x", True)]}, count=1)


def test_a_message_that_is_too_long_is_counted_and_dropped():
    short, long = message("match", "a", 1, "x"), message("match", "b", 1, "x" * 400)

    for pieces in ((long + short,), (long[:100], long[100:350], long[350:] + short)):
        assert read_matches(
            iter(pieces), GO, MatchFilter(10, 0, everything, max_message_bytes=300)
        ) == Matches({"a": [MatchLine(1, 0, b"x", True)]}, count=1, too_long=1)


def test_a_long_line_is_cut_around_the_match():
    line = "a" * 600 + "日本" * 200

    found = read(message("match", "f", 1, line, 1000, start=603))

    # 603 - 150 bytes before the match, and no half of a character at the end
    assert found.files["f"] == [
        MatchLine(1, 1453, b"a" * 147 + ("日本" * 200).encode()[:351], True, True, True)
    ]
    assert format_matches("f", found.files["f"]) == f"f\n1: …{'a' * 147}{'日本' * 58}日…"


def test_a_match_near_the_start_is_shown_from_the_start():
    found = read(message("match", "f", 1, "a" * 600, 0, start=200))

    assert found.files["f"] == [MatchLine(1, 0, b"a" * 500, True, False, True)]


def test_lines_are_shown_only_if_the_file_has_them(cwd: Path, outside: Path):
    (cwd / "same").write_bytes(b"one\ntwo\n")
    (cwd / "other").write_bytes(b"one\nTWO\n")
    (cwd / "short").write_bytes(b"one\n")
    (cwd / "binary").write_bytes(b"one\ntwo\n\0")
    (cwd / "link").symlink_to("same")
    (cwd / "folder").symlink_to(outside)
    (outside / "f").write_bytes(b"one\ntwo\n")
    os.mkfifo(cwd / "fifo")
    lines = [MatchLine(1, 0, b"one", False), MatchLine(2, 4, b"two", True)]
    names = ["same", "other", "short", "binary", "link", "folder/f", "fifo", "gone"]

    assert confirm_matches(str(cwd), dict.fromkeys(names, lines), GO) == {"same": lines}
