"""The daemon's server: reads requests from each connection and handles them concurrently."""

import asyncio
import hmac
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from bridle.core.codec import ErrorData, encode, encode_error
from bridle.core.errors import BridleError, NotAllowed, UsageError
from bridle.core.ids import CallId
from bridle.core.malformed import MALFORMED
from bridle.core.messages import ToolCall
from bridle.core.session_api import SessionApi
from bridle.core.tenancy import Principal
from bridle.scale.token_auth import NODE, TokenGate
from bridle.surfaces.remote.asks import (
    MAX_LINE_BYTES,
    Answer,
    Ask,
    AskQuery,
    AskRequest,
    Create,
    DaemonStatus,
    Finish,
    Hello,
    OpenWeb,
    ProvideTools,
    Shutdown,
    Status,
    Submit,
    Unwatch,
    Watch,
    WatchAll,
    WebAddress,
    Welcome,
    fingerprint,
)
from bridle.surfaces.remote.client_tools import RemoteTools
from bridle.surfaces.remote.connection import Lines, LineTooLong, Outbox

HELLO_S = 10.0
HELLO_BYTES = 4096
MAX_ASKS = 256  # per connection, at once
MAX_KEPT = 1_024  # watches and tool offers per connection; a client may provide tools to every session
MAX_CLIENTS = 2_000
MAX_ANSWER_BYTES = MAX_LINE_BYTES - 1024

_requests = msgspec.json.Decoder(AskRequest)
_hellos = msgspec.json.Decoder(Hello)


class Keeper(Protocol):
    """The process that runs the server."""

    def status(self) -> DaemonStatus:
        """Return its status."""
        ...

    def request_shutdown(self) -> None:
        """Start to shut down."""
        ...

    async def open_web(self) -> WebAddress:
        """Serve the web page if necessary; return a link that logs in once; raises ConfigError."""
        ...


class RemoteServer:
    """Serves a session API to any number of connections."""

    def __init__(
        self,
        api: SessionApi,
        keeper: Keeper,
        *,
        version: str,
        token: str = "",
        most: int = MAX_CLIENTS,
        keys: Mapping[str, str] = {},
        gate: TokenGate | None = None,
    ) -> None:
        """Set the parts; connections other than those to our own socket need the token.

        A client with a token that `gate` accepts gets the session API that the gate returns for it.
        Clients get fingerprints of the API keys, to check whether theirs are the same.
        """
        self._api = api
        self._keeper = keeper
        self._version = version
        self._token = token
        self._most = most
        self._gate = gate
        self._salt = secrets.token_hex(8)
        self._keys = {name: fingerprint(self._salt, key) for name, key in keys.items()}
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._connections)

    def connected(self, *, needs_token: bool) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
        """Return the callback for new connections, as `asyncio.start_server` needs it."""

        def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._serve(reader, writer, needs_token=needs_token))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        return take

    async def aclose(self) -> None:
        """End every connection."""
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, needs_token: bool
    ) -> None:
        lines = Lines(reader)
        try:
            with suppress(ConnectionError, TimeoutError, LineTooLong):
                caller = await self._welcome(lines, writer, needs_token=needs_token)
                if caller is not None:
                    api = self._gate.api(caller) if self._gate is not None else self._api
                    keeper = self._keeper if caller.is_cluster_admin else None
                    await _Connection(api, keeper, lines, writer).serve()
        finally:
            writer.close()

    async def _welcome(
        self, lines: Lines, writer: asyncio.StreamWriter, *, needs_token: bool
    ) -> Principal | None:
        """Answer `Hello`; return the principal, or None if it is refused."""
        caller: Principal | None = None
        if len(self._connections) > self._most:
            refusal = f"the daemon has {self._most} clients already"
        else:
            line = None
            with suppress(LineTooLong):
                async with asyncio.timeout(HELLO_S):
                    line = await lines.next(HELLO_BYTES)
            caller, refusal = await self._let_in(line, needs_token=needs_token)
        keys = self._keys if caller == NODE else {}
        writer.write(encode(Welcome(self._version, os.getpid(), refusal, self._salt, keys)) + b"\n")
        await writer.drain()
        return caller

    async def _let_in(self, line: bytes | None, *, needs_token: bool) -> tuple[Principal | None, str]:
        """Return the principal of a `Hello` line, or the reason to refuse it."""
        try:
            hello = _hellos.decode(line or b"")
        except MALFORMED:
            return None, "not a Bridle client"
        try:
            caller = await self._caller(hello.token) if needs_token else NODE
        except BridleError:
            return None, "the tokens cannot be looked up now"
        if caller is None:
            return None, "the token is wrong"
        if hello.version != self._version:
            return None, f"the daemon is Bridle {self._version}, the client {hello.version}"
        return caller, ""

    async def _caller(self, token: str) -> Principal | None:
        """Return the principal of a token, or None if it is wrong; raises StoreError."""
        if hmac.compare_digest(token.encode(), self._token.encode()):
            return NODE
        return await self._gate.principal(token) if self._gate is not None else None


