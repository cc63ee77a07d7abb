"""The words of Claude Code for what hooks are told: its events, its tools and their arguments.

A hook that was written for Claude Code looks for `tool_input.file_path` of a tool named `Edit`. Told of our
`edit_file` and its `path`, a guardrail would find nothing to object to.
"""

from typing import Any

from bridle.core.hook import HookPoint

EVENTS: dict[str, HookPoint] = {
    "UserPromptSubmit": "run_started",
    "PreToolUse": "pre_tool_execution",
    "PostToolUse": "post_tool_execution",
    "Stop": "run_completed",
}
"""The events that have a point here."""

EVENT_AT: dict[HookPoint, str] = {point: event for event, point in EVENTS.items()}

TOOLS: dict[str, str] = {
    "Bash": "bash",
    "Edit": "edit_file",
    "MultiEdit": "multi_edit",
    "Write": "write_file",
    "Read": "read_file",
    "LS": "list_files",
    "Grep": "grep",
    "Glob": "glob",
    "WebFetch": "web_fetch",
    "Task": "agent_spawn",
}
"""Their names for tools, and ours; others, as those of MCP servers, have the same name in both."""

_THEIR_TOOL = {ours: theirs for theirs, ours in TOOLS.items()}

_EDIT = {"old_str": "old_string", "new_str": "new_string"}
_ARGUMENTS: dict[str, dict[str, str]] = {
    "read_file": {"path": "file_path"},
    "write_file": {"path": "file_path"},
    "edit_file": {"path": "file_path", **_EDIT},
    "multi_edit": {"path": "file_path", **_EDIT},
    "list_files": {"pattern": "path"},
    "grep": {"include": "glob"},
}
"""Our names for arguments, and theirs; others are the same in both."""


def their_tool(name: str) -> str:
    """Return the name of one of our tools as Claude Code has it."""
    return _THEIR_TOOL.get(name, name)


def their_arguments(tool: str, args: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Return the arguments of a call of ours as Claude Code would have written them."""
    told: dict[str, Any] = _renamed(args, _ARGUMENTS.get(tool, {}))
    path = told.get("file_path")
    if isinstance(path, str) and cwd and not path.startswith(("/", "~")):
        told["file_path"] = f"{cwd.rstrip('/')}/{path}"
    return told


def our_arguments(tool: str, told: dict[str, Any]) -> dict[str, Any]:
    """Return arguments in the words of Claude Code as those of a tool of ours."""
    names = {theirs: ours for ours, theirs in _ARGUMENTS.get(tool, {}).items()}
    args: dict[str, Any] = _renamed(told, names)
    return args


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Rename keys, also those of the tables in a list: the edits of a call are one."""
    if isinstance(value, dict):
        return {names.get(key, key): _renamed_items(item, names) for key, item in value.items()}
    return value


def _renamed_items(value: Any, names: dict[str, str]) -> Any:
    return [_renamed(item, names) for item in value] if isinstance(value, list | tuple) else value
