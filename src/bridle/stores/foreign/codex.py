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
from bridle.stores.foreign.reading import (
    ForeignSession,
    Source,
    files_below,
    inner,
    items,
    json_lines,
    moment,
    word,
)
from bridle.stores.foreign.telling import Result, Telling, call

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


def sources(folder: Path) -> list[Source]:
    """Return what may be a session. Blocks; raises StoreError."""
    found = [path for name in FOLDERS for path in files_below(folder / name, suffix=SUFFIX)]
    return [Source(match["id"], path, folder) for path in found if (match := _NAME.fullmatch(path.name))]


def read(source: Source) -> ForeignSession | None:
    """Read a session; None if it has no messages. Blocks; raises StoreError."""
    skipped: Counter[str] = Counter()
    telling = Telling(skipped)
    cwd = ""
    for line in json_lines(source, skipped):
        payload = inner(line, "payload")
        telling.now = moment(line, "timestamp") or telling.now
        match word(line, "type"):
            case "session_meta" | "turn_context":
                cwd = cwd or word(payload, "cwd")
            case "event_msg":
                if word(payload, "type") == "thread_rolled_back":
                    turns = payload.get("num_turns")
                    telling.rewind(turns if isinstance(turns, int) else 0)
            case "response_item":
                _tell(payload, telling, skipped)
            case "compacted":
                pass  # everything that it summarizes is here
            case _:
                _tell(line, telling, skipped)
    conversation = telling.conversation()
    return ForeignSession(source.key, conversation, "", cwd) if conversation.messages else None


def _tell(item: dict[str, Any], telling: Telling, skipped: Counter[str]) -> None:
    kind = word(item, "type")
    if kind == "message":
        _tell_message(item, telling, skipped)
    elif kind == "reasoning":
        texts = [word(one, "text") for one in (*items(item, "summary"), *items(item, "content"))]
        telling.reply([Reasoning("\n\n".join(filter(None, texts)))])
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        name = word(item, "name") or "local_shell"
        telling.reply([_call(name, item)])
    elif kind in _OUTPUTS:
        telling.result(_result(item))


def _tell_message(item: dict[str, Any], telling: Telling, skipped: Counter[str]) -> None:
    parts = _parts(items(item, "content"))
    match word(item, "role"):
        case "assistant":
            telling.reply(parts)
        case "user":
            kept = [
                part for part in parts if not (isinstance(part, Text) and part.text.startswith(_MACHINERY))
            ]
            skipped.update([OWN_WORDS] * (len(kept) < len(parts)))
            telling.user(kept)
        case _:
            skipped[OWN_WORDS] += 1


def _parts(content: Sequence[Any]) -> list[Part]:
    parts: list[Part] = []
    for block in content:
        if text := word(block, "text"):
            parts.append(Text(text))
        elif image := _DATA_URL.fullmatch(word(block, "image_url")):
            parts.append(Media(image["mime"], image["data"]))
    return parts


def _call(name: str, item: dict[str, Any]) -> Part:
    args = inner(item, "action") or _decoded(word(item, "arguments")) or {"input": word(item, "input")}
    call_id = word(item, "call_id") or word(item, "id")
    if name not in _SHELLS:
        return call(call_id, name, args)
    command = args.get("command", args.get("cmd", ""))
    return call(call_id, "bash", {"command": _line(command)})


def _line(command: Any) -> str:
    """Return a command as a user would type it: LINE of `bash -lc LINE`, or all its words."""
    if isinstance(command, str):
        return command
    words = [one for one in command if isinstance(one, str)] if isinstance(command, list) else []
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return " ".join(words)


def _result(item: dict[str, Any]) -> Result:
    call_id, output = word(item, "call_id") or word(item, "id"), item.get("output")
    if isinstance(output, list):
        parts = _parts(output)
        texts = [part.text for part in parts if isinstance(part, Text)]
        return Result(call_id, "\n".join(texts), media=tuple(one for one in parts if isinstance(one, Media)))
    told = output if isinstance(output, dict) else _decoded(output if isinstance(output, str) else "")
    text = word(told, "output") or word(told, "content")
    if not text:
        return Result(call_id, output if isinstance(output, str) else "")
    is_error = told.get("success") is False or inner(told, "metadata").get("exit_code", 0) != 0
    return Result(call_id, text, is_error)


def _decoded(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except MALFORMED:
        return {}
    return value if isinstance(value, dict) else {}
