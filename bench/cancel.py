"""How long a cancelled run takes to stop and be recorded, with a model stream and tools in flight."""

import asyncio
import time

from measure import report

ROUNDS = 20
PROMISED_MS = 200.0


async def slowest_ms() -> float:
    """Cancel runs in the middle of a hanging stream; return the longest wait for RunEnded."""
    from turns import OneModel

    from bridle.core.agent import Agent
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, TextDelta
    from bridle.providers.script import HangFault, Reply
    from bridle.providers.scripted import ScriptedProvider
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock
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
    worst = 0.0
    for _ in range(ROUNDS):
        session = await service.create(cwd="/")
        await service.submit(session, Prompt(user_message("hi")))
        async for item in service.watch(session):
            if isinstance(item, TextDelta):
                break
        began = time.perf_counter()
        await service.interrupt(session)
        worst = max(worst, (time.perf_counter() - began) * 1000)
    await service.aclose()
    return worst


def main() -> list[tuple[str, float, float]]:
    """Compare with the promise of 200 ms."""
    worst = asyncio.run(slowest_ms())
    print(f"slowest of {ROUNDS} cancels: {worst:.1f} ms")
    return report([("cancel / promised 200 ms", worst / PROMISED_MS, 1.0)])


if __name__ == "__main__":
    main()
