"""The event bus: a watcher that does not read costs limited memory and delays no one."""

from bridle.core.ids import SessionId
from bridle.core.protocol import Notice, Record, SessionTitled, TextDelta
from bridle.sessions.bus import Bus

S = SessionId("play")


async def test_a_watcher_that_never_reads_keeps_no_more_than_its_backlog():
    bus = Bus(backlog=10)
    idle, quick = bus.subscribe(S), bus.subscribe(S)
    taken = []
    for number in range(25):
        bus.publish(S, [TextDelta(str(number))])
        taken += (await quick.take())[1]

    dropped, items = await idle.take()

    assert taken == [TextDelta(str(number)) for number in range(25)]
    assert (dropped, items) == (20, [TextDelta(str(number)) for number in range(20, 25)])


async def test_what_nobody_watches_is_forgotten():
    bus = Bus()
    watcher = bus.subscribe(S)
    bus.unsubscribe(S, watcher)
    bus.publish(S, [TextDelta("x")])
    late = bus.subscribe(S)
    bus.publish(S, [TextDelta("y")])

    assert await late.take() == (0, [TextDelta("y")])


async def test_who_waits_for_a_record_hears_no_fragments_of_it():
    bus = Bus()
    waiting = bus.subscribe(S, pieces=False)
    record = Record(2, 1, SessionTitled("A play"), "")
    bus.show(S, TextDelta("A"))
    bus.publish(S, [TextDelta(" play"), record])
    bus.show(S, Notice("done"))

    assert await waiting.take() == (0, [record, Notice("done")])
