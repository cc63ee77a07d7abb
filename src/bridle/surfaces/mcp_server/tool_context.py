"""What tool handlers work with: the server's shared state, a call, and the limits of what a caller may do."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from mcp.server.subscriptions import SubscriptionBus
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    InputRequiredResult,
    TextContent,
)
from msgspec import Struct

from bridle.config.agents import load_agent
from bridle.config.project_keys import STRICTNESS
from bridle.core.budget import Limits
from bridle.core.errors import BridleError
from bridle.core.protocol import LIKE_AGENT, RunOptions, SessionOptions
from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server.client import Client, NeedsAnswers
from bridle.surfaces.mcp_server.elicitation import form_of
from bridle.surfaces.mcp_server.runs import ClientRun, ClientRuns
from bridle.surfaces.shared.error_codes import CAPABILITY_UNAVAILABLE, Refused, classify_error
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.folder_queries import FolderQueries

CODE = "bridle/code"
"""The metadata key of an error's code, next to its text."""

Answered = CallToolResult | InputRequiredResult


class ServerContext(Struct, frozen=True):
    """What all calls share."""

    api: SessionApi
    runs: ClientRuns
    folders: Folders
    bus: SubscriptionBus
    trusts_caller: bool = False
    """True if callers may also loosen the user's rules."""

    @property
    def about_folders(self) -> FolderQueries:
        """Return what answers questions about folders."""
        return FolderQueries(self.api, self.folders)


class ToolRequest(Struct, frozen=True):
    """One call of a tool."""

    context: ServerContext
    client: Client
    params: CallToolRequestParams

    @property
    def api(self) -> SessionApi:
        """Return where the sessions are."""
        return self.context.api


Handler = Callable[[ToolRequest], Awaitable[Answered]]


def tool_result(text: str, value: Any = None, *, is_error: bool = False) -> CallToolResult:
    """Return a result with a text for people and models, and a value for programs."""
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=None if value is None else msgspec.to_builtins(value, str_keys=True),
        is_error=is_error,
    )


def error_result(error: BridleError) -> CallToolResult:
    """Return an error result that a model can act on."""
    return CallToolResult(
        content=[TextContent(text=str(error))],
        is_error=True,
        _meta={CODE: classify_error(error).code},
    )


def input_required(client_run: ClientRun, stop: NeedsAnswers) -> InputRequiredResult:
    """Return questions; the client repeats the call with the answers, and the token identifies its run."""
    return InputRequiredResult(
        input_requests={
            str(call_id): ElicitRequest(params=form_of(asked)) for call_id, asked in stop.questions.items()
        },
        request_state=client_run.token,
    )


# ---------------------------------------------------------------------------- caller trust


FLAG = "--trust-caller"


def require_trust(context: ServerContext, what: str) -> None:
    """Raise Refused unless the caller is trusted to do what only the user may do."""
    if not context.trusts_caller:
        raise Refused(
            CAPABILITY_UNAVAILABLE,
            f"{what}: only the user may do that",
            hint=f"bridle mcp serve {FLAG} lets it",
        )


async def check_options(
    context: ServerContext,
    options: RunOptions,
    *,
    cwd: str,
    agent: str,
    made: SessionOptions = LIKE_AGENT,
) -> None:
    """Check that run options exceed no setting of the user; raises Refused, ConfigError.

    `made` are the options of an existing session, which may differ from its agent in both directions.
    """
    usual = RunOptions()
    for name in ("allow", "until", "hooks"):
        if getattr(options, name) != getattr(usual, name):
            require_trust(context, name)
    if context.trusts_caller or (options.mode, options.limits) == (usual.mode, usual.limits):
        return
    settings = await asyncio.to_thread(context.folders.settings, options.cwd or cwd)
    its = await asyncio.to_thread(load_agent, options.agent or agent or settings.agent, settings)
    mode, limits = made.mode or its.agent.mode, made.limits.over(its.agent.limits)
    if options.mode is not None and STRICTNESS.index(options.mode) > STRICTNESS.index(mode):
        require_trust(context, f'a looser mode than "{mode}"')
    for name in Limits.__struct_fields__:
        wanted, most = getattr(options.limits, name), getattr(limits, name)
        if wanted is not None and most is not None and wanted > most:
            require_trust(context, f"more {name} than {most:g}")
