"""Write a first AGENTS.md for a project: its build and test commands, and placeholders for the rest."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from bridle.config.context_files import FILE_NAMES
from bridle.config.textfile import read_text
from bridle.core.errors import ConfigError
from bridle.system.files import write_atomically

NOTES_FILE = FILE_NAMES[0]
PUBLIC_FILE = 0o644
MARKS = (".git", "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "Makefile", "pom.xml")
"""Files that mark a folder as a project."""
DEFAULT_COMMANDS: dict[str, tuple[str, ...]] = {
    "Cargo.toml": ("cargo build", "cargo test"),
    "go.mod": ("go build ./...", "go test ./..."),
    "pom.xml": ("mvn package", "mvn test"),
}
"""Commands that every project with such a file has."""
MAX_COMMANDS = 12
_TARGET = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_-]*):(?!=)", re.MULTILINE)
_SCRIPT = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]*")


def wants_notes(root: Path, user_folder: Path | None) -> bool:
    """Return True if a folder is a project that has no notes for agents yet."""
    if root == user_folder or any(os.path.lexists(root / name) for name in FILE_NAMES):
        return False
    return any(os.path.lexists(root / mark) for mark in MARKS)


def write_notes(root: Path) -> Path:
    """Write a first AGENTS.md; an existing one is not changed. Raises ConfigError."""
    file = root / NOTES_FILE
    try:
        write_atomically(file, notes_text(root).encode(), mode=PUBLIC_FILE, replace=False)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written: {error.strerror}") from error
    return file


def notes_text(root: Path) -> str:
    """Return the text of a first AGENTS.md: short, because every request includes it."""
    commands = list(dict.fromkeys(_commands(root)))[:MAX_COMMANDS]
    lines = [f"- `{command}`" for command in commands] or ["- (how to build and test)"]
    return "\n".join(
        [
            f"# {root.name}",
            "",
            "(One sentence: what this project is, and where its parts are.)",
            "",
            "## Commands",
            "",
            *lines,
            "",
            "## Rules",
            "",
            "- Run the tests before saying that something works.",
            "- (what you would tell a new colleague)",
            "",
        ]
    )


def _commands(root: Path) -> Iterator[str]:
    """Yield the commands that the files of a project name."""
    if makefile := _read(root, "Makefile"):
        yield from (f"make {target}" for target in _TARGET.findall(makefile))
    if package := _read(root, "package.json"):
        yield from (f"npm run {name}" for name in _scripts(package) if _SCRIPT.fullmatch(name))
    for name, commands in DEFAULT_COMMANDS.items():
        if _read(root, name) is not None:
            yield from commands
    if "pytest" in (_read(root, "pyproject.toml") or ""):
        yield "pytest"


def _scripts(package: str) -> list[str]:
    try:
        told = json.loads(package)
    except (ValueError, RecursionError):
        return []
    scripts = told.get("scripts") if isinstance(told, dict) else None
    return list(scripts) if isinstance(scripts, dict) else []


def _read(root: Path, name: str) -> str | None:
    try:
        return read_text(root / name, within=root)
    except ConfigError:
        return None
