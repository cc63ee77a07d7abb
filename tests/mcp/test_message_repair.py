"""Repairs of messages before the SDK validates them."""

import threading
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types.methods import validate_server_result
from pydantic import TypeAdapter

from bridle.mcp.message_repair import OUTPUT_SCHEMA, RepairedReader, RepairingTransport, Unreadable

MODELS: dict[str, Any] = {
    "tools/list": types.ListToolsResult,
    "prompts/list": types.ListPromptsResult,
    "resources/list": types.ListResourcesResult,
    "resources/templates/list": types.ListResourceTemplatesResult,
    "tools/call": types.CallToolResult,
    "prompts/get": types.GetPromptResult,
    "resources/read": types.ReadResourceResult,
}
KEYS = (
    "tools prompts resources resourceTemplates content messages contents name uri uriTemplate type text data "
    "blob mimeType inputSchema outputSchema arguments role resource structuredContent isError nextCursor "
    "title description _meta"
).split()
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.sampled_from(["text", "image", "resource", "object", "x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


def request(number: int, method: str) -> SessionMessage:
    return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method))


def response(number: int, result: dict[str, Any]) -> SessionMessage:
    return SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=number, result=result))


def corrected(method: str, result: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what the answer to a request becomes, and notes."""
    notes: list[str] = []
    sieve = RepairingTransport(None, notes.append)  # type: ignore[arg-type]
    sieve.sent(request(1, method).message)
    message = response(1, result).message
    sieve.repair(message)
    return message.result, notes  # type: ignore[union-attr]


async def test_streams_are_corrected_on_their_way():
    to_sdk, theirs = anyio.create_memory_object_stream[Any](9)
    ours, from_sdk = anyio.create_memory_object_stream[Any](9)

    @asynccontextmanager
    async def transport() -> Any:
        with to_sdk, theirs, ours, from_sdk:
            yield theirs, ours

    async with RepairingTransport(transport(), lambda _: None) as (ears, mouth):
        for number in (1, 2):
            await mouth.send(request(number, "tools/list"))
        await to_sdk.send(response(1, {"tools": 3}))
        await to_sdk.send(Unreadable("torn"))
        await to_sdk.send(ValueError("of the transport"))
        to_sdk.close()
        found = [item async for item in ears]

    torn = types.ErrorData(code=types.INTERNAL_ERROR, message="torn")
    assert found[:2] == [
        response(1, {"tools": []}),
        SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=2, error=torn)),
    ]
    assert isinstance(found[2], ValueError)
    assert from_sdk.statistics().current_buffer_used == 2


def test_a_bad_tool_does_not_take_the_others_along():
    good = {"name": "good", "inputSchema": {"type": "object"}}
    listed = {
        "tools": [
            good,
            {"name": "bad"},
            7,
            {"name": "", "inputSchema": {}, "title": "x"},
            {**good, "name": "more", "inputSchema": {}, "outputSchema": {"type": "object"}, "annotations": 3},
        ],
        "nextCursor": 5,
    }

    assert corrected("tools/list", listed) == (
        {
            "tools": [
                good,
                {
                    "name": "more",
                    "inputSchema": {"type": "object"},
                    "_meta": {OUTPUT_SCHEMA: {"type": "object"}},
                },
            ]
        },
        [
            'its tool "bad" is left out: its schema is no object',
            "a tool without a proper name is left out: 7",
            "a tool without a proper name is left out: {'name': '', 'inputSchema': {}, 'title': 'x'}",
        ],
    )


def test_content_of_an_unknown_kind_is_kept_as_text():
    called = {
        "content": [
            {"type": "text", "text": "a", "annotations": {"audience": 1}, "_meta": {}},
            {"type": "video", "url": "v"},
            None,
        ],
        "structuredContent": [1],
        "isError": 1,
    }

    assert corrected("tools/call", called) == (
        {
            "content": [
                {"type": "text", "text": "a"},
                {"type": "text", "text": '{"type": "video", "url": "v"}'},
                {"type": "text", "text": "null"},
                {"type": "text", "text": "[1]"},
            ],
            "isError": True,
        },
        [],
    )


def test_a_question_of_the_server_is_left_alone():
    asked = {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}

    assert corrected("tools/call", dict(asked)) == (asked, [])


def test_other_answers_are_left_alone():
    assert corrected("ping", {"content": 3}) == ({"content": 3}, [])


@given(st.sampled_from(sorted(MODELS)), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6))
def test_whatever_a_server_answers_the_sdk_takes_it(method: str, result: dict[str, Any]):
    found, _ = corrected(method, result)

    validate_server_result(method, "2025-11-25", found)
    TypeAdapter(MODELS[method]).validate_python(found, by_name=False)


async def test_an_answer_that_cannot_be_read_fails_its_request_or_all_that_wait():
    sieve = RepairingTransport(None, lambda _: None)  # type: ignore[arg-type]
    for number, method in enumerate(["tools/call", "subscriptions/listen", "tools/list", "ping"]):
        sieve.sent(request(number, method).message)

    def ids(messages: list[SessionMessage]) -> list[Any]:
        return [message.message.id for message in messages]  # type: ignore[union-attr]

    assert ids(sieve.failed(Unreadable("torn", 2))) == [2]
    assert ids(sieve.failed(Unreadable("torn", 2))) == []
    assert ids(sieve.failed(Unreadable("torn", 99))) == []
    assert ids(sieve.failed(Unreadable("torn"))) == [0, 3]
    assert ids(sieve.failed(Unreadable("torn"))) == []


async def test_long_lists_are_looked_through_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    threads: set[int] = set()

    def look(schema: Any) -> str:
        threads.add(threading.get_ident())
        return ""

    monkeypatch.setattr("bridle.mcp.message_repair.find_schema_problem", look)
    to_sdk, theirs = anyio.create_memory_object_stream[Any](9)
    sieve = RepairingTransport(None, lambda _: None)  # type: ignore[arg-type]
    sieve.sent(request(1, "tools/list").message)
    with to_sdk, theirs:
        await to_sdk.send(response(1, {"tools": [{"name": str(n), "inputSchema": {}} for n in range(1000)]}))
        heard = await RepairedReader(theirs, sieve).receive()

    assert isinstance(heard, SessionMessage)
    assert len(heard.message.result["tools"]) == 1000  # type: ignore[union-attr]
    assert len(threads) == 1
    assert threading.get_ident() not in threads
