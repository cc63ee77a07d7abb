"""The stop reasons of prompts."""

import pytest

from bridle.core.budget import BudgetKind
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import StopReason
from bridle.core.protocol import Outcome
from bridle.core.usage import UsageCollector
from bridle.surfaces.acp.errors import error_of_result, stop_reason, usage_of
from bridle.surfaces.shared.output_format import VERSION, Result


def result(outcome: Outcome, **facts: object) -> Result:
    usage = {"input": 10, "output": 5, "cache_read": 3, "cache_write": 2, "reasoning": 1}
    return Result(
        version=VERSION,
        session_id=SessionId("s"),
        run_id=RunId("r"),
        outcome=outcome,
        text="",
        reason="so",
        turns=1,
        tool_calls=0,
        usage=usage,
        cost=None,
        denied=[],
        blame=UsageCollector().blame,
        **facts,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("outcome", "last", "exhausted", "reason"),
    [
        ("completed", "end_turn", None, "end_turn"),
        ("completed", "max_tokens", None, "max_tokens"),
        ("completed", "content_filter", None, "refusal"),
        ("cancelled", "tool_use", None, "cancelled"),
        ("denied", "tool_use", None, "cancelled"),
        ("limit", "tool_use", None, "max_turn_requests"),
        ("budget_exhausted", "tool_use", "tokens", "max_tokens"),
        ("budget_exhausted", "tool_use", "cost", "max_turn_requests"),
    ],
)
def test_each_outcome_has_a_reason(
    outcome: Outcome, last: StopReason, exhausted: BudgetKind | None, reason: str
):
    assert stop_reason(result(outcome), last, exhausted) == reason


@pytest.mark.parametrize(
    ("ended", "code", "name"),
    [
        (result("failed", error="rate_limited"), -32010, "PROVIDER_ERROR"),
        (result("failed"), -32013, "AGENT_ERROR"),
        (result("denied", refused_by_hook=True), -32012, "HOOK_DENIED"),
    ],
)
def test_what_has_no_answer_is_an_error(ended: Result, code: int, name: str):
    error = error_of_result(ended)

    assert error is not None
    assert (error.code, str(error), error.data) == (
        code,
        "so",
        {"code": name, "outcome": ended.outcome, "runId": "r"},
    )


@pytest.mark.parametrize("outcome", ["completed", "cancelled", "denied", "limit", "budget_exhausted"])
def test_the_others_are_none(outcome: Outcome):
    assert error_of_result(result(outcome)) is None


def test_tokens_are_counted_once():
    assert usage_of(result("completed")).model_dump(exclude_none=True) == {
        "total_tokens": 20,
        "input_tokens": 10,
        "output_tokens": 5,
        "thought_tokens": 1,
        "cached_read_tokens": 3,
        "cached_write_tokens": 2,
    }
