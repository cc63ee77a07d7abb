"""Converts results of MCP servers to what the model and the user see, without losing anything."""

import asyncio
import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import mcp_types as types
from jsonschema_rs import RegexOptions, Validator, validator_for
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from bridle.core.messages import Media, Text
from bridle.core.ports import ToolOutput
from bridle.core.schema import is_costly
from bridle.mcp.server_log import clean_line

MAX_MEDIA_BYTES = 20 * 1024 * 1024
MAX_PROBLEM_CHARS = 300
LARGE_CHARS = 256 * 1024
MANY_PARTS = 200

_MIME = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}")
_ANY = "application/octet-stream"
_Contents = TextResourceContents | BlobResourceContents


def is_large(result: CallToolResult) -> bool:
    """True if a result takes so long to process that it belongs in a thread."""
    sizes = (len(getattr(one, "text", None) or getattr(one, "data", None) or "") for one in result.content)
    return len(result.content) > MANY_PARTS or sum(sizes) > LARGE_CHARS


def convert_call_result(result: CallToolResult, schema: dict[str, Any] | None = None) -> ToolOutput:
    """Return the output of a call; a result that does not fit the tool's own schema is an error."""
    parts = [_part(one) for one in result.content]
    lines = [one for one in parts if isinstance(one, str)]
    structured = result.structured_content
    if structured is not None and not contains_content(structured, lines):
        lines.append(_json(structured))
    problem = _problem(structured, schema) if schema is not None and not result.is_error else ""
    if problem:
        lines.append(f"[the server broke its own schema: {problem}]")
    media = tuple(one for one in parts if isinstance(one, Media))
    return ToolOutput("\n".join(lines), is_error=result.is_error or bool(problem), media=media)


def convert_resource(result: ReadResourceResult) -> ToolOutput:
    """Return the content of a resource."""
    parts = [_contents(one, with_head=len(result.contents) > 1) for one in result.contents]
    media = tuple(one for one in parts if isinstance(one, Media))
    return ToolOutput("\n".join(one for one in parts if isinstance(one, str)), media=media)


def convert_prompt(result: GetPromptResult) -> tuple[Text | Media, ...]:
    """Return the messages of a prompt in order; those that are not the user's are marked."""
    parts: list[Text | Media] = []
    for message in result.messages:
        part = _part(message.content)
        mark = "" if message.role == "user" else f"[{message.role}]\n"
        if isinstance(part, Media):
            parts += [Text(mark)] if mark else []
            parts.append(part)
        elif part:
            parts.append(Text(mark + part))
    return tuple(parts)


def contains_content(structured: Any, lines: Sequence[str]) -> bool:
    """True if the lines already contain the structured content.

    Many servers wrap a value that is not an object as `{"result": …}`, and send a list as one text per item.
    """
    wanted = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        wanted.extend(structured.values())
    said = [_value(line) for line in lines]
    candidates: list[Any] = [*said, said, *lines, *([_value("\n".join(lines))] if len(lines) > 1 else [])]
    return any(_is_same(one, other) for one in wanted for other in candidates)


def _is_same(one: Any, other: Any) -> bool:
    """Compare as JSON does: True is not 1."""
    return one == other and _json(one, is_sorted=True) == _json(other, is_sorted=True)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _part(part: ContentBlock) -> str | Media:
    match part:
        case TextContent():
            return part.text
        case ImageContent() | AudioContent():
            return _media(part.data, part.mime_type, part.type)
        case EmbeddedResource():
            return _contents(part.resource, with_head=True)
        case ResourceLink():
            about = " ".join(filter(None, (part.title or part.name, part.description)))
            kind = f" ({clean_line(part.mime_type, 100)})" if part.mime_type else ""
            return f"[resource {clean_line(part.uri, 2000)}{kind}: {clean_line(about)}]"


def _contents(contents: _Contents, *, with_head: bool) -> str | Media:
    uri = clean_line(contents.uri, 2000)
    if isinstance(contents, TextResourceContents):
        return f"[resource {uri}]\n{contents.text}" if with_head and uri else contents.text
    return _media(contents.blob, contents.mime_type or _ANY, uri or "resource", name=uri.rpartition("/")[2])


