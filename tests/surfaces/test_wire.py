import jsonschema_rs
import msgspec
import pytest

from bridle.core.codec import encode
from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    Lagged,
    RunEnded,
    TextDelta,
    ToolFinished,
)
from bridle.surfaces.wire import EXIT_CODES, VERSION, DeniedCall, Ledger, Result, line_schema, result_schema
from tests.surfaces.records import CALL, EDIT, RUN, SESSION, edit_session, records

USAGE = {"input": 220, "output": 15, "cache_read": 0, "cache_write": 0, "reasoning": 0}


def test_the_result_of_a_run_that_completed():
    ledger = Ledger(SESSION, RUN)

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
    )


def test_another_run_of_the_session_is_not_taken_for_this_one():
    ledger = Ledger(SESSION, type(RUN)("another"))

    for record in edit_session():
        ledger.add(record)
    ledger.add(Aborted(RUN, "no space left"))

    assert ledger.result is None


def test_denied_calls_are_named_with_the_rule_that_would_allow_them():
    ledger = Ledger(SESSION, RUN)
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
    ledger = Ledger(SESSION, RUN)
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
    )
    assert ledger.result.exit_code == 1


def test_every_outcome_but_completed_has_an_exit_code_above_zero():
    assert {outcome for outcome, code in EXIT_CODES.items() if code == 0} == {"completed"}


def test_every_kind_of_line_follows_the_published_schema():
    ledger = Ledger(SESSION, RUN)
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
    ledger = Ledger(SESSION, RUN)
    for record in edit_session():
        ledger.add(record)

    assert jsonschema_rs.is_valid(result_schema(), msgspec.json.decode(encode(ledger.result)))
    assert not jsonschema_rs.is_valid(result_schema(), {"type": "result"})
