"""The JSON-RPC methods, except those that start runs, and their parameters."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, defstruct, field
from msgspec.structs import asdict

from bridle.app import skills_in
from bridle.core.codec import encode
from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Archive, Command, Delete, Prompt, Resume, Steer
from bridle.core.queries import IsRunning, ListSessions, Peers, Records, WriteToPeer
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.summary import SessionSummary, has_labels
from bridle.surfaces.meerkat.config import ConfigEnvelope, UserConfig
from bridle.surfaces.meerkat.contract import Capabilities, build_capabilities, parse_contract
from bridle.surfaces.meerkat.requests import CallbackTool, CommsParams
from bridle.surfaces.meerkat.results import (
    History,
    SessionCounts,
    SessionInfo,
    SessionList,
    SessionRow,
    count_session,
    history,
    session_info,
    session_row,
)
from bridle.surfaces.meerkat.skills import SkillList, SkillText, skill_list, skill_text
from bridle.surfaces.rpc.runs import RpcRuns, parse_session_id
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.rpc.streams import Streams
from bridle.surfaces.rpc.tools import RpcClientTools
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.folder_info import RuleList
from bridle.surfaces.shared.folder_queries import FolderQueries
from bridle.surfaces.shared.run_driver import resume_if_interrupted
from bridle.surfaces.shared.session_calls import export_session, fork_session, read_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.usage import AllStats, Stats, count_session_usage
from bridle.surfaces.shared.validation_error import format_validation_error

MAX_ROWS = 1_000
MAX_RECORDS = 1_000
MAX_READING = 4  # sessions at once
MAX_COUNTED = 10_000  # sessions whose size is cached
MARGIN_BYTES = 2_000  # of a line, for the fields around a page

Page = Annotated[int, Meta(ge=0, le=MAX_ROWS)]
Offset = Annotated[int, Meta(ge=0, le=2**53)]


class Params(Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters."""


class ClientCapabilities(Struct, frozen=True):
    """Optional capabilities of a client."""

    approvals: bool = False


class InitializeParams(Struct, frozen=True):
    """Describes the client; unknown fields are ignored."""

    capabilities: ClientCapabilities = ClientCapabilities()
    contract_version: str = ""
    """The contract version to use, unless it was set when the server started."""


class SessionParams(Params, frozen=True, forbid_unknown_fields=True):
    session_id: str


class ListParams(Params, frozen=True, forbid_unknown_fields=True):
    limit: Page = 100
    offset: Offset = 0
    labels: dict[str, str] | None = None
    archived: bool = False


class HistoryParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    offset: Offset = 0
    limit: Page | None = None


class RegisterParams(Params, frozen=True, forbid_unknown_fields=True):
    tools: list[CallbackTool]


class FolderParams(Params, frozen=True, forbid_unknown_fields=True):
    cwd: str = ""


class SkillParams(FolderParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    source: str | None = None
    """Ignored: there is only one source."""


class StreamParams(Params, frozen=True, forbid_unknown_fields=True):
    stream_id: str


class WatchParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    after: Offset | None = 0
    """Null for new items only."""


class CommandParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    command: Command


class ForkParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    at: Offset | None = None
    messages: Offset | None = None


class RecordsParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    after: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_RECORDS)] = MAX_RECORDS


class ConfigParams(Struct, frozen=True):
    """The settings, or wrapped as `config` or `patch`."""

    config: dict[str, Any] | None = None
    patch: dict[str, Any] | None = None
    expected_generation: int | None = None


class ServerInfo(Struct, frozen=True):
    """Describes the server."""

    name: str
    version: str


class Initialized(Struct, frozen=True):
    """What the server offers."""

    server_info: ServerInfo
    contract_version: str
    methods: list[str] = field(default_factory=list)


