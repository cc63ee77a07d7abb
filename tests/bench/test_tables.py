"""Tables show what was measured, compared with what, and the limit."""

from report.tables import crowded_table, curve_table, is_crowded, participants, plain_table, unable
from rows import Curve, Row, cannot, figure, ours


def test_a_row_beside_another_shows_its_ratio_and_one_alone_its_value():
    rows = [
        Row("a", "a|b", "ms", ours([1.0, 1.0]), (figure("bare", [2.0], version="3.1"),), 1 / 0.6, note="n"),
        Row("b", "over", "ms", ours([3.0]), (figure("bare", [2.0]),), 1.2),
        Row("c", "alone", "MB", ours([70.0]), bar=1_000.0),
        Row("d", "alone and over", "MB", ours([70.0]), bar=60.0),
        Row("e", "free", "MB", ours([70.0])),
    ]

    assert plain_table(rows).splitlines() == [
        "| what | Bridle | compared with | ratio | at most |",
        "| --- | ---: | --- | ---: | ---: |",
        "| a\\|b<br>n | 1.00 ±0% ms | 2.00 ms (bare 3.1) | 0.50 | 1.67 |",
        "| over | 3.00 ms | 2.00 ms (bare) | **1.50** | 1.2 |",
        "| alone | 70.0 MB |  |  | 1,000 MB |",
        "| alone and over | **70.0 MB** |  |  | 60 MB |",
        "| free | 70.0 MB |  |  |  |",
    ]


def contest() -> Row:
    others = (
        figure("one", [1.0], version="1.1", how="streaming"),
        figure("two", [3.0]),
        figure("three", [4.0], version="3.3"),
        cannot("four", "it has no tools", version="4.4"),
    )
    return Row("a", "a turn", "ms", ours([2.0], version="0.1", how="stores all"), others, 1.0)


def test_many_participants_are_lines_and_the_best_is_bold():
    assert is_crowded(contest())
    assert crowded_table([contest()]).splitlines() == [
        "|  | a turn, ms |",
        "| --- | ---: |",
        "| **Bridle** | 2.00 |",
        "| one | **1.00** |",
        "| two | 3.00 |",
        "| three | 4.00 |",
        "| four | – |",
        "| Bridle's place | 2 of 4 |",
    ]


def test_who_is_as_good_shares_the_place():
    others = tuple(figure(name, [2.0]) for name in "abcd")

    table = crowded_table([Row("a", "a turn", "ms", ours([2.0]), others, 1.0)])

    assert table.splitlines()[-1] == "| Bridle's place | 1 of 5 |"


def test_participants_have_versions_and_configurations():
    again = Row("b", "resume", "ms", ours([2.0], how="stores all"), (figure("one", [1.0], how="in a file"),))

    assert participants([contest(), again, again]).splitlines() == [
        "| who | version | configuration |",
        "| --- | --- | --- |",
        "| Bridle | 0.1 | stores all |",
        "| one | 1.1 | streaming<br>resume: in a file |",
        "| three | 3.3 |  |",
    ]


def test_who_cannot_says_why():
    assert unable([contest()]) == "- no figure for four, a turn: it has no tools"


def test_curves_show_where_they_begin_and_end():
    flat = Curve("a", "a turn", "sessions", "ms", ((10, 2.0), (1_000, 2.0)), 0.1)
    steep = Curve("b", "a walk", "steps", "s", ((1, 1.0), (10, 10.0)), 0.5, note="uphill")

    assert curve_table([flat, steep]).splitlines() == [
        "| what | against | from | to | grows as | at most |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        "| a turn | sessions | 2.00 ms at 10 | 2.00 ms at 1,000 | n^0.00 | n^0.1 |",
        "| a walk<br>uphill | steps | 1.00 s at 1 | 10.0 s at 10 | **n^1.00** | n^0.5 |",
    ]
