"""Resources of this process, compared before and after: nothing may pile up."""

import asyncio
import gc
import os
import threading
from collections import Counter
from pathlib import Path

from msgspec import Struct

LOOK_S, MAX_LOOKS = 0.1, 100
POOL = "asyncio_"  # threads of the event loop's pool come one by one as they are needed, and stay


class Held(Struct):
    """The resources of a process at one moment."""

    objects: dict[str, int]
    """Objects of Bridle's classes, by class."""
    files: int
    threads: int
    tasks: int
    programs: int

    def beyond(self, other: "Held") -> dict[str, int]:
        """Return what there is more of than in another moment, and how much."""
        return dict(self._counts() - other._counts())

    def _counts(self) -> Counter[str]:
        others = {
            "files": self.files,
            "threads": self.threads,
            "tasks": self.tasks,
            "programs": self.programs,
        }
        return Counter(self.objects | others)


async def held() -> Held:
    """Count the resources after garbage collection, once starting and ending processes are done."""
    before = None
    for _ in range(MAX_LOOKS):
        now = _held_now()
        if now == before:
            return now
        before = now
        await asyncio.sleep(LOOK_S)
    raise AssertionError(f"what is held changes all the time: {before}")


def _held_now() -> Held:
    gc.collect()
    return Held(
        {name: count for name, count in sorted(_kinds().items()) if name.startswith("bridle.")},
        len(os.listdir("/proc/self/fd")),
        sum(not thread.name.startswith(POOL) for thread in threading.enumerate()),
        len(asyncio.all_tasks()),
        _programs(),
    )


def _kinds() -> Counter[str]:
    kinds = Counter(type(one) for one in gc.get_objects())
    return Counter({f"{kind.__module__}.{kind.__qualname__}": count for kind, count in kinds.items()})


def _programs() -> int:
    threads = Path("/proc/self/task")
    return sum(len((thread / "children").read_text().split()) for thread in threads.iterdir())