class Methods:
    """The methods of one client, except those that start runs."""

    def __init__(self, context: RpcContext, runs: RpcRuns, streams: Streams, tools: RpcClientTools) -> None:
        self._context = context
        self._api: SessionApi = context.api
        self._runs = runs
        self._streams = streams
        self._tools = tools
        self._counted: dict[tuple[SessionId, int], SessionCounts] = {}

    # ------------------------------------------------------------------ server

    async def initialize(self, params: InitializeParams, methods: list[str]) -> Initialized:
        """Start the connection; a client that answers approvals declares it here. Raises UsageError."""
        if params.contract_version:
            self._context.contract = parse_contract(params.contract_version)
        self._runs.has_approvals = params.capabilities.approvals
        version = str(self._context.contract)
        return Initialized(ServerInfo("bridle", self._context.version), version, methods)

    async def capabilities(self, _: Params) -> Capabilities:
        """List the server's capabilities."""
        has_comms = await asyncio.to_thread(self._context.folders.has_comms)
        return build_capabilities(self._context.contract, has_comms=has_comms)

    async def list_skills(self, params: FolderParams) -> SkillList:
        """List the skills of a folder."""
        await self._context.may_look("skills/list")
        return await asyncio.to_thread(
            lambda: skill_list(skills_in(self._context.folders.settings(params.cwd)))
        )

    async def inspect_skill(self, params: SkillParams) -> SkillText:
        """Return one skill with its text."""
        await self._context.may_look("skills/inspect")
        return await asyncio.to_thread(
            lambda: skill_text(skills_in(self._context.folders.settings(params.cwd)), params.id)
        )

    async def send_to_peer(self, params: CommsParams) -> dict[str, Any]:
        """Send a message to a peer, or add an input to the session."""
        session = parse_session_id(params.session_id)
        if params.kind != "input":
            return params.receipt(await self._api.ask(WriteToPeer(session, params.message)))
        message = user_message(params.body)
        steers = params.handling_mode == "steer" and await self._api.ask(IsRunning(session))
        receipt = await self.command(
            CommandParams(session_id=session, command=Steer(message) if steers else Prompt(message))
        )
        interaction = receipt.item_id or receipt.run_id or ""
        return {"kind": "input_accepted", "interaction_id": interaction, "stream_reserved": False}

    async def list_peers(self, params: SessionParams) -> dict[str, Any]:
        """List the peers that the session can write to."""
        return {"peers": await self._api.ask(Peers(parse_session_id(params.session_id)))}

    async def register_tools(self, params: RegisterParams) -> dict[str, int]:
        """Register client tools for all runs that the client starts from now on."""
        return {"registered": self._tools.register([tool.spec for tool in params.tools])}

    # ------------------------------------------------------------------ sessions

    async def list_sessions(self, params: ListParams) -> SessionList:
        """List sessions without sub-agents, newest first."""
        listed = await self._api.ask(ListSessions(archived=params.archived))
        found = [one for one in listed if not one.sub_agent and has_labels(one, params.labels or {})]
        page = found[params.offset : params.offset + params.limit]
        reading = asyncio.Semaphore(MAX_READING)
        rows = await asyncio.gather(*(self._row(summary, reading) for summary in page))
        return SessionList(rows, params.offset + len(page) < len(found))

    async def _row(self, summary: SessionSummary, reading: asyncio.Semaphore) -> SessionRow:
        key = summary.id, summary.last_seq
        async with reading:
            if key not in self._counted:
                if len(self._counted) >= MAX_COUNTED:
                    self._counted.clear()
                self._counted[key] = count_session(await read_session(self._api, summary.id))
            is_active = summary.unfinished and await self._api.ask(IsRunning(summary.id))
        return session_row(summary, self._counted[key], is_active=is_active)

    async def read_session(self, params: SessionParams) -> SessionInfo:
        """Describe a session, whether it is running or not."""
        session = parse_session_id(params.session_id)
        read = await read_session(self._api, session)
        is_active = read.run is not None and await self._api.ask(IsRunning(session))
        usual = read.known.model or (await asyncio.to_thread(self._context.folders.settings)).model
        return session_info(read, usual, is_active=is_active)

    async def read_history(self, params: HistoryParams) -> History:
        """Return a page of messages, as many as fit on one line."""
        session = parse_session_id(params.session_id)
        records = await self._api.ask(Records(session))
        page = await asyncio.to_thread(history, session, records, params.offset, params.limit)
        kept = self._count_fitting([encode(message) for message in page.messages])
        if kept == len(page.messages):
            return page
        return msgspec.structs.replace(page, messages=page.messages[:kept], has_more=True)

    async def archive(self, params: SessionParams) -> dict[str, bool]:
        """Archive a session."""
        session = parse_session_id(params.session_id)
        await self._api.submit(session, Archive())
        await self._tools.withdraw_from(session)
        return {"archived": True}

    async def interrupt(self, params: SessionParams) -> dict[str, bool]:
        """Cancel the active run of a session, if there is one."""
        await self._runs.interrupt(parse_session_id(params.session_id))
        return {"interrupted": True}

    # ------------------------------------------------------------------ settings

    async def get_config(self, _: Params) -> Any:
        """Return the user's settings."""
        return self._config_answer(await asyncio.to_thread(self._config().read))

    async def set_config(self, params: dict[str, Any]) -> Any:
        """Replace the user's settings; raises ConfigError."""
        given = _wrapped(params, "config")
        new = params if given is None else given.config or {}
        expected = None if given is None else given.expected_generation
        answer = await asyncio.to_thread(self._config().replace, new, expected)
        if self._context.contract.since(0, 4):
            return answer
        return {"ok": True, "left_out": answer.left_out} if answer.left_out else {"ok": True}

    async def patch_config(self, params: dict[str, Any]) -> Any:
        """Change the user's settings by a JSON merge patch; raises ConfigError."""
        given = _wrapped(params, "patch")
        patch = params if given is None else given.patch or {}
        expected = None if given is None else given.expected_generation
        return self._config_answer(await asyncio.to_thread(self._config().patch, patch, expected))

    def _config(self) -> UserConfig:
        return UserConfig(*self._context.folders.get_user_settings())

    def _config_answer(self, answer: ConfigEnvelope) -> Any:
        return answer if self._context.contract.since(0, 4) else answer.config

    # ------------------------------------------------------------------ streams

    async def open_stream(self, params: SessionParams) -> dict[str, Any]:
        """Stream a session's new events."""
        session = parse_session_id(params.session_id)
        return {
            "stream_id": await self._streams.open_events(session),
            "session_id": session,
            "opened": True,
        }

    async def watch(self, params: WatchParams) -> dict[str, Any]:
        """Stream a session's records and deltas."""
        session = parse_session_id(params.session_id)
        return {
            "stream_id": await self._streams.open_records(session, params.after),
            "session_id": session,
        }

    async def close_stream(self, params: StreamParams) -> dict[str, Any]:
        """Close a stream or a watch."""
        was_open = await self._streams.close(params.stream_id)
        return {"stream_id": params.stream_id, "closed": True, "already_closed": not was_open}

    # ------------------------------------------------------------------ Bridle's own methods

    async def command(self, params: CommandParams) -> Receipt:
        """Submit any command to a session."""
        session = parse_session_id(params.session_id)
        if isinstance(params.command, Prompt | Resume | Steer):
            await self._tools.offer_to(session)
        receipt = await self._api.submit(session, params.command)
        await resume_if_interrupted(self._api, session, receipt)
        return receipt

    async def fork(self, params: ForkParams) -> dict[str, str]:
        """Fork a session."""
        session = parse_session_id(params.session_id)
        child = await fork_session(self._api, session, params.at, messages=params.messages)
        return {"session_id": child}

    async def records(self, params: RecordsParams) -> dict[str, Any]:
        """Return stored records, as many as fit on one line."""
        session = parse_session_id(params.session_id)
        records = await self._api.ask(Records(session, params.after, params.limit + 1))
        page = records[: params.limit]
        kept = self._count_fitting([encode(record) for record in page])
        return {"records": page[:kept], "has_more": kept < len(records)}

    def _count_fitting(self, encoded: list[bytes]) -> int:
        """Return how many items fit on one line; at least one, which is shortened if necessary."""
        left = self._context.contract.max_line_bytes - MARGIN_BYTES
        for number, item in enumerate(encoded):
            left -= len(item) + 1
            if left < 0:
                return max(1, number)
        return len(encoded)


