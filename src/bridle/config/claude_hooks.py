"""Import Claude Code's hooks: read from its `settings.json`, added to a Bridle `config.toml`.

```
{"hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "…"}]}]}}
```

| event | point | may | when it fails |
|---|---|---|---|
| `PreToolUse` | pre_tool_execution | deny, change arguments | the call is denied |
| `UserPromptSubmit` | run_started | deny | the run is denied |
| `PostToolUse` | post_tool_execution | deny | nothing, the call was made |
| `Stop` | run_completed | observe: a hook cannot make a run continue | nothing |
"""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.textfile import locked, read_text, write_text
from bridle.config.toml_document import literal, parse_toml
from bridle.core.claude_code import EVENTS, TOOLS
from bridle.core.errors import ConfigError
from bridle.core.hook import (
    MAX_TIMEOUT_MS,
    PRE_POINTS,
    Capability,
    CommandRuntime,
    FailurePolicy,
    HookEntry,
    HookPoint,
)
from bridle.core.malformed import MALFORMED

THEIR_TIMEOUT_S = 60.0

_MAY: dict[HookPoint, tuple[Capability, FailurePolicy | None]] = {
    "pre_tool_execution": ("rewrite", None),
    "run_started": ("guardrail", None),
    "post_tool_execution": ("guardrail", "fail_open"),
    "run_completed": ("observe", None),
}
_ALL = ("", "*", ".*")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.\*|\*)?")


class ClaudeHooks(Struct, frozen=True):
    """The hooks of a file."""

    entries: tuple[HookEntry, ...]
    left_out: tuple[str, ...]
    """What cannot be a hook in Bridle, and why."""


def read_claude_hooks(file: Path) -> ClaudeHooks:
    """Read the hooks of a `settings.json`; raises ConfigError if it is missing, invalid or has none."""
    text = read_text(file)
    if text is None:
        raise ConfigError(f"{file}: file not found")
    try:
        tree = msgspec.json.decode(text)
    except MALFORMED as error:
        raise ConfigError(f"{file}: not valid JSON: {error}") from error
    hooks = tree.get("hooks") if isinstance(tree, dict) else None
    if not isinstance(hooks, dict):
        raise ConfigError(
            f"{file}: contains no hooks", hint='it should contain {"hooks": {"PreToolUse": […]}}'
        )
    entries: list[HookEntry] = []
    left_out: list[str] = []
    for event, groups in hooks.items():
        for one in _of_event(event, groups):
            if isinstance(one, str):
                left_out.append(f"{event}: {one}")
            else:
                entries.append(replace(one, id=f"claude-{_dashed(event)}-{len(entries) + 1}"))
    return ClaudeHooks(tuple(entries), tuple(left_out))


def add_hooks(file: Path, entries: Sequence[HookEntry], known: Collection[str] = ()) -> tuple[HookEntry, ...]:
    """Add hooks to a `config.toml`, creating it if needed; return those that were not in it yet.

    Ids in `known` are taken. Comments and order are kept; on a ConfigError nothing has changed.
    """
    with locked(file):
        text = read_text(file) or ""
        tree = parse_toml(text, str(file))
        check(Layer(Source("user", str(file)), tree, text), ConfigFile)
        listed = tree.get("hooks", {}).get("entries", [])
        there = [_without_id(msgspec.convert(item, HookEntry)) for item in listed]
        taken = {*known, *(item.get("id", "hook") for item in listed)}
        new: list[HookEntry] = []
        for entry in entries:
            if _without_id(entry) not in there:
                new.append(replace(entry, id=_free(entry.id, taken)))
                taken.add(new[-1].id)
        if new:
            edited = "\n".join([*([text.rstrip("\n") + "\n"] if text.strip() else []), *map(_block, new)])
            wanted = [*listed, *(_told(entry) for entry in new)]
            if _entries_of(edited) != wanted:
                raise ConfigError(
                    f"{file}: hooks cannot be added to this file automatically",
                    hint="add them by hand as [[hooks.entries]]",
                )
            write_text(file, edited)
    return tuple(new)


def _of_event(event: str, groups: Any) -> Iterator[HookEntry | str]:
    """Yield each hook of an event, or why it cannot be used."""
    point = EVENTS.get(event)
    if point is None:
        yield "unknown hook point"
        return
    for group in groups if isinstance(groups, list) else [groups]:
        if not isinstance(group, dict) or not isinstance(hooks := group.get("hooks"), list):
            yield "not a list of hooks"
            continue
        matcher = group.get("matcher", "")
        tools = _tools(matcher) if point.endswith("tool_execution") else ()
        for hook in hooks:
            yield f"unknown tool {literal(matcher)}" if tools is None else _entry(hook, point, tools)


def _entry(hook: Any, point: HookPoint, tools: tuple[str, ...]) -> HookEntry | str:
    if not isinstance(hook, dict) or hook.get("type") != "command":
        return "only hooks of type command can be used"
    command, timeout_s = hook.get("command"), hook.get("timeout", THEIR_TIMEOUT_S)
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        return "has no command"
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or timeout_s <= 0:
        timeout_s = THEIR_TIMEOUT_S
    capability, policy = _MAY[point]
    is_behind = hook.get("async") is True
    if is_behind and point in PRE_POINTS:
        capability, policy = "observe", None
    return HookEntry(
        CommandRuntime("/bin/sh", ("-c", command), dialect="claude"),
        point=point,
        mode="background" if is_behind else "foreground",
        capability=capability,
        failure_policy=policy,
        timeout_ms=max(1, min(round(timeout_s * 1000), MAX_TIMEOUT_MS)),
        tools=tools,
    )


def _tools(matcher: Any) -> tuple[str, ...] | None:
    """Return Bridle's tools for a matcher; None if there are none, or it is more than a list of names."""
    if not isinstance(matcher, str):
        return None
    if matcher.strip() in _ALL:
        return ()
    words = [word.strip() for word in matcher.split("|")]
    if not all(map(_NAME.fullmatch, words)):
        return None
    found = [_tool(word) for word in words]
    return tuple(dict.fromkeys(name for name in found if name)) or None


def _tool(word: str) -> str:
    if word in TOOLS:
        return TOOLS[word]
    return word.replace(".*", "*") if word.startswith("mcp__") else ""


def _dashed(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()


def _free(wanted: str, taken: Collection[str]) -> str:
    number, name = 2, wanted
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _without_id(entry: HookEntry) -> HookEntry:
    return replace(entry, id="hook")


def _told(entry: HookEntry) -> dict[str, Any]:
    """Return an entry as TOML values, without fields that are not needed."""
    told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(entry))
    told["runtime"] = {key: value for key, value in told["runtime"].items() if value}
    first = {"id": entry.id, "point": entry.point}
    return {
        **first,
        **{key: value for key, value in told.items() if key != "runtime"},
        "runtime": told["runtime"],
    }


def _block(entry: HookEntry) -> str:
    lines = [f"{key} = {literal(value)}\n" for key, value in _told(entry).items()]
    return "".join(["[[hooks.entries]]\n", *lines])


def _entries_of(text: str) -> Any:
    try:
        return parse_toml(text, "").get("hooks", {}).get("entries")
    except ConfigError:
        return None
