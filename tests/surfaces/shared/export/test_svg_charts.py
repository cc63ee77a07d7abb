import re

from bridle.core.messages import Usage
from bridle.surfaces.shared.export.svg_charts import MAX_BARS, WIDTH, time_chart, token_chart
from bridle.surfaces.shared.timeline import Span
from tests.surfaces.shared.export.reader import Reader

BAR = re.compile(
    r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"><title>(.*?)</title>'
)

RUN = [
    Span("turn1", "turn", "turn 1", 0, 1000),
    Span("model1", "model", "model", 0, 400),
    Span("wait1", "wait", "approval of <bash>", 400, 500),
    Span("tool1", "tool", "bash make", 500, 1000),
    Span("tool2", "tool", "read_file a", 500, 600),
]


def bars(chart: str) -> list[tuple[str, ...]]:
    """Return the bars: class, place, size and words."""
    return BAR.findall(chart)


def test_time_has_a_lane_for_every_kind_and_the_longest_of_what_begins_together():
    chart = time_chart([RUN])

    assert bars(chart) == [
        ("tool", "500", "20", "499", "16", "bash make, 500 ms"),
        ("model", "0", "0", "399", "16", "model, 400 ms"),
        ("wait", "400", "40", "99", "16", "approval of &lt;bash&gt;, 100 ms"),
    ]
    assert Reader(chart).text.startswith("Time: 1.0 s in 1 run ")
    assert Reader(chart).text.endswith("model tools waits for a person")


def test_runs_stand_side_by_side_whatever_lies_between_them():
    drawn = bars(time_chart([RUN, [Span("model9", "model", "other", 0, None)], RUN]))

    assert [(kind, place) for kind, place, *_ in drawn if kind == "model"] == [
        ("model", "0"),
        ("model", "508"),
        ("model", "500"),
    ]


def test_a_session_of_many_spans_is_drawn_with_few_bars():
    many = [[Span(f"tool{n}", "tool", "x", n, n + 1) for n in range(20_000)]]

    assert len(bars(time_chart(many))) <= WIDTH + 1


def test_nothing_is_drawn_of_nothing():
    assert time_chart([]) == ""
    assert time_chart([[]]) == ""
    assert time_chart([[Span("model1", "model", "model", 0, 0)]]) == ""
    assert token_chart([]) == ""
    assert token_chart([Usage()]) == ""


def test_tokens_of_each_turn_stand_on_each_other():
    chart = token_chart([Usage(10, 20, 60, 10), Usage(50)])

    assert bars(chart) == [
        ("read", "0", "40", "42.5", "60", "turn 1: 60 read from a cache"),
        ("input", "0", "20", "42.5", "20", "turn 1: 20 input"),
        ("output", "0", "0", "42.5", "20", "turn 1: 20 output"),
        ("input", "50", "50", "42.5", "50", "turn 2: 50 input"),
    ]
    assert Reader(chart).text.startswith("Tokens: 150 in 2 turns, at most 100 in one turn")


def test_many_turns_share_bars():
    chart = token_chart([Usage(1)] * (2 * MAX_BARS + 1))

    drawn = bars(chart)
    assert len(drawn) <= MAX_BARS
    assert (drawn[0][-1], drawn[-1][-1]) == ("turns 1 to 3: 3 input", "turns 400 to 401: 2 input")
    assert "at most 3 in 3 turns" in chart
