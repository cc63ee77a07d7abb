"""An editor: the client of the official package, on a socket pair with Bridle's agent."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import connect_to_agent
from acp.client.connection import ClientSideConnection
from acp.connection import StreamEvent
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from bridle.core.session_api import SessionApi
from bridle.surfaces.acp.server import serve_editor
from bridle.surfaces.shared.folder_info import Folders
from tests.patience import PATIENCE_S

FORMS = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))

Choose = Callable[[ToolCallUpdate, list[PermissionOption]], str | None]


class Editor:
    """Records updates, and answers requests."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.forms: list[dict[str, Any]] = []
        self.form_answer: dict[str, Any] = {"action": "decline"}
        self.choose: Choose = lambda call, options: "once"
        self.go = asyncio.Event()
        """Permission requests are answered when it is set."""
        self.go.set()
        self.withdrawn: list[Any] = []
        """The ids of requests that need not be answered any more."""
        self._news = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        told = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        async with self._news:
            self.updates.append(told)
            self._news.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        async with self._news:
            self.asked.append(
                {
                    "call": tool_call.model_dump(mode="json", by_alias=True, exclude_none=True),
                    "options": [(one.option_id, one.name, one.kind) for one in options],
                }
            )
            self._news.notify_all()
        await self.go.wait()
        chosen = self.choose(tool_call, options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        shape = mode.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.forms.append({"message": message, **shape})
        return self.form_answer

    async def observe(self, event: StreamEvent) -> None:
        """Look at what passes, for what the official package has no method for."""
        if event.message.get("method") == "$/cancel_request":
            async with self._news:
                self.withdrawn.append(event.message["params"]["requestId"])
                self._news.notify_all()

    def on_connect(self, conn: Any) -> None:
        pass

    async def until(self, is_there: Callable[[], bool]) -> None:
        """Wait until something has come."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(is_there)

    def kinds(self) -> list[str]:
        """Return what kinds of updates came, in order."""
        return [update["sessionUpdate"] for update in self.updates]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the updates of one kind."""
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def said(self, kind: str = "agent_message_chunk") -> str:
        """Return the words of all chunks of a kind."""
        return "".join(update["content"]["text"] for update in self.of(kind))


async def wires() -> tuple[
    tuple[asyncio.StreamReader, asyncio.StreamWriter], tuple[asyncio.StreamReader, asyncio.StreamWriter]
]:
    """Return both ends of a connection, as streams."""
    ours, theirs = socket.socketpair()
    return await asyncio.open_connection(sock=ours), await asyncio.open_connection(sock=theirs)


@asynccontextmanager
async def editing(
    api: SessionApi, cwd: Path, environ: Mapping[str, str], capabilities: ClientCapabilities | None = None
) -> AsyncIterator[tuple[ClientSideConnection, Editor]]:
    """Connect an editor to a new agent that is already initialized."""
    (reader, writer), (own_reader, own_writer) = await wires()
    serving = asyncio.create_task(serve_editor(api, Folders(environ, str(cwd)), own_reader, own_writer))
    editor = Editor()
    connection = connect_to_agent(
        editor,  # type: ignore[arg-type]
        writer,
        reader,
        use_unstable_protocol=True,
        observers=[editor.observe],
    )
    try:
        await connection.initialize(1, capabilities or ClientCapabilities())
        yield connection, editor
    finally:
        await connection.close()
        writer.close()
        async with asyncio.timeout(PATIENCE_S):
            await serving
