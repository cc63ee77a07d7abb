"""Settle what was set aside for runs that ended while nobody could say so, such as those of a dead worker."""

from bridle.core.budget import Spend
from bridle.core.ports import Purse, Store
from bridle.core.protocol import RunEnded, RunStarted
from bridle.core.purse import NANO, Reservation

OLDER_S = 600.0
AT_ONCE = 500
TAIL = 2_000  # records that are looked through at once for the end of a run


async def settle_ended(purse: Purse, store: Store, older_s: float = OLDER_S) -> int:
    """Settle every old reservation whose run has ended or never began; returns how many; raises StoreError.

    A run whose session is gone counts with all that was set aside for it, one that never began with nothing;
    one that goes on is left alone.
    """
    settled = 0
    for reservation in await purse.unsettled(older_s, AT_ONCE):
        used = await _used(store, reservation)
        if used is not None:
            await purse.settle(reservation.session, reservation.run_id, used)
            settled += 1
    return settled


async def _used(store: Store, reservation: Reservation) -> Spend | None:
    """Return what counts of a run; None for one that goes on."""
    before: int | None = None
    while records := await store.read(reservation.session, before=before, limit=TAIL, newest=True):
        for record in reversed(records):
            match record.event:
                case RunEnded(run_id=run_id) if run_id == reservation.run_id:
                    return used_by(record.event)
                case RunStarted(run_id=run_id) if run_id == reservation.run_id:
                    return None
                case _:
                    pass
        before = records[0].seq
    if before is None:
        return Spend(tokens=reservation.held.tokens, cost=reservation.held.nano / NANO)
    return Spend()  # its worker died before it began


def used_by(ended: RunEnded) -> Spend:
    """Return what counts of a run in the budget of its tenant."""
    return Spend(tokens=ended.usage.context, cost=ended.cost or 0.0)
