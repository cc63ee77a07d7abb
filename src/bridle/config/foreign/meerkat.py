"""Meerkat's settings as Bridle's: for clients that write them, and for `bridle import meerkat`.

```
rkat.toml, .rkat/config.toml, ~/.config/meerkat/config.toml, ~/.rkat/config.toml     settings, the first wins
~/.config/meerkat/mcp.toml, ~/.rkat/mcp.toml                                         MCP servers
skills/ beside them, .rkat/skills/                                                   copied
```

`MAPPED` says which key becomes which; `LEFT_OUT` says why a key has no place here.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from bridle.config.file_names import CONFIG_FILE, SKILL_FILE
from bridle.config.foreign.findings import (
    MAX_ENTRIES,
    Finding,
    FoundSetting,
    FoundSkill,
    NotImported,
    catch_errors,
    folders_with,
    get_table,
)
from bridle.config.foreign.servers import NOT_OF_A_PROJECT, found_servers
from bridle.config.keys import ConfigFile
from bridle.config.textfile import read_text
from bridle.config.toml_document import key_text, parse_toml
from bridle.config.validation import one_line, problems

LOCAL_FILE = "rkat.toml"
FOLDER = ".rkat"
SERVERS_FILE = "mcp.toml"
MAX_DEPTH = 32

KeyNames = tuple[str, ...]

VENDORS = {"open_a_i": "openai", "google": "gemini"}
"""Provider names that clients use in addition to ours."""
FAMILIES = {
    "claude-": "anthropic",
    "gpt-": "openai",
    "o1-": "openai",
    "o3-": "openai",
    "chatgpt-": "openai",
    "gemini-": "gemini",
}
"""Provider by the prefix of a model name."""


def with_provider(model: str) -> str:
    """Return a model as Bridle names it, `provider/model`, if its name says the provider."""
    family = next((name for start, name in FAMILIES.items() if model.startswith(start)), None)
    return f"{family}/{model}" if family and "/" not in model else model


# ---------------------------------------------------------------------------- table


class Mapped(Struct, frozen=True):
    """The key of Bridle that takes a value, and what the value becomes."""

    path: KeyNames
    convert: Callable[[Any], Any] = lambda value: value


def _named(names: dict[str, str]) -> Callable[[Any], Any]:
    return lambda value: names.get(value, value) if isinstance(value, str) else value


def _model(value: Any) -> Any:
    return with_provider(value) if isinstance(value, str) else value


def _models(value: Any) -> Any:
    """Convert the models allowed for sub-agents, by provider, to one list."""
    if not isinstance(value, dict) or not all(isinstance(names, list) for names in value.values()):
        return value
    return [f"{VENDORS.get(vendor, vendor)}/{name}" for vendor, names in value.items() for name in names]


def _address(value: Any) -> Any:
    """Convert the host and port of the REST service; without a port there is no address."""
    return f"{value.get('host', '127.0.0.1')}:{value['port']}" if isinstance(value, dict) else value


MAPPED: dict[str, Mapped] = {
    "agent.model": Mapped(("model",), _model),
    "agent.max_tokens_per_turn": Mapped(("max_output_tokens",)),
    "max_tokens": Mapped(("max_output_tokens",)),
    "agent.budget_warning_threshold": Mapped(("warn_at",)),
    "agent.max_turns": Mapped(("limits", "max_turns")),
    "budget.max_tokens": Mapped(("limits", "max_tokens")),
    "budget.max_duration": Mapped(("limits", "max_duration")),
    "budget.max_tool_calls": Mapped(("limits", "max_tool_calls")),
    "limits.budget": Mapped(("limits", "max_tokens")),
    "storage.backend": Mapped(("store", "backend"), _named({"memory": "ephemeral"})),
    "storage.directory": Mapped(("store", "directory")),
    "store.sessions_path": Mapped(("store", "directory")),
    "tools.default_timeout": Mapped(("tools", "timeout")),
    "tools.max_concurrent": Mapped(("tools", "max_parallel")),
    "tools.subagents_enabled": Mapped(("children", "enabled")),
    "shell.timeout_secs": Mapped(("tools", "bash_timeout")),
    "comms.mode": Mapped(("comms", "mode"), _named({"uds": "unix", "inproc": "off"})),
    "sub_agents.allowed_models": Mapped(("children", "models"), _models),
    "rest": Mapped(("http", "bind"), _address),
    **{
        f"providers.base_urls.{theirs}": Mapped(("providers", ours, "base_url"))
        for theirs, ours in {"anthropic": "anthropic", "openai": "openai", "gemini": "gemini"}.items()
    },
}
"""Keys that have another name here."""

OURS = ConfigFile.__struct_fields__
"""Bridle's own tables and keys, some of which Meerkat has, too: null deletes these."""

