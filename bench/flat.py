"""Memory, descriptors, threads and processes of a long-lived process, over 10,000 turns and 1,000 sessions.

```
long      one session, runs of 50 turns, with compactions; cells, sub-agents and edits from time to time
sessions  opened, run and released one after the other, as in a daemon
```

Both measure the process five times, after a garbage collection. The first measurement comes after a fifth of
the work, so code that is loaded once and memory that Python reserves do not count.
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from children import child_env
from measure import PYTHON, report, rounds
from rows import Line, Row, ours

LOOKS = 5
TURNS = rounds(10_000)
SESSIONS = rounds(1_000)
TURNS_OF_RUN = 50
THRESHOLD_TOKENS = 8_000
MAX_CLOSING_S = 10.0
NO_INDEX = 1_000_000  # passages; building an index would take about 20 MB once, at an arbitrary moment
SUMMARY = "Files were read, and nothing was found."
MB = 1024 * 1024


class Look(msgspec.Struct):
    """Resources of a process at one moment."""

    rss_bytes: int
    objects: dict[str, int]
    """Number of Bridle's Python objects by class."""
    files: int
    threads: int
    programs: int


class Life(msgspec.Struct):
    """Resources of a process after each fifth of its work."""

    looks: list[Look]

    @property
    def memory(self) -> float:
        """Return the memory at the end divided by the memory after the first fifth."""
        return self.looks[-1].rss_bytes / self.looks[0].rss_bytes

    @property
    def left(self) -> int:
        """Return how many more files, threads and programs exist at the end."""
        first, last = self.looks[0], self.looks[-1]
        kinds = ("files", "threads", "programs")
        return sum(max(0, getattr(last, kind) - getattr(first, kind)) for kind in kinds)

    @property
    def grown(self) -> dict[str, int]:
        """Return Bridle's classes whose objects grow with every measurement, and by how many."""
        counts = [Counter(one.objects) for one in self.looks]
        return {
            name: counts[-1][name] - counts[0][name]
            for name in counts[-1]
            if all(before[name] < after[name] for before, after in pairwise(counts))
        }


def look() -> Look:
    """Measure this process."""
    for _ in range(3):
        gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    kinds = Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    own = {name: count for name, count in kinds.items() if name.startswith("bridle.")}
    pid = os.getpid()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return Look(
        pages * os.sysconf("SC_PAGE_SIZE"),
        own,
        len(os.listdir("/proc/self/fd")),
        threading.active_count(),
        len(children),
    )


class Model:
    """A model that mostly reads a file, and sometimes runs a cell, edits or starts a sub-agent."""

    def __init__(self, turns_of_run: int) -> None:
        self._turns_of_run = turns_of_run
        self.turns = 0

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        """Answer."""
        from bridle.core.messages import Message, Text, Usage
        from bridle.core.model import ModelReply
        from bridle.core.protocol import TextDelta

        asked = request.messages[-1].text
        call = None
        if request.tools and not asked.startswith("sub:"):
            self.turns += 1
            call = self._call(self.turns)
        parts = (Text(SUMMARY), call) if call else (Text(SUMMARY),)
        yield TextDelta(SUMMARY)
        usage = Usage(input=sum(len(message.parts) for message in request.messages), output=20)
        yield ModelReply(Message("assistant", parts), "tool_use" if call else "end_turn", usage)

    def _call(self, turn: int) -> Any:
        from bridle.core.messages import ToolCall

        if turn % self._turns_of_run == 0:
            return None
        name, args = "read_file", {"path": f"file{turn % 40}.txt"}
        if turn % 97 == 0:
            name, args = "python", {"code": f"print({turn})"}
        elif turn % 41 == 0:
            name, args = "agent_spawn", {"prompt": f"sub: {turn}"}
        elif turn % 13 == 0:
            name, args = "write_file", {"path": f"made{turn % 7}.txt", "content": str(turn)}
        return ToolCall(f"call{turn}", name, args)

    async def aclose(self) -> None:
        """Hold nothing."""


