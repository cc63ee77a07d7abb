"""Errors as programs see them."""

import pytest

from bridle.core import errors
from bridle.core.errors import BridleError, ProviderErrorKind
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Outcome
from bridle.core.usage import UsageCollector
from bridle.surfaces.shared import error_codes
from bridle.surfaces.shared.error_codes import ErrorKind, classify_error, classify_result
from bridle.surfaces.shared.output_format import VERSION, Result


def result(
    outcome: Outcome, *, error: ProviderErrorKind | None = None, refused_by_hook: bool = False
) -> Result:
    return Result(
        version=VERSION,
        session_id=SessionId("s"),
        run_id=RunId("r"),
        outcome=outcome,
        text="",
        reason="",
        turns=0,
        tool_calls=0,
        usage={},
        cost=None,
        denied=[],
        blame=UsageCollector().blame,
        error=error,
        refused_by_hook=refused_by_hook,
    )


@pytest.mark.parametrize(
    ("error", "code", "rpc", "http"),
    [
        (errors.SessionNotFound("x"), "SESSION_NOT_FOUND", -32001, 404),
        (errors.SessionBusy("x"), "SESSION_BUSY", -32002, 409),
        (errors.SessionConflict("x"), "SESSION_BUSY", -32002, 409),
        (errors.SessionNotRunning("x"), "SESSION_NOT_RUNNING", -32003, 409),
        (errors.KeyTaken("x"), "DUPLICATE_INPUT", -32004, 409),
        (errors.UsageError("x"), "INVALID_PARAMS", -32602, 400),
        (errors.ConfigError("x"), "INVALID_PARAMS", -32602, 400),
        (errors.ProviderError("x"), "PROVIDER_ERROR", -32010, 502),
        (errors.HookError("x"), "HOOK_DENIED", -32012, 403),
        (errors.StoreFull("x"), "STORE_FULL", -32603, 507),
        (errors.StoreCorrupt("x"), "INTERNAL_ERROR", -32603, 500),
        (ValueError("x"), "INTERNAL_ERROR", -32603, 500),
    ],
)
def test_every_error_has_a_name_a_number_and_a_status(error: Exception, code: str, rpc: int, http: int):
    problem = classify_error(error)

    assert (problem.code, problem.rpc, problem.http) == (code, rpc, http)


def test_an_error_of_a_kind_that_is_not_listed_is_its_parents():
    class Special(errors.SessionBusy):
        pass

    assert classify_error(Special("x")) == error_codes.SESSION_BUSY
    assert classify_error(BridleError("x")) == error_codes.INTERNAL_ERROR


@pytest.mark.parametrize(
    ("ended", "problem"),
    [
        (result("completed"), None),
        (result("cancelled"), None),
        (result("denied"), error_codes.APPROVAL_DENIED),
        (result("denied", refused_by_hook=True), error_codes.HOOK_DENIED),
        (result("budget_exhausted"), error_codes.BUDGET_EXHAUSTED),
        (result("failed", error="rate_limited"), error_codes.PROVIDER_ERROR),
        (result("failed"), error_codes.AGENT_ERROR),
        (result("limit"), error_codes.AGENT_ERROR),
    ],
)
def test_what_kept_a_run_from_its_answer(ended: Result, problem: ErrorKind | None):
    assert classify_result(ended) == problem


def test_no_two_names_are_the_same():
    found = [value for value in vars(error_codes).values() if isinstance(value, ErrorKind)]

    assert len({problem.code for problem in found}) == len(found)
