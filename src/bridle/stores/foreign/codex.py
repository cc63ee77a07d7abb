"""Read sessions of the Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, one item per line.

```
{"type": "session_meta", "payload": {"id": "…", "cwd": "…"}}
{"type": "response_item", "payload": {"type": "message" | "reasoning" | "function_call" | …}}
{"type": "event_msg" | "turn_context" | "compacted", …}     display events; they repeat other items
```

The oldest files contain only the payloads, after a line with the id.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridle.core.malformed import MALFORMED
from bridle.core.messages import Media, Part, Reasoning, Text
from bridle.stores.foreign.conversation import ConversationBuilder, Result, build_call
from bridle.stores.foreign.json_files import (
    ForeignSession,
    SourceFolder,
    find_files,
    get_list,
    get_table,
    get_text,
    get_time_ms,
    read_json_lines,
)

FOLDERS = ("sessions", "archived_sessions")
SUFFIX = ".jsonl"
OWN_WORDS = "what Codex says itself"

_NAME = re.compile(r"rollout-[0-9T:-]{10,23}-(?P<id>[0-9a-fA-F-]{36})\.jsonl")
_DATA_URL = re.compile(r"data:(?P<mime>[a-z]+/[a-z0-9.+-]+);base64,(?P<data>[A-Za-z0-9+/=\s]+)")
_MACHINERY = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skill>",
    "# AGENTS.md instructions for",
)
_SHELLS = ("shell", "shell_command", "exec_command", "local_shell", "container.exec")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def sources(folder: Path) -> list[SourceFolder]:
    """Return what may be a session. Blocks; raises StoreError."""
    found = [path for name in FOLDERS for path in find_files(folder / name, suffix=SUFFIX)]
    return [
        SourceFolder(match["id"], path, folder) for path in found if (match := _NAME.fullmatch(path.name))
    ]


def read(source: SourceFolder) -> ForeignSession | None:
    """Read a session; None if it has no messages. Blocks; raises StoreError."""
    skipped: Counter[str] = Counter()
    builder = ConversationBuilder(skipped)
    cwd = ""
    for line in read_json_lines(source, skipped):
        payload = get_table(line, "payload")
        builder.now = get_time_ms(line, "timestamp") or builder.now
        match get_text(line, "type"):
            case "session_meta" | "turn_context":
                cwd = cwd or get_text(payload, "cwd")
            case "event_msg":
                if get_text(payload, "type") == "thread_rolled_back":
                    turns = payload.get("num_turns")
                    builder.rewind(turns if isinstance(turns, int) else 0)
            case "response_item":
                _tell(payload, builder, skipped)
            case "compacted":
                pass  # everything that it summarizes is here
            case _:
                _tell(line, builder, skipped)
    conversation = builder.conversation()
    return ForeignSession(source.key, conversation, "", cwd) if conversation.messages else None


def _tell(item: dict[str, Any], builder: ConversationBuilder, skipped: Counter[str]) -> None:
    kind = get_text(item, "type")
    if kind == "message":
        _tell_message(item, builder, skipped)
    elif kind == "reasoning":
        texts = [get_text(one, "text") for one in (*get_list(item, "summary"), *get_list(item, "content"))]
        builder.reply([Reasoning("\n\n".join(filter(None, texts)))])
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        name = get_text(item, "name") or "local_shell"
        builder.reply([_call(name, item)])
    elif kind in _OUTPUTS:
        builder.result(_result(item))


def _tell_message(item: dict[str, Any], builder: ConversationBuilder, skipped: Counter[str]) -> None:
    parts = _parts(get_list(item, "content"))
    match get_text(item, "role"):
        case "assistant":
            builder.reply(parts)
        case "user":
            kept = [
                part for part in parts if not (isinstance(part, Text) and part.text.startswith(_MACHINERY))
            ]
            skipped.update([OWN_WORDS] * (len(kept) < len(parts)))
            builder.user(kept)
        case _:
            skipped[OWN_WORDS] += 1


def _parts(content: Sequence[Any]) -> list[Part]:
    parts: list[Part] = []
    for block in content:
        if text := get_text(block, "text"):
            parts.append(Text(text))
        elif image := _DATA_URL.fullmatch(get_text(block, "image_url")):
            parts.append(Media(image["mime"], image["data"]))
    return parts


def _call(name: str, item: dict[str, Any]) -> Part:
    args = (
        get_table(item, "action")
        or _decoded(get_text(item, "arguments"))
        or {"input": get_text(item, "input")}
    )
    call_id = get_text(item, "call_id") or get_text(item, "id")
    if name not in _SHELLS:
        return build_call(call_id, name, args)
    command = args.get("command", args.get("cmd", ""))
    return build_call(call_id, "bash", {"command": _line(command)})


def _line(command: Any) -> str:
    """Return a command as a user would type it: LINE of `bash -lc LINE`, or all its words."""
    if isinstance(command, str):
        return command
    words = [one for one in command if isinstance(one, str)] if isinstance(command, list) else []
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return " ".join(words)


def _result(item: dict[str, Any]) -> Result:
    call_id, output = get_text(item, "call_id") or get_text(item, "id"), item.get("output")
    if isinstance(output, list):
        parts = _parts(output)
        texts = [part.text for part in parts if isinstance(part, Text)]
        return Result(call_id, "\n".join(texts), media=tuple(one for one in parts if isinstance(one, Media)))
    told = output if isinstance(output, dict) else _decoded(output if isinstance(output, str) else "")
    text = get_text(told, "output") or get_text(told, "content")
    if not text:
        return Result(call_id, output if isinstance(output, str) else "")
    is_error = told.get("success") is False or get_table(told, "metadata").get("exit_code", 0) != 0
    return Result(call_id, text, is_error)


def _decoded(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except MALFORMED:
        return {}
    return value if isinstance(value, dict) else {}
