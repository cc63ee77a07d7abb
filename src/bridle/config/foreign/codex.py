"""Import from the Codex CLI: `~/.codex`.

```
config.toml              mcp_servers            MCP servers
rules/*.rules            prefix_rule(…)         rules for commands
prompts/NAME.md          prompts                skills, for users to call
skills/NAME/SKILL.md     skills                 copied
agents/NAME.toml         agents                 agents
```

`AGENTS.md` of a project needs no import: Bridle reads it.
"""

import ast
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

from bridle.config.file_names import CONFIG_FILE, SKILL_FILE
from bridle.config.foreign.findings import (
    MAX_ENTRIES,
    Finding,
    FoundAgent,
    FoundRule,
    FoundSkill,
    NotImported,
    catch_errors,
    folders_with,
    get_table,
    get_texts,
    is_agent_name,
    markdown_files,
    note_dropped_model,
)
from bridle.config.foreign.prompt_skills import skill_from_prompt
from bridle.config.foreign.servers import found_servers
from bridle.config.textfile import read_text
from bridle.config.toml_document import parse_toml
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.permission import Action, parse_rule

DECISIONS: dict[str, Action] = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_NOT_READ = "the rule can only be read by running it"
_SANDBOX_MODES = {"read-only": "plan", "workspace-write": "accept-edits"}


def findings(folder: Path) -> Iterator[Finding]:
    """Yield what a `.codex` folder holds besides sessions. Blocks."""
    for rules in sorted((folder / "rules").glob("*.rules"))[:MAX_ENTRIES]:
        yield from catch_errors("rule", one_line(rules.name), _rules(rules, folder))
    yield from catch_errors("setting", CONFIG_FILE, _settings(folder))
    for prompt in markdown_files(folder / "prompts"):
        yield from catch_errors("skill", one_line(prompt.stem), _skill(prompt, folder))
    for inside in folders_with(folder / "skills", SKILL_FILE):
        yield FoundSkill(inside.name, folder=inside)
    for agent in sorted((folder / "agents").glob("*.toml"))[:MAX_ENTRIES]:
        yield from catch_errors("agent", one_line(agent.stem), _agent(agent, folder))


def _settings(folder: Path) -> Iterator[Finding]:
    file = folder / CONFIG_FILE
    tree = parse_toml(read_text(file, within=folder) or "", str(file))
    yield from _choices(tree)
    yield from found_servers({name: _entry(one) for name, one in get_table(tree, "mcp_servers").items()})


def _skill(file: Path, folder: Path) -> Iterator[Finding]:
    yield skill_from_prompt(file.stem, read_text(file, within=folder) or "")


def _choices(tree: dict[str, Any]) -> Iterator[Finding]:
    model, mode = tree.get("model"), tree.get("sandbox_mode")
    if isinstance(model, str):
        provider = tree.get("model_provider", "openai")
        yield NotImported(
            "setting",
            f"model {one_line(model[:80])}",
            f"if you want it here: bridle config set model {one_line(f'{provider}/{model}'[:120])}",
        )
    if isinstance(mode, str) and mode in _SANDBOX_MODES:
        yield NotImported(
            "setting",
            f"sandbox_mode {mode}",
            f"if you want it here: bridle config set rules.mode {_SANDBOX_MODES[mode]}",
        )
    elif isinstance(mode, str):
        yield NotImported(
            "setting", f"sandbox_mode {one_line(mode[:40])}", "commands always run in the sandbox here"
        )


def _entry(entry: Any) -> Any:
    """Return a server's entry with Bridle's keys."""
    if not isinstance(entry, dict):
        return entry
    ours = {key: entry[key] for key in ("command", "args", "cwd", "url") if key in entry}
    ours["env"] = {
        **{name: f"${{{name}}}" for name in get_texts(entry, "env_vars")},
        **get_table(entry, "env"),
    }
    headers = {**get_table(entry, "http_headers")}
    headers |= {name: f"${{{variable}}}" for name, variable in get_table(entry, "env_http_headers").items()}
    if isinstance(variable := entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    ours["headers"] = headers
    ours["tools"], ours["without_tools"] = (
        get_texts(entry, "enabled_tools"),
        get_texts(entry, "disabled_tools"),
    )
    for theirs, name in (("startup_timeout_sec", "start_timeout"), ("tool_timeout_sec", "timeout")):
        if isinstance(seconds := entry.get(theirs), int | float) and seconds > 0:
            ours[name] = f"{seconds:g}s"
    if entry.get("enabled") is False:
        ours["enabled"] = False
    return ours


def _rules(file: Path, folder: Path) -> Iterator[Finding]:
    """Yield the rules of a file: its calls are parsed, never run."""
    try:
        body = ast.parse(read_text(file, within=folder) or "").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield NotImported("rule", one_line(file.name), _NOT_READ)
        return
    for statement in body[:MAX_ENTRIES]:
        match statement:
            case ast.Expr(ast.Call(ast.Name("prefix_rule"), [], keywords)):
                try:
                    told = {one.arg: ast.literal_eval(one.value) for one in keywords if one.arg}
                except (ValueError, TypeError, RecursionError):
                    told = {}
                yield _prefix_rule(f"{file.name}:{statement.lineno}", told)
            case _:
                yield NotImported("rule", f"{one_line(file.name)}:{statement.lineno}", _NOT_READ)


def _prefix_rule(place: str, told: dict[str, Any]) -> Finding:
    action = DECISIONS.get(str(told.get("decision", "allow")))
    pattern = told.get("pattern")
    if action is None or not isinstance(pattern, list) or not pattern:
        return NotImported("rule", one_line(place), _NOT_READ)
    choices = [word if isinstance(word, list) else [word] for word in pattern]
    lines = [" ".join(map(str, words)) for words in islice(product(*choices), 100)]
    try:
        rules = tuple(str(parse_rule(action, f"bash({line}:*)")) for line in lines)
    except ConfigError as error:
        return NotImported("rule", one_line(place), error.message)
    return FoundRule(action, one_line(" | ".join(lines)[:200]), rules)


def _agent(file: Path, folder: Path) -> Iterator[Finding]:
    tree = parse_toml(read_text(file, within=folder) or "", str(file))
    prompt, wanted = tree.get("developer_instructions"), tree.get("model")
    if not isinstance(prompt, str) or not prompt.strip():
        yield NotImported("agent", one_line(file.stem), "it has no developer_instructions")
    elif not is_agent_name(file.stem):
        yield NotImported("agent", one_line(file.stem), "its name is not valid for an agent")
    else:
        yield FoundAgent(file.stem, prompt, {}, note_dropped_model(wanted) if isinstance(wanted, str) else "")
