"""Opening the embedded model: a download is announced or does not happen."""

import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.model import Model, Price
from bridle.providers import factory
from bridle.providers.embedded import DEFAULT_WEIGHTS, Progress, Weights
from bridle.providers.embedded import provider as embedded
from bridle.providers.embedded.trained_format import WINDOW_TOKENS
from bridle.providers.factory import open_embedded
from bridle.providers.llama import LlamaOptions
from bridle.providers.provider_settings import ProviderEntry

EMBEDDED = ProviderEntry(kind="embedded", server=LlamaOptions(ctx_size=2048), max_output_tokens=99)


def fake_weights(folder: Path) -> None:
    """Write a file that looks like the weights; nothing is started in these tests."""
    with (folder / f"{DEFAULT_WEIGHTS.name}.gguf").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(DEFAULT_WEIGHTS.size_bytes)


async def test_it_is_told_which_weights_are_going_to_answer(tmp_path: Path):
    fake_weights(tmp_path)
    told: list[tuple[Weights, Progress | None]] = []

    provider = await open_embedded(
        "embedded",
        EMBEDDED,
        "smollm2-135m",
        tmp_path,
        lambda weights, progress: told.append((weights, progress)),
    )

    assert told == [(DEFAULT_WEIGHTS, None)]
    assert provider.model("m") == Model("embedded", "m", WINDOW_TOKENS, 99, Price(0.0, 0.0))
    await provider.aclose()


async def test_nothing_is_told_about_a_file_of_the_users_own(tmp_path: Path):
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    told: list[object] = []

    provider = await open_embedded("embedded", EMBEDDED, "my", tmp_path, lambda *args: told.append(args))

    assert told == []
    await provider.aclose()


def test_without_the_runtime_the_way_to_get_it_is_told(tmp_path: Path):
    code = (
        "import asyncio, sys; from pathlib import Path;"
        "from bridle.core.errors import ConfigError;"
        "from bridle.providers.provider_settings import ProviderEntry;"
        "from bridle.providers.factory import open_embedded;"
        "sys.path.clear();"  # as if it was not installed
        "opened = open_embedded('embedded', ProviderEntry(kind='embedded'), 'smollm2-135m', Path(), print)\n"
        "try: asyncio.run(opened)\n"
        "except ConfigError as error: print(error)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == (
        'model "embedded/smollm2-135m": the package xllamacpp, which it needs, is not installed '
        "(hint: pip install 'bridle-agent[local]', or bridle config set model PROVIDER/MODEL)\n"
    )


async def test_a_missing_adapter_is_told_and_the_plain_model_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_weights(tmp_path)
    for module in (factory, embedded):
        monkeypatch.setattr(module, "adapter_problem", lambda _: "its adapter is missing")
    told: list[str] = []

    provider = await open_embedded(
        "embedded", EMBEDDED, "smollm2-135m", tmp_path, lambda weights, _: told.append(weights.honest_line)
    )

    assert told == ["smollm2-135m only chats: its adapter is missing (hint: reinstall bridle-agent)"]
    assert provider.model("m").window_tokens == 2048
    await provider.aclose()
