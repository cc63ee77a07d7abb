"""The kinds of errors reported to programs, with the JSON-RPC code and HTTP status of each.

The names and numbers are those of Meerkat's contract.
"""

from msgspec import Struct

from bridle.core.errors import (
    BridleError,
    BudgetSpent,
    ConfigError,
    HookError,
    KeyTaken,
    NotAllowed,
    ProviderError,
    SessionBusy,
    SessionConflict,
    SessionNotFound,
    SessionNotRunning,
    StoreFull,
    UsageError,
)
from bridle.surfaces.shared.output_format import Result


class ErrorKind(Struct, frozen=True):
    """A kind of error."""

    code: str
    rpc: int
    http: int
    title: str


INVALID_PARAMS = ErrorKind("INVALID_PARAMS", -32602, 400, "The request is invalid")
SESSION_NOT_FOUND = ErrorKind("SESSION_NOT_FOUND", -32001, 404, "Session not found")
SESSION_BUSY = ErrorKind("SESSION_BUSY", -32002, 409, "The session is running")
SESSION_NOT_RUNNING = ErrorKind("SESSION_NOT_RUNNING", -32003, 409, "The session is not running")
DUPLICATE_INPUT = ErrorKind("DUPLICATE_INPUT", -32004, 409, "The key belongs to another prompt")
REQUEST_CANCELLED = ErrorKind("REQUEST_CANCELLED", -32005, 499, "The run was cancelled")
PROVIDER_ERROR = ErrorKind("PROVIDER_ERROR", -32010, 502, "The model failed")
BUDGET_EXHAUSTED = ErrorKind("BUDGET_EXHAUSTED", -32011, 429, "A limit of the run is reached")
APPROVAL_DENIED = ErrorKind("APPROVAL_DENIED", -32013, 403, "A call was not approved")
NOT_ALLOWED = ErrorKind("NOT_ALLOWED", -32014, 403, "Permission denied")
HOOK_DENIED = ErrorKind("HOOK_DENIED", -32012, 403, "A hook refused it")
AGENT_ERROR = ErrorKind("AGENT_ERROR", -32013, 500, "The run failed")
CAPABILITY_UNAVAILABLE = ErrorKind("CAPABILITY_UNAVAILABLE", -32020, 501, "This is not offered here")
SKILL_NOT_FOUND = ErrorKind("SKILL_NOT_FOUND", -32021, 404, "Skill not found")
SKILL_RESOLUTION_FAILED = ErrorKind("SKILL_RESOLUTION_FAILED", -32022, 422, "The skill cannot be used")
INTERNAL_ERROR = ErrorKind("INTERNAL_ERROR", -32603, 500, "Internal error")
STORE_FULL = ErrorKind("STORE_FULL", -32603, 507, "No space is left")

PROBLEMS: dict[type[BridleError], ErrorKind] = {
    SessionNotFound: SESSION_NOT_FOUND,
    SessionBusy: SESSION_BUSY,
    SessionConflict: SESSION_BUSY,
    SessionNotRunning: SESSION_NOT_RUNNING,
    KeyTaken: DUPLICATE_INPUT,
    UsageError: INVALID_PARAMS,
    NotAllowed: NOT_ALLOWED,
    BudgetSpent: BUDGET_EXHAUSTED,
    ConfigError: INVALID_PARAMS,
    ProviderError: PROVIDER_ERROR,
    HookError: HOOK_DENIED,
    StoreFull: STORE_FULL,
}


class Refused(BridleError):
    """A request that cannot be served, for a reason without an error class."""

    def __init__(self, problem: ErrorKind, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problem = problem


def classify_error(error: BaseException) -> ErrorKind:
    """Return the kind of an error."""
    if isinstance(error, Refused):
        return error.problem
    return next((PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS), INTERNAL_ERROR)


def classify_result(result: Result) -> ErrorKind | None:
    """Return why a run has no answer; None if it has one or was cancelled."""
    match result.outcome:
        case "completed" | "cancelled":
            return None
        case "budget_exhausted":
            return BUDGET_EXHAUSTED
        case "denied":
            return HOOK_DENIED if result.refused_by_hook else APPROVAL_DENIED
        case "failed" | "limit":
            return PROVIDER_ERROR if result.error is not None else AGENT_ERROR
