import msgspec
import pytest

from bridle.core.codec import encode
from bridle.core.errors import DaemonGone
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Lagged, Record, SessionTitled, TextDelta
from bridle.core.session_api import SessionNews
from bridle.surfaces.remote.client import BACKLOG, Reading, Watching


def line(item: Record | Delta | SessionNews) -> msgspec.Raw:
    return msgspec.Raw(encode(item))


def titled(seq: int) -> Record:
    return Record(seq, 1000 * seq, SessionTitled(f"title {seq}"), "")


async def test_items_come_in_order_and_the_failure_after_the_last():
    watching = Watching()
    watching.take(line(titled(1)))
    watching.take(line(TextDelta("a")))
    watching.fail(DaemonGone("it has ended"))

    assert [await watching.next(), await watching.next()] == [titled(1), TextDelta("a")]
    with pytest.raises(DaemonGone):
        await watching.next()


async def test_of_too_many_items_fragments_are_dropped_and_counted_and_records_are_not():
    watching = Watching()
    watching.take(line(titled(1)))
    for _ in range(BACKLOG + 1):
        watching.take(line(TextDelta("a")))

    assert [await watching.next() for _ in range(3)] == [titled(1), Lagged(BACKLOG), TextDelta("a")]


async def test_of_several_news_about_a_session_the_latest_is_read():
    first, second = SessionNews(SessionId("s")), SessionNews(SessionId("s"), deleted=True)
    reading = Reading()
    reading.take(line(first))
    reading.take(line(second))
    reading.fail(DaemonGone("it has ended"))

    assert await reading.next() == [second]
    with pytest.raises(DaemonGone):
        await reading.next()
