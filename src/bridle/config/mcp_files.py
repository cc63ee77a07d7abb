"""Read MCP servers from `.mcp.json`, which other programs share, and from `.bridle/mcp.json`.

```json
{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "${TZ:-UTC}"}},
                "issues": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "${KEY}"}}}}
```

Unknown keys are ignored, because other programs use these files too. A file that is invalid as a whole is
left out with a warning: the user loses its servers, never a run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bridle.config.file_names import MCP_FILE, PROJECT_FOLDER, SHARED_MCP_FILE
from bridle.config.layers import SERVERS, Layer, Source
from bridle.config.server_keys import McpServerSettings, ServerName
from bridle.config.textfile import read_text
from bridle.config.toml_document import KeyPath, key_text
from bridle.config.validation import Problem, one_line, problems
from bridle.core.errors import ConfigError

# ---------------------------------------------------------------------------- json document
# Parse JSON files that people write, and find the line of every key.


MAX_DEPTH = 5  # deeper keys count as their table; a hostile text would cost gigabytes otherwise

# The rest, spaces and colons, does not affect where a key is.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[-+.\w]+', re.DOTALL)
_PLACE = re.compile(r" \(byte (\d+)\)\Z")


def parse_json(text: str, file: str) -> Any:
    """Parse a JSON text; raises ConfigError with the file and the line."""
    try:
        return msgspec.json.decode(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: not valid JSON: nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = str(error)
        before = text.rstrip()
        if place := _PLACE.search(message):
            before = text.encode()[: int(place[1])].decode(errors="replace")
        what = _PLACE.sub("", message).removeprefix("JSON is malformed: ")
        line = before.count("\n") + 1
        raise ConfigError(f"{file}:{line}: not valid JSON: {what[:1].lower()}{what[1:]}") from error


def json_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every key of a valid text, from 1; leaves out keys in lists or below MAX_DEPTH."""
    lines: dict[KeyPath, int] = {}
    path: list[str | None] = []  # None stands for a list
    is_key = False
    line, counted = 1, 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            path.pop()
            is_key = False
        elif token in "{[":
            is_key = token == "{"
            path.append("" if is_key else None)
        elif token == ",":
            is_key = path[-1] is not None
        elif is_key:
            is_key = False
            path[-1] = msgspec.json.decode(token, type=str)
            line += text.count("\n", counted, match.start())
            counted = match.start()
            names = [name for name in path if name is not None] if len(path) <= MAX_DEPTH else []
            if names and len(names) == len(path):
                lines[tuple(names)] = line
    return lines


# ---------------------------------------------------------------------------- mcp files


TABLE = "mcpServers"
MAX_SERVERS = 1000
MAX_NAME_CHARS = 48
MAX_SHOWN_CHARS = 80

SAME_KEYS = ("command", "args", "env", "cwd", "url", "headers")
TRANSPORTS = {
    **{name: name for name in ("stdio", "http", "sse")},
    **dict.fromkeys(("streamable-http", "streamable_http", "streamableHttp"), "http"),
}


class McpFile(Struct, frozen=True):
    """The servers of one file."""

    layer: Layer
    faults: dict[str, str] = {}
    """What is wrong with individual servers, by name."""


class McpFiles(Struct, frozen=True):
    """The servers of a project's files; later files override earlier ones."""

    files: tuple[McpFile, ...]
    broken: tuple[str, ...]
    """A warning for each file that is left out: its path, the error and a hint."""


def read_mcp_files(folder: Path, home: Path) -> McpFiles:
    """Read all files of a project that may name servers."""
    files: list[McpFile] = []
    broken: list[str] = []
    for path in mcp_file_paths(folder, home):
        try:
            if (found := read_mcp_file(path, folder)) is not None:
                files.append(found)
        except ConfigError as error:
            hint = error.hint or "fix the file, or remove it"
            broken.append(f"{error.message}; its MCP servers are skipped (hint: {hint})")
    return McpFiles(tuple(files), tuple(broken))


