"""Import from Claude Code: `~/.claude` and `~/.claude.json`.

```
settings.json            permissions            rules
~/.claude.json           mcpServers             MCP servers
commands/**/NAME.md      prompts                skills, for users to call
agents/NAME.md           sub-agents             agents
skills/NAME/SKILL.md     skills                 read in place, if that is your own folder
```

`CLAUDE.md`, and `.mcp.json` and `.claude/skills` of a project, need no import: Bridle reads them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridle.config.file_names import SKILL_FILE
from bridle.config.foreign.claude_rules import rule_from_claude
from bridle.config.foreign.findings import (
    Finding,
    FoundAgent,
    FoundSkill,
    NotImported,
    catch_errors,
    folders_with,
    get_table,
    get_texts,
    is_agent_name,
    markdown_files,
    note_dropped_model,
    read_json,
)
from bridle.config.foreign.prompt_skills import skill_from_prompt, split_front_matter
from bridle.config.foreign.servers import found_servers
from bridle.config.mcp_files import SAME_KEYS, TRANSPORTS
from bridle.config.rules import ACTIONS
from bridle.config.textfile import read_text
from bridle.config.validation import one_line
from bridle.core.claude_code import TOOLS

SETTINGS_FILE = "settings.json"
STATE_FILE = ".claude.json"
MODES = {"acceptEdits": "accept-edits", "plan": "plan"}


def findings(folder: Path) -> Iterator[Finding]:
    """Yield what a `.claude` folder holds besides sessions and hooks. Blocks."""
    yield from catch_errors("setting", SETTINGS_FILE, _settings(folder))
    yield from catch_errors("server", STATE_FILE, _servers(folder))
    for file in markdown_files(folder / "commands"):
        name = "-".join(file.relative_to(folder / "commands").with_suffix("").parts)
        yield from catch_errors("skill", one_line(name), _skill(file, folder, name))
    for file in markdown_files(folder / "agents"):
        yield from catch_errors("agent", one_line(file.stem), _agent(file, folder))
    for inside in folders_with(folder / "skills", SKILL_FILE):
        yield FoundSkill(inside.name, folder=inside)


def _settings(folder: Path) -> Iterator[Finding]:
    settings = read_json(folder / SETTINGS_FILE, folder)
    permissions = get_table(settings, "permissions")
    for action in ACTIONS:
        yield from (rule_from_claude(action, text) for text in get_texts(permissions, action))
    yield from _choices(settings, permissions)


def _servers(folder: Path) -> Iterator[Finding]:
    state = _state(folder)
    yield from found_servers({name: _entry(one) for name, one in get_table(state, "mcpServers").items()})
    for project, told in get_table(state, "projects").items():
        for name in get_table(told, "mcpServers"):
            yield NotImported("server", one_line(name), f"it applies only to the project {one_line(project)}")


def _skill(file: Path, folder: Path, name: str) -> Iterator[Finding]:
    yield skill_from_prompt(name, read_text(file, within=folder) or "")


def _agent(file: Path, folder: Path) -> Iterator[Finding]:
    yield agent_from_markdown(file.stem, read_text(file, within=folder) or "")


def _state(folder: Path) -> dict[str, Any]:
    """Return `.claude.json`, next to the folder, or in it if CLAUDE_CONFIG_DIR is set; raises ConfigError."""
    beside = folder.parent / STATE_FILE
    return read_json(beside, folder.parent) or read_json(folder / STATE_FILE, folder)


def _choices(settings: dict[str, Any], permissions: dict[str, Any]) -> Iterator[Finding]:
    mode = permissions.get("defaultMode")
    if isinstance(mode, str) and mode in MODES:
        yield NotImported(
            "setting", f"mode {mode}", f"if you want it here: bridle config set rules.mode {MODES[mode]}"
        )
    elif isinstance(mode, str) and mode != "default":
        yield NotImported(
            "setting", f"mode {one_line(mode[:40])}", "choose this mode yourself: bridle run --yolo"
        )
    for place in get_texts(permissions, "additionalDirectories"):
        yield NotImported("setting", one_line(place), "open a folder with sandbox.writable and a read rule")
    if names := sorted(get_table(settings, "env")):
        yield NotImported(
            "setting", "env", f"set these yourself where you need them: {', '.join(map(one_line, names))}"
        )


def _entry(entry: Any) -> Any:
    """Return a server's entry with Bridle's keys."""
    if not isinstance(entry, dict):
        return entry
    ours = {key: entry[key] for key in SAME_KEYS if key in entry}
    kind = entry.get("type")
    if isinstance(kind, str) and kind in TRANSPORTS:
        ours["transport"] = TRANSPORTS[kind]
    if entry.get("disabled") is True:
        ours["enabled"] = False
    return ours


def agent_from_markdown(name: str, text: str) -> FoundAgent | NotImported:
    """Build an agent from a file with front matter and a prompt."""
    head, body = split_front_matter(text)
    if not is_agent_name(name):
        return NotImported("agent", one_line(name), "its name is not valid for an agent")
    if not body.strip():
        return NotImported("agent", name, "it has no prompt")
    tree: dict[str, Any] = {}
    notes = []
    if wanted := [one.strip() for one in head.get("tools", "").strip("[]").split(",") if one.strip()]:
        known = [TOOLS.get(one, one) for one in wanted if one in TOOLS or one.startswith("mcp__")]
        if not known:
            return NotImported(
                "agent", name, f"none of its tools exist here: {', '.join(map(one_line, wanted))}"
            )
        tree["tools"] = known
        if missing := [one for one in wanted if one not in TOOLS and not one.startswith("mcp__")]:
            notes.append(f"missing tools: {', '.join(map(one_line, missing))}")
    if head.get("model", "inherit") != "inherit":
        notes.append(note_dropped_model(head["model"]))
    return FoundAgent(name, body, tree, "; ".join(notes))
