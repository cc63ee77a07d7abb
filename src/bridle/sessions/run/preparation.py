"""Prepares a run: checks its folder, and finds its model, rules and tools."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from bridle.core.budget import Spend
from bridle.core.errors import SessionBusy, SessionNotRunning, StoreError
from bridle.core.ids import RunId, SessionId
from bridle.core.ports import Claims, TenantBudget
from bridle.core.protocol import Notice, RunEnded, RunOptions
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup, set_up

# ---------------------------------------------------------------------------- claim
# The claim on one session: only the process that holds it may run or change the session.


class Claim:
    """Takes and releases the claim, for a run or for another change to the session."""

    def __init__(self, claims: Claims, journal: Journal) -> None:
        self.starting = asyncio.Lock()  # invariant: one run or one change takes the claim at a time
        self.is_tended = False
        """True while the claim is held for a change that is not a run."""
        self._claims = claims
        self._journal = journal

    async def take(self) -> None:
        """Claim the session and read what others appended; raises SessionBusy if another process runs it."""
        if not await self._claims.claim(self._journal.id):
            raise SessionBusy(
                f"session {self._journal.id} is being run by another process", hint="wait for it to end"
            )
        try:
            await self._journal.catch_up()
        except BaseException:
            await self.release()
            raise

    async def release(self) -> None:
        """Give up the claim."""
        await self._claims.release(self._journal.id)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the claim, with the journal up to date, for a change that is not a run."""
        await self.take()
        self.is_tended = True
        try:
            yield
        finally:
            self.is_tended = False
            await self.release()


# ---------------------------------------------------------------------------- allowance
# The tenant's budget for a run: reserved before the run starts, settled when it has ended.


class TenantReservation:
    """Reserves and settles the tenant budget of one session's runs; a sub-agent's is part of its parent's."""

    def __init__(self, tenant_budget: TenantBudget | None, session: SessionId) -> None:
        self._tenant_budget = tenant_budget
        self._session = session

    async def cut(self, setup: Setup, run_id: RunId) -> Setup:
        """Reserve what a run may use, and return the setup with its limits cut to it; raises BudgetSpent."""
        if self._tenant_budget is None:
            return setup
        return replace(setup, limits=await self._tenant_budget.reserve(self._session, run_id, setup.limits))

    async def give_back(self, run_id: RunId) -> None:
        """Release the reservation of a run that did not start."""
        await self._settle(run_id, Spend())

    async def settle(self, ended: RunEnded | None) -> None:
        """Charge what a run used."""
        if ended is not None:
            await self._settle(ended.run_id, Spend(ended.usage.context, cost=ended.cost or 0.0))

    async def _settle(self, run_id: RunId, used: Spend) -> None:
        if self._tenant_budget is not None:
            with suppress(StoreError):  # the search for unsettled reservations charges it later
                await self._tenant_budget.settle(self._session, run_id, used)


# ---------------------------------------------------------------------------- run setup


class RunSetup:
    """Sets up the runs of one session; a setup can be cancelled."""

    def __init__(self, engine: Engine, journal: Journal, family: SubAgents) -> None:
        self._engine = engine
        self._journal = journal
        self._family = family
        self._task: asyncio.Task[Setup] | None = None
        self._warned: set[str] = set()

    async def check_folder(self, cwd: str | None = None) -> None:
        """Refuse a folder (default: the session's) where the session may not work; raises UsageError.

        Checked before every run: a program in the folder may have replaced it with a link.
        """
        places = self._engine.workplaces
        if places is not None and not self._family.is_child(self._journal.id):  # a sub-agent's folder is ours
            await places.check_session(self._journal.id, cwd or self._journal.session.known.created.cwd)

    async def set_up(self, options: RunOptions) -> Setup:
        """Resolve a run's setup; raises SessionNotRunning if cancelled, otherwise like `setup.set_up`."""
        await self.check_folder(options.cwd)
        journal, hooks = self._journal, self._family.hooks_of(self._journal.id)
        self._task = asyncio.create_task(
            set_up(self._engine, journal.id, journal.session, options, hooks, self._tell_wait, self._warn)
        )
        try:
            setup = await self._task
        except asyncio.CancelledError:
            if self._task is not None:
                raise
            raise SessionNotRunning(f"session {journal.id}: cancelled before the run began") from None
        finally:
            self._task = None
        for note in setup.notes:
            journal.show(Notice(note))
        return setup

    def call_off(self) -> bool:
        """Cancel a run that is being set up: a model or tool server may take long to start."""
        task, self._task = self._task, None
        return task is not None and task.cancel()

    def _warn(self, text: str) -> None:
        """Show a notice once per session."""
        if text not in self._warned:
            self._warned.add(text)
            self._journal.show(Notice(text))

    def _tell_wait(self, text: str) -> None:
        self._journal.show(Notice(text, is_wait=True))
