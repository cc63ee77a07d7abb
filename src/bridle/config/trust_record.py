"""Which projects the user trusts: `trust.json` in BRIDLE_HOME holds the SHA-256 of each of their files.

```json
{"version": 1, "projects": {"/home/ann/site": {".bridle/config.toml": "9f86d0…"}}}
```

A project is trusted only in the state that the user saw: one changed byte in one of its files, or one file
more or less, and it is no longer trusted. Its files are its settings, its agents, its MCP servers, and the
programs of its hooks and servers: those in `.bridle/hooks`, and those that an entry names.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.config.file_names import (
    AGENTS_FOLDER,
    CONFIG_FILE,
    HOOKS_FOLDER,
    MCP_FILE,
    PROJECT_FOLDER,
    PROMPT_FILE,
    SHARED_MCP_FILE,
    TRUST_FILE,
)
from bridle.config.hooks import find_hook_programs
from bridle.config.layers import Layer
from bridle.config.mcp import find_server_programs
from bridle.config.mcp_files import read_mcp_file
from bridle.config.textfile import MAX_TEXT_BYTES, locked, read_head, read_text, write_text
from bridle.config.toml_document import parse_toml
from bridle.config.trust_policy import TrustState
from bridle.core.errors import ConfigError
from bridle.core.value_types import AGENT_NAME_PATTERN

MAX_AGENTS = 1000
MAX_HOOK_FILES = 1000
MAX_PROGRAM_BYTES = 64 * 1024 * 1024

Fingerprint = dict[str, str]
"""The digests of a project's files, by their paths in it."""


class TrustRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `trust.json`."""

    version: int = 1
    projects: dict[str, Fingerprint] = {}


def fingerprint(project: Path) -> Fingerprint:
    """Return the digests of a project's current files; raises ConfigError if one cannot be read."""
    return {name: _digest(data) for name, data in _read_files(project)}


def trust_state(home: Path, project: Path, layer: Layer) -> TrustState:
    """Return whether a project is trusted in its current state; `layer` is what was read from it."""
    known = read_record(home).projects.get(str(project))
    if known is None:
        return "unknown"
    try:
        files = dict(_read_files(project))
    except ConfigError:  # it differs from what was trusted; the reader of that file reports the error
        return "changed"
    # The file may have changed since the layer was read: only what takes effect is trusted.
    data = files.get(os.path.relpath(layer.source.file, project), b"")
    is_same = known == {name: _digest(content) for name, content in files.items()}
    return "trusted" if is_same and data.decode("utf-8-sig", "replace") == layer.text else "changed"


def is_trusted(home: Path, project: Path) -> bool:
    """Return True if a project is trusted in its current state.

    Raises ConfigError if the record of trusted projects is damaged.
    """
    known = read_record(home).projects.get(str(project))
    if known is None:
        return False
    try:
        return known == fingerprint(project)
    except ConfigError:
        return False


def project_stamp(project: Path) -> tuple[object, ...]:
    """Return a value that stays equal while a project's files do; cheaper than a fingerprint.

    Raises ConfigError.
    """
    files = [file_stamp(project / name) for name in _names(project)]
    programs = _program_names(project, _programs_as_of(project, tuple(files)))
    return *files, *(file_stamp(project / name) for name in programs)


