"""Find what other programs have on this machine: model files, and their own settings.

Like `settings`, it reads variables from the mapping it is given.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from bridle.config.settings import find_user_folder


class OtherProgram(Struct, frozen=True):
    """Another agent program that `bridle import` can import from."""

    name: str
    folder: str
    """Folder below the user's home; empty for a program that stores its data in each project."""
    marks: tuple[str, ...]
    """Names that exist in its folder once it was used."""
    variable: str = ""
    """The variable that sets another folder."""


PROGRAMS = (
    OtherProgram(
        "claude",
        ".claude",
        ("projects", "settings.json", "commands", "agents", "skills"),
        "CLAUDE_CONFIG_DIR",
    ),
    OtherProgram("codex", ".codex", ("sessions", "config.toml", "prompts", "skills"), "CODEX_HOME"),
    OtherProgram("crush", "", (".crush",)),
    OtherProgram("kontekst", ".kontekst", ("agents", "skills", "sessions")),
)


def model_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders where programs store GGUF files, whether or not they exist."""
    hub = environ.get("HF_HUB_CACHE") or (environ.get("HF_HOME") and f"{environ['HF_HOME']}/hub")
    said = [hub, environ.get("LLAMA_CACHE")]
    user = find_user_folder(environ)
    usual = (
        ".cache/huggingface/hub",
        ".cache/llama.cpp",
        "Library/Caches/llama.cpp",
        ".lmstudio/models",
        ".cache/lm-studio/models",
        "models",
    )
    folders = [Path(folder) for folder in said if folder]
    folders += [user / folder for folder in usual] if user is not None else []
    return tuple(dict.fromkeys(folder for folder in folders if folder.is_absolute()))


def has_ollama_models(environ: Mapping[str, str]) -> bool:
    """Return True if Ollama has models here, even if it is not running."""
    user = find_user_folder(environ)
    folder = environ.get("OLLAMA_MODELS") or (f"{user}/.ollama/models" if user else "")
    try:
        return bool(folder) and bool(os.listdir(f"{folder}/manifests"))
    except OSError:
        return False


def find_other_programs(environ: Mapping[str, str], root: Path) -> dict[str, Path]:
    """Return the other agent programs that this user or project has used, with their folders."""
    user = find_user_folder(environ)
    found: dict[str, Path] = {}
    for program in PROGRAMS:
        folder = root if not program.folder else user and user / program.folder
        if said := environ.get(program.variable, ""):
            folder = Path(said)
        if folder and any((folder / mark).exists() for mark in program.marks):
            found[program.name] = folder
    return found
