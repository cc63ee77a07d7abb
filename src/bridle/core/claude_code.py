"""Translate hook events, tool names and tool arguments between Bridle and Claude Code.

A hook written for Claude Code checks `tool_input.file_path` of a tool named `TextEdit`. If it got Bridle's
`edit_file` with a `path` instead, a guardrail would find nothing to deny.
"""

from typing import Any

from bridle.core.hook import HookPoint

EVENTS: dict[str, HookPoint] = {
    "UserPromptSubmit": "run_started",
    "PreToolUse": "pre_tool_execution",
    "PostToolUse": "post_tool_execution",
    "Stop": "run_completed",
}
"""The Claude Code events that have a hook point in Bridle."""

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
    "WebSearch": "web_search",
    "Task": "agent_spawn",
}
"""Claude Code's tool names and Bridle's; all others, such as MCP tools, have the same name in both."""

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
"""For each of Bridle's tools: its argument names and Claude Code's; all others are the same in both."""


def to_claude_tool(name: str) -> str:
    """Return Claude Code's name for one of Bridle's tools."""
    return _THEIR_TOOL.get(name, name)


def to_claude_arguments(tool: str, args: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Convert the arguments of a Bridle call to Claude Code's; a relative `file_path` becomes absolute."""
    told: dict[str, Any] = _renamed(args, _ARGUMENTS.get(tool, {}))
    path = told.get("file_path")
    if isinstance(path, str) and cwd and not path.startswith(("/", "~")):
        told["file_path"] = f"{cwd.rstrip('/')}/{path}"
    return told


def from_claude_arguments(tool: str, told: dict[str, Any]) -> dict[str, Any]:
    """Convert Claude Code's arguments to those of one of Bridle's tools."""
    names = {theirs: ours for ours, theirs in _ARGUMENTS.get(tool, {}).items()}
    args: dict[str, Any] = _renamed(told, names)
    return args


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Rename the keys of an object and of objects in its lists, such as the `edits` of a call."""
    if isinstance(value, dict):
        return {names.get(key, key): _renamed_items(item, names) for key, item in value.items()}
    return value


def _renamed_items(value: Any, names: dict[str, str]) -> Any:
    return [_renamed(item, names) for item in value] if isinstance(value, list | tuple) else value
