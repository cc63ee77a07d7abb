"""The actor of one live session: handles its commands from a bounded inbox, one at a time.

```
submit ─▶ inbox ─▶ idle:  Prompt starts a run, Resume continues an interrupted one
                   busy:  Prompt queues, Steer joins at the next turn, Decide and Cancel go to the driver
```

`runs.py` implements what happens to a prompt.
"""

import asyncio
from contextlib import suppress

from bridle.core.compaction import check_pin
from bridle.core.errors import BridleError, SessionBusy, SessionNotRunning, StoreError, UsageError
from bridle.core.loop import CancelRequested
from bridle.core.ports import SessionTool, implements
from bridle.core.protocol import (
    Archive,
    Cancel,
    Command,
    Compact,
    Configure,
    Decide,
    DropQueued,
    EditQueued,
    Event,
    Label,
    Pin,
    Pinned,
    Prompt,
    Push,
    QueueDropped,
    QueueEdited,
    Rename,
    Reply,
    Resume,
    Rewind,
    SessionArchived,
    SessionConfigured,
    SessionLabelled,
    SessionTitled,
    Steer,
)
from bridle.core.session_api import Receipt
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.command_checks import changed_labels, check_command, configured_options
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.run.maintenance import Maintenance
from bridle.sessions.run.runs import Runs
from bridle.system.tasks import BackgroundTask

INBOX = 64


