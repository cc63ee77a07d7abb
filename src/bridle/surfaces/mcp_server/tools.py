"""The table of MCP tools: descriptions, schemas and handlers."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool, ToolAnnotations
from msgspec import Struct

from bridle.core.errors import BridleError
from bridle.surfaces.mcp_server import config_tools, meerkat_tools, run_tools, sessions
from bridle.surfaces.mcp_server.arguments import (
    ALL_SESSIONS_ARGS,
    ConfigArgs,
    FolderArgs,
    ResumeArgs,
    RunArgs,
    object_schema,
)
from bridle.surfaces.mcp_server.tool_context import Answered, Handler, ToolRequest, error_result
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
        "its answer. It asks for the approvals it needs; if it cannot ask, the run stops and names the "
        "rules that would allow the call. The session is kept: bridle_resume continues it.",
        Result,
    ),
    "bridle_resume": ToolDefinition(
        run_tools.resume,
        ResumeArgs,
        "Continue a session",
        "Continue a session with another prompt; without a prompt, resume its interrupted run.",
        Result,
    ),
    "bridle_sessions": ToolDefinition(
        sessions.sessions,
        ALL_SESSIONS_ARGS,
        "Sessions",
        "Read and control sessions. list: all, newest first. read: the state of one and what it waits for. "
        "history: its records. transcript: the conversation as Markdown. export: the session as Markdown, "
        "JSON or an HTML page. usage: what it and its sub-agents have used. "
        + "".join(f"{row.action}: {row.doc[0].lower()}{row.doc[1:]}. " for row in SESSION_QUERIES)
        + "cancel, steer (text reaches the active run), queue (text runs next), push (add text without a "
        "run), drop, decide (answer an approval), reply (answer a question), fork, rewind, compact, rename, "
        "label, archive, restore, delete.",
        sessions.ANY_ANSWER,
    ),
    "bridle_folder": ToolDefinition(
        config_tools.folder,
        FolderArgs,
        "Query a folder",
        "List the agents, skills, available models, rules or servers of a folder, or the usage of all "
        "sessions.",
        FolderView,
        changes=False,
    ),
    "bridle_config": ToolDefinition(
        config_tools.config,
        ConfigArgs,
        "Settings",
        "get: the user's settings file, or with a key the settings that apply in a folder; set: one "
        "setting, or all of them; patch: a JSON merge patch. Secrets are hidden. Only a caller that the "
        "user trusts may change settings.",
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


async def call_tool(call: ToolRequest) -> Answered:
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
