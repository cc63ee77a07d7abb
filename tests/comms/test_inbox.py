import asyncio

from bridle.comms.envelope import Message, Request
from bridle.comms.inbox import MAX_TEXT_CHARS, MAX_WAITING, MAX_WAITING_BYTES, Inbox, ReceivedMessage


def said(peer: str, body: str, size_bytes: int = 0) -> ReceivedMessage:
    return ReceivedMessage(peer, "id", Message(body), size_bytes)


async def test_what_one_peer_sent_in_a_row_is_taken_together():
    inbox = Inbox()
    items = [said("a", "1"), said("a", "2"), said("b", "3"), said("a", "4")]
    for item in items:
        inbox.put(item)

    assert [await inbox.take(), await inbox.take(), await inbox.take()] == [items[:2], items[2:3], items[3:]]
    assert len(inbox) == 0


async def test_a_taker_waits_for_what_comes():
    inbox = Inbox()
    taking = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)

    inbox.put(said("a", "1"))

    assert await taking == [said("a", "1")]


async def test_what_is_taken_together_stays_short():
    inbox = Inbox()
    half = "x" * (MAX_TEXT_CHARS // 2)
    for _ in range(3):
        inbox.put(said("a", half))

    assert [len(await inbox.take()) for _ in range(3)] == [1, 1, 1]


async def test_a_dismissal_is_taken_alone():
    inbox = Inbox()
    for body in ("one", " DISMISS\n", "two"):
        inbox.put(said("a", body))

    taken = [await inbox.take() for _ in range(3)]

    assert [[item.dismisses for item in items] for items in taken] == [[False], [True], [False]]
    assert not ReceivedMessage("a", "id", Request("DISMISS")).dismisses


def test_there_is_room_for_so_many_and_no_more():
    inbox = Inbox()

    assert [inbox.put(said("a", str(n))) for n in range(MAX_WAITING + 2)] == [True] * MAX_WAITING + [
        False
    ] * 2
    assert len(inbox) == MAX_WAITING


async def test_there_is_room_for_so_many_bytes_and_no_more():
    inbox = Inbox()

    assert inbox.put(said("a", "1", MAX_WAITING_BYTES))
    assert not inbox.put(said("a", "2", 1))
    await inbox.take()
    assert inbox.put(said("a", "2", 1))
