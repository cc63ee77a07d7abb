"""The table of MCP tools: descriptions, schemas and handlers."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool, ToolAnnotations
from msgspec import Struct

from bridle.core.errors import BridleError
from bridle.surfaces.mcp_server import config_tools, folder_tool, meerkat_tools, run_tools, sessions
from bridle.surfaces.mcp_server.arguments import (
    ALL_SESSIONS_ARGS,
    ConfigArgs,
    FolderArgs,
    ResumeArgs,
    RunArgs,
    object_schema,
)
from bridle.surfaces.mcp_server.tool_context import Answered, Call, Handler, error_result
from bridle.surfaces.shared.folder_queries import FolderView
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.session_queries import SESSION_QUERIES


class ToolDefinition(Struct, frozen=True):
    """One tool."""

    handler: Handler
    takes: type[Struct]
    title: str
    description: str
    answers: type[Struct] | None = None
    changes: bool = True
    """False for a tool that only reads."""
    is_ours: bool = True
    """True if it returns failures as results; Meerkat's tools raise protocol errors."""

    def tool(self, name: str) -> Tool:
        """Return the tool's definition for clients."""
        hints = ToolAnnotations(
            read_only_hint=not self.changes,
            destructive_hint=self.changes,
            open_world_hint=self.changes,
        )
        return Tool(
            name=name,
            title=self.title,
            description=self.description,
            input_schema=object_schema(self.takes),
            output_schema=object_schema(self.answers) if self.answers is not None else None,
            annotations=hints,
        )


OFFERS: Mapping[str, ToolDefinition] = {
    "bridle_run": ToolDefinition(
        run_tools.run,
        RunArgs,
        "Run an agent",
        "Let an agent work on a prompt in a folder, with tools for files, commands and the web, and return "
        "its answer. What needs an approval is asked for; where nobody can be asked the run stops and says "
        "which rules would let it through. The session stays: bridle_resume goes on in it.",
        Result,
    ),
    "bridle_resume": ToolDefinition(
        run_tools.resume,
        ResumeArgs,
        "Go on in a session",
        "Go on in a session with a further prompt, or without one with a run that was cut off.",
        Result,
    ),
    "bridle_sessions": ToolDefinition(
        sessions.sessions,
        ALL_SESSIONS_ARGS,
        "Sessions",
        "Look at sessions and tell them something. list: all, newest first. read: how one is and what it "
        "waits for. history: its records. transcript: the conversation as Markdown. export: the same, or "
        "all of it as JSON, or as a page. usage: what it and its sub-agents have used. "
        + "".join(f"{row.action}: {row.doc[:1].lower()}{row.doc[1:]}. " for row in SESSION_QUERIES)
        + "cancel, steer (text reaches the active run), queue (text runs next), drop, decide (answer "
        "an approval), reply (answer a question), fork, rewind, compact, rename, archive, restore, delete.",
        sessions.ANY_ANSWER,
    ),
    "bridle_folder": ToolDefinition(
        folder_tool.folder,
        FolderArgs,
        "What is in a folder",
        "Look at what there is in a folder: the agents that bridle_run takes, skills, the models that can be "
        "asked, the rules that hold, how tool servers are; or at the stats of all sessions.",
        FolderView,
        changes=False,
    ),
    "bridle_config": ToolDefinition(
        config_tools.config,
        ConfigArgs,
        "Settings",
        "get: what the user's settings file says, or with a key which settings hold in a folder; set: one "
        "setting, or all of them; patch: a JSON merge patch. Secrets are hidden. Only a caller whom the "
        "user trusts may change something.",
        config_tools.ConfigAnswer,
    ),
    "meerkat_run": ToolDefinition(
        meerkat_tools.run,
        meerkat_tools.MeerkatRunArgs,
        "Run an agent (Meerkat)",
        "Run a new agent with the given prompt. With `tools` the agent may call tools of yours: then the "
        "answer has the status pending_tool_call, and meerkat_resume takes their results.",
        is_ours=False,
    ),
    "meerkat_resume": ToolDefinition(
        meerkat_tools.resume,
        meerkat_tools.MeerkatResumeArgs,
        "Go on in a session (Meerkat)",
        "Go on in a session with a prompt, or with the results of tools that it waits for.",
        is_ours=False,
    ),
    "meerkat_config": ToolDefinition(
        config_tools.meerkat_config,
        config_tools.MeerkatConfigArgs,
        "Settings (Meerkat)",
        "Get, set or patch the settings.",
        is_ours=False,
    ),
    "meerkat_capabilities": ToolDefinition(
        meerkat_tools.list_capabilities,
        meerkat_tools.NoArgs,
        "Capabilities (Meerkat)",
        "List what is offered here of Meerkat's capabilities.",
        changes=False,
        is_ours=False,
    ),
}


def list_tools() -> list[Tool]:
    """Return all tool definitions."""
    return [offer.tool(name) for name, offer in OFFERS.items()]


def input_schema(name: str) -> dict[str, Any] | None:
    """Return the input schema of a tool; None if there is no such tool."""
    return object_schema(OFFERS[name].takes) if name in OFFERS else None


async def call_tool(call: Call) -> Answered:
    """Execute a call; raises MCPError where the protocol requires an error."""
    offer = OFFERS.get(call.params.name)
    if offer is None:
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {call.params.name[:80]}")
    try:
        return await offer.handler(call)
    except BridleError as error:
        if offer.is_ours:
            return error_result(error)
        raise meerkat_tools.protocol_error(error) from error
