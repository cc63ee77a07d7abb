"""Import from Crush: `crush.json` of the user and of a project.

```
permissions.allowed_tools      rules
options.disabled_tools         rules
mcp                            MCP servers
models                         model, small_model; also those that ~/.local/share/crush keeps
lsp                            lsp.servers
options.disable_auto_summarize compaction.auto
~/.config/crush/skills         copied
```

All other keys are named as left out.

A `crushrc` is a program: it is not run, so its settings are unknown.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridle.config.file_names import SKILL_FILE
from bridle.config.foreign.claude_rules import TOO_WIDE
from bridle.config.foreign.findings import (
    MAX_ENTRIES,
    Finding,
    FoundRule,
    FoundServer,
    FoundSetting,
    FoundSkill,
    NotImported,
    catch_errors,
    folders_with,
    get_table,
    get_texts,
    read_json,
)
from bridle.config.foreign.servers import NOT_OF_A_PROJECT, found_servers
from bridle.config.server_keys import LspSettings
from bridle.config.toml_document import key_text
from bridle.config.validation import one_line, problems
from bridle.core.errors import ConfigError
from bridle.core.permission import EDITING_TOOLS, Action, parse_rule

CONFIG_NAMES = ("crush.json", ".crush.json")
PROGRAMS = ("crushrc", ".crushrc")
TOOLS: dict[str, tuple[str, ...]] = {
    "bash": ("bash",),
    "view": ("read_file",),
    "ls": ("ls", "list_files"),
    "glob": ("glob",),
    "grep": ("grep",),
    "edit": ("edit_file",),
    "multiedit": ("multi_edit",),
    "write": ("write_file",),
    "fetch": ("web_fetch",),
    "agentic_fetch": ("web_fetch",),
    "sourcegraph": ("code_search",),
    "download": ("download",),
    "agent": ("agent_spawn",),
    "todos": ("todos",),
}
SLOTS = {"large": "model", "small": "small_model"}
OPTIONS = frozenset({"disabled_tools", "disable_auto_summarize"})
TABLES = frozenset({"$schema", "permissions", "options", "mcp", "models", "lsp"})
NO_SETTING = "it is not imported; see bridle config show for what there is"
ELSEWHERE = {
    "providers": "add them with bridle config set providers.NAME.base_url, kind and api_key_env",
    "hooks": "add them as [[hooks.entries]]; see bridle hooks",
}
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::[-?][^}]*)?\}|(?P<bare>[A-Za-z_]\w*))")


def findings(state: Path, own: Path, project: Path) -> Iterator[Finding]:
    """Yield what the settings of a user and a project hold; the first of those that come twice. Blocks."""
    seen: set[tuple[str, ...]] = set()
    for finding in _findings(state, own, project):
        if isinstance(finding, FoundSetting) and finding.path in seen:
            shown = "" if isinstance(finding.value, dict) else f"{finding.value}: "
            yield NotImported("setting", key_text(finding.path), f"{shown}Crush has another value for it")
            continue
        if isinstance(finding, FoundSetting):
            seen.add(finding.path)
        yield finding


def _findings(state: Path, own: Path, project: Path) -> Iterator[Finding]:
    yield from catch_errors("setting", state.name, _chosen(state))
    for folder in (own, project):
        for name in CONFIG_NAMES:
            found = catch_errors("setting", name, _settings(folder / name))
            yield from found if folder == own else map(_without_powers, found)
        for name in PROGRAMS:
            if (folder / name).is_file():
                yield NotImported(
                    "setting", name, "it is a program and was not run; add its servers with bridle mcp add"
                )
        if Path(os.path.realpath(folder / "skills")).is_relative_to(os.path.realpath(folder)):
            for inside in folders_with(folder / "skills", SKILL_FILE):
                yield FoundSkill(inside.name, folder=inside)


def _without_powers(finding: Finding) -> Finding:
    """Leave out what a project must not bring into the user's settings: programs, and rules that allow."""
    match finding:
        case FoundServer(name=name):
            return NotImported("server", name, NOT_OF_A_PROJECT)
        case FoundRule(action="allow", written=written):
            return NotImported("rule", written, "only a file of yours may allow it")
        case FoundSetting(path=("lsp", *_)):
            return NotImported("setting", key_text(finding.path), "only a file of yours may add it")
        case _:
            return finding


def _chosen(state: Path) -> Iterator[Finding]:
    yield from _models(get_table(read_json(state, state.parent), "models"))


def _settings(file: Path) -> Iterator[Finding]:
    tree = read_json(file, file.parent)
    servers = get_table(tree, "mcp")
    for name in get_texts(get_table(tree, "permissions"), "allowed_tools"):
        yield _rule("allow", name, servers)
    for name in get_texts(get_table(tree, "options"), "disabled_tools"):
        yield _rule("deny", name, servers)
    yield from found_servers({name: _entry(name, one) for name, one in servers.items()})
    yield from _models(get_table(tree, "models"))
    for name, entry in list(get_table(tree, "lsp").items())[:MAX_ENTRIES]:
        yield _language_server(name, entry)
    yield from _others(tree)


