"""What an import can find in another program's settings, including what cannot be imported."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bridle.config.import_files import BroughtKind
from bridle.config.textfile import read_text
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.malformed import MALFORMED
from bridle.core.permission import Action
from bridle.core.value_types import AGENT_NAME_PATTERN

MAX_ENTRIES = 1000


class FoundRule(Struct, frozen=True):
    """A rule as written there, and the one or more Bridle rules that replace it."""

    action: Action
    written: str
    rules: tuple[str, ...]


class FoundServer(Struct, frozen=True):
    """An MCP server; `needs` are the variables that replace secrets."""

    name: str
    entry: dict[str, Any]
    needs: tuple[str, ...] = ()


class FoundSkill(Struct, frozen=True):
    """A skill: a text, or a folder to copy unchanged."""

    name: str
    text: str = ""
    folder: Path | None = None
    note: str = ""


class FoundAgent(Struct, frozen=True):
    """An agent: its prompt, and its `config.toml` as a tree."""

    name: str
    prompt: str
    tree: dict[str, Any] = {}
    note: str = ""


class FoundSetting(Struct, frozen=True):
    """A key of Bridle's settings with its value; a dict is a whole table."""

    path: tuple[str, ...]
    value: str | bool | float | list[Any] | dict[str, Any]
    note: str = ""


class NotImported(Struct, frozen=True):
    """Something that cannot be imported, and why, or what to do instead."""

    kind: BroughtKind
    name: str
    why: str


Finding = FoundRule | FoundServer | FoundSkill | FoundAgent | FoundSetting | NotImported


def kind_of(finding: Finding) -> BroughtKind:
    """Return the kind of a finding."""
    match finding:
        case FoundRule():
            return "rule"
        case FoundServer():
            return "server"
        case FoundSkill():
            return "skill"
        case FoundAgent():
            return "agent"
        case FoundSetting():
            return "setting"
        case NotImported(kind):
            return kind


def catch_errors(kind: BroughtKind, name: str, found: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings; on a ConfigError, yield a LeftOut for the rest."""
    try:
        yield from found
    except ConfigError as error:
        yield NotImported(kind, name, error.message)


def read_json(file: Path, within: Path) -> dict[str, Any]:
    """Return a JSON object from a file, empty if there is no file; raises ConfigError."""
    text = read_text(file, within=within)
    if text is None:
        return {}
    try:
        tree = msgspec.json.decode(text)
    except MALFORMED as error:
        raise ConfigError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}: is not a table")
    return tree


def get_table(tree: Any, key: str) -> dict[str, Any]:
    """Return a table of an unvalidated tree; empty if there is none."""
    value = tree.get(key) if isinstance(tree, dict) else None
    return value if isinstance(value, dict) else {}


def get_texts(tree: Any, key: str) -> list[str]:
    """Return the strings of an unvalidated list, at most MAX_ENTRIES."""
    value = tree.get(key) if isinstance(tree, dict) else None
    return [one for one in value if isinstance(one, str)][:MAX_ENTRIES] if isinstance(value, list) else []


def markdown_files(folder: Path) -> list[Path]:
    """Return the `*.md` files of a folder and of its direct subfolders, sorted; links are ignored."""
    found = []
    for place, folders, names in os.walk(folder):
        if Path(place) != folder:
            folders.clear()
        found += [Path(place, name) for name in names if name.endswith(".md")]
    kept = [path for path in found if path.is_file() and not path.is_symlink()]
    return sorted(kept)[:MAX_ENTRIES]


def folders_with(folder: Path, file: str) -> Iterator[Path]:
    """Yield the subfolders that contain a file of this name, sorted; hidden ones and links are skipped."""
    try:
        names = sorted(os.listdir(folder))[:MAX_ENTRIES]
    except OSError:
        return
    for name in names:
        inside = folder / name
        if not name.startswith(".") and not inside.is_symlink() and (inside / file).is_file():
            yield inside


def note_dropped_model(wanted: str) -> str:
    """Return a note that an agent comes without its model: names and keys of models differ here."""
    return f"it used the model {one_line(wanted)}; now it uses your default model"


def is_agent_name(name: str) -> bool:
    """Return True if an agent can have this name."""
    return re.fullmatch(AGENT_NAME_PATTERN, name) is not None