def file_stamp(file: Path) -> tuple[str, int, int, int, int] | None:
    """Return a value that stays equal while a file is unchanged; None if there is no file."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    # A program that changes a file can set its mtime, but not its ctime.
    return str(file), found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def read_record(home: Path) -> TrustRecord:
    """Return the record; raises ConfigError if it is damaged, because what was trusted is then unknown."""
    file = home / TRUST_FILE
    text = read_text(file)
    if text is None:
        return TrustRecord()
    try:
        record = msgspec.json.decode(text, type=TrustRecord)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ConfigError(
            f"{file}: is damaged: {error}", hint="remove it and trust your projects again"
        ) from error
    if record.version != 1:
        raise ConfigError(f"{file}: was written by a newer Bridle (version {record.version})")
    return record


def set_trust(home: Path, project: str, known: Fingerprint | None) -> bool:
    """Trust a project in the state `known`, or revoke trust with None; return whether anything changed."""
    file = home / TRUST_FILE
    with locked(file):
        record = read_record(home)
        others = {name: files for name, files in record.projects.items() if name != project}
        projects = others if known is None else {**others, project: known}
        if projects == record.projects:
            return False
        write_text(file, _encode(TrustRecord(projects=dict(sorted(projects.items())))))
    return True


def _encode(record: TrustRecord) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"
    except UnicodeEncodeError as error:
        raise ConfigError("the path of the project is not UTF-8 text", hint="rename the folder") from error


def _read_files(project: Path) -> Iterator[tuple[str, bytes]]:
    for name in _names(project):
        head = read_head(project / name, MAX_TEXT_BYTES, within=project)
        if head is None:
            continue
        if head.size_bytes > MAX_TEXT_BYTES:
            raise ConfigError(f"{project / name}: is larger than 1 MiB")
        yield name, head.data
    for name in _program_names(project, _named_programs(project)):
        real = os.path.realpath(project / name)
        if not Path(real).is_relative_to(os.path.realpath(project)):
            # Such as .venv/bin/python: its target is not part of the project, but where it points is.
            yield name, b"\0link to " + os.fsencode(real)
            continue
        head = read_head(project / name, MAX_PROGRAM_BYTES, within=project)
        if head is None:
            continue
        if head.size_bytes > MAX_PROGRAM_BYTES:
            raise ConfigError(f"{project / name}: is larger than 64 MiB")
        yield name, head.data


def _names(project: Path) -> Iterator[str]:
    """Yield the files that may matter, in a fixed order."""
    yield f"{PROJECT_FOLDER}/{CONFIG_FILE}"
    yield SHARED_MCP_FILE
    yield f"{PROJECT_FOLDER}/{MCP_FILE}"
    agents: list[str] = []
    with (
        suppress(FileNotFoundError, NotADirectoryError),
        os.scandir(project / PROJECT_FOLDER / AGENTS_FOLDER) as entries,
    ):
        for entry in entries:
            agents.append(entry.name)
            if len(agents) > MAX_AGENTS:
                raise ConfigError(f"{project}: has more than {MAX_AGENTS:,} agents")
    for agent in sorted(name for name in agents if re.fullmatch(AGENT_NAME_PATTERN, name)):
        for file in (CONFIG_FILE, PROMPT_FILE):
            yield f"{PROJECT_FOLDER}/{AGENTS_FOLDER}/{agent}/{file}"


def _program_names(project: Path, named: Iterable[str]) -> list[str]:
    """Return the files that hooks and servers may run, in a fixed order."""
    names: set[str] = set()
    for folder, _, files in os.walk(project / PROJECT_FOLDER / HOOKS_FOLDER):
        names.update(os.path.relpath(os.path.join(folder, file), project) for file in files)
        if len(names) > MAX_HOOK_FILES:
            raise ConfigError(f"{project}: has more than {MAX_HOOK_FILES:,} files for hooks")
    for path in named:
        for base in (PROJECT_FOLDER, ""):
            name = os.path.normpath(os.path.join(base, path))
            if not name.startswith("../") and os.path.isfile(project / name):
                names.add(name)
    return sorted(names)


@lru_cache(maxsize=64)
def _programs_as_of(project: Path, files: tuple[object, ...]) -> tuple[str, ...]:
    """Return the programs that a project's files name, cached while the files are equal: parsing is slow."""
    return tuple(_named_programs(project))


def _named_programs(project: Path) -> Iterator[str]:
    """Yield the paths that hooks and servers name; an unreadable file is skipped, since it runs nothing."""
    with suppress(ConfigError):
        text = read_text(project / PROJECT_FOLDER / CONFIG_FILE, within=project) or ""
        tree = parse_toml(text, CONFIG_FILE)
        yield from find_hook_programs(tree)
        yield from find_server_programs(tree)
    for file in (SHARED_MCP_FILE, f"{PROJECT_FOLDER}/{MCP_FILE}"):
        with suppress(ConfigError):
            if found := read_mcp_file(project / file, project):
                yield from find_server_programs(found.layer.tree)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
