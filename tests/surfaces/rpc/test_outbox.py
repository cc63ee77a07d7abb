import asyncio

import pytest

from bridle.surfaces.rpc.outbox import MAX_EVENTS, Outbox
from tests.patience import PATIENCE_S


class Sink:
    """Takes lines when it is let."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.is_open = asyncio.Event()
        self.asked = asyncio.Event()
        self.is_gone = False

    async def send(self, lines: bytes) -> None:
        self.asked.set()
        await self.is_open.wait()
        if self.is_gone:
            raise ConnectionResetError
        self.taken += lines.splitlines()


async def test_answers_go_before_events_and_each_keeps_its_order():
    sink = Sink()
    outbox = Outbox(sink)
    sending = asyncio.create_task(outbox.run())
    await outbox.send_events([b"e0\n"])
    await sink.asked.wait()  # with this one it is busy
    await outbox.send_events([b"e1\n", b"e2\n"])
    await outbox.reply(b"a1\n")
    await outbox.send_event(b"e3\n")
    await outbox.reply(b"a2\n")

    sink.is_open.set()
    outbox.close()
    await sending

    assert sink.taken == [b"e0", b"a1", b"a2", b"e1", b"e2", b"e3"]


async def test_a_reader_that_is_slow_holds_up_whoever_tells_it_something():
    sink = Sink()
    outbox = Outbox(sink)
    sending = asyncio.create_task(outbox.run())
    lines = [b"%d\n" % number for number in range(3 * MAX_EVENTS)]
    telling = asyncio.create_task(outbox.send_events(lines))
    await sink.asked.wait()
    done, _ = await asyncio.wait([telling], timeout=0)

    assert not done
    await asyncio.wait_for(outbox.reply(b"quick\n"), PATIENCE_S)
    sink.is_open.set()
    await telling
    outbox.close()
    await sending
    events = [line for line in sink.taken if line != b"quick"]
    assert events == [line.strip() for line in lines]
    assert sink.taken.index(b"quick") < len(lines) - 1


async def test_whoever_waits_hears_that_the_client_is_gone():
    sink = Sink()
    outbox = Outbox(sink)
    sending = asyncio.create_task(outbox.run())
    telling = asyncio.create_task(outbox.send_events([b"x\n"] * 1000))
    await sink.asked.wait()
    sink.is_gone = True
    sink.is_open.set()

    with pytest.raises(ConnectionResetError):
        await sending
    with pytest.raises(ConnectionResetError):
        await telling
    with pytest.raises(ConnectionResetError):
        await outbox.reply(b"y\n")
