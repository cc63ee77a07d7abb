"""Token counts: many texts per request, each counted once, estimated without an answer."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bridle.core.context import estimate_tokens
from bridle.providers.llama.server import LlamaServer
from bridle.providers.llama.token_counter import MAX_BATCH_TEXTS, TokenCounter
from tests.providers.llama.conftest import Scripted

StandIn = Callable[..., Scripted]


@asynccontextmanager
async def counting(scripted: Scripted) -> AsyncIterator[Callable[[list[str]], object]]:
    """Count with a stand-in, whose tokens are words."""
    server = LlamaServer("llama", scripted.options)
    counter = TokenCounter(server.control)
    try:
        address = await server.ready()
        yield lambda texts: counter.count(address, "<end>", texts)
    finally:
        await server.aclose()


async def test_many_texts_are_one_question(stand_in: StandIn) -> None:
    scripted = stand_in()
    async with counting(scripted) as count:
        assert await count(["one two", "", "a b c", "one two", "<end>"]) == [2, 0, 3, 2, 1]

    contents = [asked["content"] for asked in scripted.asked]
    assert contents == ["<end>", ["one two", 0, "", 0, "a b c", 0, "<end>"]]


async def test_what_was_counted_is_not_asked_again(stand_in: StandIn) -> None:
    scripted = stand_in()
    async with counting(scripted) as count:
        await count(["one two"])
        assert await count(["one two", "three"]) == [2, 1]
        assert await count(["one two", "three"]) == [2, 1]

    assert [asked["content"] for asked in scripted.asked] == ["one two", "three"]


async def test_a_great_many_texts_are_asked_in_portions(stand_in: StandIn) -> None:
    scripted = stand_in()
    texts = [f"text {n}" for n in range(2 * MAX_BATCH_TEXTS)]
    async with counting(scripted) as count:
        assert await count(texts) == [2] * len(texts)

    assert len(scripted.asked) == 3


async def test_an_old_server_is_asked_for_each_text(stand_in: StandIn) -> None:
    async with counting(stand_in(tokenize="old")) as count:
        assert await count(["one two", "three"]) == [2, 1]


async def test_without_an_answer_counts_are_estimated_and_not_remembered(stand_in: StandIn) -> None:
    scripted = stand_in(tokenize="broken")
    async with counting(scripted) as count:
        assert await count(["one two"]) == [estimate_tokens("one two")]
        assert await count(["one two"]) == [estimate_tokens("one two")]

    assert len(scripted.asked) == 2