def open_engine(folder: Path, model: Model) -> Any:
    """Open the engine with all its parts."""
    from bridle.app import Extensions, open_service
    from bridle.config.settings import load_settings

    for number in range(40):
        (folder / f"file{number}.txt").write_text("".join(f"{number}: line {n}\n" for n in range(40)))
    environ = {**os.environ, "BRIDLE_HOME": str(folder / "home"), "HOME": str(folder)}
    flags = {
        "model": "bench/flat",
        "rules.mode": "yolo",
        "compaction.threshold_tokens": THRESHOLD_TOKENS,
        "memory.exact_up_to": NO_INDEX,
    }
    brought = Extensions(providers={"bench": model})
    return open_service(load_settings(environ, folder, flags), environ, extensions=brought)


async def run(service: Any, session: Any) -> None:
    """Run one prompt in a session."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    receipt = await service.submit(session, Prompt(user_message("Look at every file.")))
    ended = await service.wait(session, receipt.run_id, after=receipt.seq)
    assert ended.outcome == "completed", ended


async def settle(service: Any) -> None:
    """Wait until the background work is done."""
    await service._engine.memory.settled()  # noqa: SLF001  no caller of the engine needs to know


async def put_away(service: Any) -> None:
    """Close idle sessions; a session becomes idle a moment after the end of its run."""
    async with asyncio.timeout(MAX_CLOSING_S):
        while service.live():
            await service.drop_idle(0.0, 0)
            await asyncio.sleep(0)


async def fill_threads() -> None:
    """Start all threads of the pool now; otherwise they start one by one and stay."""
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.05) for _ in range(64)))


async def long(folder: Path) -> Life:
    """Run many turns in one session."""
    model = Model(TURNS_OF_RUN)
    service = open_engine(folder, model)
    await fill_threads()
    session = await service.create(cwd=str(folder))
    looks = []
    for share in range(1, LOOKS + 1):
        while model.turns < TURNS * share // LOOKS:
            await run(service, session)
        await settle(service)
        looks.append(look())
    await service.aclose()
    return Life(looks)


async def sessions(folder: Path) -> Life:
    """Open, use and close many sessions, one after the other."""
    service = open_engine(folder, Model(5))
    await fill_threads()
    looks = []
    while len(looks) < LOOKS:
        for _ in range(SESSIONS // LOOKS):
            await run(service, await service.create(cwd=str(folder)))
            await put_away(service)
        await settle(service)
        looks.append(look())
    await service.aclose()
    return Life(looks)


LIVES: dict[str, Callable[[Path], Awaitable[Life]]] = {"long": long, "sessions": sessions}


def live(kind: str) -> Life:
    """Run one kind of work in a separate process."""
    done = subprocess.run([PYTHON, __file__, kind], env=child_env(), check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Life)


def rows_of(kind: str, what: str, life: Life) -> list[Line]:
    """Return the rows of a process: memory within a twentieth, nothing left behind."""
    note = ", ".join(f"{one.rss_bytes / MB:.0f}" for one in life.looks)
    grown = ", ".join(f"{count} × {name}" for name, count in life.grown.items())
    return [
        Row(
            f"flat.{kind}.memory",
            f"memory after {what}",
            "×",
            ours([life.memory]),
            bar=1.05,
            note=f"{note} MB",
        ),
        Row(
            f"flat.{kind}.left",
            f"descriptors, threads, programs left by {what}",
            "",
            ours([life.left]),
            bar=0,
        ),
        Row(
            f"flat.{kind}.objects",
            f"classes whose objects pile up over {what}",
            "",
            ours([len(life.grown)]),
            bar=0,
            note=grown,
        ),
    ]


def main() -> list[Line]:
    """Run both kinds of work, one after the other; the bars are 5 % more memory and nothing else."""
    return report(
        [
            *rows_of("long", f"{TURNS:,} turns of one session", live("long")),
            *rows_of("sessions", f"{SESSIONS:,} sessions opened and closed", live("sessions")),
        ]
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(LIVES[sys.argv[1]](Path(place)))))
