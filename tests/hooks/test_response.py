from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import HookError
from bridle.core.hook import Allow, Deny, HookResponse, ModelRequestPatch, ToolArgsPatch
from bridle.hooks.response import MAX_REASON_CHARS, one_line, parse_response
from tests.core.values import values_of


@pytest.mark.parametrize(
    ("data", "response"),
    [
        (b"{}", HookResponse()),
        (b' {"decision": null, "patches": []}\n', HookResponse()),
        (b'{"decision": {"decision": "allow"}}', HookResponse(Allow())),
        (
            b'{"decision": {"decision": "deny", "message": "no", "hook_id": "x", "payload": [1]}}',
            HookResponse(Deny("no", "policy_violation", "x", [1])),
        ),
        (
            b'{"patches": [{"patch_type": "tool_args", "args": {}}, {"patch_type": "llm_request"}]}',
            HookResponse(None, (ToolArgsPatch({}), ModelRequestPatch())),
        ),
    ],
)
def test_an_answer_is_read(data: bytes, response: HookResponse):
    assert parse_response(data) == response


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it printed nothing"),
        (b" \n", "it printed nothing"),
        (b"ok", "JSON is malformed: invalid character (byte 0)"),
        (b"null", "Expected `object`, got `null`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{} {}", "JSON is malformed: "),
        (b'{"decison": null}', "Object contains unknown field `decison`"),
        (b'{"decision": "deny"}', "Expected `object | null`, got `str` - at `$.decision`"),
        (b'{"decision": {"decision": "maybe"}}', "Invalid value 'maybe' - at `$.decision.decision`"),
        (b'{"decision": {"decision": "deny"}}', "Object missing required field `message` - at `$.decision`"),
        (b'{"decision": {"decision": "allow", "unless": 1}}', 'unknown key "unless"'),
        (b'{"patches": [{"patch_type": "llm_request", "max_token": 5}]}', 'unknown key "max_token"'),
        (b'{"patches": null}', "Expected `array`, got `null` - at `$.patches`"),
        (
            b'{"patches": [{"patch_type": "tool_args"}]}',
            "Object missing required field `args` - at `$.patches[0]`",
        ),
        (b'{"decision": {"decision": "deny", "message": "\xff"}}', "'utf-8' codec can't decode"),
        pytest.param(b"[" * 100_000, "maximum recursion depth exceeded", id="deep"),
    ],
)
def test_anything_else_is_an_error(data: bytes, reason: str):
    with pytest.raises(HookError) as caught:
        parse_response(data)

    assert caught.value.message.startswith(f"its answer is invalid: {reason}")
    assert caught.value.raw == data


@given(values_of(HookResponse))
def test_what_is_written_can_be_read(response: HookResponse):
    assert parse_response(msgspec.json.encode(response)) == response


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_anything_else(data: bytes):
    with suppress(HookError):
        assert isinstance(parse_response(data), HookResponse)


@given(st.text(max_size=2000))
def test_a_reason_is_one_short_line(text: str):
    assert one_line(text).isprintable()
    assert len(one_line(text)) <= MAX_REASON_CHARS
