"""Sessions as MCP resources (the list, transcripts, records), and skills as MCP prompts."""

import asyncio
from collections.abc import Sequence

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from bridle.app import skills_in
from bridle.core.errors import SessionNotFound
from bridle.core.protocol import Record
from bridle.core.queries import ListSessions, Records
from bridle.core.session_api import SessionApi
from bridle.core.skill import Skill, render
from bridle.core.summary import SessionSummary
from bridle.surfaces.mcp_server.sessions import MAX_TEXT_CHARS, bounded
from bridle.surfaces.mcp_server.uris import LIST, RECORDS, TRANSCRIPT, parse_uri, session_uri
from bridle.surfaces.shared.export import to_markdown
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.terminal import one_line

PAGE = 100
MAX_LISTED = 1_000
JSON = "application/json"
MARKDOWN = "text/markdown"


async def list_resources(api: SessionApi, cursor: str | None) -> ListResourcesResult:
    """Return a page of sessions, newest first; the first page starts with the list resource."""
    start = _start(cursor)
    sessions = await api.ask(ListSessions())
    page = sessions[start : start + PAGE]
    listed = [_session(session) for session in page]
    if start == 0:
        listed.insert(0, Resource(uri=LIST, name="sessions", title="All sessions", mime_type=JSON))
    more = start + PAGE < len(sessions)
    return ListResourcesResult(resources=listed, next_cursor=str(start + PAGE) if more else None)


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 9:
        raise MCPError(INVALID_PARAMS, "unknown cursor")
    return int(cursor)


def _session(session: SessionSummary) -> Resource:
    return Resource(
        uri=session_uri(session.id),
        name=str(session.id),
        title=one_line(session.title) or None,
        description=f"{session.agent} in {session.cwd}",
        mime_type=MARKDOWN,
    )


def list_templates() -> ListResourceTemplatesResult:
    """Return the URI templates."""
    transcript = ResourceTemplate(
        uri_template=TRANSCRIPT, name="session", title="The transcript of a session", mime_type=MARKDOWN
    )
    records = ResourceTemplate(
        uri_template=RECORDS, name="records", title="The records of a session", mime_type=JSON
    )
    return ListResourceTemplatesResult(resource_templates=[transcript, records])


async def read_resource(api: SessionApi, uri: str) -> ReadResourceResult:
    """Return the content of a URI; raises MCPError."""
    if uri == LIST:
        return _text(uri, JSON, msgspec.json.encode((await api.ask(ListSessions()))[:MAX_LISTED]).decode())
    found = parse_uri(uri)
    if found is None:
        raise _missing(uri)
    session, wants_records = found
    try:
        records = await api.ask(Records(session))
    except SessionNotFound:
        raise _missing(uri) from None
    if wants_records:
        return _text(uri, JSON, _encoded(records))
    return _text(uri, MARKDOWN, bounded(to_markdown(records)))


def _encoded(records: Sequence[Record]) -> str:
    """Encode records as one JSON list; only the newest if all are too large."""
    kept: list[bytes] = []
    size = 0
    for record in reversed(records):
        data = msgspec.json.encode(record)
        size += len(data)
        if kept and size > MAX_TEXT_CHARS:
            break
        kept.append(data)
    return f"[{b','.join(reversed(kept)).decode()}]"


def _text(uri: str, mime_type: str, text: str) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def _missing(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri[:400]})


# ---------------------------------------------------------------------------- prompts


ARGUMENTS = "arguments"
MAX_ARGUMENT_CHARS = 1024 * 1024


async def list_prompts(folders: Folders) -> ListPromptsResult:
    """Return the folder's skills that a person may call; raises BridleError."""
    return ListPromptsResult(prompts=[_prompt(skill) for skill in await _skills(folders)])


async def get_prompt(folders: Folders, params: GetPromptRequestParams) -> GetPromptResult:
    """Return the text of a skill with its arguments inserted; raises BridleError, MCPError."""
    skill = next((one for one in await _skills(folders) if one.name == params.name), None)
    if skill is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")
    given = params.arguments or {}
    if extra := sorted(given.keys() - {ARGUMENTS}):
        raise MCPError(INVALID_PARAMS, f"Unknown argument: {extra[0][:80]}")
    arguments = given.get(ARGUMENTS, "")
    if len(arguments) > MAX_ARGUMENT_CHARS:
        raise MCPError(INVALID_PARAMS, "The arguments are too long")
    text = render(skill, arguments, folders.usual).removesuffix("\n\n---\n\n")
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=skill.description or None, messages=[message])


async def _skills(folders: Folders) -> list[Skill]:
    found = await asyncio.to_thread(lambda: skills_in(folders.settings()))
    return [skill for skill in found if skill.user_invocable]


def _prompt(skill: Skill) -> Prompt:
    argument = PromptArgument(
        name=ARGUMENTS, description=skill.argument_hint or "The text after its name", required=False
    )
    return Prompt(name=skill.name, description=skill.description or None, arguments=[argument])
