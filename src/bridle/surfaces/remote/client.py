"""A client of the daemon: implements `SessionApi` over its socket."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec
from msgspec.structs import replace

from bridle.core.codec import decode_record, encode
from bridle.core.errors import BridleError, DaemonGone
from bridle.core.ids import SessionId
from bridle.core.messages import Message
from bridle.core.protocol import (
    LIKE_AGENT,
    AnyCommand,
    Configure,
    Delta,
    Fork,
    Lagged,
    Prompt,
    Record,
    Resume,
    SessionOptions,
)
from bridle.core.queries import Query, Records, answer_type
from bridle.core.session_api import ForkReceipt, Receipt, SessionNews
from bridle.surfaces.remote.asks import (
    MAX_LINE_BYTES,
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
    Watch,
    WatchAll,
    WebAddress,
    Welcome,
)
from bridle.surfaces.remote.connection import Connection, Lines, LineTooLong

if TYPE_CHECKING:
    from bridle.core.ports import ToolDispatcher

# ---------------------------------------------------------------------------- streams
# Buffers of answers that the daemon has sent and the client has not read yet.


BACKLOG = 4096  # deltas in the buffer before they are dropped

_news = msgspec.json.Decoder(SessionNews)
_deltas: msgspec.json.Decoder[Delta] = msgspec.json.Decoder(Delta)


class Watching:
    """Buffers the items of one watch."""

    def __init__(self) -> None:
        self._items: deque[Record | Delta] = deque()
        self._changed = asyncio.Event()
        self._error: BridleError | None = None
        self._fragments = 0

    def take(self, line: msgspec.Raw) -> None:
        """Add an item; if there are too many deltas, drop and count them. Records are never dropped."""
        is_record = bytes(memoryview(line)[:7]) == b'{"seq":'
        item = decode_record(bytes(line)) if is_record else _deltas.decode(line)
        self._fragments += not is_record
        if self._fragments > BACKLOG:
            kept = [old for old in self._items if isinstance(old, Record)]
            self._items = deque([*kept, Lagged(self._fragments - 1)])
            self._fragments = 1
        self._items.append(item)
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        """Store the error that ends the stream."""
        self._error = error
        self._changed.set()

    async def next(self) -> Record | Delta:
        """Wait for the oldest item and return it; after the last, raises the error that ended the watch."""
        while not self._items:
            if self._error is not None:
                raise self._error
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        self._fragments -= not isinstance(item, Record)
        return item


class Reading:
    """Buffers the latest news of each session."""

    def __init__(self) -> None:
        self._news: dict[SessionId, SessionNews] = {}
        self._changed = asyncio.Event()
        self._error: BridleError | None = None

    def take(self, line: msgspec.Raw) -> None:
        """Add news; they replace older news of the same session."""
        news = _news.decode(line)
        self._news[news.session] = news
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        """Store the error that ends the stream."""
        self._error = error
        self._changed.set()

    async def next(self) -> list[SessionNews]:
        """Wait for news and return them; after the last, raises the error that ended the stream."""
        await self._changed.wait()
        self._changed.clear()
        taken, self._news = list(self._news.values()), {}
        if not taken and self._error is not None:
            raise self._error
        if self._error is not None:
            self._changed.set()
        return taken


# ---------------------------------------------------------------------------- client


A = TypeVar("A")

HELLO_S = 10.0
PAGE = 512  # records per answer: a whole session may exceed the maximum line length


class VersionMismatch(DaemonGone):
    """The daemon has another version."""


class RemoteService:
    """The session API of the daemon; create it with `connect`."""

    is_remote = True

    def __init__(self, lines: Lines, writer: asyncio.StreamWriter, welcome: Welcome) -> None:
        self.daemon = welcome
        self.env: dict[str, str] = {}
        """Environment variables of this process that programs of our runs get."""
        self._connection = Connection(lines, writer)

    # ------------------------------------------------------------------ the session API

    async def create(
        self,
        *,
        cwd: str,
        agent: str = "",
        title: str = "",
        session_id: SessionId | None = None,
        options: SessionOptions = LIKE_AGENT,
        messages: Sequence[Message] = (),
        labels: Mapping[str, str] = {},
    ) -> SessionId:
        """Create a session with an agent, or the default one, and the options of its runs."""
        ask = Create(cwd, agent, title, session_id, _with_full_path(options), tuple(messages), dict(labels))
        return SessionId(await self._connection.ask(ask, str))

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session; raises SessionError if it is refused."""
        kind = ForkReceipt if isinstance(command, Fork) else Receipt
        return await self._connection.ask(Submit(session, _from_here(command, self.env)), kind)

    async def ask(self, query: Query[A]) -> A:
        """Answer a query; raises the BridleError that the query documents."""
        if isinstance(query, Records):
            return await self._records(query)  # type: ignore[return-value]  # A is list[Record] here
        return await self._connection.ask(AskQuery(query), answer_type(type(query)))

    async def _records(self, query: Records) -> list[Record]:
        """Read records page by page."""
        records: list[Record] = []
        after, wanted = query.after, query.limit
        while wanted is None or wanted > 0:
            limit = PAGE if wanted is None else min(PAGE, wanted)
            page = AskQuery(Records(query.session, after, limit))
            lines = await self._connection.ask(page, list[msgspec.Raw])
            found = [decode_record(bytes(line)) for line in lines]
            records += found
            if len(found) < limit:
                break
            after = found[-1].seq
            wanted = None if wanted is None else wanted - limit
        return records

    @asynccontextmanager
    async def provide_tools(self, session: SessionId, dispatcher: "ToolDispatcher") -> AsyncIterator[None]:
        """Let the session's runs call tools of this process while the context is open."""
        from bridle.core.ports import GuardedDispatcher, implements  # only a few clients need it
        from bridle.surfaces.remote.client_tools import ProvidedTools

        specs, access = tuple(dispatcher.specs), {}
        if implements(dispatcher, GuardedDispatcher):
            access = {spec.name: dispatcher.access_of(spec.name) for spec in specs}
        number = self._connection.next_number()
        provided = ProvidedTools(number, dispatcher, self._finish)
        try:
            with self._connection.following(number, provided):
                await self._connection.send(AskRequest(number, ProvideTools(session, specs, access)))
                await provided.is_taken
                yield
        finally:
            await provided.aclose()

    async def _finish(self, finish: Finish) -> None:
        with suppress(DaemonGone):  # the run that waited for it is gone too
            await self._connection.ask(finish, type(None))

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield the records and deltas of a session; with None, the news of every session."""
        return self._watch_all() if session is None else self._watch(session, after)

    async def _watch(self, session: SessionId, after: int | None) -> AsyncGenerator[Record | Delta, None]:
        number, watching = self._connection.next_number(), Watching()
        hint = f"bridle attach {session} --resume resumes from what was recorded"
        with self._connection.following(number, watching, hint):
            await self._connection.send(AskRequest(number, Watch(session, after)))
            while True:
                yield await watching.next()

    async def _watch_all(self) -> AsyncGenerator[SessionNews, None]:
        number, reading = self._connection.next_number(), Reading()
        with self._connection.following(number, reading):
            await self._connection.send(AskRequest(number, WatchAll()))
            while True:
                for news in await reading.next():
                    yield news

    async def aclose(self) -> None:
        """Close the connection; runs continue in the daemon."""
        await self._connection.aclose()

    # ------------------------------------------------------------------ the daemon itself

    @property
    def is_gone(self) -> bool:
        """True if the connection is lost."""
        return self._connection.is_gone

    async def status(self) -> DaemonStatus:
        """Return the status of the daemon."""
        return await self._connection.ask(Status(), DaemonStatus)

    async def shutdown(self) -> None:
        """Make the daemon end."""
        await self._connection.ask(Shutdown(), type(None))

    async def open_web(self) -> WebAddress:
        """Return a link that opens the web page in a browser, once; raises ConfigError."""
        return await self._connection.ask(OpenWeb(), WebAddress)

    async def until_gone(self) -> None:
        """Wait until the connection is closed."""
        await self._connection.until_gone()


def _from_here(command: AnyCommand, env: dict[str, str]) -> AnyCommand:
    """Add what the daemon cannot find out: our environment variables, and the full path of a model file."""
    if isinstance(command, Prompt | Resume):
        options = replace(command.options, env={**env, **command.options.env})
        return replace(command, options=_with_full_path(options))
    if isinstance(command, Configure):
        return replace(command, options=_with_full_path(command.options))
    return command


Options = TypeVar("Options", bound=SessionOptions)


def _with_full_path(options: Options) -> Options:
    provider, _, name = (options.model or "").partition("/")
    if name and not os.path.isabs(name) and os.path.isfile(name):
        return replace(options, model=f"{provider}/{os.path.abspath(name)}")
    return options


async def say_hello(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, version: str, token: str = ""
) -> RemoteService:
    """Send `Hello` on a new connection and return the client; raises DaemonGone if the daemon refuses."""
    lines = Lines(reader)
    try:
        async with asyncio.timeout(HELLO_S):
            writer.write(encode(Hello(version, token)) + b"\n")
            await writer.drain()
            line = await lines.next(MAX_LINE_BYTES)
        welcome = msgspec.json.decode(line or b"", type=Welcome)
    except (ConnectionError, TimeoutError, LineTooLong, msgspec.DecodeError) as error:
        writer.close()
        raise DaemonGone(f"the program listening there is not Bridle's daemon: {error}") from error
    except BaseException:  # for example the timeout of the caller
        writer.close()
        raise
    if welcome.refusal:
        writer.close()
        kind = VersionMismatch if welcome.version != version else DaemonGone
        raise kind(f"the daemon refused the connection: {welcome.refusal}", hint="bridle daemon restart")
    return RemoteService(lines, writer, welcome)


async def connect(socket: str, version: str) -> RemoteService:
    """Connect to the daemon at its socket; raises OSError if none listens, DaemonGone if it refuses."""
    reader, writer = await asyncio.open_unix_connection(socket)
    return await say_hello(reader, writer, version)
