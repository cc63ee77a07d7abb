"""The lightweight embedder: averages token vectors from a table; 16 MB, no model runs.

It reads the table from the files of the package wordllama: importing the package would load an HTTP client
and configure logging for the whole process.
"""

import asyncio
import importlib
import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridle.core.errors import ConfigError
from bridle.memory.embedders.normalize import normalize_rows

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
MAX_HEADER_BYTES = 64 * 1024


def find_wordllama() -> Path | None:
    """Return the folder of the package, if it and its dependencies are installed."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None or importlib.util.find_spec("tokenizers") is None:
        return None
    folder = Path(found.origin).parent
    return folder if (folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file() else None


class WordLlama:
    """Averages the vectors of a text's tokens."""

    id = "wordllama/l2_supercat_256"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()  # invariant: the tokenizer and the table are loaded once
        self._loaded: tuple[Any, NDArray[np.float16]] | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of length 1 for each text, zeros for one without tokens; raises ConfigError."""
        return await asyncio.to_thread(self._embed, list(texts))

    async def aclose(self) -> None:
        """Release the table."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        tokenizer, table = self._load()
        rows = np.zeros((len(texts), table.shape[1]), np.float32)
        for row, encoded in zip(rows, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
            if encoded.ids:
                row[:] = table[np.minimum(encoded.ids, len(table) - 1)].mean(axis=0, dtype=np.float32)
        return normalize_rows(rows)

    def _load(self) -> tuple[Any, NDArray[np.float16]]:
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = _tokenizer(self._folder / TOKENIZER), _table(self._folder / WEIGHTS)
                except (OSError, ValueError, KeyError, TypeError) as error:
                    raise ConfigError(
                        f"wordllama: its files in {self._folder} cannot be used ({error})",
                        hint="pip install --force-reinstall wordllama",
                    ) from error
            return self._loaded


def _tokenizer(path: Path) -> Any:
    text = path.read_text("utf-8")
    try:
        tokenizer = importlib.import_module("tokenizers").Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _table(path: Path) -> NDArray[np.float16]:
    """Memory-map the table of a safetensors file: u64 length, JSON, numbers."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > MAX_HEADER_BYTES:
            raise ValueError("no safetensors file")
        entry = json.loads(file.read(size))["embedding.weight"]
    if entry["dtype"] != "F16":
        raise ValueError(f"numbers of kind {entry['dtype']}")
    place = 8 + size + int(entry["data_offsets"][0])
    return np.memmap(path, dtype=np.float16, mode="r", offset=place, shape=tuple(entry["shape"]))
