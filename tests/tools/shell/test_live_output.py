"""Live output arrives in time, in order, and within limits."""

import asyncio

from bridle.tools.secrets import Masker
from bridle.tools.shell.running_command import INTERVAL_S, LiveOutput


class Watcher:
    """Remembers what came, and when."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.times: list[float] = []
        self.came = asyncio.Event()

    def emit(self, text: str) -> None:
        self.texts.append(text)
        self.times.append(asyncio.get_running_loop().time())
        self.came.set()

    async def next(self) -> None:
        self.came.clear()
        await self.came.wait()


async def test_texts_are_gathered_between_two_moments():
    watcher = Watcher()
    live = LiveOutput(watcher.emit, Masker({}))
    live.feed(b"a")
    await watcher.next()
    live.feed(b"b")
    live.feed(b"c")
    await watcher.next()
    live.feed(b"d")
    live.close()

    assert watcher.texts == ["a", "bc", "d"]
    assert watcher.times[1] - watcher.times[0] > INTERVAL_S * 0.9


async def test_beyond_the_limit_nothing_is_shown():
    watcher = Watcher()
    live = LiveOutput(watcher.emit, Masker({}), max_bytes=4)
    for data in (b"ab", b"cd", b"ef"):
        live.feed(data)
    live.close()
    live.feed(b"gh")

    assert watcher.texts == ["abcd", "\n[there is more; it is not shown live]\n"]


async def test_a_dropped_one_says_nothing_more():
    watcher = Watcher()
    live = LiveOutput(watcher.emit, Masker({}))
    live.feed(b"a")
    live.drop()
    live.feed(b"b")
    await asyncio.sleep(0)

    assert watcher.texts == []
