"""Vendor errors as ProviderErrors: maps HTTP status, vendor error type and message to an error kind.

```
                 ┌ the vendor's error type, code or status   _KIND_OF_TYPE
error response ─▶┤ phrases in the message                    _KIND_OF_WORDS
                 └ HTTP status                               kind_of_status
```

The error type wins over the status. Phrases only refine a vague kind: every vendor reports a context overflow
as a bad request. This module does no I/O; `http` translates network errors.
"""

import math
import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.malformed import MALFORMED

MAX_MESSAGE_CHARS = 500

_BAD_IMAGE_TYPES = """invalid_image invalid_image_format invalid_base64_image invalid_image_url
    invalid_image_mode image_too_large image_too_small image_parse_error image_file_too_large
    image_file_not_found empty_image_file failed_to_download_image unsupported_image_media_type""".split()

_KIND_OF_TYPE: dict[str, ProviderErrorKind] = {
    # OpenAI: `code`, else `type`
    "context_length_exceeded": "context_length_exceeded",
    "content_filter": "content_filtered",
    "content_policy_violation": "content_filtered",
    "insufficient_quota": "authentication_failed",  # a 429 that waiting does not fix
    "billing_hard_limit_reached": "authentication_failed",
    "invalid_api_key": "invalid_api_key",
    "model_not_found": "model_not_found",
    "rate_limit_exceeded": "rate_limited",
    "server_is_overloaded": "server_overloaded",
    "slow_down": "server_overloaded",
    "service_unavailable_error": "server_overloaded",
    "server_error": "server_error",
    "timeout": "network_timeout",
    # OpenAI's Responses sends these mid-stream, where no HTTP status shows that a retry is useless
    "invalid_prompt": "content_filtered",
    "bio_policy": "content_filtered",
    "image_content_policy_violation": "content_filtered",
    "misalignment_policy_violation": "content_filtered",
    "data_residency_mismatch": "invalid_request",
    **dict.fromkeys(_BAD_IMAGE_TYPES, "invalid_request"),
    # Anthropic: `type`
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "billing_error": "authentication_failed",
    "not_found_error": "model_not_found",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "server_overloaded",
    "timeout_error": "network_timeout",
    "api_error": "server_error",
    "request_too_large": "context_length_exceeded",
    # Amazon Bedrock: the type of an exception in a stream
    "throttlingException": "rate_limited",
    "serviceUnavailableException": "server_overloaded",
    "modelTimeoutException": "network_timeout",
    "modelStreamErrorException": "server_error",
    "internalServerException": "server_error",
    "validationException": "invalid_request",
    # Gemini: `status`
    "UNAUTHENTICATED": "authentication_failed",
    "PERMISSION_DENIED": "authentication_failed",
    "NOT_FOUND": "model_not_found",
    "RESOURCE_EXHAUSTED": "rate_limited",
    "UNAVAILABLE": "server_overloaded",
    "DEADLINE_EXCEEDED": "network_timeout",
    "INTERNAL": "server_error",
    # llama-server: `type`
    "exceed_context_size_error": "context_length_exceeded",
    "unavailable_error": "server_overloaded",
}

# Types that are vaguer than an HTTP status, used only without one.
_KIND_OF_VAGUE_TYPE: dict[str, ProviderErrorKind] = {
    "invalid_request_error": "invalid_request",
    "INVALID_ARGUMENT": "invalid_request",
}

_KIND_OF_WORDS: tuple[tuple[re.Pattern[str], ProviderErrorKind], ...] = (
    (
        re.compile(
            r"context[ _](length|window|size)|prompt is too long|maximum context|too many (input )?tokens"
            r"|input token count .* exceeds|input is too long",
            re.IGNORECASE,
        ),
        "context_length_exceeded",
    ),
    (
        re.compile(r"(invalid|incorrect|wrong) \S*api[ _-]?key|api[ _-]key not valid", re.IGNORECASE),
        "invalid_api_key",
    ),
    (
        re.compile(r"content (filter|polic|management)|blocked by .*filter", re.IGNORECASE),
        "content_filtered",
    ),
    (
        re.compile(r"\bmodel\b.*(not found|does not exist)|unknown model", re.IGNORECASE),
        "model_not_found",
    ),
)

_KIND_OF_STATUS: dict[int, ProviderErrorKind] = {
    401: "authentication_failed",
    402: "authentication_failed",
    403: "invalid_api_key",
    404: "model_not_found",
    408: "network_timeout",
    409: "server_error",
    413: "context_length_exceeded",
    429: "rate_limited",
    503: "server_overloaded",
    504: "network_timeout",
    529: "server_overloaded",
}

_SHARPENED_BY_WORDS: frozenset[ProviderErrorKind] = frozenset(
    {"invalid_request", "authentication_failed", "unknown"}
)

