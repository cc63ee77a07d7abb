"""Search for GGUF model files on this machine, in the folders where other programs keep them."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.providers.embedded.weights import KNOWN_WEIGHTS, SUFFIX
from bridle.providers.llama.gguf import read_header

MAX_ENTRIES = 20_000
"""The most directory entries to visit in total: a folder may link to anything."""
MAX_DEPTH = 6  # Hugging Face uses hub/models--x--y/snapshots/REVISION/FOLDER/FILE
MAX_FILES = 50
_LATER_PART = re.compile(r"-0*([2-9]|[1-9]\d+)-of-\d+\.gguf$", re.IGNORECASE)
_OTHER_KINDS = frozenset(
    {"bert", "clip", "jina-bert-v2", "nomic-bert", "nomic-bert-moe", "t5encoder", "whisper"}
)
"""Architectures that are no chat models."""


class ModelFile(Struct, frozen=True):
    """A model file that this machine can run."""

    path: Path
    size_bytes: int
    context_tokens: int = 0
    """The context length of the model's training; 0 if the file does not say."""


def find_model_files(folders: Sequence[Path], most_entries: int = MAX_ENTRIES) -> list[ModelFile]:
    """Return the chat models in these folders, the largest first; blocks. A folder may be missing."""
    found: dict[Path, ModelFile] = {}
    for path in _gguf_files(folders, most_entries):
        file = _read_model_file(path)
        if file is not None:
            found.setdefault(Path(os.path.realpath(path)), file)
        if len(found) >= MAX_FILES:
            break
    return sorted(found.values(), key=lambda file: (-file.size_bytes, str(file.path)))


def _gguf_files(folders: Sequence[Path], left: int) -> Iterator[Path]:
    ours = {f"{weights.name}{SUFFIX}" for weights in KNOWN_WEIGHTS}
    for top in folders:
        for folder, inner, names in os.walk(top):
            left -= len(inner) + len(names)
            if left < 0:
                return
            inner[:] = sorted(inner) if len(Path(folder).relative_to(top).parts) < MAX_DEPTH else []
            for name in sorted(names):
                if name.lower().endswith(SUFFIX) and not _LATER_PART.search(name) and name not in ours:
                    yield Path(folder, name)


def _read_model_file(path: Path) -> ModelFile | None:
    """Return the facts of a file; None if it is no chat model."""
    try:
        size_bytes = path.stat().st_size
        if not path.is_file():
            return None
        header = read_header(path)
    except (OSError, ConfigError):
        return None
    if header.architecture in _OTHER_KINDS or not header.architecture:
        return None
    return ModelFile(path, size_bytes, header.context_tokens)
