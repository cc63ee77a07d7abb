"""Sessions of the daemon, as if they were our own: the `Door` over its socket."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from bridle.core.codec import decode_record, encode
from bridle.core.door import NextContext, Receipt, RewindPlan, SessionNews
from bridle.core.errors import DaemonGone, SessionNotRunning
from bridle.core.glance import Glance
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Aborted, Command, Delta, Prompt, Record, Resume, RunEnded
from bridle.core.revision import FileChange
from bridle.core.session import Session, fold
from bridle.core.summary import SessionSummary
from bridle.surfaces.remote.asks import (
    MAX_LINE_BYTES,
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
    Watch,
    WebAddress,
    Welcome,
)
from bridle.surfaces.remote.connection import Connection
from bridle.surfaces.remote.lines import Lines, LineTooLong
from bridle.surfaces.remote.streams import Reading, Watching

if TYPE_CHECKING:
    from bridle.core.ports import ToolDispatcher
    from bridle.core.servers import PromptView, ServerView

HELLO_S = 10.0
PAGE = 512  # records of one answer: a whole session may be longer than a line can be


class VersionMismatch(DaemonGone):
    """The daemon is of another version."""


class RemoteService:
    """Speaks with the daemon; made by `connect`."""

    outlives_us = True

    def __init__(self, lines: Lines, writer: asyncio.StreamWriter, welcome: Welcome) -> None:
        self.daemon = welcome
        self.env: dict[str, str] = {}
        """What programs of our runs get of our own variables."""
        self._connection = Connection(lines, writer)

    # ------------------------------------------------------------------ the door

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the usual one; raises ConfigError for an unknown agent."""
        return SessionId(await self._connection.ask(Create(cwd, agent, title, session_id), str))

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        return await self._connection.ask(Submit(session, _from_here(command, self.env)), Receipt)

    @asynccontextmanager
    async def lend(self, session: SessionId, dispatcher: "ToolDispatcher") -> AsyncIterator[None]:
        """Let the runs of a session call tools of ours, as long as the context is open."""
        from bridle.core.ports import GuardedDispatcher, offers  # which few clients need
        from bridle.surfaces.remote.loan import Loan

        specs, access = tuple(dispatcher.specs), {}
        if offers(dispatcher, GuardedDispatcher):
            access = {spec.name: dispatcher.access_of(spec.name) for spec in specs}
        number = self._connection.next_number()
        loan = Loan(number, dispatcher, self._finish)
        try:
            with self._connection.following(number, loan):
                await self._connection.send(Request(number, Lend(session, specs, access)))
                await loan.is_taken
                yield
        finally:
            await loan.aclose()

    async def _finish(self, finish: Finish) -> None:
        with suppress(DaemonGone):  # nobody waits for it any more
            await self._connection.ask(finish, type(None))

    async def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, then live ones with deltas between; raises SessionNotFound."""
        number, watching = self._connection.next_number(), Watching()
        hint = f"bridle attach {session} --resume goes on with what was recorded"
        with self._connection.following(number, watching, hint):
            await self._connection.send(Request(number, Watch(session, after)))
            while True:
                yield await watching.next()

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
        return await self._connection.ask(ShowGlance(session), Glance)

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, and from then on each that changes."""
        number, reading = self._connection.next_number(), Reading()
        with self._connection.following(number, reading):
            await self._connection.send(Request(number, FollowNews()))
            while True:
                for news in await reading.next():
                    yield news

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        records: list[Record] = []
        wanted = limit
        while wanted is None or wanted > 0:
            page = PAGE if wanted is None else min(PAGE, wanted)
            lines = await self._connection.ask(Records(session, after, page), list[msgspec.Raw])
            found = [decode_record(bytes(line)) for line in lines]
            records += found
            if len(found) < page:
                break
            after = found[-1].seq
            wanted = None if wanted is None else wanted - page
        return records

    async def list(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a summary of every session, newest first."""
        return await self._connection.ask(ListSessions(archived), tuple[SessionSummary, ...])

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether somebody drives a run of the session, in whichever process."""
        return await self._connection.ask(IsRunning(session), bool)

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session with the messages up to sequence number `at` (default: all)."""
        return SessionId(await self._connection.ask(Fork(session, at, session_id), str))

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionBusy while it runs."""
        await self._connection.ask(Delete(session), type(None))

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        return await self._connection.ask(PlanRewind(session, to_seq), RewindPlan)

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        return await self._connection.ask(Changes(session, after, upto), tuple[FileChange, ...])

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff."""
        return await self._connection.ask(Describe(tuple(changes)), str)

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        return await self._connection.ask(ShowContext(session, at), NextContext)

    async def servers(self, cwd: str) -> "Sequence[ServerView]":
        """Say how the tool servers and language servers of a folder are, without starting one."""
        from bridle.core.servers import ServerView

        return await self._connection.ask(ListServers(cwd), tuple[ServerView, ...])

    async def server_prompts(self, cwd: str) -> "Sequence[PromptView]":
        """Return the prompts of servers that a prompt can call as `/name`."""
        from bridle.core.servers import PromptView

        return await self._connection.ask(ListServerPrompts(cwd), tuple[PromptView, ...])

    async def aclose(self) -> None:
        """Hang up; runs go on."""
        await self._connection.aclose()

    # ------------------------------------------------------------------ the daemon itself

    @property
    def is_gone(self) -> bool:
        """Tell whether the connection is lost."""
        return self._connection.is_gone

    async def status(self) -> DaemonStatus:
        """Return how the daemon is."""
        return await self._connection.ask(Status(), DaemonStatus)

    async def shutdown(self) -> None:
        """Ask the daemon to end."""
        await self._connection.ask(Shutdown(), type(None))

    async def open_web(self) -> WebAddress:
        """Ask for a link that opens the page in a browser once; raises ConfigError."""
        return await self._connection.ask(OpenWeb(), WebAddress)

    async def until_gone(self) -> None:
        """Wait until the daemon has hung up."""
        await self._connection.until_gone()


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
