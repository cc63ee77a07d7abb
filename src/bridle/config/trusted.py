"""Which projects the user trusts: `trust.json` in BRIDLE_HOME holds the SHA-256 of each of their files.

```json
{"version": 1, "projects": {"/home/ann/site": {".bridle/config.toml": "9f86d0…"}}}
```

A project is trusted as it was looked at: one byte more or less in one of its files, a file more or
less, and it is not. Its files are its settings, its agents, and the programs of its hooks: those in
`.bridle/hooks`, and those that an entry names.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.config.document import parse_toml
from bridle.config.hooks import program_files
from bridle.config.keys import AGENT_NAME_PATTERN
from bridle.config.layers import Layer
from bridle.config.places import (
    AGENTS_FOLDER,
    CONFIG_FILE,
    HOOKS_FOLDER,
    PROJECT_FOLDER,
    PROMPT_FILE,
    TRUST_FILE,
)
from bridle.config.textfile import MAX_TEXT_BYTES, locked, read_head, read_text, write_text
from bridle.config.trust import TrustState
from bridle.core.errors import ConfigError

MAX_AGENTS = 1000
MAX_HOOK_FILES = 1000
MAX_PROGRAM_BYTES = 64 * 1024 * 1024

Fingerprint = dict[str, str]
"""The digests of a project's files, by their paths in it."""


class TrustRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """What `trust.json` says."""

    version: int = 1
    projects: dict[str, Fingerprint] = {}


def fingerprint(project: Path) -> Fingerprint:
    """Return what a project's files are now; raises ConfigError when one cannot be read."""
    return {name: _digest(data) for name, data in _read_files(project)}


def trust_state(home: Path, project: Path, layer: Layer) -> TrustState:
    """Tell whether a project is trusted as it is now, `layer` being what was read of it."""
    known = read_record(home).projects.get(str(project))
    if known is None:
        return "unknown"
    files = dict(_read_files(project))
    # The file may have changed since the layer was read: what is trusted is what takes effect.
    data = files.get(os.path.relpath(layer.source.file, project), b"")
    is_same = known == {name: _digest(content) for name, content in files.items()}
    return "trusted" if is_same and data.decode("utf-8-sig", "replace") == layer.text else "changed"


def read_record(home: Path) -> TrustRecord:
    """Return the record; raises ConfigError when it is damaged, for then nobody knows what was trusted."""
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
    """Trust a project as it was seen, or no more with None; returns whether that changed anything."""
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
        raise ConfigError("the path of the project is not UTF-8 text", hint="rename its folder") from error


def _read_files(project: Path) -> Iterator[tuple[str, bytes]]:
    for name in _names(project):
        head = read_head(project / name, MAX_TEXT_BYTES, within=project)
        if head is None:
            continue
        if head.size_bytes > MAX_TEXT_BYTES:
            raise ConfigError(f"{project / name}: is larger than 1 MiB")
        yield name, head.data
    for name in _program_names(project):
        head = read_head(project / name, MAX_PROGRAM_BYTES, within=project)
        if head is None:
            continue
        if head.size_bytes > MAX_PROGRAM_BYTES:
            raise ConfigError(f"{project / name}: is larger than 64 MiB")
        yield name, head.data


def _names(project: Path) -> Iterator[str]:
    """Yield the files that may matter, in a fixed order."""
    yield f"{PROJECT_FOLDER}/{CONFIG_FILE}"
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


def _program_names(project: Path) -> list[str]:
    """Return the files that hooks may run, in a fixed order."""
    names: set[str] = set()
    for folder, _, files in os.walk(project / PROJECT_FOLDER / HOOKS_FOLDER):
        names.update(os.path.relpath(os.path.join(folder, file), project) for file in files)
        if len(names) > MAX_HOOK_FILES:
            raise ConfigError(f"{project}: has more than {MAX_HOOK_FILES:,} files for hooks")
    text = read_text(project / PROJECT_FOLDER / CONFIG_FILE, within=project) or ""
    with suppress(ConfigError):  # then no hook of it runs
        for named in program_files(parse_toml(text, CONFIG_FILE)):
            for base in (PROJECT_FOLDER, ""):
                name = os.path.normpath(os.path.join(base, named))
                if not name.startswith("..") and os.path.isfile(project / name):
                    names.add(name)
    return sorted(names)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