SAME = ("retry", "limits.max_duration", "comms.address", "hooks")
"""Keys and tables that mean the same here."""

PERSONAL = ("comms", "http", "providers")
"""Tables that a project's file cannot set: they decide where data goes and who can connect."""

_PROMPT = "instructions belong to an agent: see bridle agents"
_SESSION = "a session turns tools off: with enable_builtins and enable_shell"
_KEYS = "keys come from the environment, such as ANTHROPIC_API_KEY"
_RULES = "rules say which commands may run: see bridle rules"
LEFT_OUT: dict[str, str] = {
    "agent.system_prompt": _PROMPT,
    "agent.system_prompt_file": _PROMPT,
    "agent.tool_instructions": _PROMPT,
    "agent.temperature": "parameters belong to an agent or a provider: set providers.NAME.params.temperature",
    "agent.provider_params": "parameters belong to an agent or a provider: set providers.NAME.params",
    "agent.output_schema": "each run names its own",
    "agent.structured_output_retries": "each run names its own",
    "provider": "the name of a model says its provider; set providers.NAME.base_url",
    "providers.api_keys": _KEYS,
    **dict.fromkeys(
        ("models.anthropic", "models.openai", "models.gemini"), "there is one default: set model"
    ),
    "tools.builtins_enabled": _SESSION,
    "tools.shell_enabled": _SESSION,
    "tools.comms_enabled": "set comms.mode",
    "tools.mcp_servers": "add them with bridle mcp add",
    "tools.tool_timeouts": "tools.timeout holds for every tool",
    "shell.program": "commands run in bash",
    "shell.security_mode": _RULES,
    "shell.security_patterns": _RULES,
    "store.tasks_path": "to-do lists are part of their session",
    "comms.auto_enable_for_subagents": "sub-agents cannot write to peers",
    "sub_agents.default_provider": "a sub-agent uses the model of its parent or its agent",
    "sub_agents.default_model": "a sub-agent uses the model of its parent or its agent",
}
"""Keys of Meerkat that have no place here, and why."""


# ---------------------------------------------------------------------------- translation


class Translation(Struct, frozen=True):
    """Settings with Bridle's keys, and the keys that have no place here."""

    tree: dict[str, Any]
    left_out: dict[str, str]
    """Why each was left out."""


def translate(tree: dict[str, Any]) -> Translation:
    """Give Meerkat's keys Bridle's names; all others stay, and null stands for a key to delete.

    If two keys become the same one, a key outside of any table wins, as `max_tokens` does in Meerkat.
    """
    found = Translation({}, {})
    for path, value in sorted(_leaves(tree, ()), key=lambda leaf: len(leaf[0]) == 1):
        name = ".".join(path)
        if name in MAPPED:
            mapped = MAPPED[name]
            _put(found.tree, mapped.path, None if value is None else mapped.convert(value))
        elif why := _why_left_out(path, value):
            found.left_out[name] = why
        else:
            _put(found.tree, path, value)
    return found


def _leaves(value: Any, path: KeyNames) -> Iterator[tuple[KeyNames, Any]]:
    """Yield the values of a tree; a table that is mapped or left out as a whole is one value."""
    name = ".".join(path)
    if name in MAPPED and not (name == "rest" and isinstance(value, dict) and "port" not in value):
        yield path, value
    elif isinstance(value, dict) and value and len(path) < MAX_DEPTH and not _why_left_out(path, value):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif (
        value is None
        and name not in OURS
        and (below := [key for key in MAPPED if key.startswith(f"{name}.")])
    ):
        yield from ((tuple(other.split(".")), None) for other in below)
    elif path:
        yield path, value


def _why_left_out(path: KeyNames, value: Any) -> str:
    if path[:1] == ("models",) and isinstance(value, dict):
        return ""  # Bridle's own facts about a model
    name = ".".join(path)
    return next((why for key, why in LEFT_OUT.items() if name == key or name.startswith(f"{key}.")), "")


