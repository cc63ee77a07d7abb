"""The agent: every request of an editor, answered through the session API."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

from acp import PROTOCOL_VERSION
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    DeleteSessionResponse,
    ForkSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from bridle import __version__
from bridle.core.errors import BridleError, SessionBusy, SessionNotFound, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.messages import Message, Text
from bridle.core.protocol import Archive, Delete, Prompt
from bridle.core.queries import ListSessions, Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.acp.content import Block, message_of
from bridle.surfaces.acp.errors import error_of_result, usage_of
from bridle.surfaces.acp.extension import answer
from bridle.surfaces.acp.mcp_servers import NamedServer, server_settings
from bridle.surfaces.acp.session import EditorClient, OpenSession
from bridle.surfaces.acp.session_options import MODE, Choices, read_menu, read_skills
from bridle.surfaces.acp.updates import note
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.session_calls import fork_session, origin
from bridle.surfaces.shared.skill_prompt import expand_in
from bridle.surfaces.shared.truncation import truncate_to
from bridle.system.dates import rfc3339

# ---------------------------------------------------------------------------- session pages
# The list of sessions for an editor, in pages.


PAGE = 100


def page_of(sessions: Sequence[SessionSummary], cwd: str | None, cursor: str | None) -> ListSessionsResponse:
    """Return sessions without sub-agents, last used first; raises UsageError for an invalid cursor.

    Editors create a session whenever they open a panel; sessions without messages are omitted.
    """
    wanted = [
        one
        for one in sessions
        if not one.sub_agent and not one.archived and cwd in (None, one.cwd) and one.last_seq > 1
    ]
    wanted.sort(key=_place, reverse=True)
    if cursor is not None:
        after = _read_cursor(cursor)
        wanted = [one for one in wanted if _place(one) < after]
    page, rest = wanted[:PAGE], wanted[PAGE:]
    return ListSessionsResponse(
        sessions=[
            SessionInfo(
                session_id=one.id, cwd=one.cwd, title=one.title or None, updated_at=rfc3339(one.updated_at)
            )
            for one in page
        ],
        next_cursor=_write_cursor(page[-1]) if rest else None,
    )


def _place(one: SessionSummary) -> tuple[int, str]:
    return one.updated_at, one.id


def _write_cursor(last: SessionSummary) -> str:
    return urlsafe_b64encode(f"{last.updated_at}:{last.id}".encode()).decode()


def _read_cursor(cursor: str) -> tuple[int, str]:
    try:
        at, _, name = urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return int(at), name
    except ValueError:
        raise UsageError("unknown cursor") from None


# ---------------------------------------------------------------------------- agent


MAX_SESSIONS = 64  # open at once; each is followed
MAX_ANSWER_BYTES = 15 * 1024 * 1024  # for editors that read lines no longer than Bridle does


class BridleAgent:
    """The methods that the official package calls for requests; they raise BridleError, RequestError."""

    def __init__(self, api: SessionApi, folders: Folders, screen: EditorClient) -> None:
        self._api = api
        self._folders = folders
        self._screen = screen
        self._open: dict[SessionId, OpenSession] = {}
        self._opening: set[SessionId] = set()
        """Sessions being opened: a session may be followed only once."""
        self._later: set[asyncio.Task[None]] = set()

    async def aclose(self) -> None:
        """Close every session; each decides whether to cancel its run."""
        for task in self._later:
            task.cancel()
        sessions, self._open = list(self._open.values()), {}
        await asyncio.gather(*(one.aclose() for one in sessions))

    # ------------------------------------------------------------------ initialization

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
    ) -> InitializeResponse:
        """Return the agent's version and capabilities."""
        self._screen.capabilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="bridle", title="Bridle", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    delete=SessionDeleteCapabilities(),
                    fork=SessionForkCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str) -> AuthenticateResponse:
        """Accept every client: it was able to start the process."""
        return AuthenticateResponse()

    # ------------------------------------------------------------------ sessions

    async def new_session(
        self,
        cwd: str,
        mcp_servers: Sequence[NamedServer],
        additional_directories: object = None,
    ) -> NewSessionResponse:
        """Create a session."""
        folder = await self._folder(cwd)
        server_settings(mcp_servers)  # raises before anything is created
        session = await self._api.create(cwd=folder)
        try:
            opened = await self._enter(session, folder, mcp_servers)
            await opened.follow()
        except BaseException:
            await self._leave(session)
            with suppress(BridleError):
                await self._api.submit(session, Delete())
            raise
        self._after(opened.send_commands(opened.choices.menu.skills))
        choices = opened.choices
        return NewSessionResponse(session_id=session, modes=choices.modes(), config_options=choices.config())

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[NamedServer],
        additional_directories: object = None,
    ) -> LoadSessionResponse:
        """Open an existing session, and send its whole conversation."""
        opened = await self._take_up(session_id, cwd, mcp_servers, tells=True)
        choices = opened.choices
        return LoadSessionResponse(modes=choices.modes(), config_options=choices.config())

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        mcp_servers: Sequence[NamedServer] | None = None,
        additional_directories: object = None,
    ) -> ResumeSessionResponse:
        """Open an existing session whose conversation the editor still has."""
        opened = await self._take_up(session_id, cwd, mcp_servers or (), tells=False)
        choices = opened.choices
        return ResumeSessionResponse(modes=choices.modes(), config_options=choices.config())

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        mcp_servers: Sequence[NamedServer] | None = None,
        additional_directories: object = None,
    ) -> ForkSessionResponse:
        """Fork a session."""
        await self._known(session_id, await self._folder(cwd))
        child = await fork_session(self._api, SessionId(session_id))
        opened = await self._take_up(child, cwd, mcp_servers or (), tells=False)
        choices = opened.choices
        return ForkSessionResponse(session_id=child, modes=choices.modes(), config_options=choices.config())

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None) -> ListSessionsResponse:
        """Return a page of the sessions."""
        folder = await asyncio.to_thread(self._folders.path, cwd) if cwd else None
        return page_of(await self._api.ask(ListSessions()), folder, cursor)

    async def close_session(self, session_id: str) -> CloseSessionResponse:
        """Cancel the session's run and close it; it can be loaded again."""
        opened = self._session(session_id)
        await opened.stop("the session was closed in the editor")
        await self._leave(opened.id)
        return CloseSessionResponse()

    async def delete_session(self, session_id: str) -> DeleteSessionResponse:
        """Archive a session: it is no longer listed, and only Bridle's own commands still find it."""
        session = _session_id(session_id)
        if session in self._open:
            await self.close_session(session_id)
        await self._api.submit(session, Archive())
        return DeleteSessionResponse()

    # ------------------------------------------------------------------ choices

    async def set_session_mode(self, mode_id: str, session_id: str) -> SetSessionModeResponse:
        """Set the mode from the next prompt on."""
        opened = self._session(session_id)
        opened.choices.choose(MODE, mode_id)
        self._after(opened.send(opened.choices.config_update()))
        return SetSessionModeResponse()

    async def set_config_option(
        self, session_id: str, config_id: str, value: object
    ) -> SetSessionConfigOptionResponse:
        """Set the mode, model or agent of the next prompt."""
        opened = self._session(session_id)
        before = opened.choices.mode
        opened.choices.choose(config_id, value)
        if opened.choices.mode != before:
            self._after(opened.send(opened.choices.mode_update()))
        return SetSessionConfigOptionResponse(config_options=opened.choices.config())

    # ------------------------------------------------------------------ prompts

    async def prompt(self, session_id: str, prompt: Sequence[Block]) -> PromptResponse:
        """Run a prompt; one sent while a run is active is queued."""
        opened = self._session(session_id)
        message = await self._expanded(message_of(prompt, opened.cwd), opened.cwd)
        await opened.servers_settled()
        ended = await opened.prompt(Prompt(message, opened.choices.options))
        if ended is None:
            return PromptResponse(stop_reason="cancelled")
        if (error := error_of_result(ended.result)) is not None:
            raise error
        if ended.result.outcome != "completed" and ended.result.reason:
            await opened.send(note(ended.result.reason))
        self._after(self._tell_news(opened))
        result = ended.result
        return PromptResponse(
            stop_reason=ended.stop_reason,
            usage=usage_of(result),
            field_meta={
                "bridle": {"outcome": result.outcome, "runId": result.run_id, "reason": result.reason}
            },
        )

    async def cancel(self, session_id: str) -> None:
        """Cancel the run of a session; its end is the answer to its prompt."""
        if (opened := self._open.get(SessionId(session_id))) is not None:
            await opened.cancel("cancelled in the editor")

    async def _expanded(self, message: Message, cwd: str) -> Message:
        """Replace a leading `/name` by the text of the skill."""
        first, *others = message.parts
        if not isinstance(first, Text) or not first.text.startswith("/"):
            return message
        text = await asyncio.to_thread(expand_in, first.text, cwd, self._folders.environ)
        return Message("user", (Text(text), *others))

    # ------------------------------------------------------------------ extensions

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Handle a request of Bridle's extension, such as `_bridle/command`."""
        found = await answer(method, params, self._api, self._folders, self._open)
        plain: dict[str, Any] = await asyncio.to_thread(truncate_to, found, MAX_ANSWER_BYTES)
        return plain

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore unknown notifications."""

    # ------------------------------------------------------------------ opening and closing

    async def _take_up(
        self,
        session_id: str,
        cwd: str,
        servers: Sequence[NamedServer],
        *,
        tells: bool,
    ) -> OpenSession:
        folder = await self._folder(cwd)
        server_settings(servers)
        await self._known(session_id, folder)
        session = SessionId(session_id)
        self._check_free(session)
        if (before := self._open.get(session)) is not None and before.is_running:
            raise SessionBusy(f'session "{session}" is open here and runs')
        self._opening.add(session)
        try:
            await self._leave(session)
            opened = await self._enter(session, folder, servers)
            await opened.take_up(tells=tells)
        except BaseException:
            await self._leave(session)
            raise
        finally:
            self._opening.discard(session)
        self._after(opened.send_commands(opened.choices.menu.skills))
        return opened

    async def _enter(self, session: SessionId, cwd: str, servers: Sequence[NamedServer]) -> OpenSession:
        if len(self._open) >= MAX_SESSIONS:
            raise SessionBusy(f"{MAX_SESSIONS} sessions are open already", hint="close one first")
        menu = await asyncio.to_thread(read_menu, self._folders, cwd)
        known = (await self._api.ask(Status(session))).facts
        choices = Choices(menu, known.created.agent, known.model, known.options.mode)
        opened = OpenSession(self._api, session, cwd, choices, self._screen)
        self._open[session] = opened
        if servers:
            settings = await asyncio.to_thread(self._folders.settings, cwd)
            opened.provide_server_tools(server_settings(servers), settings, self._folders.environ)
        return opened

    async def _leave(self, session: SessionId) -> None:
        if (opened := self._open.pop(session, None)) is not None:
            await opened.aclose()

    async def _known(self, session_id: str, cwd: str) -> None:
        """Check that a session exists and works in this folder; raises SessionNotFound, UsageError."""
        created = await origin(self._api, _session_id(session_id))
        if created.cwd != cwd:
            raise UsageError(f"cwd: the session works in {created.cwd}, not in {cwd}")

    async def _folder(self, cwd: str) -> str:
        if not cwd:
            raise UsageError("cwd: is empty", hint="give its absolute path")
        return await asyncio.to_thread(self._folders.path, cwd)

    def _check_free(self, session: SessionId) -> None:
        if session in self._opening:
            raise SessionBusy(f'session "{session}" is being opened')

    def _session(self, session_id: str) -> OpenSession:
        self._check_free(SessionId(session_id))
        opened = self._open.get(SessionId(session_id))
        if opened is None:
            raise SessionNotFound(
                f'session "{session_id[:200]}" is not open here', hint="session/load or session/new"
            )
        return opened

    async def _tell_news(self, opened: OpenSession) -> None:
        """Send skills that were added to the folder meanwhile."""
        await opened.send_commands(await asyncio.to_thread(read_skills, self._folders, opened.cwd))

    def _after(self, sending: Coroutine[Any, Any, None]) -> None:
        """Send an update after the current request is answered: before that the editor has no session id."""

        async def send() -> None:
            with suppress(BridleError, ConnectionError):
                await sending

        task = asyncio.create_task(send())
        self._later.add(task)
        task.add_done_callback(self._later.discard)


def _session_id(text: str) -> SessionId:
    if not is_session_id(text):
        raise SessionNotFound(f"{text[:200]!r} cannot name a session")
    return SessionId(text)
