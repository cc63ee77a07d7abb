from typing import get_args

import jsonschema_rs
import msgspec
import pytest

from bridle.core.codec import encode
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolResult, Usage
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    CompactionFailed,
    Lagged,
    ModelReplied,
    Outcome,
    RunEnded,
    RunStarted,
    SessionTitled,
    TextDelta,
    ToolFinished,
)
from bridle.core.usage import CompactionStats, ToolStats, UsageBreakdown, UsageCounts
from bridle.surfaces.shared.output_format import (
    EXIT_CODES,
    VERSION,
    DeniedCall,
    Result,
    ResultBuilder,
    line_schema,
    result_schema,
)
from tests.surfaces.records import CALL, EDIT, RUN, SESSION, edit_session, records, result

USAGE = {"input": 220, "output": 15, "cache_read": 0, "cache_write": 0, "reasoning": 0}


def test_the_result_of_a_run_that_completed():
    ledger = ResultBuilder(SESSION, RUN)

    for record in edit_session():
        ledger.add(record)

    assert ledger.result == Result(
        version=VERSION,
        session_id=SESSION,
        run_id=RUN,
        outcome="completed",
        text="Done.",
        reason="",
        turns=2,
        tool_calls=1,
        usage=USAGE,
        cost=None,
        denied=[],
        blame=UsageBreakdown(
            UsageCounts(turns=2, tool_calls=1, tokens=235, unpriced=2),
            {},
            {"edit_file": ToolStats(calls=1, duration_ms=3, tokens=8)},
            {},
            CompactionStats(),
        ),
    )


def test_another_run_of_the_session_is_not_taken_for_this_one():
    ledger = ResultBuilder(SESSION, type(RUN)("another"))

    for record in edit_session():
        ledger.add(record)
    ledger.add(Aborted(RUN, "no space left"))

    assert ledger.result is None


def test_denied_calls_are_named_with_the_rule_that_would_allow_them():
    ledger = ResultBuilder(SESSION, RUN)
    by_rule = ToolResult(CallId("b"), "write_file", "denied by rule deny write_file", is_error=True)
    failed = ToolResult(CallId("c"), "read_file", "no such file", is_error=True)

    for record in records(
        [
            ApprovalRequested(CALL, "edit_file", EDIT, "mode ask", suggestions=("edit_file(*)",)),
            ApprovalDecided(CALL, "deny", "not now"),
            ToolFinished(ToolResult(CALL, "edit_file", "denied: not now", is_error=True), denied=True),
            ToolFinished(by_rule, denied=True),
            ToolFinished(failed),
            RunEnded(RUN, "completed", "ok"),
        ]
    ):
        ledger.add(record)

    assert ledger.result is not None
    assert ledger.result.denied == [
        DeniedCall(CALL, "edit_file", "not now", ("edit_file(*)",)),
        DeniedCall(CallId("b"), "write_file", "denied by rule deny write_file", ()),
    ]


def test_a_run_whose_end_could_not_be_stored_has_failed():
    ledger = ResultBuilder(SESSION, RUN)
    for record in edit_session()[:-1]:
        ledger.add(record)

    ledger.add(Aborted(RUN, "no space left on the device"))

    assert ledger.result == Result(
        version=VERSION,
        session_id=SESSION,
        run_id=RUN,
        outcome="failed",
        text="",
        reason="no space left on the device",
        turns=2,
        tool_calls=1,
        usage=USAGE,
        cost=None,
        denied=[],
        blame=UsageBreakdown(
            UsageCounts(turns=2, tool_calls=1, tokens=235, unpriced=2),
            {},
            {"edit_file": ToolStats(calls=1, duration_ms=3, tokens=8)},
            {},
            CompactionStats(),
        ),
    )
    assert ledger.result.exit_code == 1


def test_what_sub_agents_and_summaries_used_is_part_of_a_run_that_was_aborted():
    ledger = ResultBuilder(SESSION, RUN)
    for record in records(
        [
            RunStarted(RUN, "scripted/x"),
            ModelReplied(RUN, 1, Message("assistant", (Text("hi"),)), "end_turn", Usage(10, 1), cost=0.25),
            ChildEnded(SESSION, "completed", turns=2, usage=Usage(100, 10), cost=0.5),
            CompactionFailed("no", Usage(5), 0.125),
            CompactionFailed("never asked"),
        ]
    ):
        ledger.add(record)

    ledger.add(Aborted(RUN, "no space left"))

    assert ledger.result is not None
    assert (ledger.result.usage["input"], ledger.result.cost) == (115, 0.875)


def test_the_blame_of_a_run_leaves_out_earlier_ones_and_the_title():
    other = type(RUN)("earlier")
    ledger = ResultBuilder(SESSION, RUN)
    reply = Message("assistant", (Text("hi"),))
    for record in records(
        [
            RunStarted(other, "scripted/x"),
            ModelReplied(other, 1, reply, "end_turn", Usage(1000, 10)),
            RunStarted(RUN, "scripted/x"),
            SessionTitled("a title", "small/x", Usage(500, 5)),
            ModelReplied(RUN, 1, reply, "end_turn", Usage(10, 1), cost=0.5),
            RunEnded(RUN, "completed", "hi"),
        ]
    ):
        ledger.add(record)

    assert ledger.result is not None
    assert ledger.result.blame == UsageBreakdown(
        UsageCounts(turns=1, tokens=11, cost=0.5), {}, {}, {}, CompactionStats()
    )


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_what_ran_into_a_limit_has_an_answer_all_the_same(outcome: Outcome):
    assert result(outcome=outcome).has_answer == (outcome in ("completed", "budget_exhausted", "limit"))


def test_every_outcome_but_completed_has_an_exit_code_above_zero():
    assert {outcome for outcome, code in EXIT_CODES.items() if code == 0} == {"completed"}


def test_every_kind_of_line_follows_the_published_schema():
    ledger = ResultBuilder(SESSION, RUN)
    for record in edit_session():
        ledger.add(record)
    validator = jsonschema_rs.validator_for(line_schema())

    for item in [*edit_session(), TextDelta("x"), Lagged(3), Aborted(RUN, "why"), ledger.result]:
        validator.validate(msgspec.json.decode(encode(item)))


@pytest.mark.parametrize(
    "line", [{}, {"type": "result"}, {"type": "something"}, {"seq": 1, "at": 2, "hash": "x"}, []]
)
def test_the_schema_refuses_other_lines(line: object):
    assert not jsonschema_rs.is_valid(line_schema(), line)


def test_the_schema_of_the_result_is_one_of_its_own():
    ledger = ResultBuilder(SESSION, RUN)
    for record in edit_session():
        ledger.add(record)

    assert jsonschema_rs.is_valid(result_schema(), msgspec.json.decode(encode(ledger.result)))
    assert not jsonschema_rs.is_valid(result_schema(), {"type": "result"})


def test_the_value_of_a_run_is_in_its_result():
    ledger = ResultBuilder(SESSION, RUN)
    ended = RunEnded(RUN, "completed", '{"a": 1}', structured={"a": 1}, schema_warnings=("x", "y"))

    for record in records([ended]):
        ledger.add(record)

    assert ledger.result is not None
    assert (ledger.result.structured_output, ledger.result.schema_warnings) == ({"a": 1}, ["x", "y"])
    encoded = msgspec.json.decode(encode(ledger.result))
    jsonschema_rs.validate(result_schema(), encoded)
    assert (encoded["structured_output"], encoded["schema_warnings"]) == ({"a": 1}, ["x", "y"])
