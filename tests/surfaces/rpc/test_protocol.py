"""Lines of every kind: how they are parsed, and how they are answered."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from bridle.core.errors import SessionNotFound, UsageError
from bridle.surfaces.rpc.protocol import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorResponse,
    InvalidLine,
    Notification,
    Request,
    RpcReply,
    error_response,
    failure_line,
    notification_line,
    parse_line,
    request_line,
    result_line,
)
from bridle.surfaces.shared.error_codes import SKILL_NOT_FOUND, Refused


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


@pytest.mark.parametrize("id_", [1, -1, 0, 2**63 - 1, "", "a", "ä" * 256])
def test_requests_have_whole_numbers_or_texts_as_ids(id_: Any):
    assert parse_line(line(id=id_, method="m", params={"a": 1})) == Request(id_, "m", Raw(b'{"a": 1}'))


@pytest.mark.parametrize("params", [{}, {"params": None}])
def test_params_may_be_left_out(params: Any):
    assert parse_line(line(id=1, method="m", **params)) == Request(1, "m", Raw(b"{}"))


def test_the_version_must_be_there_and_is_not_looked_at():
    assert parse_line(b'{"jsonrpc":"1.0","id":1,"method":"m"}') == Request(1, "m", Raw(b"{}"))
    assert parse_line(b'{"id":1,"method":"m"}') == InvalidLine(
        INVALID_REQUEST, 'Invalid request: "jsonrpc" is missing', 1
    )


def test_what_has_no_id_wants_no_answer():
    assert parse_line(line(method="initialized")) == Notification("initialized")


def test_answers_to_our_own_requests_are_told_apart():
    assert parse_line(line(id="t", result={"content": "x"})) == RpcReply("t", {"content": "x"})
    assert parse_line(line(id="t", result=None)) == RpcReply("t", None)
    assert parse_line(line(id="t", error={"code": 1, "message": "no"})) == RpcReply("t", error="no")
    assert parse_line(line(id="t", error="no")) == RpcReply("t", error="no")
    assert parse_line(line(id="t", error={})) == RpcReply("t", error="the client failed")


@pytest.mark.parametrize("id_", [1.5, True, None, [], {}, 2**63, "x" * 257])
def test_other_ids_are_refused(id_: Any):
    fault = parse_line(line(id=id_, method="m"))

    assert fault == InvalidLine(
        INVALID_REQUEST, "Invalid request: the id is neither an integer nor a short string"
    )


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "there is no method"),
        ({"method": 5}, "there is no method"),
        ({"method": "m" * 101}, "there is no method"),
        ({"method": "m", "params": []}, "the params are not an object"),
        ({"method": "m", "params": "x"}, "the params are not an object"),
    ],
)
def test_a_request_that_is_none_is_refused_under_its_id(fields: dict[str, Any], says: str):
    assert parse_line(line(id=7, **fields)) == InvalidLine(INVALID_REQUEST, f"Invalid request: {says}", 7)


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"m"',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
        b'"text"',
        b"3",
        b"null",
        b"[" * 5_000,
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001,
    ],
)
def test_what_is_no_message_is_a_parse_error(raw: bytes):
    fault = parse_line(raw)

    assert isinstance(fault, InvalidLine)
    assert (fault.code, fault.id, fault.message[:13]) == (PARSE_ERROR, None, "Parse error: ")


def test_a_batch_is_refused_with_the_reason():
    assert parse_line(b'[{"jsonrpc":"2.0","id":1,"method":"m"}]') == InvalidLine(
        PARSE_ERROR, "Parse error: batches are not supported, send one request per line"
    )


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_no_line_breaks_the_parser(raw: bytes):
    assert isinstance(parse_line(raw), Request | Notification | RpcReply | InvalidLine)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), JSON))
def test_no_object_breaks_the_parser(fields: dict[str, Any]):
    parsed = parse_line(json.dumps(fields).encode())

    assert isinstance(parsed, Request | Notification | RpcReply | InvalidLine)
    if isinstance(parsed, Request):
        assert (parsed.id, parsed.method) == (fields["id"], fields["method"])


def test_answers_are_lines_of_their_own():
    assert result_line("a", {"b": 1}) == b'{"jsonrpc":"2.0","id":"a","result":{"b":1}}\n'
    assert failure_line(None, ErrorResponse(-1, "no")) == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}\n'
    )
    assert json.loads(request_line("t", "m", {"a": "\n"}))["params"] == {"a": "\n"}
    assert json.loads(notification_line("m", {})) == {"jsonrpc": "2.0", "method": "m", "params": {}}


def test_errors_have_the_numbers_of_the_contract():
    assert error_response(SessionNotFound('no session "x"', hint="list them")) == ErrorResponse(
        -32001, 'no session "x"', {"name": "SESSION_NOT_FOUND", "hint": "list them"}
    )
    assert error_response(UsageError("no")) == ErrorResponse(-32602, "no", {"name": "INVALID_PARAMS"})
    assert error_response(Refused(SKILL_NOT_FOUND, "none")).code == -32021


def test_what_nobody_foresaw_is_not_told_in_detail():
    assert error_response(RuntimeError("password=secret")) == ErrorResponse(
        -32603, "Internal error", {"name": "INTERNAL_ERROR"}
    )
