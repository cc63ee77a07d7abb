"""Size and speed of the page: its files, its first content, a long session, and a fast answer.

`size`: all files of the page as sent, compressed; the bar is 300 KB.
`first`: from a click on the address of a session until its answer is on the screen, in a browser with an
empty cache; compared with an empty document from the same server.
`long`: the same with a session of 100,000 records, and the bytes it transfers.
`typing`: an answer of 20,000 words, 5,000 a second, while a user types: the time that 99 of 100 frames take.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import report, rounds
from rows import Line, Row, ours

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

    from tests.surfaces.web.stage import Stage

ROOT = Path(__file__).parents[1]
ROUNDS = rounds(5)
WORDS = 20_000
KEYS = 100
WAITS = """
window.waits = [];
let next = performance.now();
let asked = [];
function look() {
  const now = performance.now();
  for (; next <= now; next += 20) asked.push(next);
  setTimeout(look, 5);
}
function frame() {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = performance.now();
    window.waits.push(...asked.map((at) => now - at));
    asked = [];
  };
  channel.port2.postMessage(0);
  requestAnimationFrame(frame);
}
look();
frame();
"""
"""Requests a frame fifty times a second, also while the page is busy, and records how long each takes."""


def main() -> list[Line]:
    """Measure in a browser; the bars are 300 KB, 1 s, 1.5 s, 1,000 KB and 100 ms."""
    sys.path.insert(0, str(ROOT))
    size = Row("web.size", "all files of the page, compressed", "KB", ours([size_kb()]), bar=300.0)
    return report([size, *asyncio.run(in_browser())])


def size_kb() -> float:
    """Return the size of all files, including the document itself."""
    from bridle.surfaces.web.web_app import make_page

    page = make_page()
    return (len(page.packed) + sum(len(asset.packed) for asset in page.files.values())) / 1024


async def in_browser() -> list[Row]:
    """Run the measurements that need a browser."""
    from tests.surfaces.web.stage import chromium

    async with chromium() as browser:
        return [*await first_content(browser), *await long_session(browser), *await typing(browser)]


async def _stage(browser: "Browser", folder: str, reply: dict[str, Any]) -> "Stage":
    from tests.surfaces.web.stage import Stage

    home = Path(folder) / "home" / ".bridle"
    home.mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "BRIDLE_HOME": str(home)}
    stage = Stage(browser, home, env, Path(folder))
    stage.script(reply)
    await stage.start()
    return stage


async def first_content(browser: "Browser") -> list[Row]:
    """Open a short session."""
    with tempfile.TemporaryDirectory() as folder:
        stage = await _stage(browser, folder, {"text": "Here is the **answer**.\n\n```python\nx = 1\n```"})
        session = await stage.session("a question")
        blank = [await _until_seen(stage, "openapi.json", "pre") for _ in range(ROUNDS)]
        seen = [await _until_seen(stage, f"#/s/{session}", ".answer") for _ in range(ROUNDS)]
        await stage.aclose()
    note = f"a bare document of the same server takes {statistics.median(blank):.2f} s"
    return [
        Row(
            "web.first", "until the answer of a session is on the screen", "s", ours(seen), bar=1.0, note=note
        )
    ]


async def long_session(browser: "Browser") -> list[Row]:
    """Open a session of 100,000 records."""
    from tests.surfaces.web.long import write_long_session

    with tempfile.TemporaryDirectory() as folder:
        stage = await _stage(browser, folder, {"text": "x"})
        session = await stage.session()
        await write_long_session(stage.store, session)
        times, weights = [], []
        for _ in range(ROUNDS):
            before = stage.bytes
            times.append(await _until_seen(stage, f"#/s/{session}", ".answer"))
            weights.append(stage.bytes - before)
        await stage.aclose()
    return [
        Row("web.long", "until the end of 100,000 records is on the screen", "s", ours(times), bar=1.5),
        Row(
            "web.long.size",
            "transferred for that, page included",
            "KB",
            ours(weights, scale=1 / 1024),
            bar=1_000.0,
        ),
    ]


async def typing(browser: "Browser") -> list[Row]:
    """Type while an answer streams in."""
    with tempfile.TemporaryDirectory() as folder:
        said = [f"word{number} " + ("\n\n" if number % 40 == 0 else "") for number in range(WORDS)]
        chunks = ["".join(said[at : at + 5]) for at in range(0, WORDS, 5)]
        stage = await _stage(browser, folder, {"text": chunks, "chunk_delay_ms": 1})
        session = await stage.session()
        page = await stage.open_session(session)
        field = page.get_by_role("textbox", name="Prompt")
        await field.focus()
        await page.evaluate(WAITS)
        began = time.perf_counter()
        run = await stage.prompt(session, "go")
        for _ in range(KEYS):
            await field.press("a")
        await stage.service.wait(session, run)
        took_s = time.perf_counter() - began
        waits = sorted(await page.evaluate("window.waits"))
        assert await field.input_value() == "a" * KEYS
        await stage.aclose()
    print(f"{WORDS / took_s:,.0f} words a second, the longest wait was {waits[-1]:.0f} ms", flush=True)
    p99 = ours([waits[len(waits) * 99 // 100]])
    return [Row("web.typing", "99 of 100 frames take at most, while typing", "ms", p99, bar=100.0)]


async def _until_seen(stage: "Stage", place: str, sign: str) -> float:
    """Return how long a new browser takes to show something."""
    context = await stage.context()
    page: Page = await context.new_page()
    response = await context.request.get(stage.link)  # logs in without loading the page
    assert response.ok
    began = time.perf_counter()
    await page.goto(f"{stage.origin}/{place}", wait_until="commit")
    await page.locator(sign).last.wait_for()
    took_s = time.perf_counter() - began
    await context.close()
    return took_s


if __name__ == "__main__":
    main()
