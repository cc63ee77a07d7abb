"""Translate permissions of Claude Code to Bridle rules.

| Claude Code | Bridle |
|---|---|
| `Bash(npm run test:*)` | `bash(npm run test:*)` |
| `Read(//etc/**)` | `read_file(/etc/**)` |
| `Read(/src/**)`, `Read(./src/**)` | `read_file(src/**)` |
| deny or ask `Read(.env)` | `read_file(**/.env)`: a bare name means that name anywhere |
| allow `Edit(docs/**)` | the same for each editing tool; deny and ask apply to all of them anyway |
| `WebFetch(domain:example.com)` | `web_fetch(domain:example.com)` |
| `mcp__server`, `mcp__server__*` | `mcp__server__*` |
| allow of every command | left out: in Bridle it would also open every host |
"""

import re

from bridle.config.foreign.findings import FoundRule, NotImported
from bridle.config.validation import one_line
from bridle.core.claude_code import TOOLS
from bridle.core.errors import ConfigError
from bridle.core.permission import EDITING_TOOLS, Action, parse_rule

TOO_WIDE = "it would allow every command; add it yourself if you want that: bridle rules add --allow bash"
NO_TOOL = "no matching tool"

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_*-]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_EDITING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_PATHS = ("Read", "Grep", "Glob", "LS", *_EDITING)


def rule_from_claude(action: Action, written: str) -> FoundRule | NotImported:
    """Translate one entry of `permissions.allow`, `ask` or `deny`."""
    left_out = f"{action} {one_line(written[:200])}"
    match = _RULE.fullmatch(written.strip())
    if match is None or len(written) > 4000:
        return NotImported("rule", left_out, "it is not valid")
    tool, pattern = match["tool"], (match["pattern"] or "").strip()
    if tool.startswith("mcp__"):
        name = tool if tool.count("__") > 1 else f"{tool}__*"
        rules = [f"{name}({pattern})" if pattern else name]
    elif tool == "Bash" and action == "allow" and pattern in ("", "*", ":*"):
        return NotImported("rule", left_out, TOO_WIDE)
    elif tool in _PATHS:
        rules = [
            f"{name}({path})" if path else name
            for name in _tools(action, tool)
            for path in _paths(action, pattern)
        ]
    elif tool in TOOLS and tool != "Task":
        ours = TOOLS[tool]
        rules = [ours if pattern in ("", "*", ":*") else f"{ours}({pattern})"]
    else:
        return NotImported("rule", left_out, NO_TOOL)
    try:
        return FoundRule(action, written, tuple(str(parse_rule(action, rule)) for rule in rules))
    except ConfigError as error:
        return NotImported("rule", left_out, error.message)


def _tools(action: Action, tool: str) -> tuple[str, ...]:
    if tool not in _EDITING:
        return (TOOLS[tool],)
    return EDITING_TOOLS if action == "allow" else ("edit_file",)


def _paths(action: Action, pattern: str) -> list[str]:
    if pattern in ("", "*", "**"):
        return [""]
    if pattern.startswith("//"):
        return [pattern[1:]]
    if pattern.startswith("~/"):
        return [pattern]
    inside = pattern.removeprefix("./").lstrip("/")
    is_name = "/" not in pattern.rstrip("/")
    return [f"**/{inside}"] if is_name and action != "allow" else [inside]
