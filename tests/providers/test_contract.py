"""The same script gives the same deltas, the same reply and the same errors on every wire."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import get_args

import pytest
from msgspec.structs import replace

from bridle.core.errors import ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.model import ModelReply
from bridle.core.ports import Provider
from bridle.core.tool import ToolSpec
from bridle.providers import (
    Call,
    ErrorFault,
    Expect,
    GarbageFault,
    HangFault,
    HttpFault,
    Reply,
    ResetFault,
    Script,
    ScriptedProvider,
    TruncateFault,
)
from bridle.providers.anthropic import AnthropicProvider
from bridle.providers.gemini import GeminiProvider
from bridle.providers.openai import OpenAIProvider
from bridle.providers.openai_responses import ResponsesProvider
from bridle.providers.script import Fault, Reason, ScriptUsage
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import Outcome, ask, request

Connect = Callable[..., AbstractAsyncContextManager[Provider]]


def idle_timeout_s(replies: tuple[Reply, ...]) -> float:
    """Give up quickly where silence is the point, and late where the machine may be slow."""
    return 0.05 if any(isinstance(reply.fault, HangFault) for reply in replies) else 10.0


@asynccontextmanager
async def in_process(*replies: Reply, repeat: bool = False) -> AsyncIterator[Provider]:
    yield ScriptedProvider(Script(replies, repeat=repeat), idle_timeout_s=idle_timeout_s(replies))


@asynccontextmanager
async def over_chat_completions(*replies: Reply, repeat: bool = False) -> AsyncIterator[Provider]:
    async with ScriptedServer(Script(replies, repeat=repeat)) as server:
        provider = OpenAIProvider.at("server", f"{server.url}/v1", idle_timeout_s=idle_timeout_s(replies))
        yield provider
        await provider.aclose()


@asynccontextmanager
async def over_messages(*replies: Reply, repeat: bool = False) -> AsyncIterator[Provider]:
    async with ScriptedServer(Script(replies, repeat=repeat)) as server:
        provider = AnthropicProvider.at("server", server.url, idle_timeout_s=idle_timeout_s(replies))
        yield provider
        await provider.aclose()


@asynccontextmanager
async def over_responses(*replies: Reply, repeat: bool = False) -> AsyncIterator[Provider]:
    async with ScriptedServer(Script(replies, repeat=repeat)) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1", idle_timeout_s=idle_timeout_s(replies))
        yield provider
        await provider.aclose()


@asynccontextmanager
async def over_gemini(*replies: Reply, repeat: bool = False) -> AsyncIterator[Provider]:
    async with ScriptedServer(Script(replies, repeat=repeat)) as server:
        provider = GeminiProvider.at("server", server.url, idle_timeout_s=idle_timeout_s(replies))
        yield provider
        await provider.aclose()


WIRES = (in_process, over_chat_completions, over_messages, over_responses, over_gemini)


@pytest.fixture(params=WIRES, ids=lambda connect: connect.__name__)
def connect(request: pytest.FixtureRequest) -> Connect:
    return request.param


def plain(reply: ModelReply | None) -> ModelReply | None:
    """Leave out what vendors seal: signatures, encrypted reasoning, the ids of their items."""
    if reply is None:
        return None
    parts = tuple(replace(part, meta={}) if hasattr(part, "meta") else part for part in reply.message.parts)
    return replace(reply, message=replace(reply.message, parts=parts))


async def test_reasoning_text_and_parallel_calls(connect: Connect):
    reply = Reply(
        text="Ich höre zu, 🦊.",
        reasoning="Let me see.",
        calls=(
            Call("read_file", {"path": "a.py", "start_line": 1}),
            Call("list_files", {"pattern": "*"}, "own"),
        ),
        usage=ScriptUsage(input=100, output=50, cache_read=30, cache_write=7, reasoning=11),
        model="m-2026",
    )

    async with connect(reply) as provider:
        outcome = await ask(provider)

    # Gemini does not tell what it writes to its cache.
    told = Usage(107, 50, 30, 0, 11) if connect is over_gemini else Usage(100, 50, 30, 7, 11)
    outcome.reply = plain(outcome.reply)
    assert outcome == Outcome(
        shown=[
            ("reasoning", "Let me see."),
            ("text", "Ich höre zu, 🦊."),
            ("read_file call_0_0", '{"path":"a.py","start_line":1}'),
            ("list_files own", '{"pattern":"*"}'),
        ],
        reply=ModelReply(
            Message(
                "assistant",
                (
                    Reasoning("Let me see."),
                    Text("Ich höre zu, 🦊."),
                    ToolCall(CallId("call_0_0"), "read_file", {"path": "a.py", "start_line": 1}),
                    ToolCall(CallId("own"), "list_files", {"pattern": "*"}),
                ),
            ),
            "tool_use",
            told,
            "m-2026",
        ),
    )


async def test_a_conversation_with_tools_goes_on(connect: Connect):
    """The reply is chosen, quoted from and counted alike, whatever the wire makes of the messages."""
    messages = (
        user_message("look"),
        Message(
            "assistant",
            (
                Reasoning("hm"),
                Text("ok"),
                ToolCall(CallId("a"), "f", {"x": 1}),
                ToolCall(CallId("b"), "g", invalid="{"),
            ),
        ),
        Message("tool", (ToolResult(CallId("a"), "f", "one"),)),
        Message("tool", (ToolResult(CallId("b"), "g", "two", is_error=True),)),
    )
    tools = (ToolSpec("f", "Does f.", {"type": "object", "properties": {}}),)
    answer = Reply(
        "{last_user}: {last_tool_result}, {tool_results}",
        calls=(Call("f"),),
        expect=Expect("look", "two", "terse", ("f",)),
    )

    async with connect(Reply("no"), answer) as provider:
        outcome = await ask(provider, request(*messages, tools=tools))

    # A wire that joins both results in one message has one frame of 4 tokens less.
    sent = 37 if connect in (over_messages, over_gemini) else 41
    assert plain(outcome.reply) == ModelReply(
        Message("assistant", (Text("look: two, one\ntwo"), ToolCall(CallId("call_1_0"), "f"))),
        "tool_use",
        Usage(input=sent, output=7),
        "m",
    )


@pytest.mark.parametrize("first", WIRES, ids=lambda first: f"after {first.__name__}")
async def test_a_session_may_change_its_vendor(connect: Connect, first: Connect):
    """What one vendor sealed means nothing to another, and must not get in the way."""
    script = (
        Reply("one", reasoning="hm", calls=(Call("f", {"x": 1}, "a:1"), Call("g", {}, "b"))),
        Reply("{tool_results}", reasoning="so"),
    )
    async with first(*script) as provider:
        begun = await ask(provider)
    assert begun.reply is not None
    said = begun.reply.message
    results = tuple(ToolResult(call.id, call.name, f"did {call.name}") for call in said.calls)

    async with connect(*script) as provider:
        outcome = await ask(provider, request(user_message("hi"), said, Message("tool", results)))

    assert outcome.error is None
    assert outcome.shown == [("reasoning", "so"), ("text", "did f\ndid g")]


async def test_pictures_may_come_along(connect: Connect):
    picture = Message("user", (Text("what is this?"), Media("image/png", "iVBORw0KGgo=")))
    shot = ToolResult(CallId("a"), "f", "a shot", media=(Media("image/png", "iVBORw0KGgo="),))
    call = Message("assistant", (ToolCall(CallId("a"), "f"),))

    async with connect(Reply("{last_user}", expect=Expect(user="what is this?")), Reply("seen")) as provider:
        first = await ask(provider, request(picture))
        second = await ask(provider, request(picture, call, Message("tool", (shot,))))

    assert first.shown == [("text", "what is this?")]
    assert second.shown == [("text", "seen")]


@pytest.mark.parametrize(
    ("calls", "read"),
    [
        ((Call("f", '{"path": "a'),), (ToolCall(CallId("call_0_0"), "f", invalid='{"path": "a'),)),
        ((Call("f", ('{"a', '":1', "}")),), (ToolCall(CallId("call_0_0"), "f", {"a": 1}),)),
        ((Call("f", ""),), (ToolCall(CallId("call_0_0"), "f"),)),
        (
            (Call("f", id=""), Call("g", id="")),
            (ToolCall(CallId("call_0_0"), "f"), ToolCall(CallId("call_0_1"), "g")),
        ),
        (
            (Call("f", {"a": 1}, "same"), Call("f", {"a": 2}, "same")),
            (ToolCall(CallId("same"), "f", {"a": 1}), ToolCall(CallId("same"), "f", {"a": 2})),
        ),
    ],
    ids=["cut off", "in fragments", "no arguments", "no ids", "duplicate ids"],
)
async def test_odd_calls(connect: Connect, calls: tuple[Call, ...], read: tuple[ToolCall, ...]):
    async with connect(Reply(calls=calls)) as provider:
        outcome = await ask(provider)

    if connect is over_gemini and any(call.invalid for call in read):
        assert outcome == Outcome(error="server_error")  # Gemini keeps a broken call to itself
        return
    reply = plain(outcome.reply)
    assert reply is not None
    assert reply.message == Message("assistant", read)


@pytest.mark.parametrize("stop_reason", ["end_turn", "max_tokens", "content_filter"])
async def test_stop_reasons(connect: Connect, stop_reason: str):
    async with connect(Reply("cut", stop_reason=stop_reason)) as provider:
        outcome = await ask(provider)

    assert outcome.reply is not None
    assert outcome.reply.stop_reason == stop_reason


async def test_a_call_cut_by_the_token_limit(connect: Connect):
    reply = Reply(calls=(Call("f", '{"path": "a.p'),), stop_reason="max_tokens")

    async with connect(reply) as provider:
        outcome = await ask(provider)

    if connect is over_gemini:
        assert outcome == Outcome(error="server_error")
        return
    assert outcome.reply is not None
    assert outcome.reply.stop_reason == "max_tokens"
    assert outcome.reply.message.calls[0].invalid == '{"path": "a.p'


@pytest.mark.parametrize(
    ("fault", "kind", "shown"),
    [
        (TruncateFault(), "connection_reset", "one two three"),
        (TruncateFault(after=0), "connection_reset", ""),
        (TruncateFault(after=2), "connection_reset", "one two"),
        (ErrorFault(after=1, reason="server_overloaded"), "server_overloaded", "one"),
        (ErrorFault(reason="context_length_exceeded"), "context_length_exceeded", "one two three"),
        (GarbageFault(after=1), "server_error", "one"),
        (GarbageFault(data="data: {\u00ff\n\n"), "server_error", "one two three"),
        (ResetFault(after=0), "connection_reset", ""),
        (ResetFault(after=2), "connection_reset", "one two"),
        (HangFault(after=0), "network_timeout", ""),
        (HangFault(after=1), "network_timeout", "one"),
    ],
    ids=repr,
)
async def test_a_stream_that_fails(connect: Connect, fault: Fault, kind: ProviderErrorKind, shown: str):
    async with connect(Reply("one two three", fault=fault)) as provider:
        outcome = await ask(provider)

    assert outcome == Outcome([("text", shown)] if shown else [], error=kind)


@pytest.mark.parametrize("reason", get_args(Reason))
async def test_every_reason_arrives_as_its_kind(connect: Connect, reason: Reason):
    async with connect(
        Reply(fault=HttpFault(reason=reason)), Reply("a", fault=ErrorFault(reason=reason))
    ) as provider:
        at_once = await ask(provider)
        later = await ask(
            provider, request(user_message("a"), Message("assistant", (Text("b"),)), user_message("c"))
        )

    assert at_once == Outcome(error=reason)
    assert later == Outcome([("text", "a")], error=reason)


@pytest.mark.parametrize(
    ("fault", "kind", "retry_after_s"),
    [
        (HttpFault(429, headers={"Retry-After": "2"}), "rate_limited", 2.0),
        (HttpFault(503, headers={"retry-after-ms": "1500"}), "server_overloaded", 1.5),
        (HttpFault(529), "server_overloaded", None),
        (HttpFault(401), "authentication_failed", None),
        (HttpFault(403), "invalid_api_key", None),
        (HttpFault(404), "model_not_found", None),
        (HttpFault(400), "invalid_request", None),
        (HttpFault(500), "server_error", None),
        (HttpFault(302, headers={"Location": "http://127.0.0.1:9/"}, body=""), "unknown", None),
        (
            HttpFault(400, body={"error": {"type": "exceed_context_size_error"}}),
            "context_length_exceeded",
            None,
        ),
        (HttpFault(502, body="<html>Bad Gateway</html>"), "server_error", None),
        (HttpFault(200, headers={"Content-Type": "text/html"}, body="<html>Log in</html>"), "unknown", None),
        (
            HttpFault(200, body={"error": {"message": "busy", "type": "overloaded_error"}}),
            "server_overloaded",
            None,
        ),
    ],
    ids=repr,
)
async def test_http_errors(
    connect: Connect, fault: HttpFault, kind: ProviderErrorKind, retry_after_s: float | None
):
    async with connect(Reply(fault=fault)) as provider:
        outcome = await ask(provider)

    assert outcome == Outcome(error=kind, retry_after_s=retry_after_s)


async def test_nothing_at_all(connect: Connect):
    async with connect(Reply()) as provider:
        outcome = await ask(provider)

    assert outcome == Outcome(error="empty_reply")


async def test_a_fault_that_passes(connect: Connect):
    async with connect(Reply("at last", fault=HttpFault(429, times=2))) as provider:
        outcomes = [await ask(provider) for _ in range(3)]

    assert [outcome.error for outcome in outcomes] == ["rate_limited", "rate_limited", None]
    assert outcomes[-1].shown == [("text", "at last")]


@pytest.mark.parametrize("reply", [Reply("a", expect=Expect(user="bye")), None], ids=["unexpected", "over"])
async def test_a_script_that_has_no_answer(connect: Connect, reply: Reply | None):
    async with connect(*([reply] if reply else [])) as provider:
        outcome = await ask(provider)

    assert outcome == Outcome(error="invalid_request")


async def test_delays_only_delay(connect: Connect):
    async with connect(Reply("one two", delay_ms=1, chunk_delay_ms=1)) as provider:
        outcome = await ask(provider)

    assert outcome.shown == [("text", "one two")]


async def test_one_provider_serves_many_at_once(connect: Connect):
    async with connect(Reply("{last_user}", chunk_delay_ms=1), repeat=True) as provider:
        outcomes = [ask(provider, request(user_message(f"number {n}"))) for n in range(20)]
        answers = [outcome.shown for outcome in await asyncio.gather(*outcomes)]

    assert answers == [[("text", f"number {n}")] for n in range(20)]