_HINTS: dict[ProviderErrorKind, str] = {
    "invalid_api_key": "check the API key",
    "authentication_failed": "check the API key and the permissions of its account",
    "model_not_found": "check the model's name and the provider's base_url",
    "context_length_exceeded": "shorten the conversation, or choose a model with a larger window",
}


class VendorError(Struct, frozen=True):
    """The useful fields of a vendor's error object."""

    message: str = ""
    types: tuple[str, ...] = ()
    """The error's code, type and status, the most precise first."""
    status: int = 0
    retry_after_s: float | None = None
    """How long to wait, if the body says so."""


def classify_status(status: int) -> ProviderErrorKind:
    """Return the error kind of an HTTP status, for a body without an error."""
    if status in _KIND_OF_STATUS:
        return _KIND_OF_STATUS[status]
    if status >= 500:
        return "server_error"
    return "invalid_request" if status >= 400 else "unknown"


def classify(error: VendorError, status: int) -> ProviderErrorKind:
    """Return the kind of an error by its type, message and status."""
    status = error.status if status == 200 else status
    kinds = _KIND_OF_TYPE if status else _KIND_OF_TYPE | _KIND_OF_VAGUE_TYPE
    kind = next((kinds[word] for word in error.types if word in kinds), classify_status(status))
    if kind in _SHARPENED_BY_WORDS:
        kind = next((found for words, found in _KIND_OF_WORDS if words.search(error.message)), kind)
    return kind


def response_error(
    who: str, status: int, headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str] = ()
) -> ProviderError:
    """Return the error for a response that is an error, or that has status 200 but is no stream."""
    error = parse_error(_parse(body))
    if status == 200 and error is None:
        kind = headers.get("content-type", "no content type").partition(";")[0]
        return ProviderError(
            f"{who}: answered with {kind} instead of a stream",
            kind="unknown",
            hint="check the provider's base_url",
        )
    error = error or VendorError(_decode_text(body))
    kind_found = classify(error, status)
    said = _clean(error.message, secrets) or "no message"
    wait_s = retry_after_s(headers)
    return ProviderError(
        f"{who}: {said} (HTTP {status}, {kind_found})",
        kind=kind_found,
        retry_after_s=error.retry_after_s if wait_s is None else wait_s,
        hint=_HINTS.get(kind_found, ""),
    )


def stream_error(who: str, error: VendorError, *, secrets: Iterable[str] = ()) -> ProviderError:
    """Return the error for an error event in the middle of a stream."""
    kind = classify(error, 200)
    if kind == "unknown":
        kind = "server_error"  # the reply had started, so the request was valid
    said = _clean(error.message, secrets) or "no message"
    return ProviderError(
        f"{who}: {said} (mid-stream, {kind})",
        kind=kind,
        retry_after_s=error.retry_after_s,
        hint=_HINTS.get(kind, ""),
    )


def truncation_error(who: str) -> ProviderError:
    """Return the error for a stream that closed before its last event; HTTP libraries do not report this."""
    return ProviderError(f"{who}: the stream ended before the answer was complete", kind="connection_reset")


def malformed_error(who: str, why: str) -> ProviderError:
    """Return the error for a stream whose events do not match the API."""
    return ProviderError(f"{who}: the stream is malformed: {_clean(why)}", kind="server_error")


def timeout_error(who: str, seconds: float) -> ProviderError:
    """Return the error for a connection that sent nothing for `seconds`."""
    return ProviderError(f"{who}: nothing arrived for {seconds:g} s", kind="network_timeout")


def parse_error(body: Any) -> VendorError | None:
    """Return the error object in the decoded body of any vendor; None if there is none."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]  # Gemini wraps an error in a list when it streams an array
    if not isinstance(body, dict):
        return None
    error = body.get("error") or body
    if isinstance(error, str):
        return VendorError(error)
    if not isinstance(error, dict):
        return None
    message = error.get("message") or error.get("detail")
    words = (error.get("code"), error.get("type"), error.get("status"))
    if message is None and error is body:
        return None
    code = error.get("code")
    return VendorError(
        message if isinstance(message, str) else str(message or ""),
        tuple(word for word in words if isinstance(word, str)),
        code if isinstance(code, int) else 0,
        _retry_delay_s(error.get("details")),
    )


def _retry_delay_s(details: Any) -> float | None:
    """Return the delay in Google's RetryInfo, such as `"retryDelay": "17.5s"`."""
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d{1,9}(\.\d+)?s", delay):
            return float(delay[:-1])
    return None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the delay before a retry from the headers; a date counts from the response's Date header."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        until = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, (until - parsedate_to_datetime(headers["date"])).total_seconds())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _parse(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except MALFORMED:
        return None


def _decode_text(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    return "" if text.startswith("<") else text  # a proxy's HTML page is no use in an error


def _clean(text: str, secrets: Iterable[str] = ()) -> str:
    """Return untrusted text as one short, printable line without our secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * MAX_MESSAGE_CHARS]).split())
    return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[:MAX_MESSAGE_CHARS]}…"
