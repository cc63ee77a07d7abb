"""Discover what this machine offers for a first setup: API keys, model servers, model files, other agents."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.app.models import models_dir, open_models
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from bridle.providers.model_files import ModelFile

FIRST_MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6-sol",
    "gemini": "gemini-3.8-flash",
    "xai": "grok-4.7",
    "mistral": "mistral-large-4",
    "deepseek": "deepseek-v4-pro",
    "groq": "openai/gpt-oss-120b",
    "openrouter": "anthropic/claude-sonnet-5.5",
}
"""For each vendor, a good agent model that is not the most expensive; in order of preference."""
CODING_WORDS = ("coder", "devstral", "codestral", "gpt-oss", "glm", "qwen3", "qwen")
"""Words in the names of models that work better as agents than others, best first."""
NO_CHAT_WORDS = ("embed", "rerank", "whisper", "minilm", "bge-", "clip", "tts")
MAX_PER_SERVER = 3
MAX_FILES = 3
MEMORY_SHARE = 0.75  # of the machine's memory; the rest is for other programs and the context

LOCAL_EXTRA = "pip install 'bridle-agent[local]'"


class Choice(Struct, frozen=True):
    """A model that could be used."""

    ref: str
    why: str
    needs: str = ""
    """The command to run before it can answer; empty if it is ready."""


class Discovered(Struct, frozen=True):
    """The result of the search."""

    choices: tuple[Choice, ...]
    """Usable models, best first; always includes the built-in model."""
    keys: tuple[str, ...]
    """Names of the variables that contain API keys, never their values."""
    servers: dict[str, list[str]]
    """Model servers that answer, with the names of their models."""
    places: frozenset[str]
    """Hosts and ports at which model servers answer."""
    files: "tuple[ModelFile, ...]"
    """Model files, largest first."""
    has_ollama_models: bool
    """True if Ollama has models here, even while it does not run."""
    programs: "dict[str, Path]"
    """Other agent programs, with their folders."""


async def discover(settings: Settings, environ: Mapping[str, str]) -> Discovered:
    """Search for everything concurrently; asks only this machine, with short timeouts."""
    from bridle.config.other_programs import find_other_programs, has_ollama_models, model_folders
    from bridle.providers.model_files import find_model_files

    folders = (models_dir(settings), *model_folders(environ))
    async with asyncio.TaskGroup() as group:
        served = group.create_task(_servers(settings))
        listed = group.create_task(asyncio.to_thread(find_model_files, folders))
    servers, files = served.result(), tuple(listed.result())
    return Discovered(
        choices=(
            *_with_keys(settings),
            *_of_servers(servers),
            *_of_files(files, settings),
            _built_in(settings),
        ),
        keys=tuple(sorted({settings.providers[name].api_key_env for name in settings.api_keys})),
        servers=servers,
        places=frozenset(urlsplit(settings.providers[name].base_url).netloc for name in servers),
        files=files,
        has_ollama_models=has_ollama_models(environ),
        programs=find_other_programs(environ, settings.root),
    )


async def _servers(settings: Settings) -> dict[str, list[str]]:
    """Query the servers of this machine; one that two providers name is listed under the better match."""
    from bridle.providers.llama.server_client import is_llama_server

    models = open_models(settings)
    try:
        answers = await models.answering()
    finally:
        await models.aclose()
    found: dict[str, list[str]] = {}
    places: dict[str, str] = {}
    for name in sorted(answers, key=lambda name: settings.providers[name].kind == "llama"):
        url = settings.providers[name].base_url
        place = urlsplit(url).netloc
        if place not in places or await is_llama_server(url):
            found.pop(places.get(place, ""), None)
            places[place] = name
            found[name] = answers[name]
    return found


def _with_keys(settings: Settings) -> Iterator[Choice]:
    for name, model in FIRST_MODELS.items():
        if name in settings.api_keys:
            yield Choice(f"{name}/{model}", f"{settings.providers[name].api_key_env} is set")


def _of_servers(servers: Mapping[str, list[str]]) -> Iterator[Choice]:
    for name, models in servers.items():
        chatting = [model for model in models if not any(word in model.lower() for word in NO_CHAT_WORDS)]
        for model in sorted(chatting, key=_rank)[:MAX_PER_SERVER]:
            yield Choice(f"{name}/{model}", "served on this machine")


def _rank(model: str) -> tuple[int, str]:
    """Return a sort key for model names: coding models first."""
    places = [place for place, word in enumerate(CODING_WORDS) if word in model.lower()]
    return min(places, default=len(CODING_WORDS)), model


def _of_files(files: "tuple[ModelFile, ...]", settings: Settings) -> Iterator[Choice]:
    from bridle.providers.embedded import is_available

    room_bytes = _memory_bytes() * MEMORY_SHARE
    loadable = [
        file for file in files if file.size_bytes <= room_bytes and file.path.as_posix().isprintable()
    ]
    needs = "" if is_available() else LOCAL_EXTRA
    for file in loadable[:MAX_FILES]:
        size = f"{file.size_bytes / 1e9:.1f} GB"
        if file.path.parent == models_dir(settings):
            yield Choice(f"embedded/{file.path.stem}", f"a file of {size}", needs)
            continue
        path = str(file.path)
        if settings.user_folder is not None and file.path.is_relative_to(settings.user_folder):
            path = f"~/{file.path.relative_to(settings.user_folder)}"
        yield Choice(f"embedded/{path}", f"a file of {size}", needs)


def _built_in(settings: Settings) -> Choice:
    from bridle.providers.embedded import DEFAULT_WEIGHTS, is_available, is_present

    why = "built in: very small, cannot code"
    needs = ""
    if not is_available():
        needs = LOCAL_EXTRA
    elif not is_present(models_dir(settings)):
        needs = "bridle models pull"
        why += f" ({DEFAULT_WEIGHTS.size_bytes // 1_000_000} MB to fetch)"
    return Choice(f"embedded/{DEFAULT_WEIGHTS.name}", why, needs)


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
