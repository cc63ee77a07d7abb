"""The tenant's budget for a run: reserved before the run starts, settled when it has ended."""

from contextlib import suppress

from msgspec.structs import replace

from bridle.core.budget import Spend
from bridle.core.errors import StoreError
from bridle.core.ids import RunId, SessionId
from bridle.core.ports import TenantBudget
from bridle.core.protocol import RunEnded
from bridle.sessions.setup import Setup


class TenantReservation:
    """Reserves and settles the tenant budget of one session's runs; a sub-agent's is part of its parent's."""

    def __init__(self, purse: TenantBudget | None, session: SessionId) -> None:
        self._purse = purse
        self._session = session

    async def cut(self, setup: Setup, run_id: RunId) -> Setup:
        """Reserve what a run may use, and return the setup with its limits cut to it; raises BudgetSpent."""
        if self._purse is None:
            return setup
        return replace(setup, limits=await self._purse.reserve(self._session, run_id, setup.limits))

    async def give_back(self, run_id: RunId) -> None:
        """Release the reservation of a run that did not start."""
        await self._settle(run_id, Spend())

    async def settle(self, ended: RunEnded | None) -> None:
        """Charge what a run used."""
        if ended is not None:
            await self._settle(ended.run_id, Spend(ended.usage.context, cost=ended.cost or 0.0))

    async def _settle(self, run_id: RunId, used: Spend) -> None:
        if self._purse is not None:
            with suppress(StoreError):  # the search for unsettled reservations charges it later
                await self._purse.settle(self._session, run_id, used)
