"""The LoRA adapter that teaches the default weights to call tools; it is checked before use."""

import hashlib
from functools import cache
from pathlib import Path

from bridle.providers.embedded.weights import is_present

ADAPTER_FILE = Path(__file__).with_name("smollm2-135m-adapter.gguf")
ADAPTER_SHA256 = "3cb24866845917359035523429e88d9dc9293e548bc4617e02ea91c9ef03a0ff"


def adapter_problem(models_dir: Path, adapter: Path = ADAPTER_FILE) -> str:
    """Return why the adapter cannot be used with the default weights in a folder; empty if it can."""
    if problem := file_problem(adapter):
        return problem
    return "" if is_present(models_dir) else "its weights are not those that its adapter was trained for"


@cache
def file_problem(adapter: Path = ADAPTER_FILE) -> str:
    """Return why the file is not the adapter; empty if it is."""
    try:
        with adapter.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"its adapter {adapter.name} cannot be read: {error.strerror}"
    return "" if digest == ADAPTER_SHA256 else f"its adapter {adapter.name} is not the one of this release"
