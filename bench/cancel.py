"""How long a cancelled run takes to stop and be recorded, with a model stream and tools in flight."""

import asyncio
import time

from measure import report, rounds
from rows import Line, Row, ours

ROUNDS = rounds(20)
PROMISED_MS = 200.0


async def waits_s() -> list[float]:
    """Cancel runs in the middle of a hanging stream; return the seconds until each RunEnded."""
    from turns import OneModel

    from bridle.core.agent import Agent
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, TextDelta
    from bridle.providers.script import HangFault, Reply
    from bridle.providers.scripted import ScriptedProvider
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import LocalClaims
    from bridle.stores.ephemeral import EphemeralStore

    provider = ScriptedProvider.of(Reply(text="thinking about it", fault=HangFault()), repeat=True)
    service = SessionService(
        Engine(
            store=EphemeralStore(SystemClock()),
            claims=LocalClaims(),
            models=OneModel(provider),
            load_agent=lambda name, cwd: Agent(name, "", "bench/bench"),
            tools=[],
            clock=SystemClock(),
            chance=SystemChance(),
        )
    )
    waits = []
    for _ in range(ROUNDS):
        session = await service.create(cwd="/")
        await service.submit(session, Prompt(user_message("hi")))
        async for item in service.watch(session):
            if isinstance(item, TextDelta):
                break
        began = time.perf_counter()
        await service.interrupt(session)
        waits.append(time.perf_counter() - began)
    await service.aclose()
    return waits


def main() -> list[Line]:
    """Compare with the promise of 200 ms."""
    waits = asyncio.run(waits_s())
    slowest = ours([max(waits)], scale=1e3)
    return report([Row("cancel.slowest", "the slowest cancel of all rounds", "ms", slowest, bar=PROMISED_MS)])


if __name__ == "__main__":
    main()
