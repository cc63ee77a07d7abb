"""What tool handlers work with: the server's shared state, and one call of a client."""

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

from bridle.core.errors import BridleError
from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server.client import Client, NeedsAnswers
from bridle.surfaces.mcp_server.elicitation import form_of
from bridle.surfaces.mcp_server.runs import ClientRun, ClientRuns
from bridle.surfaces.shared.error_codes import classify_error
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


class Call(Struct, frozen=True):
    """One call of a tool."""

    desk: ServerContext
    client: Client
    params: CallToolRequestParams

    @property
    def api(self) -> SessionApi:
        """Return where the sessions are."""
        return self.desk.api


Handler = Callable[[Call], Awaitable[Answered]]


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


def input_required(held: ClientRun, stop: NeedsAnswers) -> InputRequiredResult:
    """Return questions; the client repeats the call with the answers, and the token identifies its run."""
    return InputRequiredResult(
        input_requests={
            str(call_id): ElicitRequest(params=form_of(asked)) for call_id, asked in stop.questions.items()
        },
        request_state=held.token,
    )