def _media(data: str, mime: str, what: str, *, name: str = "") -> str | Media:
    """Return media, or a text that says why it is left out."""
    if len(data) > MAX_MEDIA_BYTES * 4 // 3 + 4:
        return f"[{what} left out: it is larger than {MAX_MEDIA_BYTES // 2**20} MiB]"
    try:
        b64decode(data, validate=True)
    except (NotBase64, ValueError):
        return f"[{what} left out: it is not base64]"
    mime = mime.lower().partition(";")[0].strip()
    return Media(mime if _MIME.fullmatch(mime) else _ANY, data, name)


def _problem(structured: Any, schema: dict[str, Any]) -> str:
    """Return how structured content differs from its announced schema; empty if it fits."""
    if structured is None:
        return "it announced structured content but sent none"
    if is_costly(schema, structured):
        return ""
    try:
        validator = _validator(_json(schema))
        error = next(iter(validator.iter_errors(structured)), None) if validator is not None else None
    except ValueError as broken:
        return f"the schema of its results is broken: {clean_line(str(broken), MAX_PROBLEM_CHARS)}"
    if error is None:
        return ""
    where = "/".join(map(str, error.instance_path))
    place = f" at {clean_line(where, 100)}" if where else ""
    message = clean_line(error.message, MAX_PROBLEM_CHARS)
    return f"its result does not fit the schema it announced{place}: {message}"


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator | None:
    """Compile a schema; `offline`, because an untrusted schema could name any address.

    None for one with patterns that could take forever. Raises ValueError if it is invalid.
    """
    try:
        return validator_for(schema, offline=True, pattern_options=RegexOptions())
    except ValueError:
        validator_for(schema, offline=True)
        return None


def _json(value: Any, *, is_sorted: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=is_sorted)


# ---------------------------------------------------------------------------- background calls
# Tool calls that run in the background and are polled (a "task" in revision 2025-11-25).
#
# Bridle waits for the result all the same: to the model such a call is like any other. A cancelled wait also
# cancels the task on the server.


MAX_S = 24 * 3600
_FIRST_S, _LEAST_S, _LONGEST_S = 0.5, 0.1, 10.0  # between two polls
_GOODBYE_S = 2.0

Tell = Callable[[str], Awaitable[None]]


async def call_in_background(
    session: ClientSession, tool: str, args: dict[str, Any], tell: Tell
) -> types.CallToolResult:
    """Start a tool, poll it until it is done, and return its result; raises MCPError.

    `tell` gets the task's status after each poll, as a sign of progress.
    """
    metadata = types.TaskMetadata(ttl=MAX_S * 1000)
    asked = types.CallToolRequest(
        params=types.CallToolRequestParams(name=tool, arguments=args, task=metadata)
    )
    task = (await session.send_request(asked, types.CreateTaskResult)).task
    try:
        return await _result(session, task, tell)
    except asyncio.CancelledError:
        goodbye = asyncio.create_task(_cancel(session, task.task_id))
        goodbye.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def _result(session: ClientSession, task: types.Task, tell: Tell) -> types.CallToolResult:
    while task.status == "working":
        await tell(task.status_message or task.status)
        every_s = _FIRST_S if task.poll_interval is None else task.poll_interval / 1000
        await asyncio.sleep(min(max(every_s, _LEAST_S), _LONGEST_S))
        look = types.GetTaskRequest(params=types.GetTaskRequestParams(task_id=task.task_id))
        task = await session.send_request(look, types.GetTaskResult)
    # A task that needs input asks for it while its result is awaited.
    want = types.GetTaskPayloadRequest(params=types.GetTaskPayloadRequestParams(task_id=task.task_id))
    return await session.send_request(want, types.CallToolResult)


async def _cancel(session: ClientSession, task_id: str) -> None:
    stop = types.CancelTaskRequest(params=types.CancelTaskRequestParams(task_id=task_id))
    with suppress(MCPError, TimeoutError):
        async with asyncio.timeout(_GOODBYE_S):
            await session.send_request(stop, types.CancelTaskResult)