def _put(tree: dict[str, Any], path: KeyNames, value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    tree[path[-1]] = value


# ---------------------------------------------------------------------------- import


def findings(folders: tuple[Path, ...], project: Path) -> Iterator[Finding]:
    """Yield what the settings of a project and of the user's `folders` hold; the first value wins. Blocks."""
    files = [(project / LOCAL_FILE, project), (project / FOLDER / CONFIG_FILE, project)]
    files += [(one / CONFIG_FILE, one) for one in folders]
    seen: set[KeyNames] = set()
    for file, within in files:
        for finding in catch_errors(
            "setting", one_line(file.name), _settings(file, within, is_own=file.parent in folders)
        ):
            if isinstance(finding, FoundSetting) and finding.path in seen:
                why = f"{one_line(str(finding.value))}: a file that comes first has another value for it"
                yield NotImported("setting", key_text(finding.path), why)
                continue
            if isinstance(finding, FoundSetting):
                seen.add(finding.path)
            yield finding
    yield from _beside(project / FOLDER, project, is_own=project / FOLDER in folders)
    for folder in folders:
        yield from _beside(folder, folder, is_own=True)


def _beside(folder: Path, within: Path, *, is_own: bool) -> Iterator[Finding]:
    """Yield what is beside the settings: servers and skills; links that lead out of `within` are skipped."""
    yield from catch_errors("server", SERVERS_FILE, _servers(folder / SERVERS_FILE, within, is_own=is_own))
    if Path(os.path.realpath(folder / "skills")).is_relative_to(os.path.realpath(within)):
        for inside in folders_with(folder / "skills", SKILL_FILE):
            yield FoundSkill(inside.name, folder=inside)
    else:
        yield NotImported("skill", "skills", "a link that leads out of the folder")
    if (folder / "sessions").is_dir():
        yield NotImported("session", one_line(str(folder / "sessions")), "sessions stay there")


def _settings(file: Path, within: Path, *, is_own: bool) -> Iterator[Finding]:
    tree = parse_toml(read_text(file, within=within) or "", str(file))
    yield from _own_servers(get_table(tree, "tools").get("mcp_servers"), is_own=is_own)
    found = translate(tree)
    for name, why in list(found.left_out.items())[:MAX_ENTRIES]:
        if name != "tools.mcp_servers":
            yield NotImported("setting", one_line(name), why)
    for path, value in list(_leaves(found.tree, ()))[:MAX_ENTRIES]:
        yield _setting(path, value, is_own=is_own)


def _setting(path: KeyNames, value: Any, *, is_own: bool) -> Finding:
    name, targets = ".".join(path), {mapped.path for mapped in MAPPED.values()}
    if path[0] == "store":
        return NotImported("setting", name, f"{one_line(str(value))}: sessions stay where they are")
    if path[0] in PERSONAL and not is_own:
        return NotImported("setting", one_line(name), "only a file of yours may set it")
    if path[0] == "hooks":
        return NotImported("setting", one_line(name), "the format is the same: copy [[hooks.entries]]")
    if path not in targets and not any(name == key or name.startswith(f"{key}.") for key in SAME):
        return NotImported("setting", one_line(name), "Bridle has no such setting")
    tree: dict[str, Any] = {}
    _put(tree, path, value)
    if problem := next(problems(tree, ConfigFile), None):
        return NotImported("setting", one_line(name), problem.message)
    return FoundSetting(path, value)


def _servers(file: Path, within: Path, *, is_own: bool) -> Iterator[Finding]:
    tree = parse_toml(read_text(file, within=within) or "", str(file))
    yield from _own_servers(tree.get("servers"), is_own=is_own)


def _own_servers(listed: Any, *, is_own: bool) -> Iterator[Finding]:
    """Yield servers; a project's would run outside the sandbox, in every folder, with keys that it names."""
    entries = _entries(listed)
    if is_own:
        yield from found_servers(entries)
        return
    for name in entries:
        yield NotImported("server", one_line(name), NOT_OF_A_PROJECT)


def _entries(listed: Any) -> dict[str, Any]:
    """Return a list of servers by name, with Bridle's keys."""
    named = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return {str(one.get("name", "")): _entry(one) for one in named[:MAX_ENTRIES]}


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        key: entry[key] for key in ("command", "args", "env", "url", "headers") if key in entry
    }
    names = {"streamable-http": "http", "http": "http", "sse": "sse", "stdio": "stdio"}
    transport = entry.get("transport")
    return {**kept, "transport": names[transport]} if transport in names else kept
