"""A long answer in 20,000 fragments, and scrolling through 100,000 items, in the conversation view.

Fragments come at 5,000 a second, as patches of the view model; every frame is drawn to an invisible screen of
100×40. The CPU of the last quarter divided by the first shows whether the work grows with the answer; a key
press every 20 ms shows how long a user waits. Memory is flat if scrolling up through 100,000 items and down
again takes no more than scrolling through 10,000.
"""

import asyncio
import sys
import time
from itertools import pairwise

from children import child_figures
from measure import report, rounds
from rows import Line, Row, figure, ours
from store_session import peak_bytes

DELTAS = 20_000
DELTAS_PER_S = 5_000
BATCH_S = 0.01
KEY_EVERY_S = 0.02
FEW_ITEMS, MANY_ITEMS = 10_000, 100_000
PAGE_ITEMS = 150
LATENCY_BAR_MS = 50.0
ROUNDS = rounds(3)
SIZE = (100, 40)

PARAGRAPH = (
    "Some **bold** words with `code` and a [link](https://example.com), and then more of them, so that the "
    "text is a paragraph which takes a few lines of the screen.\n\n- one thing\n- another thing\n\n"
    "```python\ndef answer(n: int) -> int:\n    return n + 42  # the answer\n```\n\n"
)


def fragments(count: int) -> list[str]:
    """Return an answer in pieces of about a token."""
    text = PARAGRAPH * (count * 5 // len(PARAGRAPH) + 1)
    return [text[n * 5 : n * 5 + 5] for n in range(count)]


def new_app(conversation):  # type: ignore[no-untyped-def]
    """Return an app that shows a conversation and measures how long keys wait."""
    from textual.app import App, ComposeResult
    from textual.events import Key

    class Probe(App[None]):
        def __init__(self) -> None:
            super().__init__()
            self.waits: list[float] = []
            self.pressed = 0.0

        def compose(self) -> ComposeResult:
            yield conversation

        def on_key(self, event: Key) -> None:
            event.stop()
            self.waits.append(time.perf_counter() - self.pressed)
            self.pressed = 0.0

    return Probe()


async def stream() -> list[float]:
    """Return the CPU seconds of each quarter, and the 99th percentile of the key delays."""
    from textual.events import Key

    from bridle.surfaces.shared.view_model.view_types import Answer, Grow, Put
    from bridle.surfaces.tui.conversation import Conversation

    conversation = Conversation()
    app = new_app(conversation)
    pieces = fragments(DELTAS)
    quarters = [0.0]
    async with app.run_test(size=SIZE) as pilot:
        conversation.apply([Put(Answer(key="a", seq=1, at=0, text="", is_live=True))])
        await pilot.pause()
        began, sent, cpu, key_at = time.perf_counter(), 0, time.process_time(), 0.0
        while sent < DELTAS:
            await asyncio.sleep(BATCH_S)
            now = time.perf_counter()
            wanted = min(DELTAS, int((now - began) * DELTAS_PER_S), (len(quarters)) * DELTAS // 4)
            conversation.apply([Grow("a", piece) for piece in pieces[sent:wanted]])
            sent = wanted
            if not app.pressed and now - key_at > KEY_EVERY_S:
                app.pressed = key_at = now
                app.post_message(Key("f20", None))
            if sent == len(quarters) * DELTAS // 4:
                quarters.append(time.process_time() - cpu)
        conversation.apply([Put(Answer(key="a", seq=2, at=1, text="".join(pieces)))])
        await pilot.pause()
    waits = sorted(app.waits)
    spent = [after - before for before, after in pairwise(quarters)]
    return [*spent, waits[len(waits) * 99 // 100]]


async def walk(items: int) -> list[float]:
    """Return the CPU seconds of scrolling up through a session of `count` items and back to its end."""
    from bridle.core.ids import CallId, SessionId
    from bridle.surfaces.shared.view_model.view_types import (
        Answer,
        Call,
        Head,
        Item,
        Said,
        ViewPage,
        ViewSnapshot,
    )
    from bridle.surfaces.tui.conversation import Conversation

    def item(seq: int) -> Item:
        match seq % 3:
            case 0:
                return Said(key=f"{seq}", seq=seq, at=seq, text=f"question {seq}")
            case 1:
                return Answer(key=f"{seq}", seq=seq, at=seq, text=f"# Answer {seq}\n\n{PARAGRAPH}")
        output = "\n".join(f"line {n} of call {seq}" for n in range(20))
        return Call(
            key=f"{seq}", seq=seq, at=seq, call_id=CallId(f"{seq}"), tool="bash", state="done", output=output
        )

    def page(before: int) -> ViewPage:
        first = max(0, before - PAGE_ITEMS)
        return ViewPage(tuple(item(seq) for seq in range(first + 1, before + 1)), first or None)

    conversation = Conversation()
    app = new_app(conversation)
    async with app.run_test(size=SIZE) as pilot:
        end = page(items)
        view = ViewSnapshot(
            Head(session=SessionId("s"), seq=items, title="", cwd="/", agent=""), end.items, end.before
        )
        conversation.show(view)
        await pilot.pause()
        began = time.process_time()
        asked = end.before
        while asked is not None:
            conversation.action_go_home()
            found = page(asked)
            conversation.prepend(found)
            asked = found.before
            await asyncio.sleep(0)
            conversation.refresh()
            await pilot.pause()
        conversation.action_go_end()
        conversation.append(view)
        await pilot.pause()
        return [time.process_time() - began]


def main() -> list[Line]:
    """Compare CPU, waiting and memory; the bars are 1.5, 50 ms and 1.1."""
    streams = [child_figures(__file__, "stream", "0")[1:] for _ in range(ROUNDS)]
    first, _, _, last, waits = ([one[place] for one in streams] for place in range(5))
    few, few_cpu = child_figures(__file__, "walk", str(FEW_ITEMS))
    many, many_cpu = child_figures(__file__, "walk", str(MANY_ITEMS))
    print(f"CPU per item: {few_cpu / FEW_ITEMS * 1e6:.0f} and {many_cpu / MANY_ITEMS * 1e6:.0f} µs")
    scale = 1e6 / (DELTAS // 4)
    late, early = ours(last, scale=scale), figure("in the first quarter", first, scale=scale)
    walked, shorter = ours([many], scale=1e-6), figure(f"of {FEW_ITEMS:,} items", [few], scale=1e-6)
    return report(
        [
            Row(
                "tui.delta",
                f"a delta on the screen, last quarter of {DELTAS:,}",
                "µs CPU",
                late,
                (early,),
                1.5,
            ),
            Row(
                "tui.key",
                f"99 of 100 keys wait at most, at {DELTAS_PER_S:,} deltas a second",
                "ms",
                ours(waits, scale=1e3),
                bar=LATENCY_BAR_MS,
            ),
            Row(
                "tui.walk",
                f"peak memory of scrolling through {MANY_ITEMS:,} items",
                "MB",
                walked,
                (shorter,),
                1.1,
            ),
        ]
    )


if __name__ == "__main__":
    kind, number = sys.argv[1], int(sys.argv[2])
    spent = asyncio.run(stream() if kind == "stream" else walk(number))
    print(peak_bytes(), *spent)
