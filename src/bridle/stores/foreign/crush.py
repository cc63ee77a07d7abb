"""Read sessions of Crush: the tables `sessions` and `messages` of a project's `.crush/crush.db`.

A message has its parts as JSON: `[{"type": "text", "data": {"text": "…"}}, …]`. The database is untrusted:
it is opened read-only, its own functions and views are not trusted, and the number of steps of a query is
limited.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import msgspec

from bridle.core.errors import StoreError
from bridle.core.malformed import MALFORMED
from bridle.core.messages import Media, Part, Reasoning, Text
from bridle.stores.foreign.conversation import ConversationBuilder, Result, build_call
from bridle.stores.foreign.json_files import (
    MAX_FILES,
    MAX_LINE_BYTES,
    MAX_LINES,
    NO_JSON,
    ForeignSession,
    SourceFolder,
    get_table,
    get_text,
    open_regular,
)

DATABASE = Path(".crush") / "crush.db"
TOO_LONG = f"longer than {MAX_LINE_BYTES // 1024**2} MiB"
LEAST_MS = 10**11  # in 1973; as seconds it would be in the year 5138
MAX_STEPS = 20_000  # of 10,000 instructions each: some seconds

TOOLS = {
    "view": "read_file",
    "write": "write_file",
    "edit": "edit_file",
    "multiedit": "multi_edit",
    "fetch": "web_fetch",
}
"""Crush's tool names and Bridle's; other tools have the same name in both, or do not exist here."""
_ARGUMENTS = {"file_path": "path", "old_string": "old_str", "new_string": "new_str"}

_SESSIONS = """
SELECT id FROM sessions WHERE parent_session_id IS NULL ORDER BY updated_at, id LIMIT ?
"""
_MESSAGES = """
SELECT role, CASE WHEN length(parts) > ? THEN NULL ELSE parts END, is_summary_message, created_at
FROM messages WHERE session_id = ? ORDER BY created_at, rowid LIMIT ?
"""


def sources(folder: Path) -> list[SourceFolder]:
    """Return the sessions of a project, without those of sub-agents. Blocks; raises StoreError."""
    path = folder / DATABASE
    if not path.exists():
        return []
    place = SourceFolder("", path, folder)
    rows = list(_rows(place, _SESSIONS, (MAX_FILES,)))
    return [SourceFolder(key, path, folder) for (key,) in rows if isinstance(key, str)]


def read(source: SourceFolder) -> ForeignSession | None:
    """Read a session; None if it has no messages. Blocks; raises StoreError."""
    skipped: Counter[str] = Counter()
    builder = ConversationBuilder(skipped)
    titles = list(_rows(source, "SELECT substr(title, 1, 1000) FROM sessions WHERE id = ?", (source.key,)))
    for role, text, is_summary, at in _rows(source, _MESSAGES, (MAX_LINE_BYTES, source.key, MAX_LINES)):
        builder.now = _moment(at)
        if text is None:
            skipped[TOO_LONG] += 1
        elif (blocks := _blocks(text)) is None:
            skipped[NO_JSON] += 1
        elif not (is_summary and builder.has_begun):
            _tell(role, blocks, builder)
    conversation = builder.conversation()
    title = str(titles[0][0] or "") if titles else ""
    return ForeignSession(source.key, conversation, title) if conversation.messages else None


def _rows(source: SourceFolder, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    open_regular(source).close()
    steps = iter(range(MAX_STEPS))
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"file:{quote(str(source.path.resolve()))}?mode=ro", flags=flags)
        try:
            connection.set_busy_timeout(2000)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
            yield from connection.execute(query, values)
        finally:
            connection.close()
    except apsw.Error as error:
        raise StoreError(f"{source.path}: cannot be read as a database of Crush: {error}") from error


def _moment(at: Any) -> int:
    """Return a date in milliseconds since 1970; the column has also held seconds."""
    if not isinstance(at, int) or at < 0:
        return 0
    return at if at >= LEAST_MS else at * 1000


def _blocks(text: Any) -> list[dict[str, Any]] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError):
        return None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else None


def _tell(role: Any, blocks: list[dict[str, Any]], builder: ConversationBuilder) -> None:
    parts = [part for block in blocks if (part := _part(get_text(block, "type"), get_table(block, "data")))]
    if role == "assistant":
        builder.settle()
        builder.reply(parts)
    elif role == "tool":
        for block in blocks:
            if get_text(block, "type") == "tool_result":
                builder.result(_result(get_table(block, "data")))
    elif role == "user":
        builder.user(parts)


def _part(kind: str, data: dict[str, Any]) -> Part | None:
    match kind:
        case "text":
            return Text(get_text(data, "text"))
        case "reasoning":
            return Reasoning(get_text(data, "thinking"))
        case "binary":
            mime, coded = get_text(data, "MIMEType"), get_text(data, "Data")
            return Media(mime, coded, Path(get_text(data, "Path")).name) if mime and coded else None
        case "shell_command":
            return Text(f"$ {get_text(data, 'command')}\n{get_text(data, 'output')}")
        case "tool_call":
            name = get_text(data, "name")
            return build_call(
                get_text(data, "id"), TOOLS.get(name, name), _arguments(get_text(data, "input"))
            )
        case _:
            return None


def _arguments(text: str) -> dict[str, Any]:
    try:
        args = msgspec.json.decode(text or "{}")
    except MALFORMED:
        return {}
    return _renamed(args) if isinstance(args, dict) else {}


def _renamed(args: dict[str, Any]) -> dict[str, Any]:
    return {
        _ARGUMENTS.get(key, key): [_renamed(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
        for key, value in args.items()
    }


def _result(data: dict[str, Any]) -> Result:
    mime, coded = get_text(data, "mime_type"), get_text(data, "data")
    media = (Media(mime, coded),) if mime and coded else ()
    return Result(
        get_text(data, "tool_call_id"), get_text(data, "content"), data.get("is_error") is True, media
    )
