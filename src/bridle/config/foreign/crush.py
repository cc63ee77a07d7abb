"""Import from Crush: `crush.json` of the user and of a project.

```
permissions.allowed_tools      rules
options.disabled_tools         rules
mcp                            MCP servers
~/.config/crush/skills         copied
```

A `crushrc` is a program: it is not run, so its settings are unknown.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridle.config.file_names import SKILL_FILE
from bridle.config.foreign.claude_rules import TOO_WIDE
from bridle.config.foreign.findings import (
    Finding,
    FoundRule,
    FoundSkill,
    NotImported,
    catch_errors,
    folders_with,
    get_table,
    get_texts,
    read_json,
)
from bridle.config.foreign.servers import found_servers
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.permission import EDITING_TOOLS, Action, parse_rule

CONFIG_NAMES = ("crush.json", ".crush.json")
PROGRAMS = ("crushrc", ".crushrc")
TOOLS: dict[str, tuple[str, ...]] = {
    "bash": ("bash",),
    "view": ("read_file",),
    "ls": ("list_files",),
    "glob": ("glob",),
    "grep": ("grep",),
    "edit": ("edit_file",),
    "multiedit": ("multi_edit",),
    "write": ("write_file",),
    "fetch": ("web_fetch",),
    "download": ("download",),
    "agent": ("agent_spawn",),
    "todos": ("todos",),
}
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::[-?][^}]*)?\}|(?P<bare>[A-Za-z_]\w*))")


def findings(folders: tuple[Path, ...]) -> Iterator[Finding]:
    """Yield what the settings of a user and a project hold. Blocks."""
    for folder in folders:
        for name in CONFIG_NAMES:
            yield from catch_errors("setting", name, _settings(folder / name))
        for name in PROGRAMS:
            if (folder / name).is_file():
                yield NotImported(
                    "setting", name, "it is a program and was not run; add its servers with bridle mcp add"
                )
        for inside in folders_with(folder / "skills", SKILL_FILE):
            yield FoundSkill(inside.name, folder=inside)


def _settings(file: Path) -> Iterator[Finding]:
    tree = read_json(file, file.parent)
    servers = get_table(tree, "mcp")
    for name in get_texts(get_table(tree, "permissions"), "allowed_tools"):
        yield _rule("allow", name, servers)
    for name in get_texts(get_table(tree, "options"), "disabled_tools"):
        yield _rule("deny", name, servers)
    yield from found_servers({name: _entry(name, one) for name, one in servers.items()})


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
