"""Shared by the tests of local models: a stand-in program, real weights, a real llama-server."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ProviderError
from bridle.providers.embedded.weights import DEFAULT_WEIGHTS, pull
from bridle.providers.llama.options import LlamaOptions
from tests.providers.llama.get_llama_server import CACHE, Unavailable, get_llama_server, locked

STAND_IN = Path(__file__).with_name("stand_in.py")


class Scripted:
    """A script for the stand-in, and its requests."""

    def __init__(self, folder: Path, script: dict[str, Any]) -> None:
        self.file = folder / "script.json"
        self.file.write_text(json.dumps({"replies": [[{"content": "ok"}]], **script}))
        model = folder / "model.gguf"
        model.write_bytes(b"GGUF")
        self.options = LlamaOptions(
            model=str(model),
            program=(sys.executable, "-I", str(STAND_IN)),
            ctx_size=512,
            extra_args=("--script", str(self.file)),
            start_timeout_s=10,
        )

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Return the bodies of the requests so far."""
        file = self.file.with_suffix(".asked")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def pids(self) -> list[int]:
        """Return the processes that were started so far."""
        file = self.file.with_suffix(".starts")
        return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., Scripted]:
    """Write a script for the stand-in."""
    return lambda **script: Scripted(tmp_path, script)


@pytest.fixture(scope="session")
def weights() -> Path:
    """Return the default weights, pulled once by the code that users pull them with."""
    try:
        with locked(CACHE):
            return asyncio.run(pull(CACHE / "models"))
    except ProviderError as error:
        return _missing(f"{DEFAULT_WEIGHTS.name}: {error}", is_possible=True)


@pytest.fixture(scope="session")
def llama_server() -> Path:
    """Return a real llama-server, fetched once."""
    try:
        return get_llama_server()
    except Unavailable as error:
        return _missing(str(error), is_possible=shutil.which("apt-get") is not None)


def _missing(why: str, *, is_possible: bool) -> Path:
    """Fail where it could be there, and always in CI; other systems leave these tests out."""
    if is_possible or os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