class _Connection:
    """The connection of one client."""

    def __init__(
        self, api: SessionApi, keeper: Keeper | None, lines: Lines, writer: asyncio.StreamWriter
    ) -> None:
        """Set the parts; without a keeper, the client cannot control the process."""
        self._api = api
        self._keeper = keeper
        self._lines = lines
        self._outbox = Outbox(writer)
        self._watches: dict[int, asyncio.Task[None]] = {}
        self._client_tools: dict[int, RemoteTools] = {}
        self._asks = 0

    async def serve(self) -> None:
        """Handle requests until the client disconnects or sends a line that is too long."""
        async with asyncio.TaskGroup() as group:
            try:
                with suppress(ConnectionError, LineTooLong):
                    while (line := await self._lines.next(MAX_LINE_BYTES)) is not None:
                        await self._take(line, group)
            finally:
                for task in self._watches.values():
                    task.cancel()

    async def _take(self, line: bytes, group: asyncio.TaskGroup) -> None:
        try:
            request = _requests.decode(line)
        except MALFORMED as error:
            await self._send(
                Answer(_id_in(line), failure=ErrorData("UsageError", f"not understood: {error}"))
            )
            return
        if refusal := self._refusal(request):
            await self._send(Answer(request.id, failure=encode_error(UsageError(refusal))))
            return
        if isinstance(request.ask, Watch | WatchAll):
            self._keep(request.id, group.create_task(self._watch(request.id, request.ask)))
            return
        if isinstance(request.ask, ProvideTools):
            self._keep(request.id, group.create_task(self._provide_tools(request.id, request.ask)))
            return
        self._asks += 1
        if isinstance(request.ask, Unwatch):
            if watching := self._watches.pop(request.ask.watch, None):
                watching.cancel()
            await self._answer(request.id, _nothing())
        else:
            group.create_task(self._answer(request.id, self._do(request.ask)))

    def _refusal(self, request: AskRequest) -> str:
        """Return why a request is refused, or ""; requests that release something are never refused."""
        if isinstance(request.ask, Unwatch | Finish):
            return ""
        if isinstance(request.ask, Watch | WatchAll | ProvideTools):
            if request.id in self._watches:
                return f"watch {request.id} already exists"
            return f"more than {MAX_KEPT} watches and tool offers" if len(self._watches) >= MAX_KEPT else ""
        return f"more than {MAX_ASKS} asks at once" if self._asks >= MAX_ASKS else ""

    def _keep(self, number: int, task: asyncio.Task[None]) -> None:
        """Store the task of a watch or of client tools until it ends, even if it ends before it starts."""

        def ended(_: object) -> None:
            if self._watches.get(number) is task:
                del self._watches[number]

        self._watches[number] = task
        task.add_done_callback(ended)

    async def _answer(self, number: int, doing: Coroutine[None, None, Any]) -> None:
        try:
            result = encode(await doing)
            if len(result) > MAX_ANSWER_BYTES:
                raise UsageError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
            answer = Answer(number, result=Raw(result))
        except BridleError as error:
            answer = Answer(number, failure=encode_error(error))
        except Exception as error:  # noqa: BLE001  whoever asked must hear of it, and others be served
            answer = Answer(number, failure=encode_error(error))
        finally:
            self._asks -= 1
        with suppress(ConnectionError):
            await self._send(answer)

    async def _do(self, ask: Ask) -> Any:
        match ask:
            case Create():
                return await self._api.create(
                    cwd=ask.cwd,
                    agent=ask.agent,
                    title=ask.title,
                    session_id=ask.session_id,
                    options=ask.options,
                    messages=ask.messages,
                    labels=ask.labels,
                )
            case Submit():
                return await self._api.submit(ask.session, ask.command)
            case AskQuery():
                return await self._api.ask(ask.query)
            case OpenWeb():
                return await self._keeper_for(ask).open_web()
            case Status():
                return self._keeper_for(ask).status()
            case Shutdown():
                return self._keeper_for(ask).request_shutdown()
            case Finish():
                if (tools := self._client_tools.get(ask.offer)) is not None:
                    tools.finish(ask)
                return None
            case Watch() | WatchAll() | Unwatch() | ProvideTools():
                raise AssertionError("taken elsewhere")

    def _keeper_for(self, ask: Ask) -> Keeper:
        if self._keeper is None:
            what = type(ask).__name__.lower()
            raise NotAllowed(f"{what}: the process that serves is for an administrator of the cluster")
        return self._keeper

    async def _watch(self, number: int, watch: Watch | WatchAll) -> None:
        try:
            head = b'{"id":%d,"item":' % number
            items: AsyncGenerator[Any, None]
            if isinstance(watch, Watch):
                items = self._api.watch(watch.session, watch.after)
            else:
                items = self._api.watch(None)
            async for item in items:
                await self._outbox.send(head + encode(item) + b"}\n")
        except BridleError as error:
            with suppress(ConnectionError):
                await self._send(Answer(number, failure=encode_error(error)))
        except ConnectionError:
            pass  # the reader of this connection handles it

    async def _provide_tools(self, number: int, offer: ProvideTools) -> None:
        async def ask(call: ToolCall) -> None:
            await self._send(Answer(number, item=Raw(encode(call))))

        def call_off(call_id: CallId) -> None:
            self._outbox.post(encode(Answer(number, item=Raw(encode(call_id)))) + b"\n")

        tools = RemoteTools(offer.specs, offer.access, ask, call_off)
        try:
            async with self._api.provide_tools(offer.session, tools):
                self._client_tools[number] = tools
                await self._send(Answer(number, item=Raw(b"null")))  # the tools are in place
                await asyncio.Event().wait()  # until the client withdraws them or disconnects
        except BridleError as error:
            with suppress(ConnectionError):
                await self._send(Answer(number, failure=encode_error(error)))
        except ConnectionError:
            pass  # the reader of this connection handles it
        finally:
            tools.withdraw()
            self._client_tools.pop(number, None)

    async def _send(self, answer: Answer) -> None:
        await self._outbox.send(encode(answer) + b"\n")


async def _nothing() -> None:
    pass


def _id_in(line: bytes) -> int:
    """Return the number of a malformed request, or 0."""
    try:
        found = msgspec.json.decode(line, type=dict[str, Any]).get("id")
    except MALFORMED:
        return 0
    return found if isinstance(found, int) else 0
