"""Each error of a vendor is mapped to its kind."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ProviderErrorKind
from bridle.providers.errors import (
    MAX_MESSAGE_CHARS,
    VendorError,
    classify_status,
    parse_error,
    response_error,
    retry_after_s,
    stream_error,
)

OPENAI = '{{"error":{{"message":"{0}","type":"{1}","param":null,"code":{2}}}}}'
ANTHROPIC = '{{"type":"error","error":{{"type":"{1}","message":"{0}"}},"request_id":"req_1"}}'
GEMINI = '{{"error":{{"code":{2},"message":"{0}","status":"{1}"}}}}'


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            401,
            OPENAI.format("Incorrect API key provided", "invalid_request_error", "null"),
            "invalid_api_key",
        ),
        (401, OPENAI.format("no", "invalid_request_error", '"invalid_api_key"'), "invalid_api_key"),
        (404, OPENAI.format("no", "invalid_request_error", '"model_not_found"'), "model_not_found"),
        (400, OPENAI.format("The model `x` does not exist", "e", "null"), "model_not_found"),
        (429, OPENAI.format("slow", "requests", '"rate_limit_exceeded"'), "rate_limited"),
        (429, OPENAI.format("pay", "x", '"insufficient_quota"'), "authentication_failed"),
        (400, OPENAI.format("long", "x", '"context_length_exceeded"'), "context_length_exceeded"),
        (400, OPENAI.format("no", "x", '"content_filter"'), "content_filtered"),
        (500, OPENAI.format("oops", "server_error", "null"), "server_error"),
        (400, OPENAI.format("bad temperature", "invalid_request_error", "null"), "invalid_request"),
        (529, ANTHROPIC.format("busy", "overloaded_error"), "server_overloaded"),
        (401, ANTHROPIC.format("invalid x-api-key", "authentication_error"), "invalid_api_key"),
        (403, ANTHROPIC.format("no", "permission_error"), "authentication_failed"),
        (
            400,
            ANTHROPIC.format("prompt is too long: 9 tokens > 8 maximum", "invalid_request_error"),
            "context_length_exceeded",
        ),
        (429, GEMINI.format("quota", "RESOURCE_EXHAUSTED", 429), "rate_limited"),
        (400, f"[{GEMINI.format('API key not valid.', 'INVALID_ARGUMENT', 400)}]", "invalid_api_key"),
        (
            400,
            GEMINI.format("The input token count (9) exceeds the maximum", "INVALID_ARGUMENT", 400),
            "context_length_exceeded",
        ),
        (400, OPENAI.format("no", "exceed_context_size_error", "400"), "context_length_exceeded"),
        (503, OPENAI.format("Loading model", "unavailable_error", "503"), "server_overloaded"),
        (404, '{"error":"model \\"x\\" not found, try pulling it first"}', "model_not_found"),
        (422, '{"detail":"no such field"}', "invalid_request"),
        (502, "<html>Bad Gateway</html>", "server_error"),
        (418, "", "invalid_request"),
        (301, "", "unknown"),
        (200, '{"error":{"message":"slow","code":429}}', "rate_limited"),
        (200, "<html>", "unknown"),
        (200, '{"choices":[]}', "unknown"),
    ],
)
def test_the_kind_of_an_answer(status: int, body: str, kind: ProviderErrorKind):
    assert response_error("openai", status, {}, body.encode()).kind == kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "authentication_failed"),
        (403, "invalid_api_key"),
        (404, "model_not_found"),
        (408, "network_timeout"),
        (429, "rate_limited"),
        (500, "server_error"),
        (503, "server_overloaded"),
        (529, "server_overloaded"),
        (599, "server_error"),
    ],
)
def test_the_kind_of_a_bare_status(status: int, kind: ProviderErrorKind):
    assert classify_status(status) == kind


def test_an_error_in_mid_stream_is_judged_by_its_own_words():
    assert stream_error("x", VendorError("busy", ("overloaded_error",))).kind == "server_overloaded"
    assert stream_error("x", VendorError("busy", (), 429)).kind == "rate_limited"
    assert stream_error("x", VendorError("who knows")).kind == "server_error"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        (
            {"retry-after": "Sun, 15 Nov 2026 06:00:30 GMT", "date": "Sun, 15 Nov 2026 06:00:00 GMT"},
            30.0,
        ),
        ({"retry-after": "Sun, 15 Nov 2026 06:00:00 GMT", "date": "Sun, 15 Nov 2026 06:00:09 GMT"}, 0.0),
        ({"retry-after": "Sun, 15 Nov 2026 06:00:30 GMT"}, None),
        ({"retry-after": "soon", "date": "today"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None):
    assert retry_after_s(headers) == seconds
    assert response_error("x", 429, headers, b"").retry_after_s == seconds


def test_a_text_says_what_happened_on_one_clean_line():
    body = msgspec.json.encode({"error": {"message": "Your\nkey sk-123 \x1b[31mis wrong"}})

    error = response_error("openai", 401, {}, body, secrets=["sk-123"])

    assert str(error) == (
        "openai: Your key *** [31mis wrong (HTTP 401, authentication_failed) "
        "(hint: check the API key and the permissions of its account)"
    )


def test_a_text_is_short_whatever_the_server_sends():
    assert len(str(response_error("x", 500, {}, b"y" * 1_000_000))) < MAX_MESSAGE_CHARS + 100


@given(st.integers(200, 599), st.binary(max_size=50))
def test_any_body_gives_an_error(status: int, body: bytes):
    assert str(response_error("x", status, {}, body)).startswith("x: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["error", "message", "type", "code", "status", "detail"]), inner)
    ),
)


@given(json_values)
def test_any_json_is_searched_without_a_crash(body: object):
    found = parse_error(body)

    assert found is None or isinstance(found.message, str)


@pytest.mark.parametrize(
    ("details", "headers", "wait_s"),
    [
        ([{"@type": "…/google.rpc.RetryInfo", "retryDelay": "17.5s"}], {}, 17.5),
        ([{"reason": "x"}, {"retryDelay": "3s"}], {}, 3.0),
        ([{"retryDelay": "3s"}], {"retry-after": "1"}, 1.0),
        ([{"retryDelay": "soon"}, {"retryDelay": 4}, None], {}, None),
        ({"retryDelay": "3s"}, {}, None),
    ],
)
def test_google_says_in_the_body_how_long_to_wait(
    details: object, headers: dict[str, str], wait_s: float | None
):
    body = msgspec.json.encode({"error": {"code": 429, "message": "slow", "details": details}})

    assert response_error("x", 429, headers, body).retry_after_s == wait_s


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("invalid_prompt", "content_filtered"),
        ("misalignment_policy_violation", "content_filtered"),
        ("image_too_large", "invalid_request"),
        ("never_heard_of", "server_error"),
    ],
)
def test_a_stream_that_breaks_off_for_good_is_not_tried_again(code: str, kind: str):
    assert stream_error("x", VendorError("no", (code,))).kind == kind