def _wrapped(params: dict[str, Any], name: str) -> ConfigParams | None:
    """Return params that contain the settings under `name`; None if they are the settings themselves."""
    if name not in params:
        return None
    if not params.keys() <= {name, "expected_generation"}:
        raise UsageError(f"beside {name} there can only be expected_generation")
    try:
        return msgspec.convert(params, ConfigParams)
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error)) from None


# ---------------------------------------------------------------------------- queries


class ExportParams(SessionParams, frozen=True, forbid_unknown_fields=True):
    format: Format = "md"


class QueryMethods:
    """The methods that read; the answers are those of REST."""

    def __init__(self, context: RpcContext) -> None:
        self._context = context
        self._api = context.api
        self._folders = FolderQueries(context.api, context.folders)

    # ------------------------------------------------------------------ a session

    def passed_on(self) -> dict[str, tuple[type[Struct], Callable[[Any], Awaitable[Any]]]]:
        """Return the methods that only forward a query, by name: their params type and their handler."""
        return {f"session/{row.name}": (_PARAMS[row.name], self._ask(row)) for row in SESSION_QUERIES}

    def _ask(self, row: SessionQuery) -> Callable[[Any], Awaitable[Any]]:
        async def ask(params: Any) -> Any:
            return await self._api.ask(row.query(parse_session_id(params.session_id), asdict(params)))

        return ask

    async def export(self, params: ExportParams) -> dict[str, str]:
        """Return a session as a document."""
        return {"text": await export_session(self._api, parse_session_id(params.session_id), params.format)}

    async def usage(self, params: SessionParams) -> Stats:
        """Return the usage of a session and its sub-agents."""
        return await count_session_usage(self._api, parse_session_id(params.session_id))

    async def delete(self, params: SessionParams) -> dict[str, bool]:
        """Delete a session permanently; raises SessionBusy while it runs."""
        await self._api.submit(parse_session_id(params.session_id), Delete())
        return {"deleted": True}

    # ------------------------------------------------------------------ a folder, and all sessions

    async def agents(self, params: FolderParams) -> dict[str, Any]:
        """List the agents of a folder."""
        await self._context.may_look("agents/list")
        return {"agents": await self._folders.agents(params.cwd)}

    async def models(self, params: FolderParams) -> dict[str, Any]:
        """List the usable models."""
        await self._context.may_look("models/list")
        return {"models": await self._folders.models(params.cwd)}

    async def rules(self, params: FolderParams) -> RuleList:
        """Return the rules that apply in a folder."""
        await self._context.may_look("rules/list")
        return await self._folders.rules(params.cwd)

    async def servers(self, params: FolderParams) -> dict[str, Any]:
        """List the MCP servers and language servers of a folder, with their state."""
        return {"servers": await self._folders.servers(params.cwd)}

    async def stats(self, _: Params) -> AllStats:
        """Return the usage of all sessions."""
        return await self._folders.stats()


_PARAMS = {
    row.name: defstruct(
        f"{row.kind.__name__}Params",
        row.parameters(Offset),
        bases=(SessionParams,),
        frozen=True,
        forbid_unknown_fields=True,
    )
    for row in SESSION_QUERIES
}
