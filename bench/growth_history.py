"""Cost of a turn with a longer and longer history, all of which fits into the window and is sent.

The model is a server that answers over loopback HTTP, so the cost includes writing the request; the CPU is
that of Bridle's process. Some growth is unavoidable: every message is in every request.
"""

import asyncio
import tempfile
from pathlib import Path

from children import serving
from growth_stage import curve, open_service, open_store, run_cpu_s, take_turns, write_past
from measure import report, rounds
from rows import Line

SIZES = (10, 100, 1_000, 5_000)
WORDS = 4
ROUNDS = rounds(15)
BAR = 1.0
SCRIPT = {"replies": [{"text": "There are 40 lines of text in it."}], "repeat": True}


async def measure(folder: Path, url: str) -> dict[int, list[float]]:
    """Return the CPU seconds of turns, by the number of earlier messages."""
    from bridle.core.ids import SessionId
    from bridle.providers.openai import OpenAIProvider

    sessions = {size: SessionId(f"history-{size}") for size in SIZES}
    store = open_store(folder)
    for size, session in sessions.items():
        await write_past(store, session, str(folder), size // 2, WORDS)
    await store.aclose()
    service = open_service(folder, OpenAIProvider.at("bench", url, ""))
    works = {size: lambda session=session: run_cpu_s(service, session) for size, session in sessions.items()}
    found = await take_turns(works, ROUNDS)
    await service.aclose()
    return found


def main() -> list[Line]:
    """Fit a power of the number of messages."""
    with tempfile.TemporaryDirectory() as folder, serving(SCRIPT) as url:
        found = asyncio.run(measure(Path(folder), url))
    return report([curve("growth.history", "a turn", "messages before it", found, BAR)])


if __name__ == "__main__":
    main()
