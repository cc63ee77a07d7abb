"""Embeddings over HTTP, against a server that can misbehave."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from bridle.core.errors import ProviderError
from bridle.memory.embedders.server import BATCH_TEXTS, Endpoint, ServerEmbedder

Answer = Callable[[dict[str, Any]], web.StreamResponse]


class Place:
    """A server, and its requests."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Answer = lambda body: self.vectors(body["input"])
        self.url = ""

    def vectors(self, texts: list[str]) -> web.Response:
        data = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(texts)]
        return web.json_response({"data": data[::-1]})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.keys.append(request.headers.get("Authorization"))
        self.bodies.append(await request.json())
        return self.answer(self.bodies[-1])

    def embedder(self, timeout_s: float = 10.0) -> ServerEmbedder:
        async def ready() -> Endpoint:
            return Endpoint(f"{self.url}/v1/embeddings", {"Authorization": "Bearer k"})

        return ServerEmbedder("place", ready, model="m", timeout_s=timeout_s)


@pytest.fixture
async def place():
    made = Place()
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/embeddings", made.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def embedder(place: Place):
    made = place.embedder()
    yield made
    await made.aclose()


async def test_texts_become_rows_in_their_order(place: Place, embedder: ServerEmbedder):
    rows = await embedder.embed(["a", "bbb"])

    assert rows == pytest.approx(np.array([[1, 1], [3, 1]]) / np.array([[2**0.5], [10**0.5]]))
    assert (place.bodies, place.keys) == ([{"model": "m", "input": ["a", "bbb"]}], ["Bearer k"])


async def test_many_texts_go_in_batches(place: Place, embedder: ServerEmbedder):
    rows = await embedder.embed(["x"] * (BATCH_TEXTS + 1))

    assert rows.shape == (BATCH_TEXTS + 1, 2)
    assert [len(body["input"]) for body in place.bodies] == [BATCH_TEXTS, 1]


async def test_a_text_that_is_too_long_stands_for_its_beginning(place: Place, embedder: ServerEmbedder):
    def answer(body: dict[str, Any]) -> web.StreamResponse:
        if any(len(text) > 300 for text in body["input"]):
            return web.json_response({"error": {"message": "input is too large"}}, status=500)
        return place.vectors(body["input"])

    place.answer = answer
    await embedder.embed(["short", "y" * 1000])

    assert [[len(text) for text in body["input"]] for body in place.bodies] == [
        [5, 1000],
        [5],
        [1000],
        [500],
        [250],
    ]


@pytest.mark.parametrize(
    ("answer", "message", "kind"),
    [
        (
            lambda _: web.json_response({"error": {"message": "no\x1bkey"}}, status=401),
            "HTTP 401: no key",
            "invalid_api_key",
        ),
        (lambda _: web.json_response({"error": "busy"}, status=503), "HTTP 503: busy", "server_error"),
        (
            lambda _: web.json_response({"error": {"message": "bad"}}, status=400),
            "HTTP 400: bad",
            "invalid_request",
        ),
        (lambda _: web.Response(text="<html>"), "without embeddings", "server_error"),
        (lambda _: web.json_response({"data": []}), "gave 0 vectors for 1 texts", "server_error"),
        (
            lambda _: web.json_response({"data": [{"index": 0, "embedding": []}]}),
            "without embeddings",
            "server_error",
        ),
        (
            lambda _: web.json_response({"data": [{"index": 5, "embedding": [1]}]}),
            "gave 1 vec",
            "server_error",
        ),
        (
            lambda _: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}),
            "HTTP 302",
            "invalid_request",
        ),
    ],
)
async def test_what_is_no_answer_is_an_error(
    place: Place, embedder: ServerEmbedder, answer, message: str, kind: str
):
    place.answer = answer

    with pytest.raises(ProviderError, match=message) as raised:
        await embedder.embed(["x"])

    assert raised.value.kind == kind


async def test_vectors_of_different_lengths_are_an_error(place: Place, embedder: ServerEmbedder):
    place.answer = lambda body: web.json_response(
        {"data": [{"index": n, "embedding": [1.0] * (n + 1)} for n in range(2)]}
    )

    with pytest.raises(ProviderError, match="different lengths"):
        await embedder.embed(["x", "y"])


async def test_a_server_that_is_silent_or_gone_is_an_error(place: Place):
    hang = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        await hang.wait()
        return web.Response()

    place.handle = handle  # type: ignore[method-assign]
    silent = place.embedder(timeout_s=0.05)

    async def nowhere() -> Endpoint:
        return Endpoint("http://127.0.0.1:9/v1/embeddings")

    gone = ServerEmbedder("gone", nowhere, model="m")
    with pytest.raises(ProviderError, match="cannot be reached"):
        await gone.embed(["x"])
    await gone.aclose()
    await silent.aclose()
    hang.set()


async def test_numbers_without_measure_are_taken(place: Place, embedder: ServerEmbedder):
    place.answer = lambda _: web.Response(text='{"data":[{"index":0,"embedding":[1e39,1]}]}')

    assert await embedder.embed(["x"]) == pytest.approx(np.array([[1.0, 0.0]]))


async def test_closing_ends_the_server_that_is_ours(place: Place):
    closed = []

    async def close() -> None:
        closed.append(True)

    async def ready() -> Endpoint:
        return Endpoint(f"{place.url}/v1/embeddings")

    embedder = ServerEmbedder("ours", ready, model="m", close=close)
    await embedder.embed(["x"])
    await embedder.aclose()
    await embedder.embed(["x"])  # and it can continue
    await embedder.aclose()

    assert closed == [True, True]


def test_a_key_is_not_shown():
    assert (
        repr(Endpoint("http://h/v1/embeddings", {"Authorization": "Bearer k"}))
        == "Endpoint('http://h/v1/embeddings')"
    )
