"""Which problems count as new, however lines move."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.language_servers import CodeProblem, Span
from bridle.lsp.edit_watch import DiagnosticsDiff, LineMap, compare


def problem(
    line: int, message: str = "bad", *, column: int = 2, path: str = "/a", severity: str = "error"
) -> CodeProblem:
    return CodeProblem(Span(path, line, column, line, column + 1), severity, message, "toy", "E1")  # type: ignore[arg-type]


def news(
    before: list[CodeProblem], after: list[CodeProblem], old: str = "", new: str = ""
) -> DiagnosticsDiff:
    return compare({"/a": before}, {"/a": after}, {"/a": LineMap(old, new)})


lists = st.lists(st.builds(problem, st.integers(1, 12), st.sampled_from(["bad", "worse"])), max_size=12)
texts = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


@given(lists, texts)
def test_without_an_edit_nothing_is_new(problems: list[CodeProblem], text: str):
    assert news(problems, problems, text, text) == DiagnosticsDiff(remaining=len(problems))


@given(lists, texts, st.integers(0, 5), st.integers(0, 12))
def test_lines_put_in_bring_nothing(problems: list[CodeProblem], text: str, count: int, at: int):
    lines = [f"{number} {line}" for number, line in enumerate(text.split("\n"))]
    at = min(at, len(lines))
    new = "\n".join([*lines[:at], *[f"new {number}" for number in range(count)], *lines[at:]])
    known = [one for one in problems if one.span.line <= len(lines)]
    moved = [problem(one.span.line + count * (one.span.line > at), one.message) for one in known]

    assert news(known, moved, "\n".join(lines), new) == DiagnosticsDiff(remaining=len(known))


@given(lists, lists, texts, texts)
def test_every_problem_is_counted_once(
    before: list[CodeProblem], after: list[CodeProblem], old: str, new: str
):
    found = news(before, after, old, new)

    assert len(found.appeared) + found.remaining == len(after)
    assert found.gone + found.remaining == len(before)
    assert all(one in after for one in found.appeared)


def test_the_same_problem_once_more_is_new():
    assert news([problem(1)], [problem(1), problem(1, column=9)], "x", "x") == DiagnosticsDiff(
        (problem(1, column=9),), remaining=1
    )


def test_each_part_of_a_problem_counts():
    old = [problem(1)]
    others = [problem(1, "other"), problem(1, severity="warning"), problem(2), problem(1, path="/b")]

    for other in others:
        found = compare({"/a": old}, {other.span.path: [other]}, {})
        assert found == DiagnosticsDiff((other,), gone=1), other


def test_a_line_that_is_rewritten_keeps_its_problem():
    assert news([problem(2)], [problem(2, column=7)], "a\nb\nc", "a\nB!\nc") == DiagnosticsDiff(remaining=1)


def test_lines_that_become_more_or_fewer_keep_their_problem_somewhere():
    assert news([problem(2)], [problem(4)], "a\nb\nc", "a\nx\ny\nz\nc") == DiagnosticsDiff(remaining=1)
    assert news([problem(4)], [problem(2)], "a\nx\ny\nz\nc", "a\nb\nc") == DiagnosticsDiff(remaining=1)
    assert news([problem(2)], [problem(5)], "a\nb\nc", "a\nx\ny\nz\nc") == DiagnosticsDiff(
        (problem(5),), gone=1
    )


def test_a_problem_of_a_line_that_is_gone_is_gone():
    assert news([problem(2)], [problem(2)], "a\nb\nc", "a\nc") == DiagnosticsDiff((problem(2),), gone=1)


def test_numbers_of_lines_in_messages_move_as_well():
    before, after = [problem(2, "defined on line 1 already")], [problem(4, "defined on line 3 already")]

    assert news(before, after, "a\nb", "x\ny\na\nb") == DiagnosticsDiff(remaining=1)


def test_a_problem_of_the_file_as_a_whole_does_not_move():
    whole = CodeProblem(Span("/a", 1, 1, 1, 1), "error", "unknown flag")

    assert news([whole], [whole], "a", "x\ny\na") == DiagnosticsDiff(remaining=1)


def test_hints_are_no_news():
    assert news([], [problem(1, severity="hint")]) == DiagnosticsDiff()


def test_huge_texts_are_compared_quickly():
    old = "\n".join(f"old {number}" for number in range(50_000))
    new = "\n".join(f"new {number}" for number in range(50_001))
    many = [problem(line) for line in range(1, 10_001)]

    assert news(many, many, f"{old}\nend", f"{new}\nend") == DiagnosticsDiff(remaining=10_000)
