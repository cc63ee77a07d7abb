"""Settles budget reservations of runs that ended without doing so, such as those of a dead worker."""

from bridle.core.budget import Spend
from bridle.core.ports import Store, TenantBudget
from bridle.core.protocol import RunEnded, RunStarted
from bridle.core.tenant_budget import NANO, Reservation

OLDER_S = 600.0
AT_ONCE = 500
TAIL = 2_000  # records that are searched at once for the end of a run


async def settle_ended(purse: TenantBudget, store: Store, older_s: float = OLDER_S) -> int:
    """Settle every old reservation whose run has ended or never began; return how many. Raises StoreError.

    If the session is gone, the whole reservation counts as spent; if the run never began, nothing does.
    Runs that continue are left alone.
    """
    settled = 0
    for reservation in await purse.unsettled(older_s, AT_ONCE):
        used = await _used(store, reservation)
        if used is not None:
            await purse.settle(reservation.session, reservation.run_id, used)
            settled += 1
    return settled


async def _used(store: Store, reservation: Reservation) -> Spend | None:
    """Return the spend of a run; None if it continues."""
    before: int | None = None
    while records := await store.read(reservation.session, before=before, limit=TAIL, newest=True):
        for record in reversed(records):
            match record.event:
                case RunEnded(run_id=run_id) if run_id == reservation.run_id:
                    return get_spend(record.event)
                case RunStarted(run_id=run_id) if run_id == reservation.run_id:
                    return None
                case _:
                    pass
        before = records[0].seq
    if before is None:
        return Spend(tokens=reservation.held.tokens, cost=reservation.held.nano / NANO)
    return Spend()  # its worker died before it began


def get_spend(ended: RunEnded) -> Spend:
    """Return what a run counts toward the budget of its tenant."""
    return Spend(tokens=ended.usage.context, cost=ended.cost or 0.0)