class Actor:
    """Runs everything that happens to one session in sequence."""

    def __init__(self, engine: Engine, journal: Journal, family: SubAgents) -> None:
        self.journal = journal
        self._engine = engine
        self._upkeep = Maintenance(engine, journal, family)
        self._background = BackgroundTask()
        self.runs = Runs(engine, journal, family, self._upkeep, self._background)
        self._inbox: asyncio.Queue[tuple[Command, asyncio.Future[Receipt]]] = asyncio.Queue(INBOX)
        self._untaken = 0  # commands not yet handled; a Prompt is handled once its model server is up
        self._serving = asyncio.create_task(self._serve(), name=f"session {journal.id}")

    @property
    def is_busy(self) -> bool:
        """True while a run is active here."""
        return self.runs.is_busy

    @property
    def is_used(self) -> bool:
        """True while a run is active here, the claim is held for another change, or a command is pending."""
        return self.is_busy or self.runs.claim.is_tended or self._untaken > 0

    @property
    def waits_for_a_person(self) -> bool:
        """True while the active run has an open approval or question."""
        run = self.journal.session.run
        return self.is_busy and run is not None and bool(run.pending or run.questions)

    @property
    def rests(self) -> bool:
        """True while nothing in the active run can proceed until a person answers."""
        return self.runs.rests and self._untaken == 0

    @property
    def idle_s(self) -> float:
        """Seconds since anything happened to the session; 0 while something does."""
        is_used = (
            self.is_busy or self._untaken > 0 or self.runs.titling.is_active or self._background.is_active
        )
        is_used = is_used or not self._engine.is_at_rest(self.journal.id)
        return 0.0 if is_used else self._engine.clock.monotonic_s() - self.runs.used_s

    async def give_up(self, reason: str) -> None:
        """End an interrupted run that cannot be resumed; raises SessionBusy while it is being driven."""
        async with self.runs.between():
            await self._upkeep.close_interrupted(reason)
            await self.journal.flush()

    async def notice_changes(self) -> None:
        """Record file changes since the last check, so they can be shown; an active run does this itself."""
        await self.runs.settle()
        with suppress(SessionBusy, StoreError):  # in that case only the recorded changes can be shown
            async with self.runs.between():
                await self._upkeep.record_late_changes()

    async def submit(self, command: Command) -> Receipt:
        """Submit a command and wait until it is handled; raises SessionError if it is refused."""
        if self.runs.is_closing:
            raise self._closed()
        if isinstance(command, Cancel) and (self._cancel_compaction() or self.runs.preparing.call_off()):
            return self._receipt()  # in the inbox it would wait behind a prompt that is still starting
        self.runs.used_s = self._engine.clock.monotonic_s()
        taken: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._untaken += 1
        try:
            await self._inbox.put((command, taken))
            return await taken
        finally:
            self._untaken -= 1

    async def park(self) -> None:
        """Stop an active run without recording an end, so it can be resumed; accept no more commands."""
        await self.runs.park()
        await self._background.aclose()

    async def aclose(self) -> None:
        """Stop serving: cancel an active run, record its end, and fail the commands still waiting."""
        self.runs.is_closing = True
        self._serving.cancel()
        await asyncio.wait([self._serving])
        await self._background.aclose()
        await self.runs.aclose()
        for tool in self._engine.tools:
            if implements(tool, SessionTool):
                with suppress(BridleError, OSError):  # closing the other sessions must go on
                    await tool.end_session(self.journal.id)
        if self._engine.servers is not None:
            await self._engine.servers.end_session(self.journal.id)

    # ------------------------------------------------------------------ the inbox

    async def _serve(self) -> None:
        try:
            while True:
                command, taken = await self._inbox.get()
                if isinstance(command, Compact) and not self._background.is_active:
                    self._background.begin(self._answer(command, taken))
                else:
                    await self._answer(command, taken)
        finally:
            while not self._inbox.empty():
                _, taken = self._inbox.get_nowait()
                if not taken.done():
                    taken.set_exception(self._closed())

    async def _answer(self, command: Command, taken: asyncio.Future[Receipt]) -> None:
        try:
            receipt = await self._take(command)
        except asyncio.CancelledError:
            if not taken.done():
                taken.set_exception(self._closed())
            raise
        except Exception as error:  # noqa: BLE001  the caller gets the error, and others are served
            if not taken.done():
                taken.set_exception(error)
        else:
            if not taken.done():
                taken.set_result(receipt)

    def _closed(self) -> SessionNotRunning:
        if not self.runs.is_closing:
            return SessionNotRunning(f"session {self.journal.id} was not compacted: cancelled")
        return SessionNotRunning(
            f"session {self.journal.id} accepts no more commands: its engine is shutting down"
        )

    def _receipt(self) -> Receipt:
        return Receipt(self.journal.session.seq)

    # ------------------------------------------------------------------ commands

    async def _take(self, command: Command) -> Receipt:
        check_command(command)
        match command:
            case Prompt():
                return await self.runs.prompt(command)
            case Resume():
                return await self.runs.resume(command)
            case Steer():
                return await self.runs.steer(command)
            case Decide() | Reply():
                self.runs.active().post(command)
            case Cancel():
                if not self._cancel_compaction():
                    self.runs.active().post(CancelRequested(reason=command.reason))
            case EditQueued():
                await self._edit_queued(command)
            case DropQueued():
                self._require_queued(command.item_id)
                await self._record(QueueDropped(command.item_id))
            case Rewind():
                await self._rewind(command)
            case Compact():
                await self.runs.compact(command.keep)
            case Pin():
                if command.pinned:
                    check_pin(self.journal.session.known.pins, command.text)
                await self._record(Pinned(command.text, command.pinned))
            case Push():
                await self._push(command)
            case Rename():
                await self._record(SessionTitled(command.title))
            case Configure():
                settings = configured_options(self.journal.session.known.settings, command)
                await self._record(SessionConfigured(settings))
            case Label():
                labels = changed_labels(self.journal.session.known.labels, command.labels)
                await self._record(SessionLabelled(labels))
            case Archive():
                await self._archive(command)
        return self._receipt()

    def _cancel_compaction(self) -> bool:
        if self.is_busy or not self._background.is_active:
            return False
        self._background.cancel()
        return True

    async def _edit_queued(self, command: EditQueued) -> None:
        self._require_queued(command.item_id)
        if command.delivery == "steer":
            self.runs.active(to="steer")
        await self._record(QueueEdited(command.item_id, command.message, command.delivery))

    def _require_queued(self, item_id: str) -> None:
        if not self.runs.is_queued(item_id):
            raise UsageError(f'no queued prompt "{item_id}"; it may have started already')

    async def _rewind(self, command: Rewind) -> None:
        await self.runs.settle()
        async with self.runs.between():
            await self._upkeep.rewind(command)

    async def _push(self, command: Push) -> None:
        await self.runs.settle()
        if self.is_busy:
            raise SessionBusy(f"session {self.journal.id} is running", hint="steer reaches the active run")
        async with self.runs.between():
            await self._upkeep.push(command)

    async def _archive(self, command: Archive) -> None:
        await self.runs.settle()
        if self.is_busy:
            raise SessionBusy(f"session {self.journal.id} is running", hint="cancel the run first")
        await self._record(SessionArchived(command.archived))

    async def _record(self, event: Event) -> None:
        async with self.runs.claim.starting:  # a run that is just starting may be taking the claim
            if self.is_busy:
                await self.journal.record(event)
                return
            async with self.runs.claim.held():
                await self.journal.record(event)
