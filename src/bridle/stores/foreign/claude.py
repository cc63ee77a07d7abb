"""Read sessions of Claude Code: `projects/<folder>/<id>.jsonl`, one piece of a message per line.

```
{"type": "user", "uuid": "…", "parentUuid": "…", "cwd": "…", "message": {"role": "user", "content": "…"}}
{"type": "assistant", "uuid": "…", "message": {"id": "msg_…", "content": [{"type": "tool_use", …}]}}
{"type": "summary" | "ai-title" | "custom-title", …}
```

A prompt whose parent is not the newest line was typed after a rewind: the lines in between are skipped.
Sub-agents' messages are in separate files or marked `isSidechain`; their answers are results of calls.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from bridle.core.claude_code import TOOLS, from_claude_arguments
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

FOLDER = "projects"
SUFFIX = ".jsonl"
BRANCH = "of a way that was left by going back"
SIDE = "of a sub-agent"

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_COMMAND = re.compile(r"<command-name>/?(?P<name>[^<\n]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(?P<args>.*?)</command-args>", re.DOTALL)
_MACHINERY = ("<local-command-", "<bash-stdout>", "Caveat: The messages below")


def sources(folder: Path) -> list[SourceFolder]:
    """Return what may be a session. Blocks; raises StoreError."""
    found = find_files(folder / FOLDER, suffix=SUFFIX)
    return [
        SourceFolder(path.name.removesuffix(SUFFIX), path, folder)
        for path in found
        if not path.name.startswith("agent-") and path.parent.name != "subagents"
    ]


def read(source: SourceFolder) -> ForeignSession | None:
    """Read a session; None if it has no messages. Blocks; raises StoreError."""
    skipped: Counter[str] = Counter()
    titles: dict[str, str] = {}
    cwd = ""
    lines = _Lines(skipped)
    for line in read_json_lines(source, skipped):
        kind = get_text(line, "type")
        if kind in _TITLES:
            titles[kind] = get_text(line, _TITLES[kind])
        elif kind in ("user", "assistant"):
            cwd = cwd or get_text(line, "cwd")
            lines.add(line)
        else:
            lines.pass_over(line)
    builder = ConversationBuilder(skipped)
    for line in lines.kept:
        builder.now = get_time_ms(line, "timestamp") or builder.now
        _tell(line, builder)
    conversation = builder.conversation()
    if not conversation.messages:
        return None
    title = next((titles[kind] for kind in _TITLES if titles.get(kind)), "")
    return ForeignSession(source.key, conversation, title, cwd)


class _Lines:
    """The lines that still belong to the conversation, without abandoned branches."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.kept: list[dict[str, Any]] = []
        self._skipped = skipped
        self._ends: dict[str, int] = {}
        """By line uuid: how many lines were kept after that line."""

    def add(self, line: dict[str, Any]) -> None:
        """Add a line; a line that was written twice counts once."""
        uuid, parent = get_text(line, "uuid"), get_text(line, "parentUuid")
        if uuid and uuid in self._ends:
            return
        if line.get("isSidechain") is True:
            self._skipped[SIDE] += 1
            return
        if line.get("isMeta") is not True:
            if _is_prompt(line) and (end := self._ends.get(parent)) is not None:
                self._leave(end)
            self.kept.append(line)
        self._ends[uuid] = len(self.kept)

    def pass_over(self, line: dict[str, Any]) -> None:
        """Register a line without content: other lines may have it as their parent."""
        self._ends[get_text(line, "uuid")] = len(self.kept)

    def _leave(self, end: int) -> None:
        left = self.kept[end:]
        if any(map(_is_prompt, left)):
            self._skipped[BRANCH] += len(left)
            del self.kept[end:]


def _is_prompt(line: dict[str, Any]) -> bool:
    if get_text(line, "type") != "user":
        return False
    content = get_table(line, "message").get("content")
    if isinstance(content, str):
        return bool(content.strip())
    return isinstance(content, list) and not any(
        get_text(block, "type") == "tool_result" for block in content
    )


def _tell(line: dict[str, Any], builder: ConversationBuilder) -> None:
    message = get_table(line, "message")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else get_list(message, "content")
    if get_text(line, "type") == "assistant":
        builder.reply([part for block in blocks if (part := _replied(block))], get_text(message, "id"))
        return
    if line.get("isCompactSummary") is True and builder.has_begun:
        return  # everything that it summarizes is here
    for block in blocks:
        if get_text(block, "type") == "tool_result":
            builder.result(_result(block))
    builder.user([part for block in blocks if (part := _said(block))])


def _replied(block: Any) -> Part | None:
    match get_text(block, "type"):
        case "text":
            return Text(get_text(block, "text"))
        case "thinking":
            return Reasoning(get_text(block, "thinking"))
        case "tool_use":
            name = get_text(block, "name")
            ours = TOOLS.get(name, name)
            return build_call(
                get_text(block, "id"), ours, from_claude_arguments(ours, get_table(block, "input"))
            )
        case _:
            return None


def _said(block: Any) -> Part | None:
    match get_text(block, "type"):
        case "text":
            return Text(_typed(get_text(block, "text")))
        case "image" | "document":
            return _media(block)
        case _:
            return None


def _typed(text: str) -> str:
    """Return the part of a message that a person typed; empty if the program wrote all of it."""
    if text.startswith(_MACHINERY):
        return ""
    if name := _COMMAND.search(text[:10_000]):
        args = _ARGUMENTS.search(text[:100_000])
        return f"/{name['name'].strip()} {args['args'].strip() if args else ''}".strip()
    return text


def _media(block: Any) -> Part | None:
    source = get_table(block, "source")
    mime, data = get_text(source, "media_type"), get_text(source, "data")
    return Media(mime, data) if mime and data and get_text(source, "type") == "base64" else None


def _result(block: Any) -> Result:
    content = block.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else get_list(block, "content")
    texts = [get_text(one, "text") for one in blocks if get_text(one, "type") == "text"]
    media = [part for one in blocks if isinstance(part := _media(one), Media)]
    is_error = block.get("is_error") is True
    return Result(get_text(block, "tool_use_id"), "\n".join(texts), is_error, tuple(media))
