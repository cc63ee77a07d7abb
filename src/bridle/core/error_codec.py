"""Errors between processes: convert an error to a value that can be sent, and back."""

from typing import Any

from msgspec import Struct

from bridle.core import errors
from bridle.core.errors import BridleError, ProviderError


class ErrorData(Struct, frozen=True, omit_defaults=True):
    """An error as a value that can be sent to another process."""

    kind: str
    message: str
    hint: str = ""
    reason: errors.ProviderErrorKind = "unknown"


def encode_error(error: BaseException) -> ErrorData:
    """Convert an error to a value that can be sent."""
    if not isinstance(error, BridleError):
        return ErrorData("BridleError", f"{type(error).__name__}: {error}")
    reason = error.kind if isinstance(error, ProviderError) else "unknown"
    return ErrorData(type(error).__name__, error.message, error.hint, reason)


def decode_error(failure: ErrorData) -> BridleError:
    """Rebuild the error from a received value; an unknown class becomes BridleError."""
    if failure.kind == "ProviderError":
        return ProviderError(failure.message, kind=failure.reason, hint=failure.hint)
    kind: Any = getattr(errors, failure.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, BridleError)):
        kind = BridleError
    error: BridleError = kind(failure.message, hint=failure.hint)
    return error
