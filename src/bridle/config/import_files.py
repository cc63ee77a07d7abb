"""Copy Kontekst's agents and skills into a BRIDLE_HOME without overwriting anything."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bridle.config.agents import AgentFile, convert_kontekst_agent
from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, PROMPT_FILE, SKILL_FILE, SKILLS_FOLDER
from bridle.config.keys import DEFAULT_AGENT
from bridle.config.layers import Layer, Source, check
from bridle.config.textfile import read_text, write_text
from bridle.config.toml_document import key_text, literal, parse_toml
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.value_types import AGENT_NAME_PATTERN

RENAMED = {DEFAULT_AGENT: "kontekst"}
"""Bridle has its own default agent."""
MAX_ENTRIES = 1000
MAX_SKILL_FILES = 1000
MAX_SKILL_BYTES = 16 * 1024 * 1024

BroughtKind = Literal["agent", "skill", "session", "rule", "server", "hook", "setting"]

_SKILL_NAME = re.compile(r"[^.\x00-\x1f\x7f/][^\x00-\x1f\x7f/]{0,127}")


class ImportOutcome(Struct, frozen=True, omit_defaults=True):
    """The outcome of importing one item."""

    kind: BroughtKind
    name: str
    outcome: Literal["imported", "already there", "left out"] = "imported"
    why: str = ""
    messages: int = 0
    skipped: dict[str, int] = {}
    """Number of skipped lines of a session, by reason."""


def import_agents(source: Path, home: Path, *, dry_run: bool) -> Iterator[ImportOutcome]:
    """Copy the agents of a data directory in Bridle's format; raises ConfigError if it cannot write."""
    for name in _names(source / AGENTS_FOLDER):
        folder = source / AGENTS_FOLDER / name
        if not any(os.path.lexists(folder / file) for file in (CONFIG_FILE, PROMPT_FILE)):
            continue
        called = RENAMED.get(name, name)
        target = home / AGENTS_FOLDER / called
        if not re.fullmatch(AGENT_NAME_PATTERN, name):
            yield ImportOutcome("agent", one_line(name), "left out", "its name is not valid for an agent")
        elif os.path.lexists(target):
            yield ImportOutcome("agent", called, "already there")
        else:
            try:
                texts = _agent_texts(folder)
            except ConfigError as error:
                yield ImportOutcome("agent", called, "left out", error.message)
                continue
            if not dry_run:
                write_folder(target, texts)
            yield ImportOutcome("agent", called)


def import_skills(source: Path, home: Path, *, dry_run: bool) -> Iterator[ImportOutcome]:
    """Copy the skills of a data directory unchanged; raises ConfigError if it cannot write."""
    for entry in _names(source / SKILLS_FOLDER):
        path, name = source / SKILLS_FOLDER / entry, entry.removesuffix(".md")
        is_folder = os.path.lexists(path / SKILL_FILE)
        if not is_folder and (name == entry or not path.is_file()):
            continue
        target = home / SKILLS_FOLDER / entry
        if not _SKILL_NAME.fullmatch(entry):
            yield ImportOutcome("skill", one_line(name), "left out", "its name is not valid for a skill")
        elif any(os.path.lexists(home / SKILLS_FOLDER / there) for there in (name, f"{name}.md")):
            yield ImportOutcome("skill", name, "already there")
        elif why := check_skill_size(path):
            yield ImportOutcome("skill", name, "left out", why)
        else:
            if not dry_run:
                copy_skill(path, target)
            yield ImportOutcome("skill", name)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:MAX_ENTRIES]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be read: {error.strerror}") from error


def _agent_texts(folder: Path) -> dict[str, str]:
    """Return an agent's files in Bridle's format; raises ConfigError if one is broken."""
    file = folder / CONFIG_FILE
    text = read_text(file) or ""
    tree = parse_toml(text, str(file))
    adapted = convert_kontekst_agent(tree)
    check(Layer(Source("user", str(file)), adapted, text), AgentFile)
    texts = {CONFIG_FILE: text if adapted == tree else toml_text(adapted)}
    prompt = read_text(folder / PROMPT_FILE)
    return texts if prompt is None else {**texts, PROMPT_FILE: prompt}


def toml_text(tree: dict[str, Any]) -> str:
    """Write a tree as TOML; tables may be nested only one level deep."""
    lines = [_pair(key, value) for key, value in tree.items() if not isinstance(value, dict)]
    for key, table in tree.items():
        if isinstance(table, dict):
            lines += ["", f"[{key_text((key,))}]", *(_pair(name, value) for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _pair(key: str, value: Any) -> str:
    return f"{key_text((key,))} = {literal(value)}"


def write_folder(folder: Path, texts: dict[str, str]) -> None:
    """Write all files or, after a crash, none that counts: the folder gets its name last."""
    draft = folder.with_name(f".{folder.name}.new")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        for name, text in texts.items():
            write_text(draft / name, text)
        draft.rename(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from error


def check_skill_size(path: Path) -> str:
    """Return why a skill is too large to copy; empty if it is not."""
    files = total = 0
    for file in _files_of(path):
        files, total = files + 1, total + os.lstat(file).st_size
        if files > MAX_SKILL_FILES or total > MAX_SKILL_BYTES:
            return f"it has more than {MAX_SKILL_FILES} files or {MAX_SKILL_BYTES // 1024**2} MiB"
    return ""


def _files_of(path: Path) -> Iterator[str]:
    if not path.is_dir():
        yield str(path)
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in names)


def copy_skill(path: Path, target: Path) -> None:
    """Copy a skill, a file or a folder, without links; raises ConfigError."""
    draft = target.with_name(f".{target.name}.new")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(draft, ignore_errors=True)
        if path.is_dir():
            shutil.copytree(path, draft, ignore=_special, symlinks=True)
        else:
            shutil.copyfile(path, draft)
        draft.rename(target)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror or error}") from error


def _special(folder: str, names: list[str]) -> set[str]:
    """Return what is neither a file nor a folder, to leave it out: links in a copy would lead elsewhere."""
    paths = {name: Path(folder, name) for name in names}
    return {
        name for name, path in paths.items() if path.is_symlink() or not (path.is_file() or path.is_dir())
    }
