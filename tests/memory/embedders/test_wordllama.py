"""The light embedder, with its real table."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bridle.core.errors import ConfigError
from bridle.memory.embedders.wordllama import TOKENIZER, WEIGHTS, WordLlama, find_wordllama
from tests.memory.embedders.paraphrases import found_of


@pytest.fixture
def embedder() -> WordLlama:
    folder = find_wordllama()
    assert folder is not None
    return WordLlama(folder)


async def test_rows_have_length_one_and_go_by_meaning(embedder: WordLlama):
    rows = await embedder.embed(["the cat sleeps", "a kitten is napping", "interest rates rose", ""])

    assert (rows.shape, rows.dtype) == ((4, 256), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


async def test_it_agrees_with_the_package_itself(embedder: WordLlama):
    texts = ["How do I reset my password?", "deploy every Friday evening", "数据库 naïve ünïcode"]
    code = (
        "import sys, json, pathlib, wordllama; folder = pathlib.Path(wordllama.__file__).parent;"
        "w = wordllama.WordLlama.load(cache_dir=folder, disable_download=True);"
        "print(json.dumps(w.embed(json.loads(sys.argv[1]), norm=True).tolist()))"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(texts)], capture_output=True, check=True)
    theirs = np.array(json.loads(done.stdout), np.float32)

    assert np.abs(theirs - await embedder.embed(texts)).max() < 1e-3


async def test_paraphrases_are_found(embedder: WordLlama):
    assert await found_of(embedder) >= 4


async def test_it_can_rest_and_go_on(embedder: WordLlama):
    before = await embedder.embed(["tea"])
    await embedder.aclose()

    assert np.array_equal(await embedder.embed(["tea"]), before)


async def test_damaged_files_are_an_error(tmp_path: Path):
    folder = find_wordllama()
    assert folder is not None
    for name, other in ((WEIGHTS, TOKENIZER), (TOKENIZER, WEIGHTS)):
        spoiled, whole = tmp_path / name.replace("/", "-") / name, tmp_path / name.replace("/", "-") / other
        spoiled.parent.mkdir(parents=True)
        whole.parent.mkdir()
        spoiled.write_bytes(b"{}")
        whole.symlink_to(folder / other)
        with pytest.raises(ConfigError, match="cannot be used"):
            await WordLlama(spoiled.parents[1]).embed(["tea"])


def test_the_package_is_not_imported():
    """It would load an HTTP client, and set up logging for everyone."""
    code = (
        "import asyncio, logging, sys\n"
        "from bridle.memory.embedders.wordllama import WordLlama, find_wordllama\n"
        "asyncio.run(WordLlama(find_wordllama()).embed(['tea']))\n"
        "print([name for name in ('wordllama', 'requests') if name in sys.modules], logging.root.handlers)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[] []\n"
