"""A worker's HTTP endpoints: liveness, readiness, and metrics for those who may see them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from bridle.surfaces.daemon.http_service import worker_http


class Readiness:
    def __init__(self) -> None:
        self.wrong: tuple[str, ...] = ()

    async def failing(self) -> Sequence[str]:
        return self.wrong


@asynccontextmanager
async def served(readiness: Readiness, *, token: str = "") -> AsyncIterator[aiohttp.ClientSession]:
    server = worker_http(readiness, lambda: b"runs_total 3\n", token)
    await server.listen("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as client:
            yield client
    finally:
        await server.aclose()


async def told(client: aiohttp.ClientSession, path: str, **headers: str) -> tuple[int, str]:
    async with client.get(path, headers=headers) as response:
        return response.status, await response.text()


async def test_a_worker_says_that_it_lives_and_what_is_wrong():
    readiness = Readiness()
    async with served(readiness) as client:
        assert await told(client, "/health") == (200, "ok")
        assert await told(client, "/ready") == (200, "ready")

        readiness.wrong = ("draining", "store")
        status, text = await told(client, "/ready")

        assert (status, "not in order: draining, store" in text) == (503, True)
        assert await told(client, "/health") == (200, "ok")
        assert (await told(client, "/sessions"))[0] == 404


async def test_metrics_are_for_who_knows_the_token():
    async with served(Readiness(), token="secret") as client:
        refused = [
            (await told(client, "/metrics"))[0],
            (await told(client, "/metrics", authorization="Bearer wrong"))[0],
            (await told(client, "/metrics", authorization="Bearer sécret"))[0],
        ]

        assert refused == [401, 401, 401]
        assert await told(client, "/metrics", authorization="Bearer secret") == (200, "runs_total 3\n")
    async with served(Readiness()) as client:
        assert await told(client, "/metrics") == (200, "runs_total 3\n")