def mcp_file_paths(folder: Path, home: Path) -> tuple[Path, ...]:
    """Return the files of a project that may name servers; later files override earlier ones."""
    ours = folder / PROJECT_FOLDER / MCP_FILE
    # In the user's own folder, .bridle does not belong to a project.
    return (folder / SHARED_MCP_FILE, *((ours,) if ours.parent != home else ()))


def read_mcp_file(file: Path, within: Path) -> McpFile | None:
    """Read the servers of a project's file; return None if there is no file.

    Raises ConfigError with file, line and key; errors of individual servers are in `faults`.
    """
    text = read_text(file, within=within)
    if text is None:
        return None
    tree = parse_json(text, str(file))
    lines = json_lines(text)
    listed = tree.get(TABLE, {}) if isinstance(tree, dict) else None
    if not isinstance(listed, dict):
        raise ConfigError(
            f"{file}:{lines.get((TABLE,), 1)}: {TABLE} must be a table of servers",
            hint=f'write {{"{TABLE}": {{"name": {{"command": "…"}}}}}}',
        )
    if len(listed) > MAX_SERVERS:
        raise ConfigError(f"{file}: has more than {MAX_SERVERS:,} servers")
    names = _names(listed, file, lines)
    entries: dict[str, dict[str, Any]] = {}
    faults: dict[str, str] = {}
    for written, entry in listed.items():
        name, path = names[written], (TABLE, written)
        known = _entry(entry)
        problem = next(_problems(entry, known, path), None)
        entries[name] = {} if problem else known
        if problem:
            faults[name] = f"{one_line(problem.message)}{f' ({problem.hint})' if problem.hint else ''}"
    ours = {_path(path, names): line for path, line in lines.items() if path[:1] == (TABLE,)}
    layer = Layer(Source("project", str(file)), {"mcp": {"servers": entries}}, text, ours)
    return McpFile(layer, faults)


def _names(listed: dict[str, Any], file: Path, lines: dict[KeyPath, int]) -> dict[str, str]:
    """Return the name that Bridle gives each server; raises ConfigError."""
    names: dict[str, str] = {}
    for written in listed:
        place = f"{file}:{lines.get((TABLE, written), 1)}: {key_text((TABLE, written[:MAX_SHOWN_CHARS]))}"
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", written).strip("_")
        if "__" in written or next(problems({name: {}}, dict[ServerName, Any]), None):
            raise ConfigError(
                f"{place} is not a valid server name",
                hint=f"letters, digits, - and single _ inside, at most {MAX_NAME_CHARS}",
            )
        if name in names.values():
            raise ConfigError(
                f"{place} would get the name {name}, which is already used", hint="rename one of them"
            )
        names[written] = name
    return names


def _entry(entry: Any) -> dict[str, Any]:
    """Return the known keys of an entry under Bridle's names."""
    if not isinstance(entry, dict):
        return {}
    ours = {key: entry[key] for key in SAME_KEYS if entry.get(key) is not None}
    kind = entry.get("type")
    if isinstance(kind, str) and kind in TRANSPORTS:
        ours["transport"] = TRANSPORTS[kind]
    if entry.get("disabled") is True:
        ours["enabled"] = False
    oauth = entry.get("oauth")
    if isinstance(oauth, dict):
        known = {"client_id": oauth.get("clientId"), "callback_port": oauth.get("callbackPort")}
        ours["oauth"] = {key: value for key, value in known.items() if value is not None}
    return ours


def _problems(entry: Any, known: dict[str, Any], path: KeyPath) -> Iterator[Problem]:
    if not isinstance(entry, dict):
        yield Problem(path, f"{key_text(path)} must be a table")
        return
    yield from problems(known, McpServerSettings, path)
    kind = entry.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in TRANSPORTS):
        yield Problem(path, f"{key_text((*path, 'type'))} must be one of stdio, http, sse")


def _path(path: KeyPath, names: dict[str, str]) -> KeyPath:
    return (*SERVERS, *(names[str(name)] for name in path[1:2]), *path[2:])
