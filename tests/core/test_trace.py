"""A run has the same trace in every process, and a foreign trace is used only if it is valid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import RunId
from bridle.core.trace import Trace, find_parent_trace, make_span_id, parse_trace

TEXT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PLACE = Trace(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)
RUN = RunId("01980000-0000-7000-8000-000000000001")


@given(
    st.builds(
        Trace,
        st.integers(min_value=1, max_value=2**128 - 1),
        st.integers(min_value=1, max_value=2**64 - 1),
        st.booleans(),
    )
)
def test_what_is_written_is_read(trace: Trace):
    assert parse_trace(trace.text) == trace


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        TEXT.upper(),
        TEXT + "\n",
        TEXT + "-more",
        TEXT[:-1],
        "ff" + TEXT[2:],
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        "00-" + "٠" * 32 + "-b7ad6b7169203331-01",
    ],
)
def test_what_is_no_trace_is_ignored(text: str):
    assert parse_trace(text) is None
    assert find_parent_trace(RUN, text) == find_parent_trace(RUN)


def test_a_later_version_may_say_more():
    assert parse_trace("01" + TEXT[2:] + "-more") == PLACE


def test_a_run_belongs_to_the_trace_that_was_named():
    assert find_parent_trace(RUN, TEXT) == PLACE
    assert find_parent_trace(RUN, TEXT[:-1] + "0").sampled is False


def test_ids_follow_from_the_run():
    own = find_parent_trace(RUN)
    spans = [
        make_span_id(RUN),
        make_span_id(RUN, "tool a"),
        make_span_id(RUN, "tool b"),
        make_span_id(RunId("other")),
    ]

    assert (own, own.span_id, own.sampled) == (find_parent_trace(RUN), 0, None)
    assert own.trace_id != find_parent_trace(RunId("other")).trace_id
    assert 0 < own.trace_id < 2**128
    assert len({*spans}) == 4
    assert all(0 < span < 2**64 for span in spans)
    assert spans == [
        make_span_id(RUN),
        make_span_id(RUN, "tool a"),
        make_span_id(RUN, "tool b"),
        make_span_id(RunId("other")),
    ]
