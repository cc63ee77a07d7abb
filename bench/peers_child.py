"""Measurements of one agent framework, made inside it; run by the interpreter of its environment.

```
peers_child.py FRAMEWORK cold URL          one short run; prints the memory in bytes, at rest
                         turns URL         a run of 50 turns; prints the CPU seconds of each
                         deltas URL        an answer in 2,000 fragments; the same
                         parallel URL      a turn with 8 calls of 100 ms; prints the seconds of each run
                         many URL          200 runs of 5 turns at once; prints time, CPU, peak memory
                         save PLACE        keeps a long conversation as the framework does
                         resume URL PLACE  continues it
```

Only the standard library is imported here, so that a framework loads only its own code.
"""

import asyncio
import importlib
import os
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable
from pathlib import Path
from typing import Any

from peers_play import ANSWER, CALL_S, DELTAS, OUTPUT, PROMPT, SESSIONS, said

RUNS = 2  # in one process, after one that is not counted
REST_S = 0.3

Ask = Callable[[str], Any]


async def look(on: str) -> str:
    """Looks at a file."""
    return on + OUTPUT


async def wait(number: int) -> str:
    """Waits for a while."""
    await asyncio.sleep(CALL_S)
    return f"{number} is done"


def look_now(on: str) -> str:
    """Looks at a file."""
    return on + OUTPUT


def wait_now(number: int) -> str:
    """Waits for a while."""
    time.sleep(CALL_S)
    return f"{number} is done"


look_now.__name__, wait_now.__name__ = "look", "wait"


async def cold(peer: Any, url: str) -> list[float]:
    """Run once, briefly, and rest."""
    assert await ended(peer.run(url, tools(peer))(PROMPT)) == ANSWER
    await asyncio.sleep(REST_S)
    return [memory_bytes("VmRSS")]


async def turns(peer: Any, url: str) -> list[float]:
    """Measure the CPU of runs of many turns."""
    return await each(peer.run(url, tools(peer)), ANSWER, time.process_time)


async def deltas(peer: Any, url: str) -> list[float]:
    """Measure the CPU of answers in many fragments."""
    return await each(peer.stream(url), DELTAS, time.process_time)


async def parallel(peer: Any, url: str) -> list[float]:
    """Measure the time of a run with slow calls."""
    return await each(peer.run(url, tools(peer)), ANSWER, time.perf_counter)


async def many(peer: Any, url: str) -> list[float]:
    """Run many short runs at once."""
    ask = peer.run(url, tools(peer))
    assert await ended(ask(PROMPT)) == ANSWER
    began, used = time.perf_counter(), time.process_time()
    if is_threaded(peer):
        with ThreadPoolExecutor(SESSIONS) as pool:
            answers = list(pool.map(ask, [PROMPT] * SESSIONS))
    else:
        answers = await asyncio.gather(*(ask(PROMPT) for _ in range(SESSIONS)))
    figures = [time.perf_counter() - began, time.process_time() - used, memory_bytes("VmHWM")]
    assert answers == [ANSWER] * SESSIONS, set(answers)
    return figures


async def save(peer: Any, place: str) -> list[float]:
    """Save a long conversation."""
    await ended(peer.save(Path(place), said()))
    return []


async def resume(peer: Any, url: str, place: str) -> list[float]:
    """Continue a long conversation."""
    assert await ended(peer.resume(url, Path(place))(PROMPT)) == ANSWER
    return []


ROWS: dict[str, Callable[..., Awaitable[list[float]]]] = {
    row.__name__: row for row in (cold, turns, deltas, parallel, many, save, resume)
}


async def each(ask: Ask, wanted: object, clock: Callable[[], float]) -> list[float]:
    """Return the clock's difference for each run but the first."""
    found = []
    for _ in range(1 + RUNS):
        began = clock()
        answer = await ended(ask(PROMPT))
        found.append(clock() - began)
        assert answer == wanted, answer
    return found[1:]


async def ended(result: Any) -> Any:
    """Await a result if it is awaitable."""
    return await result if isawaitable(result) else result


def tools(peer: Any) -> list[Callable[..., Any]]:
    """Return both tools in a form that the framework can use."""
    return [look_now, wait_now] if is_threaded(peer) else [look, wait]


def is_threaded(peer: Any) -> bool:
    """Return whether a framework has no async interface."""
    return getattr(peer, "THREADS", False)


def memory_bytes(which: str) -> float:
    """Return a size of this process."""
    return float(Path("/proc/self/status").read_text().partition(f"{which}:")[2].split()[0]) * 1024


if __name__ == "__main__":
    name, row, *rest = sys.argv[1:]
    print(*asyncio.run(ROWS[row](importlib.import_module(f"frameworks.{name}"), *rest)), flush=True)
    os._exit(0)  # skip what a framework does at exit
