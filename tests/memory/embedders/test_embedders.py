from collections.abc import Awaitable, Callable

import pytest

from bridle.core.errors import ConfigError
from bridle.memory.embedders import MINILM, EmbedderSettings, LocalServer, open_embedder


async def close() -> None:
    pass


async def ready() -> tuple[str, dict[str, str]]:
    return "http://127.0.0.1:1", {}


LOCAL = LocalServer(ready, close)


def chosen(choice: EmbedderSettings, minilm: LocalServer | None = None) -> str:
    embedder = open_embedder(choice, lambda: minilm)
    return embedder.id if embedder else ""


def test_the_best_that_is_there_is_taken():
    assert chosen(EmbedderSettings("auto"), LOCAL) == MINILM
    assert chosen(EmbedderSettings("auto")) == "wordllama/l2_supercat_256"


def test_a_named_one_is_taken():
    assert chosen(EmbedderSettings("minilm"), LOCAL) == MINILM
    assert chosen(EmbedderSettings("wordllama"), LOCAL) == "wordllama/l2_supercat_256"
    assert chosen(EmbedderSettings("server", "http://127.0.0.1:8080/", "bge")) == "http://127.0.0.1:8080 bge"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (EmbedderSettings("minilm"), "bridle models pull minilm"),
        (EmbedderSettings("server"), r"memory\.base_url is not set"),
        (EmbedderSettings("server", "http://h/v1", "m", "MY_KEY"), "MY_KEY is not set"),
    ],
)
def test_one_that_cannot_be_had_is_an_error(choice: EmbedderSettings, message: str):
    with pytest.raises(ConfigError, match=message):
        chosen(choice)


@pytest.mark.parametrize(
    ("base", "url"),
    [("http://h", "http://h/v1/embeddings"), ("http://h/v1/", "http://h/v1/embeddings")],
)
async def test_the_address_may_or_may_not_name_the_version(base: str, url: str):
    embedder = open_embedder(EmbedderSettings("server", base, "m", "K", "secret"), lambda: None)
    endpoint_of: Callable[[], Awaitable[object]] = embedder._ready  # type: ignore[union-attr]

    endpoint = await endpoint_of()

    assert (endpoint.url, endpoint.headers) == (url, {"Authorization": "Bearer secret"})  # type: ignore[attr-defined]
