"""A process to be killed: indexes sessions and prints a line for each step.

usage: child.py FOLDER
"""

import asyncio
import sys
from pathlib import Path

from bridle.stores.sqlite import SqliteStore
from tests.memory.stage import Clock, WordEmbedder, memory_of


class Loud(WordEmbedder):
    """Says when it is asked."""

    async def embed(self, texts):
        print("embed", flush=True)
        return await super().embed(texts)


async def main(folder: Path) -> None:
    """Index everything."""
    store = SqliteStore(folder / "bridle.db", Clock())
    memory = memory_of(folder / "memory", store, Loud(), exact_up_to=150)
    await memory.catch_up(lambda phase, done, whole: print(phase, done, flush=True))
    print("done", flush=True)
    await memory.aclose()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
