"""Which diagnostics of a server count for a file, and how they are reported."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from bridle.core.language_servers import CodeProblem, Span
from bridle.lsp.diagnostics import MAX_BYTES, MAX_FILES, MAX_PROBLEMS, Diagnostics, Signal
from bridle.lsp.positions import TextSource
from bridle.lsp.protocol import Published, Report


def raw(line: int = 0, message: Any = "bad", **more: Any) -> Raw:
    place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    return Raw(msgspec.json.encode({"range": place, "message": message, **more}))


def problem(path: str, message: str = "bad", line: int = 1, **more: Any) -> CodeProblem:
    return CodeProblem(
        Span(path, line, 1, line, 2), **{"severity": "error", "message": message, "source": "toy", **more}
    )


@pytest.fixture
async def board() -> Diagnostics:
    """Return a board for /p."""
    return Diagnostics("toy", lambda path: path.startswith("/p/"), Signal())


async def publish(
    board: Diagnostics, *raws: Raw, path: str = "/p/a", version: int | None = None, size: int = 0
) -> None:
    await board.publish(Published(f"file://{path}", list(raws), version), size)


async def test_the_version_that_was_told_counts_and_no_other(board: Diagnostics):
    board.expect("/p/a", 5, TextSource("x\n"))
    spoken: list[bool] = []

    for version in (4, 6, 5, 4, 6):
        await publish(board, raw(message=str(version)), version=version)
        spoken.append(board.has_report("/p/a"))

    assert spoken == [False, False, True, True, True]
    assert board.of("/p/a") == (problem("/p/a", "5"),)


async def test_a_new_version_makes_old_words_stale_but_keeps_them(board: Diagnostics):
    board.expect("/p/a", 1, TextSource("x\n"))
    await publish(board, raw(), version=1)
    board.expect("/p/a", 2, TextSource("xx\n"))

    assert (board.has_report("/p/a"), board.of("/p/a")) == (False, (problem("/p/a"),))


async def test_without_versions_the_first_words_after_the_change_count(board: Diagnostics):
    await publish(board, raw())
    board.expect("/p/a", 1, TextSource("x\n"))
    before = board.has_report("/p/a")
    await publish(board)

    assert (before, board.has_report("/p/a"), board.has_versions("/p/a")) == (False, True, False)
    assert board.of("/p/a") == ()


async def test_what_is_outside_or_no_file_is_not_kept(board: Diagnostics):
    for uri in ("file:///q/a", "file:///p/../a", "http:///p/a", "file://p/a"):
        await board.publish(Published(uri, [raw()]), 0)

    assert board.all() == {}


async def test_answers_and_words_are_one(board: Diagnostics):
    board.expect("/p/a", 1, TextSource("x\ny\n"))
    await publish(board, raw(1), raw(0, "both"), version=1)
    await board.take_report("/p/a", Report(items=[raw(0, "both"), raw(0, "asked")], result_id="r1"), 0)
    known = [problem("/p/a", "asked"), problem("/p/a", "both"), problem("/p/a", line=2)]
    await board.take_report("/p/a", Report("unchanged"), 0)

    assert board.of("/p/a") == tuple(known)
    assert board.result_id("/p/a") == "r1"
    board.forget("/p/a")
    assert (board.of("/p/a"), board.result_id("/p/a")) == (tuple(known[1:]), None)


async def test_an_answer_may_speak_of_other_files(board: Diagnostics):
    others = {"file:///p/b": Report(items=[raw()]), "file:///q/c": Report(items=[raw()])}
    await board.take_report("/p/a", Report(related_documents=others), 0)

    assert board.all() == {"/p/a": (), "/p/b": (problem("/p/b"),)}


async def test_every_shape_of_a_problem_is_read(board: Diagnostics):
    board.expect("/p/a", 1, TextSource("ü𝒳x\n"))
    place = {"start": {"line": 0, "character": 3}, "end": {"line": 9, "character": 9}}
    said = {
        "range": place,
        "message": {"kind": "markdown", "value": " two\xa0words "},
        "severity": 2,
        "source": None,
    }
    more = {"code": {"value": 7, "target": "x"}, "tags": [1, 2, 3, 4]}
    strange = [
        Raw(b"5"),
        Raw(b'{"range":{}}'),
        Raw(b"[" * 5000 + b"]" * 5000),
        Raw(bytes(raw()).replace(b"bad", b"\xff")),
        raw(severity=99, source="x", code=5),
    ]
    await publish(board, Raw(msgspec.json.encode({**said, **more})), *strange)

    assert board.of("/p/a") == (
        problem("/p/a", source="x", code="5"),
        CodeProblem(
            Span("/p/a", 1, 3, 2, 1), "warning", "two words", "toy", "7", ("unnecessary", "deprecated")
        ),
    )


async def test_counts_are_bounded(board: Diagnostics):
    await publish(board, *[raw()] * (MAX_PROBLEMS + 1))
    for number in range(MAX_FILES + 5):
        await publish(board, path=f"/p/{number}")

    assert len(board.all()) == MAX_FILES
    assert "/p/a" not in board.all()


async def test_one_file_has_no_more_problems_than_it_may(board: Diagnostics):
    await publish(board, *[raw()] * (MAX_PROBLEMS + 1))

    assert len(board.of("/p/a")) == MAX_PROBLEMS


async def test_bytes_are_bounded(board: Diagnostics):
    for name in "abc":
        await publish(board, raw(), path=f"/p/{name}", size=MAX_BYTES // 2)
    await publish(board, path="/p/c")
    await publish(board, raw(), path="/p/d", size=MAX_BYTES // 2)

    assert sorted(board.all()) == ["/p/b", "/p/c", "/p/d"]


async def test_a_bell_wakes_all_who_wait():
    bell = Signal()
    waiting = [asyncio.create_task(bell.wait(10)) for _ in range(3)]
    await asyncio.sleep(0)

    bell.ring()

    assert await asyncio.gather(*waiting) == [True, True, True]
    assert await bell.wait(0) is False
