"""`bridle_folder`: agents, skills, models, rules, servers or stats of a folder."""

import asyncio

import msgspec

from bridle.surfaces.mcp_server.arguments import FolderArgs, read_arguments
from bridle.surfaces.mcp_server.sessions import MAX_TEXT_CHARS
from bridle.surfaces.mcp_server.tool_context import Answered, Call, tool_result
from bridle.surfaces.shared.truncation import truncate_to


async def folder(call: Call) -> Answered:
    """Return the requested topic of a folder."""
    args = read_arguments(call.params.arguments, FolderArgs)
    found = await call.desk.about_folders.folder(args.what, args.cwd)
    view = await asyncio.to_thread(truncate_to, found, MAX_TEXT_CHARS)
    return tool_result(msgspec.json.encode(view[args.what]).decode(), view)
