"""The runs of one session, one at a time: starts, resumes and ends them, then runs the queued prompts.

```
prompt ─▶ idle: begin ─▶ claim ─▶ set up ─▶ RunStarted ─▶ driver ─▶ finish ─▶ release ─▶ the next in the queue
       ─▶ busy: queue
```

When a run ends the next queued prompt starts automatically, unless the user stopped the run.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from bridle.core.errors import BridleError, SessionBusy, SessionNotRunning
from bridle.core.ids import RunId
from bridle.core.loop import CancelRequested
from bridle.core.messages import Message
from bridle.core.protocol import (
    Aborted,
    Delivery,
    MessageAdded,
    Notice,
    Prompt,
    PromptKey,
    PromptQueued,
    Resume,
    RunOptions,
    RunStarted,
    Steer,
    TakenPrompt,
)
from bridle.core.session_api import Receipt
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.command_checks import (
    check_sight,
    find_taken_prompt,
    key_of,
    merge_options,
    new_run_options,
    prompt_tokens,
    resumed_options,
)
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.run.driver import Driver
from bridle.sessions.run.maintenance import Maintenance
from bridle.sessions.run.preparation import Claim, RunSetup, TenantReservation
from bridle.sessions.run.titles import TitleWriter
from bridle.sessions.setup import Setup
from bridle.system.tasks import CLOSE_TIMEOUT_S, BackgroundTask


class Runs:
    """Starts a run for each prompt of a session, and drives each run to its end."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        family: SubAgents,
        upkeep: Maintenance,
        background: BackgroundTask,
    ) -> None:
        self.claim = Claim(engine.claims, journal)
        self.preparing = RunSetup(engine, journal, family)
        self.titling = TitleWriter(engine.models, journal)
        self.is_closing = False
        """True once no more runs may start."""
        self.used_s = engine.clock.monotonic_s()
        """The monotonic time of the session's last activity."""
        self.aborted: Aborted | None = None
        """The last run whose end could not be recorded."""
        self._engine = engine
        self._journal = journal
        self._family = family
        self._upkeep = upkeep
        self._background = background
        self._allowance = TenantReservation(
            None if family.is_child(journal.id) else engine.tenant_budget, journal.id
        )
        self._driver: Driver | None = None
        self._running: asyncio.Task[None] | None = None
        self._is_parked = False

    @property
    def is_busy(self) -> bool:
        """True while a run is active here."""
        return self._driver is not None

    @property
    def rests(self) -> bool:
        """True while nothing in the active run can proceed until a person answers."""
        return self._driver is not None and self._driver.rests

    def active(self, *, to: str = "") -> Driver:
        """Return the active run's driver; raises SessionNotRunning if there is none."""
        if self._driver is None:
            purpose = f" to {to}" if to else ""
            raise SessionNotRunning(f"session {self._journal.id} has no active run{purpose}")
        return self._driver

    def is_queued(self, item_id: str) -> bool:
        """Return whether a prompt is still queued."""
        return any(item.item_id == item_id for item in self._journal.session.known.queue)

    async def until_free(self) -> None:
        """Wait until no run is active."""
        while self._running is not None and not self._running.done():
            await asyncio.wait([self._running])

    async def settle(self) -> None:
        """Wait until a run whose end is recorded is cleaned up; do not wait for one that still runs."""
        if self._running is not None and self._journal.session.run is None:
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)

    @asynccontextmanager
    async def between(self) -> AsyncIterator[None]:
        """Hold the session's claim between two runs; raises SessionBusy while one is active."""
        async with self.claim.starting:
            if self.is_busy:
                raise SessionBusy(f"session {self._journal.id} is running", hint="cancel the run first")
            async with self.claim.held():
                yield

    async def park(self) -> None:
        """Stop an active run without recording an end, so it can be resumed; start no other."""
        self.is_closing = self._is_parked = True
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S), self.claim.starting:
                pass  # a run that is just starting is parked, too
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)

    async def aclose(self) -> None:
        """Cancel an active run and let its end be recorded."""
        if self._is_parked and self._running is not None:
            self._running.cancel()  # it is slow to start or to end: nothing more is recorded
        elif self._driver is not None:
            self._driver.post(CancelRequested(reason="the engine is shutting down"))
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSE_TIMEOUT_S)
        await self.titling.aclose()

    # ------------------------------------------------------------------ prompts

    async def prompt(self, command: Prompt) -> Receipt:
        """Start a run, or queue the prompt; raises SessionBusy if it must not wait."""
        await self.settle()  # else it would queue behind a run that is over, and never start
        key = key_of(command)
        async with self.claim.starting:
            if self._driver is None and not self._has_next:
                receipt = await self._begin(command.message, command.options, key=key)
                return await self._restart_queue(receipt) if receipt.repeated else receipt
        if (taken := find_taken_prompt(key, self._journal.session)) is not None:
            return self._repeated(taken)
        if command.if_busy == "reject":
            raise SessionBusy(f"session {self._journal.id} is running", hint="wait for it, or cancel it")
        if self._driver is not None and command.options.model is None:  # else the start of its run checks it
            check_sight(self._driver.model, command.message)
        receipt = await self._queue(command.message, command.options, "queue", key)
        await self.begin_queued()
        return receipt

    async def steer(self, command: Steer) -> Receipt:
        """Queue a message for the active run's next turn; raises SessionNotRunning."""
        await self.settle()
        key = key_of(command)
        if (taken := find_taken_prompt(key, self._journal.session)) is not None:
            return self._repeated(taken)
        check_sight(self.active(to="steer").model, command.message)
        return await self._queue(command.message, RunOptions(), "steer", key)

    async def _restart_queue(self, taken: Receipt) -> Receipt:
        """Restart a queue that was halted by a stopped run, because one of its prompts was sent again."""
        session = self._journal.session
        queue = session.known.queue
        if session.run is not None or all(item.item_id != taken.item_id for item in queue):
            return taken
        begun = await self._begin_first(RunOptions())
        is_next = queue[0].item_id == taken.item_id
        return replace(begun, repeated=True) if is_next else replace(taken, seq=begun.seq)

    def _repeated(self, taken: TakenPrompt) -> Receipt:
        return Receipt(self._journal.session.seq, taken.run_id, taken.item_id, repeated=True)

    async def _queue(
        self, message: Message, options: RunOptions, delivery: Delivery, key: PromptKey | None
    ) -> Receipt:
        item_id = self._engine.new_id()
        recorded = replace(options, env={})
        await self._journal.record(PromptQueued(item_id, message, recorded, delivery, key=key))
        return Receipt(self._journal.session.seq, item_id=item_id)

    async def begin_queued(self) -> None:
        """Start the oldest queued prompt, unless a run is open or the last one was stopped."""
        await self.settle()
        async with self.claim.starting:
            if self._driver is None:
                await self._journal.catch_up()  # another process may have queued it
            await self._begin_next()

    async def _begin_next(self) -> None:
        while self._driver is None and self._has_next:  # another process may have started the first of them
            try:
                await self._begin_first(RunOptions())
            except BridleError as error:
                self._journal.show(Aborted(RunId(""), f"the queued prompt could not start: {error}"))
                return

    async def _begin_first(self, changed: RunOptions) -> Receipt:
        """Start the oldest queued prompt, with changed options."""
        first = self._journal.session.known.queue[0]
        options = merge_options(first.options, changed)
        return await self._begin(first.message, options, first.item_id, first.key)

    @property
    def _has_next(self) -> bool:
        """True if a queued prompt should start now."""
        session = self._journal.session
        return (
            session.run is None
            and bool(session.known.queue)
            and not self._is_stopped
            and not self._family.is_child(self._journal.id)  # a sub-agent's bounds cover its one run only
        )

    @property
    def _is_stopped(self) -> bool:
        """True if no queued prompt may start after the last run."""
        last = self._journal.session.last
        was_stopped = last is not None and last.outcome in ("cancelled", "denied")
        return was_stopped or self._journal.is_stale or self.is_closing

    # ------------------------------------------------------------------ one run

    async def _begin(
        self,
        message: Message,
        options: RunOptions,
        item_id: str | None = None,
        key: PromptKey | None = None,
    ) -> Receipt:
        await self.claim.take()
        run_id = self._engine.new_run_id()
        try:
            if item_id is None and (taken := find_taken_prompt(key, self._journal.session)) is not None:
                await self.claim.release()
                return self._repeated(taken)
            if item_id is not None and not self.is_queued(item_id):  # another process has started it
                await self.claim.release()
                return Receipt(self._journal.session.seq, item_id=item_id)
            options = new_run_options(self._journal.session, options)
            setup = await self.preparing.set_up(options)
            check_sight(setup.backend.model, message)
            setup = await self._allowance.cut(setup, run_id)
            tokens = await prompt_tokens(setup, message)
            await self._upkeep.close_interrupted()
            await self._upkeep.record_late_changes()
            model = setup.backend.model.ref
            recorded = replace(options, env={})
            self._journal.stage(RunStarted(run_id, model, setup.mode, setup.limits, recorded, key))
            await self._journal.record(MessageAdded(message, "prompt", tokens, item_id))
        except BaseException:  # also when the engine shuts down meanwhile
            await self._allowance.give_back(run_id)
            await self.claim.release()
            raise
        receipt = Receipt(self._journal.session.seq, run_id)
        driver = self._drive(setup)
        if setup.agent.small_model:
            self.titling.begin(setup.agent.small_model, message, driver.is_let_through)
        return receipt

    async def resume(self, command: Resume) -> Receipt:
        """Resume an interrupted run, or start the queued prompt that was due when the process died."""
        async with self.claim.starting:
            if self._driver is None:
                await self._journal.catch_up()
            if self._driver is None and self._has_next:  # the process died between two runs
                return await self._begin_first(command.options)
            return await self._go_on(command)

    async def _go_on(self, command: Resume) -> Receipt:
        if self._driver is not None:
            raise SessionBusy(f"session {self._journal.id} is running")
        await self.claim.take()
        try:
            run = self._journal.session.run
            if run is None:
                raise SessionNotRunning(f"session {self._journal.id} has no interrupted run")
            await self._family.find_interrupted(self._journal)
            setup = await self.preparing.set_up(resumed_options(run, command.options))
            setup = await self._allowance.cut(setup, run.run_id)
            await self._upkeep.record_late_changes()
        except BaseException:  # also when the engine shuts down meanwhile
            await self.claim.release()
            raise
        receipt = Receipt(self._journal.session.seq, run.run_id)
        self._drive(setup, resumed=True)
        return receipt

    def _drive(self, setup: Setup, *, resumed: bool = False) -> Driver:
        run = self._journal.session.run
        assert run is not None
        driver = self._driver = Driver(self._engine, self._journal, run, setup, self._family)
        performing = driver.run(resumed=resumed)
        self._running = asyncio.create_task(self._finish(performing, run.run_id), name=f"run {run.run_id}")
        self._journal.announce()
        return driver

    async def _finish(self, performing: Coroutine[None, None, None], run_id: RunId) -> None:
        try:
            await performing
        except Exception as error:  # noqa: BLE001  a run must be seen to end, whatever breaks in it
            await self._record_failure(run_id, _describe(error))
        finally:
            wanted = self._driver.left_to_compact() if self._driver is not None else None
            async with self.claim.starting:  # else a change could find the session idle but still claimed
                self._driver = None
                self.used_s = self._engine.clock.monotonic_s()
                await self._allowance.settle(self._journal.session.last)
                await self.claim.release()
            self._journal.announce()
        async with self.claim.starting:
            await self._begin_next()
        if wanted is not None and not self._is_stopped and not self._background.is_active:
            self._background.begin(self._compact_late(wanted.keep))

    async def _record_failure(self, run_id: RunId, reason: str) -> None:
        """Record the end of a failed run; if even that cannot be stored, notify the watchers."""
        run = self._journal.session.run
        try:
            if run is not None and not self._journal.is_stale:
                self._upkeep.close(run, reason)
                await self._journal.flush()
        except BridleError:
            self._journal.is_stale = True
        if self._journal.is_stale:
            self.aborted = Aborted(run_id, reason)
            self._journal.show(self.aborted)

    # ------------------------------------------------------------------ compaction

    async def compact(self, keep: str) -> None:
        """Compact the conversation; an active run does so before its next turn."""
        await self.settle()
        async with self.claim.starting:
            if self._driver is not None:
                self._driver.compact(keep)
                return
            async with self.claim.held():
                options = new_run_options(self._journal.session, RunOptions())
                await self._upkeep.compact(await self.preparing.set_up(options), keep)

    async def _compact_late(self, keep: str) -> None:
        """Run a compaction that was requested too late for the run's last turn."""
        try:
            await self.compact(keep)
        except BridleError as error:
            self._journal.show(Notice(f"not compacted: {error}"))


def _describe(error: BaseException) -> str:
    """Return the message of the innermost error, unwrapping exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, BridleError) else f"{type(error).__name__}: {error}"
