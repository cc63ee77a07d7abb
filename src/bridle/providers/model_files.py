"""Looking for model files on this machine: GGUF files, in the folders that other programs keep them in."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.providers.embedded.weights import KNOWN_WEIGHTS, SUFFIX
from bridle.providers.llama.gguf import read_header

MOST_ENTRIES = 20_000
"""Looked at in all: a folder may be a link to anything."""
MOST_DEPTH = 6  # Hugging Face has hub/models--x--y/snapshots/REVISION/FOLDER/FILE
MOST_FILES = 50
_LATER_PART = re.compile(r"-0*([2-9]|[1-9]\d+)-of-\d+\.gguf$", re.IGNORECASE)
_OTHER_KINDS = frozenset(
    {"bert", "clip", "jina-bert-v2", "nomic-bert", "nomic-bert-moe", "t5encoder", "whisper"}
)
"""Architectures that do not chat."""


class ModelFile(Struct, frozen=True):
    """A model file that can be run here."""

    path: Path
    size_bytes: int
    context_tokens: int = 0
    """What its model was trained for; 0 where it does not say."""


def find_model_files(folders: Sequence[Path], most_entries: int = MOST_ENTRIES) -> list[ModelFile]:
    """Return the models that can chat, the largest first; a folder may be missing. It blocks."""
    found: dict[Path, ModelFile] = {}
    for path in _gguf_files(folders, most_entries):
        file = _look_at(path)
        if file is not None:
            found.setdefault(Path(os.path.realpath(path)), file)
        if len(found) >= MOST_FILES:
            break
    return sorted(found.values(), key=lambda file: (-file.size_bytes, str(file.path)))


def _gguf_files(folders: Sequence[Path], left: int) -> Iterator[Path]:
    ours = {f"{weights.name}{SUFFIX}" for weights in KNOWN_WEIGHTS}
    for top in folders:
        for folder, inner, names in os.walk(top):
            left -= len(inner) + len(names)
            if left < 0:
                return
            inner[:] = sorted(inner) if len(Path(folder).relative_to(top).parts) < MOST_DEPTH else []
            for name in sorted(names):
                if name.lower().endswith(SUFFIX) and not _LATER_PART.search(name) and name not in ours:
                    yield Path(folder, name)


def _look_at(path: Path) -> ModelFile | None:
    """Return the facts of a file; None for one that is no model that chats."""
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
