"""An assignment that ends before the engine starts its steps blocks no caller."""

import asyncio

from bridle.core.ids import SessionId
from bridle.scale.durable import Executor
from tests.patience import PATIENCE_S

S = SessionId("play")


class Unstarted(Executor):
    """An engine that has taken note of a stint, and does not get to it."""

    async def _start(self, session: SessionId) -> None:
        pass


async def test_work_whose_leg_is_over_goes_on_without_steps():
    executor = Unstarted("postgresql://nowhere", "worker-1")
    executor.begin(S)
    done: list[str] = []

    async def work() -> None:
        done.append("done")

    working = asyncio.create_task(executor.perform(S, "step", work))
    await asyncio.sleep(0)
    executor.end(S)
    async with asyncio.timeout(PATIENCE_S):
        await working

    assert done == ["done"]
