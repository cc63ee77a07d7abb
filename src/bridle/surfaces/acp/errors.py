"""Errors and ends of runs for an editor, in the protocol's error numbers and stop reasons."""

from typing import Any

from acp import RequestError
from acp.schema import StopReason, Usage
from pydantic import ValidationError

from bridle.core.budget import BudgetKind
from bridle.core.errors import BridleError
from bridle.core.messages import StopReason as ModelStop
from bridle.surfaces.shared.error_codes import (
    APPROVAL_DENIED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SESSION_BUSY,
    SESSION_NOT_FOUND,
    ErrorKind,
    classify_error,
    classify_result,
)
from bridle.surfaces.shared.output_format import Result

MAX_MESSAGE_CHARS = 2000
MAX_FIELDS = 10

NUMBERS = {SESSION_NOT_FOUND.code: -32002, SESSION_BUSY.code: -32001}
"""The protocol uses for "not found" the number that Bridle's contract uses for "busy"."""


def error_of(error: BridleError) -> RequestError:
    """Return the error response of a failed request."""
    data = {"hint": error.hint} if error.hint else {}
    return _request_error(classify_error(error), error.message, data)


def error_of_result(result: Result) -> RequestError | None:
    """Return the error response of a prompt whose run failed; None if it did not."""
    if result.outcome in ("budget_exhausted", "limit"):
        return None  # the protocol has stop reasons for these
    problem = classify_result(result)
    if problem is None or problem == APPROVAL_DENIED:  # by a person: reported like a cancelled run
        return None
    data = {"outcome": result.outcome, "runId": result.run_id}
    return _request_error(problem, result.reason or problem.title, data)


def error_of_validation(error: ValidationError) -> RequestError:
    """Name the invalid fields of a request, without their values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    fields = {".".join(map(str, one["loc"]))[:200]: one["msg"][:200] for one in found[:MAX_FIELDS]}
    first = next(iter(fields.items()), ("", ""))
    return _request_error(INVALID_PARAMS, f"{first[0]}: {first[1]}", {"fields": fields})


def error_of_bug() -> RequestError:
    """Return the error response for an unexpected exception."""
    return _request_error(INTERNAL_ERROR, INTERNAL_ERROR.title, {})


def _request_error(problem: ErrorKind, message: str, data: dict[str, Any]) -> RequestError:
    number = NUMBERS.get(problem.code, problem.rpc)
    return RequestError(number, message[:MAX_MESSAGE_CHARS], {"code": problem.code, **data})


# ---------------------------------------------------------------------------- stop reasons


TOKENS: BudgetKind = "tokens"


def stop_reason(result: Result, last: ModelStop, exhausted: BudgetKind | None) -> StopReason:
    """Return why a run ended, given how the model's last reply ended and which budget was exhausted.

    A failed run is reported as an error, so that its stop reason is never sent.
    """
    match result.outcome:
        case "cancelled" | "denied":
            return "cancelled"
        case "budget_exhausted":
            return "max_tokens" if exhausted == TOKENS else "max_turn_requests"
        case "limit":
            return "max_turn_requests"
        case "completed" | "failed":
            return _of_reply(last)


def _of_reply(last: ModelStop) -> StopReason:
    match last:
        case "max_tokens":
            return "max_tokens"
        case "content_filter":
            return "refusal"
        case "end_turn" | "tool_use" | "stop_sequence" | "cancelled":
            return "end_turn"


def usage_of(result: Result) -> Usage:
    """Return the token usage of a run."""
    used = result.usage
    return Usage(
        total_tokens=used["input"] + used["output"] + used["cache_read"] + used["cache_write"],
        input_tokens=used["input"],
        output_tokens=used["output"],
        thought_tokens=used["reasoning"] or None,
        cached_read_tokens=used["cache_read"] or None,
        cached_write_tokens=used["cache_write"] or None,
    )
