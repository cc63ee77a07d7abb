"""What Bridle finds on a new machine, without contacting any other machine."""

import json
import os
from pathlib import Path

import pytest

from bridle.app.discovery import FIRST_MODELS, Choice, Discovered, discover
from bridle.config.keys import DEFAULTS
from bridle.config.settings import Settings, load_settings
from bridle.providers import Reply, Script
from bridle.providers.embedded import DEFAULT_WEIGHTS
from bridle.providers.model_data import known_models
from bridle.providers.model_files import ModelFile
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.llama.test_gguf import LLAMA, gguf
from tests.providers.raw_server import answering

NOBODY = "http://127.0.0.1:9/v1"
SERVERS = ("ollama", "lmstudio", "vllm", "local", "llama")
BUILT_IN = Choice(
    "embedded/smollm2-135m", "built in: very small, cannot code (98 MB to fetch)", "bridle models pull"
)


def settings(folder: Path, urls: dict[str, str] | None = None, **environ: str) -> Settings:
    """Read settings in which model servers are only those of the test."""
    lines = [f'{name} = {{ base_url = "{(urls or {}).get(name, NOBODY)}" }}' for name in SERVERS]
    (folder / ".bridle").mkdir(exist_ok=True)
    (folder / ".bridle" / "config.toml").write_text("\n".join(["[providers]", *lines]))
    return load_settings({"HOME": str(folder), **environ}, folder)


async def test_an_empty_machine_has_the_built_in_model(tmp_path: Path):
    environ = {"HOME": str(tmp_path)}

    found = await discover(settings(tmp_path), environ)

    assert found == Discovered((BUILT_IN,), (), {}, frozenset(), (), has_ollama_models=False, programs={})


async def test_weights_that_are_here_need_nothing(tmp_path: Path):
    here = settings(tmp_path)
    (here.home / "models").mkdir()
    with (here.home / "models" / "smollm2-135m.gguf").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(DEFAULT_WEIGHTS.size_bytes)

    found = await discover(here, {"HOME": str(tmp_path)})

    assert found.choices == (Choice("embedded/smollm2-135m", "built in: very small, cannot code"),)


async def test_keys_are_known_by_their_names_only(tmp_path: Path):
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-very-secret", "ANTHROPIC_API_KEY": "sk-too"}

    found = await discover(settings(tmp_path, **environ), environ)

    assert found.keys == ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    assert found.choices == (
        Choice("anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY is set"),
        Choice("openai/gpt-6-sol", "OPENAI_API_KEY is set"),
        BUILT_IN,
    )
    assert "sk-" not in repr(found)


@pytest.mark.parametrize("provider", FIRST_MODELS)
def test_the_first_model_of_each_vendor_is_known_and_calls_tools(provider: str):
    known = known_models().find(provider, FIRST_MODELS[provider])

    assert known is not None
    assert known.tools is not False
    assert known.price is not None
    assert DEFAULTS["providers"][provider]["api_key_env"]


async def test_a_server_that_two_providers_name_counts_once(tmp_path: Path):
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        urls = {"local": f"{server.url}/v1", "llama": server.url}
        found = await discover(settings(tmp_path, urls), {"HOME": str(tmp_path)})

    assert found.servers == {"llama": ["scripted"]}
    assert found.places == frozenset({server.url.removeprefix("http://")})
    assert found.choices == (Choice("llama/scripted", "served on this machine"), BUILT_IN)


async def test_the_models_of_a_server_that_code_come_first(tmp_path: Path):
    names = ["llama3:8b", "nomic-embed-text", "qwen3:4b", "zephyr", "qwen3-coder:30b"]
    body = json.dumps({"data": [{"id": name} for name in names]})
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    async with answering((head + body).encode()) as raw:
        found = await discover(settings(tmp_path, {"ollama": raw.url}), {"HOME": str(tmp_path)})

    assert found.servers == {"ollama": names}
    assert [choice.ref for choice in found.choices] == [
        "ollama/qwen3-coder:30b",
        "ollama/qwen3:4b",
        "ollama/llama3:8b",
        "embedded/smollm2-135m",
    ]


async def test_model_files_are_offered_as_one_would_type_them(tmp_path: Path):
    here = settings(tmp_path)
    cached = tmp_path / ".cache" / "llama.cpp" / "qwen.gguf"
    own = here.home / "models" / "mine.gguf"
    huge = cached.with_name("huge.gguf")
    for path, size_bytes in ((cached, 2_000_000_000), (own, 1_000_000_000), (huge, 4 * 10**12)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gguf(*LLAMA))
        try:
            os.truncate(path, size_bytes)  # it takes no space
        except OSError:  # not every file system has files so large
            assert path == huge
            path.unlink()

    found = await discover(here, {"HOME": str(tmp_path)})

    assert ModelFile(own, 1_000_000_000, 8192) in found.files
    assert found.choices[:-1] == (
        Choice("embedded/~/.cache/llama.cpp/qwen.gguf", "a file of 2.0 GB"),
        Choice("embedded/mine", "a file of 1.0 GB"),
    )
