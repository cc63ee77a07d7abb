import pytest

from bridle.core.messages import ToolResult
from bridle.surfaces.shared.text_format import MAX_CHARS, CodeOutput
from tests.surfaces.records import CALL

TRACE = 'Traceback (most recent call last):\n  File "<cell 1>", line 1\nValueError: x'


def rest(printed: list[str], output: str, *, is_error: bool = True) -> str:
    collected = CodeOutput()
    for piece in printed:
        collected.add(CALL, piece)
    return collected.rest_of(ToolResult(CALL, "python", output, is_error=is_error))


@pytest.mark.parametrize(
    ("printed", "output", "expected"),
    [
        (["one\n", "two\n"], f"one\ntwo\n{TRACE}", TRACE),
        ([], TRACE, TRACE),
        (["[1, 2]\n"], "[1, 2]", ""),
        (["[1, 2]\n"], "[1, 2]\n[a new kernel]", "[a new kernel]"),
        ([], "[no output]", ""),
        ([], "[no output]\n[the kernel died]", "[no output]\n[the kernel died]"),
        (["half", " done\nloading\n"], f"half\n{TRACE}", TRACE),
        (
            ["one\n"],
            "not finished: the run ended; the last it had printed was:\none",
            "not finished: the run ended",
        ),
        (["message\n"], "SyntaxError\n[stopped]", "[stopped]"),
    ],
)
def test_what_a_result_says_beside_what_was_printed(printed: list[str], output: str, expected: str):
    assert rest(printed, output) == expected


def test_where_nothing_failed_nothing_is_guessed():
    assert rest(["message\n"], f"1\n{TRACE}", is_error=False) == ""


def test_what_is_kept_has_a_bound_and_is_forgotten_with_its_call():
    collected = CodeOutput()
    for _ in range(3):
        collected.add(CALL, "x" * MAX_CHARS)
    result = ToolResult(CALL, "python", "x" * MAX_CHARS + "rest")

    rests = [collected.rest_of(result), collected.rest_of(result)]
    collected.add(CALL, "x" * MAX_CHARS)

    assert rests == ["rest", result.output]
    assert collected.rest_of(result) == "rest"
