"""Requests of agents are served in the trained format; calls that are malformed are asked for once more."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.messages import user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import Delta, TextDelta
from bridle.core.summary import TITLE_INSTRUCTION
from bridle.core.tool import ToolSpec
from bridle.providers.embedded.trained_format import (
    MALFORMED_CALL,
    MAX_ANSWER_CHARS,
    WINDOW_TOKENS,
    TrainedFormat,
    call_grammar,
)
from bridle.providers.embedded.trained_messages import TITLE_SYSTEM, TOOLS
from bridle.providers.llama.provider import LlamaProvider
from bridle.providers.llama.server import LlamaServer
from tests.providers.llama.conftest import Scripted

NAMES = ("glob", "read_file", "grep", "write_file", "edit_file", "bash", "web_fetch")
SPECS = tuple(ToolSpec(name, "", {"type": "object"}) for name in NAMES)
CALL = "<tool_call>glob\n**/*\n</tool_call>"


def asked(prompt: str = "list the files") -> ModelRequest:
    return ModelRequest("m", "A long system text.", (user_message(prompt),), SPECS, 256)


def says(*texts: str) -> list[dict[str, str]]:
    return [{"content": text} for text in texts]


@asynccontextmanager
async def opened(scripted: Scripted) -> AsyncIterator[LlamaProvider]:
    provider = LlamaProvider("e", LlamaServer("e", scripted.options), chat_format=TrainedFormat("e"))
    try:
        yield provider
    finally:
        await provider.aclose()


async def collect(provider: LlamaProvider, request: ModelRequest) -> tuple[list[Delta], ModelReply]:
    items = [item async for item in provider.stream(request)]
    *deltas, reply = items
    assert isinstance(reply, ModelReply)
    return [item for item in deltas if not isinstance(item, ModelReply)], reply


Script = Callable[..., Scripted]


async def test_words_are_shown_as_they_come(stand_in: Script) -> None:
    scripted = stand_in(replies=[says("Paris is ", "a < b", " city.")])
    async with opened(scripted) as provider:
        deltas, reply = await collect(provider, asked("hi"))
        assert provider.model("m").window_tokens == WINDOW_TOKENS

    assert len(deltas) > 1
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "Paris is a < b city."
    assert reply.message.text == "Paris is a < b city."
    (body,) = scripted.asked
    assert body["messages"][0]["content"].startswith("You are Bridle, a small model")
    assert "web_fetch" not in body["messages"][0]["content"]
    assert body["temperature"] == 0.0
    assert "tools" not in body


async def test_a_call_is_read_however_it_is_cut(stand_in: Script) -> None:
    async with opened(stand_in(replies=[says(*CALL)])) as provider:
        _, reply = await collect(provider, asked())

    (call,) = reply.message.calls
    assert (call.name, call.args, reply.stop_reason) == ("glob", {"pattern": "**/*"}, "tool_use")
    assert reply.message.text == ""


async def test_a_malformed_call_is_asked_for_once_more_with_a_grammar(stand_in: Script) -> None:
    scripted = stand_in(replies=[says("<tool_call><tool_call>glob"), says(CALL)])
    async with opened(scripted) as provider:
        _, reply = await collect(provider, asked())

    assert reply.message.calls[0].name == "glob"
    assert ["grammar" in body for body in scripted.asked] == [False, True]


async def test_a_call_that_stays_malformed_is_said(stand_in: Script) -> None:
    scripted = stand_in(replies=[says("<tool_call>glob")])
    async with opened(scripted) as provider:
        _, reply = await collect(provider, asked())

    assert reply.message.text == MALFORMED_CALL
    assert len(scripted.asked) == 2


async def test_an_endless_answer_is_ended(stand_in: Script) -> None:
    looping = says(*(["The same sentence again, word by word, and again. "] * 500))
    varied = says(*(f"{at} {at * 7919} " for at in range(5000)))
    for reply_text in (looping, varied):
        async with opened(stand_in(replies=[reply_text])) as provider:
            _, reply = await collect(provider, asked("hi"))
        assert len(reply.message.text) < MAX_ANSWER_CHARS + 100


async def test_a_title_is_asked_for_in_the_trained_words(stand_in: Script) -> None:
    scripted = stand_in(replies=[says("Port of the server")])
    async with opened(scripted) as provider:
        request = ModelRequest("m", TITLE_INSTRUCTION, (user_message("word " * 400),), (), 60)
        _, reply = await collect(provider, request)

    assert reply.message.text == "Port of the server"
    (body,) = scripted.asked
    system, prompt = body["messages"]
    assert system["content"] == TITLE_SYSTEM
    assert len(prompt["content"]) < 900
    assert "lora" not in body


async def test_other_requests_are_sent_without_the_adapter(stand_in: Script) -> None:
    scripted = stand_in(replies=[says("A title"), says("Hello."), says("Hello.")])
    async with opened(scripted) as provider:
        await collect(provider, replace(asked("hi"), tools=()))
        await collect(provider, asked("hi"))
        await collect(provider, asked("hi"))

    title, first, second = scripted.asked
    assert title["lora"] == [{"id": 0, "scale": 0.0}]
    assert title["cache_prompt"] is False
    assert first["cache_prompt"] is False  # what the server has cached was computed without the adapter
    assert "cache_prompt" not in second
    assert "lora" not in first


async def test_a_server_that_dies_in_an_answer_is_started_again(stand_in: Script) -> None:
    scripted = stand_in(replies=[[{"content": "Hel"}, "die"], says("Hello.")])
    async with opened(scripted) as provider:
        with pytest.raises(ProviderError) as caught:
            await collect(provider, asked("hi"))
        assert caught.value.kind == "connection_reset"
        _, reply = await collect(provider, asked("hi"))

    assert reply.message.text == "Hello."


async def test_a_forced_call_is_held_to_the_grammar(stand_in: Script) -> None:
    scripted = stand_in(replies=[says(CALL)])
    async with opened(scripted) as provider:
        await collect(provider, replace(asked(), params={"tool_choice": "required"}))

    (body,) = scripted.asked
    assert body["grammar"] == call_grammar(tuple(TOOLS))
    assert "tool_choice" not in body
