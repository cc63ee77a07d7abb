"""Sessions of the daemon, as if they were our own: the `Door` over its socket."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from bridle.core.codec import decode_record, encode
from bridle.core.door import NextContext, Receipt, RewindPlan, SessionNews
from bridle.core.errors import BridleError, DaemonGone, SessionNotRunning, StoreCorrupt, UsageError
from bridle.core.failures import as_error
from bridle.core.glance import Glance
from bridle.core.ids import RunId, SessionId
from bridle.core.ports import GuardedDispatcher, ToolDispatcher, offers
from bridle.core.protocol import Aborted, Command, Delta, Lagged, Prompt, Record, Resume, RunEnded
from bridle.core.revision import FileChange
from bridle.core.servers import PromptView, ServerView
from bridle.core.session import Session, fold
from bridle.core.summary import SessionSummary
from bridle.surfaces.remote.asks import (
    MAX_LINE_BYTES,
    Answer,
    Ask,
    Changes,
    Create,
    DaemonStatus,
    Delete,
    Describe,
    Finish,
    FollowNews,
    Fork,
    Hello,
    IsRunning,
    Lend,
    ListServerPrompts,
    ListServers,
    ListSessions,
    OpenWeb,
    PlanRewind,
    Records,
    Request,
    ShowContext,
    ShowGlance,
    Shutdown,
    Status,
    Submit,
    Unwatch,
    Watch,
    WebAddress,
    Welcome,
)
from bridle.surfaces.remote.lines import Lines, LineTooLong

if TYPE_CHECKING:
    from bridle.surfaces.remote.loan import Loan

HELLO_S = 10.0
PAGE = 512  # records of one answer: a whole session may be longer than a line can be
BACKLOG = 4096  # items that may wait here before fragments are dropped

_answers = msgspec.json.Decoder(Answer)
_news = msgspec.json.Decoder(SessionNews)
_deltas: msgspec.json.Decoder[Delta] = msgspec.json.Decoder(Delta)

T = TypeVar("T")


class VersionMismatch(DaemonGone):
    """The daemon is of another version."""


class _Watching:
    """The items of one watch that nobody has taken yet."""

    def __init__(self, session: SessionId) -> None:
        self.session = session
        self.items: deque[Record | Delta] = deque()
        self.changed = asyncio.Event()
        self.error: BridleError | None = None
        self._fragments = 0

    def add(self, item: Record | Delta) -> None:
        """Let an item wait; of too many the fragments are dropped and counted, records never are."""
        self._fragments += not isinstance(item, Record)
        if self._fragments > BACKLOG:
            kept = [old for old in self.items if isinstance(old, Record)]
            self.items = deque([*kept, Lagged(self._fragments - 1)])
            self._fragments = 1
        self.items.append(item)
        self.changed.set()

    def take(self) -> Record | Delta:
        """Return the item that has waited longest."""
        item = self.items.popleft()
        self._fragments -= not isinstance(item, Record)
        return item

    def fail(self, error: BridleError) -> None:
        self.error = error
        self.changed.set()


class _Reading:
    """The news that nobody has taken yet, the latest of each session."""

    def __init__(self) -> None:
        self._news: dict[SessionId, SessionNews] = {}
        self._changed = asyncio.Event()
        self._error: BridleError | None = None

    def add(self, news: SessionNews) -> None:
        self._news[news.session] = news
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        self._error = error
        self._changed.set()

    async def take(self) -> list[SessionNews]:
        await self._changed.wait()
        self._changed.clear()
        taken, self._news = list(self._news.values()), {}
        if not taken and self._error is not None:
            raise self._error
        if self._error is not None:
            self._changed.set()
        return taken


class RemoteService:
    """Speaks with the daemon; made by `connect`."""

    outlives_us = True

    def __init__(self, lines: Lines, writer: asyncio.StreamWriter, welcome: Welcome) -> None:
        self.daemon = welcome
        self.env: dict[str, str] = {}
        """What programs of our runs get of our own variables."""
        self._lines = lines
        self._writer = writer
        self._last = 0
        self._asked: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._watches: dict[int, _Watching] = {}
        self._readings: dict[int, _Reading] = {}
        self._loans: dict[int, Loan] = {}
        self._gone: DaemonGone | None = None
        self._reading = asyncio.create_task(self._read())

    # ------------------------------------------------------------------ the door

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the usual one; raises ConfigError for an unknown agent."""
        return SessionId(await self._ask(Create(cwd, agent, title, session_id), str))

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        return await self._ask(Submit(session, _from_here(command, self.env)), Receipt)

    @asynccontextmanager
    async def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the runs of a session call tools of ours, as long as the context is open."""
        from bridle.surfaces.remote.loan import Loan  # which few clients need

        number = self._next()
        loan = self._loans[number] = Loan(number, dispatcher, self._finish)
        try:
            specs = tuple(dispatcher.specs)
            access = {}
            if offers(dispatcher, GuardedDispatcher):
                access = {spec.name: dispatcher.access_of(spec.name) for spec in specs}
            await self._send(Request(number, Lend(session, specs, access)))
            await loan.is_taken
            yield
        finally:
            del self._loans[number]
            self._take_back(number)
            await loan.aclose()

    async def _finish(self, finish: Finish) -> None:
        with suppress(DaemonGone):  # nobody waits for it any more
            await self._ask(finish, type(None))

    async def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, then live ones with deltas between; raises SessionNotFound."""
        number, watching = self._next(), _Watching(session)
        self._watches[number] = watching
        try:
            await self._send(Request(number, Watch(session, after)))
            while True:
                while watching.items:
                    yield watching.take()
                if watching.error is not None:
                    raise watching.error
                watching.changed.clear()
                await watching.changed.wait()
        finally:
            del self._watches[number]
            self._take_back(number)

    def _take_back(self, number: int) -> None:
        if self._gone is None:
            with suppress(ConnectionError):
                self._writer.write(encode(Request(self._next(), Unwatch(number))) + b"\n")

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for a run's end."""
        async for item in self.watch(session, after):
            if isinstance(item, Record) and isinstance(item.event, RunEnded) and item.event.run_id == run_id:
                return item.event
            if isinstance(item, Aborted) and item.run_id == run_id:
                return RunEnded(run_id, "failed", reason=item.reason)
        raise SessionNotRunning(f"run {run_id} is not followed any more")

    async def read(self, session: SessionId) -> Session:
        """Return the whole session as stored."""
        return fold(await self.records(session))

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is, without its messages; raises SessionNotFound."""
        return await self._ask(ShowGlance(session), Glance)

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, and from then on each that changes."""
        number, reading = self._next(), _Reading()
        self._readings[number] = reading
        try:
            await self._send(Request(number, FollowNews()))
            while True:
                for news in await reading.take():
                    yield news
        finally:
            del self._readings[number]
            self._take_back(number)

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        records: list[Record] = []
        wanted = limit
        while wanted is None or wanted > 0:
            page = PAGE if wanted is None else min(PAGE, wanted)
            lines = await self._ask(Records(session, after, page), list[msgspec.Raw])
            found = [decode_record(bytes(line)) for line in lines]
            records += found
            if len(found) < page:
                break
            after = found[-1].seq
            wanted = None if wanted is None else wanted - page
        return records

    async def list(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a summary of every session, newest first."""
        return await self._ask(ListSessions(archived), tuple[SessionSummary, ...])

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether somebody drives a run of the session, in whichever process."""
        return await self._ask(IsRunning(session), bool)

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session with the messages up to sequence number `at` (default: all)."""
        return SessionId(await self._ask(Fork(session, at, session_id), str))

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionBusy while it runs."""
        await self._ask(Delete(session), type(None))

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        return await self._ask(PlanRewind(session, to_seq), RewindPlan)

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        return await self._ask(Changes(session, after, upto), tuple[FileChange, ...])

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff."""
        return await self._ask(Describe(tuple(changes)), str)

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        return await self._ask(ShowContext(session, at), NextContext)

    async def servers(self, cwd: str) -> Sequence[ServerView]:
        """Say how the tool servers and language servers of a folder are, without starting one."""
        return await self._ask(ListServers(cwd), tuple[ServerView, ...])

    async def server_prompts(self, cwd: str) -> Sequence[PromptView]:
        """Return the prompts of servers that a prompt can call as `/name`."""
        return await self._ask(ListServerPrompts(cwd), tuple[PromptView, ...])

    async def aclose(self) -> None:
        """Hang up; runs go on."""
        self._reading.cancel()
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    # ------------------------------------------------------------------ the daemon itself

    @property
    def is_gone(self) -> bool:
        """Tell whether the connection is lost."""
        return self._gone is not None

    async def status(self) -> DaemonStatus:
        """Return how the daemon is."""
        return await self._ask(Status(), DaemonStatus)

    async def shutdown(self) -> None:
        """Ask the daemon to end."""
        await self._ask(Shutdown(), type(None))

    async def open_web(self) -> WebAddress:
        """Ask for a link that opens the page in a browser once; raises ConfigError."""
        return await self._ask(OpenWeb(), WebAddress)

    async def until_gone(self) -> None:
        """Wait until the daemon has hung up."""
        await asyncio.wait([self._reading])

    # ------------------------------------------------------------------ lines

    def _next(self) -> int:
        self._last += 1
        return self._last

    async def _ask(self, ask: Ask, kind: type[T]) -> T:
        number = self._next()
        answered: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        try:
            await self._send(Request(number, ask))
            return msgspec.json.decode(await answered, type=kind)
        finally:
            del self._asked[number]
            if not answered.cancel() and not answered.cancelled():
                answered.exception()  # or asyncio complains of a loss that was noticed while sending

    async def _send(self, request: Request) -> None:
        if self._gone is not None:
            raise self._gone
        line = encode(request)
        if len(line) > MAX_LINE_BYTES:  # the daemon would hang up, and with it all that we follow
            raise UsageError(f"this is longer than the {MAX_LINE_BYTES} bytes that the daemon reads at once")
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except ConnectionError:
            raise DaemonGone("the daemon has hung up") from None

    async def _read(self) -> None:
        why = "the daemon has ended"
        try:
            while (line := await self._lines.next(MAX_LINE_BYTES)) is not None:
                self._take(_answers.decode(line))
        except (ConnectionError, LineTooLong, StoreCorrupt, msgspec.DecodeError) as error:
            why = f"the connection to the daemon broke: {error}"
        finally:
            self._hang_up(why)

    def _take(self, answer: Answer) -> None:
        watching = self._watches.get(answer.id)
        if watching is not None:
            if answer.failure is not None:
                watching.fail(as_error(answer.failure))
            else:
                is_record = bytes(memoryview(answer.item)[:7]) == b'{"seq":'
                watching.add(decode_record(bytes(answer.item)) if is_record else _deltas.decode(answer.item))
            return
        if (reading := self._readings.get(answer.id)) is not None:
            if answer.failure is not None:
                reading.fail(as_error(answer.failure))
            else:
                reading.add(_news.decode(answer.item))
            return
        if (loan := self._loans.get(answer.id)) is not None:
            loan.take(answer)
            return
        answered = self._asked.get(answer.id)
        if answered is None or answered.done():
            return
        if answer.failure is not None:
            answered.set_exception(as_error(answer.failure))
        else:
            answered.set_result(answer.result)

    def _hang_up(self, why: str) -> None:
        gone = self._gone = DaemonGone(why, hint="bridle daemon status; what was recorded is not lost")
        for answered in self._asked.values():
            if not answered.done():
                answered.set_exception(gone)
        for loan in self._loans.values():
            loan.fail(gone)
        for reading in self._readings.values():
            reading.fail(gone)
        for watching in self._watches.values():
            hint = f"bridle attach {watching.session} --resume goes on with what was recorded"
            watching.fail(DaemonGone(why, hint=hint))


def _from_here(command: Command, env: dict[str, str]) -> Command:
    """Say what is clear here and not there: our variables, and where a model lies that is a file."""
    if not isinstance(command, Prompt | Resume):
        return command
    options = replace(command.options, env={**env, **command.options.env})
    provider, _, name = (options.model or "").partition("/")
    if name and not os.path.isabs(name) and os.path.isfile(name):
        options = replace(options, model=f"{provider}/{os.path.abspath(name)}")
    return replace(command, options=options)


async def say_hello(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, version: str, token: str = ""
) -> RemoteService:
    """Introduce ourselves on a new connection; raises DaemonGone when the daemon does not want us."""
    lines = Lines(reader)
    try:
        async with asyncio.timeout(HELLO_S):
            writer.write(encode(Hello(version, token)) + b"\n")
            await writer.drain()
            line = await lines.next(MAX_LINE_BYTES)
        welcome = msgspec.json.decode(line or b"", type=Welcome)
    except (ConnectionError, TimeoutError, LineTooLong, msgspec.DecodeError) as error:
        writer.close()
        raise DaemonGone(f"what listens there is not Bridle's daemon: {error}") from error
    except BaseException:  # whoever connects has no time left
        writer.close()
        raise
    if welcome.refusal:
        writer.close()
        kind = VersionMismatch if welcome.version != version else DaemonGone
        raise kind(f"the daemon refused us: {welcome.refusal}", hint="bridle daemon restart")
    return RemoteService(lines, writer, welcome)


async def connect(socket: str, version: str) -> RemoteService:
    """Reach the daemon by its socket; raises OSError when nobody is there, DaemonGone when it refuses."""
    reader, writer = await asyncio.open_unix_connection(socket)
    return await say_hello(reader, writer, version)