def _models(slots: dict[str, Any]) -> Iterator[Finding]:
    for slot, key in SLOTS.items():
        chosen = get_table(slots, slot)
        provider, model = chosen.get("provider"), chosen.get("model")
        if isinstance(provider, str) and isinstance(model, str):
            more = sorted(one_line(name) for name in chosen.keys() - {"provider", "model"})
            yield FoundSetting((key,), f"{provider}/{model}", f"without {', '.join(more)}" if more else "")


def _language_server(name: str, entry: Any) -> Finding:
    shown = f"lsp.{one_line(name)}"
    if not isinstance(entry, dict):
        return NotImported("setting", shown, "it is not a table")
    command = [*([entry["command"]] if entry.get("command") else []), *get_texts(entry, "args")]
    env = get_table(entry, "env")
    plain = {key: value for key, value in env.items() if not _is_computed(value)}
    endings = get_texts(entry, "filetypes")
    ours: dict[str, Any] = {
        "command": command,
        "extensions": [one if one.startswith(".") else f".{one}" for one in endings],
        "root_markers": get_texts(entry, "root_markers"),
        "env": plain,
        "init_options": get_table(entry, "init_options"),
        "settings": get_table(entry, "options"),
    }
    ours = {key: value for key, value in ours.items() if value}
    if entry.get("disabled") is True:
        ours["enabled"] = False
    if any(map(_is_computed, command)):
        return NotImported("setting", shown, "a shell would compute its command")
    if problem := next(problems({"servers": {name: ours}}, LspSettings), None):
        return NotImported("setting", shown, problem.message)
    left = sorted(map(one_line, env.keys() - plain.keys()))
    return FoundSetting(("lsp", "servers", name), ours, f"without env {', '.join(left)}" if left else "")


def _is_computed(value: Any) -> bool:
    return isinstance(value, str) and ("$" in value or "`" in value)


def _others(tree: dict[str, Any]) -> Iterator[Finding]:
    """Name what is not imported."""
    options = get_table(tree, "options")
    if options.get("disable_auto_summarize") is True:
        yield FoundSetting(("compaction", "auto"), value=False)
    for name in sorted(options.keys() - OPTIONS)[:MAX_ENTRIES]:
        yield NotImported("setting", f"options.{one_line(name)}", NO_SETTING)
    for name in sorted(tree.keys() - TABLES)[:MAX_ENTRIES]:
        yield NotImported("setting", one_line(name), ELSEWHERE.get(name, NO_SETTING))


def _rule(action: Action, written: str, servers: dict[str, Any]) -> Finding:
    tool = written.partition(":")[0]
    rules = TOOLS.get(tool, ())
    if tool == "bash" and action == "allow":
        return NotImported("rule", f"{action} {one_line(written[:200])}", TOO_WIDE)
    if action == "deny" and rules and rules[0] in EDITING_TOOLS:
        rules = EDITING_TOOLS
    if not rules:
        rules = tuple(
            f"mcp__{server}__{tool.removeprefix(f'mcp_{server}_')}"
            for server in servers
            if tool.startswith(f"mcp_{server}_")
        )[:1]
    try:
        rules = tuple(str(parse_rule(action, rule)) for rule in rules)
    except ConfigError as error:
        return NotImported("rule", f"{action} {one_line(written[:200])}", error.message)
    if not rules:
        return NotImported("rule", f"{action} {one_line(written[:200])}", "no matching tool")
    return FoundRule(action, written, rules)


def _entry(name: str, entry: Any) -> Any:
    """Return a server's entry with Bridle's keys; what a shell would compute becomes a variable."""
    if not isinstance(entry, dict):
        return entry
    ours: dict[str, Any] = {
        key: entry[key] for key in ("command", "args", "env", "url", "headers") if key in entry
    }
    prefix = re.sub(r"[^A-Za-z0-9]+", "_", name).upper()
    for key in ("env", "headers"):
        if isinstance(entry.get(key), dict):
            ours[key] = {one: _text(value, f"{prefix}_{one}") for one, value in entry[key].items()}
    if isinstance(entry.get("args"), list):
        ours["args"] = [
            _text(one, f"{prefix}_ARGUMENT_{index}") for index, one in enumerate(entry["args"], 1)
        ]
    if entry.get("type") in ("stdio", "http", "sse"):
        ours["transport"] = entry["type"]
    if isinstance(seconds := entry.get("timeout"), int) and seconds > 0:
        ours["timeout"] = f"{seconds}s"
    if entry.get("disabled") is True:
        ours["enabled"] = False
    ours["without_tools"] = get_texts(entry, "disabled_tools")
    return ours


def _text(value: Any, variable: str) -> Any:
    if not isinstance(value, str):
        return value
    if "$(" in value or "`" in value:
        return f"${{{re.sub(r'[^A-Za-z0-9]+', '_', variable).upper()}}}"
    return _VARIABLE.sub(lambda found: f"${{{found['braced'] or found['bare']}}}", value)
