"""Write the first `config.toml` and the first AGENTS.md, or set model and mode in an existing `config.toml`.

`starter.toml` next to this module is the template of a new file: the common keys, each with a comment, and
unset ones commented out.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bridle.config.context_files import FILE_NAMES
from bridle.config.edit import set_value
from bridle.config.textfile import locked, read_text, write_text
from bridle.core.errors import ConfigError
from bridle.core.permission import Mode
from bridle.system.files import write_atomically

# ---------------------------------------------------------------------------- project notes
# Write a first AGENTS.md for a project: its build and test commands, and placeholders for the rest.


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


# ---------------------------------------------------------------------------- starter config


STARTER = Path(__file__).with_name("starter.toml")
MAX_COPIES = 50


class WrittenSettings(Struct, frozen=True):
    """The result of writing the settings."""

    file: Path
    copy: Path | None
    """The copy of the previous text; None if there was none."""


def starter_text(model: str, mode: Mode) -> str:
    """Return a commented `config.toml` with this model and this mode; raises ConfigError for a bad name."""
    text = STARTER.read_text(encoding="utf-8")
    return _with(text, model, mode, "config.toml")


def write_settings(file: Path, model: str, mode: Mode, *, anew: bool = False) -> WrittenSettings:
    """Write a commented `config.toml`, or set model and mode in an existing one and keep a copy of it.

    With `anew`, an existing file is replaced as a whole. On a ConfigError nothing has changed.
    """
    with locked(file):
        before = _broken_text(file) if anew else read_text(file)
        if before is None or anew:
            text = starter_text(model, mode)
        else:
            text = _with(before, model, mode, str(file))
        copy = _keep(file, before) if before is not None and before != text else None
        write_text(file, text)
    return WrittenSettings(file, copy)


def _with(text: str, model: str, mode: Mode, name: str) -> str:
    return set_value(set_value(text, "model", model, file=name), "rules.mode", mode, file=name)


def _broken_text(file: Path) -> str | None:
    """Return the text of a file that may be invalid TOML or UTF-8; raises ConfigError if it is no file."""
    try:
        return read_text(file)
    except ConfigError:
        if not file.is_file():
            raise
        return file.read_text(encoding="utf-8", errors="replace")


def _keep(file: Path, text: str) -> Path:
    """Write a copy next to the file, under a free name or one that already holds the same text."""
    for number in range(1, MAX_COPIES + 1):
        copy = file.with_name(f"{file.name}.bak{number if number > 1 else ''}")
        there = _broken_text(copy)
        if there is None:
            write_text(copy, text)
        if there in (None, text):
            return copy
    raise ConfigError(f"{file}: {MAX_COPIES} backups of it already exist", hint=f"rm {file}.bak*")
