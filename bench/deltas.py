"""20,000 small fragments of text from a server to one watcher, compared with the bare client.

The floor only splits the same bytes into lines and parses their JSON. Bridle's figure includes the provider,
the loop, the driver, the bus and a watcher who sees every fragment. Memory is flat if an answer that is five
times as long does not raise the peak of the process.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from children import child_figures, serving
from measure import report, rounds
from rows import Line, Row, figure, ours
from store_session import peak_bytes

DELTAS = 20_000
MANY_DELTAS = 100_000
ROUNDS = rounds(5)
RUNS = 3  # in one process
PROMPT = "Tell me a long story."


async def bridle_run(url: str, wanted: int, runs: int) -> list[float]:
    """Return the CPU seconds of each run, from the prompt until its watcher sees the end."""
    from turns import open_service

    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, Record, RunEnded, TextDelta

    times = []
    with tempfile.TemporaryDirectory() as home:
        service = open_service(Path(home), url)
        for _ in range(runs):
            session = await service.create(cwd=home)
            seen = 0
            began = time.process_time()
            stream = service.watch(session)
            await anext(stream)  # subscribes, so that no fragment is missed
            await service.submit(session, Prompt(user_message(PROMPT)))
            async for item in stream:
                if isinstance(item, TextDelta):
                    seen += 1
                elif isinstance(item, Record) and isinstance(item.event, RunEnded):
                    break
            times.append(time.process_time() - began)
            await stream.aclose()
            assert seen == wanted, f"{seen} of {wanted} deltas"
        await service.aclose()
    return times


async def bare_run(url: str, wanted: int, runs: int) -> list[float]:
    """Return the CPU seconds of each reading of the same bytes."""
    import aiohttp

    body = {
        "model": "bench",
        "messages": [{"role": "user", "content": PROMPT}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    times = []
    async with aiohttp.ClientSession() as client:
        for _ in range(runs):
            seen = 0
            began = time.process_time()
            async with client.post(f"{url}/chat/completions", json=body) as response:
                async for line in response.content:
                    if line.startswith(b"data: {"):
                        json.loads(line[6:])
                        seen += 1
            times.append(time.process_time() - began)
            assert seen > wanted, f"{seen} of {wanted} deltas"
    return times


def script(deltas: int) -> dict[str, object]:
    """Make an answer of `count` fragments, each about as long as a token."""
    return {"replies": [{"text": [f" w{n % 1000:03}" for n in range(deltas)]}], "repeat": True}


def main() -> list[Line]:
    """Compare CPU time and peak memory; the bars are 2 and 1.1."""
    times: dict[str, list[float]] = {"bare": [], "bridle": []}
    with serving(script(DELTAS)) as url:
        for _ in range(ROUNDS):
            for kind, found in times.items():
                figures = child_figures(__file__, kind, url, str(DELTAS), str(RUNS))
                found += figures[1:]
        few = child_figures(__file__, "bridle", url, str(DELTAS), "1")[0]
    with serving(script(MANY_DELTAS)) as url:
        many = child_figures(__file__, "bridle", url, str(MANY_DELTAS), "1")[0]
    each, bare = (times[kind] for kind in ("bridle", "bare"))
    parser = figure("a bare client that parses them", bare, scale=1e6 / DELTAS)
    shorter = figure(f"at {DELTAS:,}", [few], scale=1e-6)
    return report(
        [
            Row(
                "deltas.cpu", "a delta to a watcher", "µs CPU", ours(each, scale=1e6 / DELTAS), (parser,), 2.0
            ),
            Row(
                "deltas.memory",
                f"peak memory at {MANY_DELTAS:,} deltas",
                "MB",
                ours([many], scale=1e-6),
                (shorter,),
                1.1,
            ),
        ]
    )


if __name__ == "__main__":
    chosen, address, count, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    measured = bare_run if chosen == "bare" else bridle_run
    spent = asyncio.run(measured(address, count, times))
    print(peak_bytes(), *spent)
