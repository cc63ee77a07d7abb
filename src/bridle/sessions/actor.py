"""The owner of one live session: takes commands from a bounded inbox, one run at a time.

```
submit ─▶ inbox ─▶ idle:  Prompt starts a run, Resume goes on with one that was cut off
                   busy:  Prompt queues, Steer joins at the next turn, Decide and Cancel reach the driver
```

When a run ends the next queued prompt starts by itself, unless the user stopped the run.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TypeGuard

from msgspec.structs import replace

from bridle.core.compaction import check_pin
from bridle.core.door import Receipt
from bridle.core.errors import BridleError, SessionBusy, SessionNotRunning, StoreError, UsageError
from bridle.core.ids import RunId
from bridle.core.loop import CancelRequested
from bridle.core.messages import Message
from bridle.core.ports import SessionTool, offers
from bridle.core.protocol import (
    Aborted,
    Archive,
    Cancel,
    Command,
    Compact,
    Decide,
    Delivery,
    DropQueued,
    EditQueued,
    MessageAdded,
    Notice,
    Pin,
    Pinned,
    Prompt,
    PromptKey,
    PromptQueued,
    QueueDropped,
    QueueEdited,
    Rename,
    Reply,
    Resume,
    Rewind,
    RunOptions,
    RunStarted,
    SessionArchived,
    SessionTitled,
    Steer,
    TakenPrompt,
)
from bridle.sessions.allowance import Allowance
from bridle.sessions.children import Family
from bridle.sessions.driver import Driver
from bridle.sessions.engine import Engine
from bridle.sessions.intake import check_command, key_of, known_by, options_after_cut, prompt_tokens
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup, set_up
from bridle.sessions.titles import Titling
from bridle.sessions.upkeep import Upkeep

INBOX = 64
CLOSE_TIMEOUT_S = 5.0  # a tool that will not be cancelled cannot hold up the end for longer


class Actor:
    """Serialises everything that happens to one session."""

    def __init__(self, engine: Engine, journal: Journal, family: Family) -> None:
        self.journal = journal
        self._engine = engine
        self._family = family
        self._upkeep = Upkeep(engine, journal, family)
        self._inbox: asyncio.Queue[tuple[Command, asyncio.Future[Receipt]]] = asyncio.Queue(INBOX)
        self._driver: Driver | None = None
        self._starting = asyncio.Lock()  # invariant: one run or one change at a time takes the claim
        self._running: asyncio.Task[None] | None = None
        self._allowance = Allowance(None if family.is_child(journal.id) else engine.purse, journal.id)
        self._titling = Titling(engine.models, journal)
        self._compacting: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[Setup] | None = None
        """Finds what a run works with, unless somebody has called that off."""
        self._is_closing = False
        self._is_parked = False
        self._used_s = engine.clock.monotonic_s()
        self._untaken = 0  # commands; a run begins only when its model server has started
        self.is_tended = False
        """The session is held for something that is no run."""
        self.aborted: Aborted | None = None
        """The last run whose end could not be recorded."""
        self._serving = asyncio.create_task(self._serve(), name=f"session {journal.id}")

    @property
    def is_busy(self) -> bool:
        """Tell whether a run is active here."""
        return self._driver is not None

    @property
    def is_used(self) -> bool:
        """Tell whether a run is active here, or something else is being done to the session."""
        return self.is_busy or self.is_tended or self._untaken > 0

    @property
    def waits_for_a_person(self) -> bool:
        """Tell whether the active run rests until somebody answers."""
        run = self.journal.session.run
        return self.is_busy and run is not None and bool(run.pending or run.questions)

    @property
    def rests(self) -> bool:
        """Tell whether the active run can do nothing at all before a person has answered."""
        return self._driver is not None and self._driver.rests and self._untaken == 0

    async def give_up(self, reason: str) -> None:
        """End a run that was cut off and cannot go on; raises SessionBusy while it is being driven."""
        async with self._starting:
            if self.is_busy:
                raise SessionBusy(f"session {self.journal.id} is running")
            async with self._held():
                await self._upkeep.close_cut_off(reason)
                await self.journal.flush()

    async def until_free(self) -> None:
        """Wait until no run is active."""
        while self._running is not None and not self._running.done():
            await asyncio.wait([self._running])

    @property
    def idle_s(self) -> float:
        """Return for how long nothing has happened to the session; 0 while something does."""
        is_used = self.is_busy or self._untaken > 0 or self._titling.is_active
        is_used = is_used or _is_active(self._compacting)
        is_used = is_used or not self._engine.is_at_rest(self.journal.id)
        return 0.0 if is_used else self._engine.clock.monotonic_s() - self._used_s

    async def settle(self) -> None:
        """Wait for a run whose end is recorded to be put away; one that still goes on is not waited for."""
        if self._running is not None and self.journal.session.run is None:
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)

    async def check_folder(self, cwd: str | None = None) -> None:
        """Refuse a folder, its own if none is named, where the session may not work; raises UsageError.

        It may lead elsewhere by now: whoever works in a folder can put a link in its place.
        """
        places = self._engine.workplaces
        if places is not None and not self._family.is_child(self.journal.id):  # whose folder we have chosen
            await places.check_session(self.journal.id, cwd or self.journal.session.known.created.cwd)

    async def notice_changes(self) -> None:
        """Record what was changed since anybody looked, so that it can be shown; a run does that itself."""
        await self.settle()
        async with self._starting:
            if self.is_busy:
                return
            with suppress(SessionBusy, StoreError):  # then only what is recorded can be shown
                async with self._held():
                    await self._upkeep.record_late_changes()

    async def submit(self, command: Command) -> Receipt:
        """Hand in a command and wait until it is taken; raises SessionError when it cannot be."""
        if self._is_closing:
            raise self._closed()
        if isinstance(command, Cancel) and (self._cancel_compaction() or self._call_off()):
            return self._receipt()  # in the inbox it would come behind a prompt that waits for something
        self._used_s = self._engine.clock.monotonic_s()
        taken: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._untaken += 1
        try:
            await self._inbox.put((command, taken))
            return await taken
        finally:
            self._untaken -= 1

    async def park(self) -> None:
        """Leave an active run as it is recorded, to be resumed; commands are not taken any more."""
        self._is_closing = self._is_parked = True
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S), self._starting:
                pass  # a run that is just beginning is parked, too
        for task in (self._running, self._compacting):
            if task is not None:
                task.cancel()
                await asyncio.wait([task], timeout=CLOSE_TIMEOUT_S)

    async def aclose(self) -> None:
        """Stop serving; an active run is cancelled and its end recorded, who waits is told."""
        self._is_closing = True
        self._serving.cancel()
        await asyncio.wait([self._serving])
        if self._compacting is not None:
            self._compacting.cancel()
            await asyncio.wait([self._compacting], timeout=CLOSE_TIMEOUT_S)
        if self._is_parked and self._running is not None:
            self._running.cancel()  # it was slow to begin, or is slow to end: nothing more is recorded
        elif self._driver is not None:
            self._driver.post(CancelRequested(reason="the engine is shutting down"))
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)
        await self._titling.aclose()
        for tool in self._engine.tools:
            if offers(tool, SessionTool):
                with suppress(BridleError, OSError):  # the other sessions are to be closed all the same
                    await tool.end_session(self.journal.id)
        if self._engine.servers is not None:
            await self._engine.servers.end_session(self.journal.id)

    # ------------------------------------------------------------------ commands

    async def _serve(self) -> None:
        try:
            while True:
                command, taken = await self._inbox.get()
                if isinstance(command, Compact) and not _is_active(self._compacting):
                    # A summary takes its time, and may be cancelled.
                    self._compacting = asyncio.create_task(self._answer(command, taken))
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
        except Exception as error:  # noqa: BLE001  whoever asked must hear of it, and others be served
            if not taken.done():
                taken.set_exception(error)
        else:
            if not taken.done():
                taken.set_result(receipt)

    def _closed(self) -> SessionNotRunning:
        if not self._is_closing:
            return SessionNotRunning(f"session {self.journal.id} was not compacted: that was cancelled")
        return SessionNotRunning(f"session {self.journal.id} takes no more commands: its engine shuts down")

    async def _take(self, command: Command) -> Receipt:
        check_command(command)
        match command:
            case Prompt():
                return await self._prompt(command)
            case Resume():
                return await self._resume(command)
            case Steer():
                await self.settle()
                key = key_of(command)
                if (taken := known_by(key, self.journal.session)) is not None:
                    return self._repeated(taken)
                if self._driver is None:
                    raise SessionNotRunning(f"session {self.journal.id} has no active run to steer")
                return await self._queue(command.message, RunOptions(), "steer", key)
            case Decide() | Reply():
                self._active().post(command)
                return self._receipt()
            case Cancel() if self._cancel_compaction():
                return self._receipt()
            case Cancel():
                self._active().post(CancelRequested(reason=command.reason))
                return self._receipt()
            case EditQueued():
                self._require_queued(command.item_id)
                if command.delivery == "steer" and self._driver is None:
                    raise SessionNotRunning(f"session {self.journal.id} has no active run to steer")
                return await self._record(QueueEdited(command.item_id, command.message, command.delivery))
            case DropQueued():
                self._require_queued(command.item_id)
                return await self._record(QueueDropped(command.item_id))
            case Rewind():
                await self.settle()
                return await self._rewind(command)
            case Compact():
                return await self._compact(command)
            case Pin():
                if command.pinned:
                    check_pin(self.journal.session.known.pins, command.text)
                return await self._record(Pinned(command.text, command.pinned))
            case Rename():
                return await self._record(SessionTitled(command.title))
            case Archive():
                await self.settle()
                if self.is_busy:
                    raise SessionBusy(f"session {self.journal.id} is running", hint="cancel the run first")
                return await self._record(SessionArchived(command.archived))

    def _active(self) -> Driver:
        if self._driver is None:
            raise SessionNotRunning(f"session {self.journal.id} has no active run")
        return self._driver

    def _is_queued(self, item_id: str) -> bool:
        return any(item.item_id == item_id for item in self.journal.session.known.queue)

    def _require_queued(self, item_id: str) -> None:
        if not self._is_queued(item_id):
            raise UsageError(f'no queued prompt "{item_id}"; it may have started already')

    async def _compact(self, command: Compact) -> Receipt:
        """Put a summary in the place of what was said; an active run does that before its next turn."""
        await self.settle()
        async with self._starting:
            if self._driver is not None:
                self._driver.compact(command.keep)
                return self._receipt()
            async with self._held():
                await self._upkeep.compact(await self._set_up(RunOptions()), command.keep)
        return self._receipt()

    def _cancel_compaction(self) -> bool:
        if self._driver is not None or not _is_active(self._compacting):
            return False
        self._compacting.cancel()
        return True

    async def _compact_late(self, keep: str) -> None:
        """Do what was asked of a run that had no turn left for it."""
        try:
            await self._compact(Compact(keep))
        except BridleError as error:
            self.journal.show(Notice(f"not compacted: {error}"))

    async def _record(
        self, event: SessionTitled | SessionArchived | QueueEdited | QueueDropped | Pinned
    ) -> Receipt:
        async with self._starting:  # or the claim of a run that is just beginning would stand in the way
            if self.is_busy:
                await self.journal.record(event)
                return self._receipt()
            async with self._held():
                await self.journal.record(event)
        return self._receipt()

    async def _rewind(self, command: Rewind) -> Receipt:
        async with self._starting:
            if self.is_busy:
                raise SessionBusy(f"session {self.journal.id} is running", hint="cancel the run first")
            async with self._held():
                await self._upkeep.rewind(command)
        return self._receipt()

    def _receipt(self, run_id: RunId | None = None, item_id: str | None = None) -> Receipt:
        return Receipt(self.journal.session.seq, run_id, item_id)

    # ------------------------------------------------------------------ runs

    async def _prompt(self, command: Prompt) -> Receipt:
        await self.settle()  # or it would queue behind a run that is over, and nobody would start it
        key = key_of(command)
        async with self._starting:
            if self._driver is None and not self._has_next:
                receipt = await self._begin(command.message, command.options, key=key)
                return await self._go_on_to(receipt) if receipt.repeated else receipt
        if (taken := known_by(key, self.journal.session)) is not None:
            return self._repeated(taken)
        if command.if_busy == "reject":
            raise SessionBusy(f"session {self.journal.id} is running", hint="wait for it, or cancel it")
        receipt = await self._queue(command.message, command.options, "queue", key)
        await self.begin_queued()
        return receipt

    async def _go_on_to(self, taken: Receipt) -> Receipt:
        """Let a queue go on that rests, as the run before it was stopped: what waits there is sent again."""
        session = self.journal.session
        queue = session.known.queue
        if session.run is not None or all(item.item_id != taken.item_id for item in queue):
            return taken
        begun = await self._begin_first()
        is_next = queue[0].item_id == taken.item_id
        return replace(begun, repeated=True) if is_next else replace(taken, seq=begun.seq)

    def _repeated(self, taken: TakenPrompt) -> Receipt:
        return Receipt(self.journal.session.seq, taken.run_id, taken.item_id, repeated=True)

    async def _queue(
        self, message: Message, options: RunOptions, delivery: Delivery, key: PromptKey | None
    ) -> Receipt:
        item_id = self._engine.new_id()
        recorded = replace(options, env={})
        await self.journal.record(PromptQueued(item_id, message, recorded, delivery, key=key))
        return self._receipt(item_id=item_id)

    async def _begin(
        self,
        message: Message,
        options: RunOptions,
        item_id: str | None = None,
        key: PromptKey | None = None,
    ) -> Receipt:
        await self._claim()
        run_id = self._engine.new_run_id()
        try:
            if item_id is None and (taken := known_by(key, self.journal.session)) is not None:
                await self._engine.claims.release(self.journal.id)
                return self._repeated(taken)
            if item_id is not None and not self._is_queued(item_id):  # another process has begun it meanwhile
                await self._engine.claims.release(self.journal.id)
                return self._receipt(item_id=item_id)
            setup = await self._allowance.cut(await self._set_up(options), run_id)
            tokens = await prompt_tokens(setup, message)
            await self._upkeep.close_cut_off()
            await self._upkeep.record_late_changes()
            model = setup.backend.model.ref
            recorded = replace(options, env={})
            self.journal.stage(RunStarted(run_id, model, setup.mode, setup.limits, recorded, key))
            await self.journal.record(MessageAdded(message, "prompt", tokens, item_id))
        except BaseException:  # also when the engine shuts down meanwhile
            await self._allowance.give_back(run_id)
            await self._engine.claims.release(self.journal.id)
            raise
        receipt = self._receipt(run_id)
        driver = self._drive(setup)
        if setup.agent.small_model:
            self._titling.begin(setup.agent.small_model, message, driver.is_let_through)
        return receipt

    async def _begin_first(self) -> Receipt:
        """Begin the prompt that has waited longest."""
        first = self.journal.session.known.queue[0]
        return await self._begin(first.message, first.options, first.item_id, first.key)

    async def _resume(self, command: Resume) -> Receipt:
        async with self._starting:
            if self._driver is None:
                await self.journal.catch_up()
            if self._driver is None and self._has_next:  # it was cut off between two runs
                return await self._begin_first()
            return await self._go_on(command)

    async def _go_on(self, command: Resume) -> Receipt:
        if self._driver is not None:
            raise SessionBusy(f"session {self.journal.id} is running")
        await self._claim()
        try:
            run = self.journal.session.run
            if run is None:
                raise SessionNotRunning(f"session {self.journal.id} has no run that was cut off")
            await self._family.take_stock(self.journal)
            setup = await self._set_up(options_after_cut(run, command.options))
            setup = await self._allowance.cut(setup, run.run_id)
            await self._upkeep.record_late_changes()
        except BaseException:  # also when the engine shuts down meanwhile
            await self._engine.claims.release(self.journal.id)
            raise
        receipt = self._receipt(run.run_id)
        self._drive(setup, resumed=True)
        return receipt

    async def _claim(self) -> None:
        if not await self._engine.claims.claim(self.journal.id):
            raise SessionBusy(
                f"session {self.journal.id} is being run by another process", hint="wait for it to end"
            )
        try:
            await self.journal.catch_up()
        except BaseException:
            await self._engine.claims.release(self.journal.id)
            raise

    @asynccontextmanager
    async def _held(self) -> AsyncIterator[None]:
        """Have the session to ourselves, and up to date, for something that is no run."""
        await self._claim()
        self.is_tended = True
        try:
            yield
        finally:
            self.is_tended = False
            await self._engine.claims.release(self.journal.id)

    async def _set_up(self, options: RunOptions) -> Setup:
        await self.check_folder(options.cwd)
        hooks = self._family.hooks_of(self.journal.id)
        self._preparing = asyncio.create_task(
            set_up(self._engine, self.journal.id, self.journal.session, options, hooks, self._tell_wait)
        )
        try:
            setup = await self._preparing
        except asyncio.CancelledError:
            if self._preparing is not None:
                raise
            raise SessionNotRunning(f"session {self.journal.id}: cancelled before the run began") from None
        finally:
            self._preparing = None
        for note in setup.notes:
            self.journal.show(Notice(note))
        return setup

    def _call_off(self) -> bool:
        """Cancel a run that is about to begin: a model or a tool server may take long to start."""
        preparing, self._preparing = self._preparing, None
        return preparing is not None and preparing.cancel()

    def _tell_wait(self, text: str) -> None:
        self.journal.show(Notice(text, is_wait=True))

    def _drive(self, setup: Setup, *, resumed: bool = False) -> Driver:
        run = self.journal.session.run
        assert run is not None
        driver = self._driver = Driver(self._engine, self.journal, run, setup, self._family)
        performing = driver.run(resumed=resumed)
        self._running = asyncio.create_task(self._finish(performing, run.run_id), name=f"run {run.run_id}")
        self.journal.announce()
        return driver

    async def _finish(self, performing: Coroutine[None, None, None], run_id: RunId) -> None:
        try:
            await performing
        except Exception as error:  # noqa: BLE001  a run must be seen to end, whatever breaks in it
            await self._record_failure(run_id, _describe(error))
        finally:
            wanted = self._driver.left_to_compact() if self._driver is not None else None
            async with self._starting:  # or a change would find the session at rest and still claimed
                self._driver = None
                self._used_s = self._engine.clock.monotonic_s()
                await self._allowance.settle(self.journal.session.last)
                await self._engine.claims.release(self.journal.id)
            self.journal.announce()
        async with self._starting:
            await self._begin_next()
        if wanted is not None and not self._is_stopped and not _is_active(self._compacting):
            self._compacting = asyncio.create_task(self._compact_late(wanted.keep))

    async def _record_failure(self, run_id: RunId, reason: str) -> None:
        """End a run that broke; if even that cannot be stored, tell the watchers at least."""
        run = self.journal.session.run
        try:
            if run is not None and not self.journal.is_stale:
                self._upkeep.close(run, reason)
                await self.journal.flush()
        except BridleError:
            self.journal.is_stale = True
        if self.journal.is_stale:
            self.aborted = Aborted(run_id, reason)
            self.journal.show(self.aborted)

    @property
    def _is_stopped(self) -> bool:
        """Tell whether nothing is to follow the last run by itself."""
        last = self.journal.session.last
        was_stopped = last is not None and last.outcome in ("cancelled", "denied")
        return was_stopped or self.journal.is_stale or self._is_closing

    @property
    def _has_next(self) -> bool:
        """Tell whether a prompt waits that is to run by itself, and no run is open."""
        session = self.journal.session
        return (
            session.run is None
            and bool(session.known.queue)
            and not self._is_stopped
            and not self._family.is_child(self.journal.id)  # its parent's bounds are those of its one run
        )

    async def begin_queued(self) -> None:
        """Let the prompt that has waited longest run, unless a run is open or the last one was stopped."""
        await self.settle()
        async with self._starting:
            if self._driver is None:
                await self.journal.catch_up()  # another process may have queued it
            await self._begin_next()

    async def _begin_next(self) -> None:
        while self._driver is None and self._has_next:  # another process may have begun the first of them
            try:
                await self._begin_first()
            except BridleError as error:
                self.journal.show(Aborted(RunId(""), f"the queued prompt could not start: {error}"))
                return


def _is_active(task: asyncio.Task[None] | None) -> TypeGuard[asyncio.Task[None]]:
    return task is not None and not task.done()


def _describe(error: BaseException) -> str:
    """Find the error at the bottom of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, BridleError) else f"{type(error).__name__}: {error}"
