import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest

from bridle.comms.envelope import Message, Request, Response
from bridle.comms.inbox import (
    MAX_REMEMBERED,
    MAX_ROUTES,
    MAX_TEXT_CHARS,
    MAX_WAITING,
    MAX_WAITING_BYTES,
    MAX_WAITING_OF_PEER,
    Inbox,
    Mailbox,
    ReceivedMessage,
    ReplayGuard,
)
from bridle.core.errors import ConfigError


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


def replied(peer: str, request: str) -> ReceivedMessage:
    return ReceivedMessage(peer, "id", Response(request, "completed", 1))


def test_a_reply_is_only_for_the_session_that_asked():
    mailbox = Mailbox()
    mailbox.note_sent("asker", "a", "request")
    reply, other = replied("a", "request"), said("b", "hi")
    for item in (reply, other):
        assert mailbox.put(item)

    assert not mailbox.expects(reply)  # the asker's run is over: its next one takes the reply
    assert mailbox.take("else") == [other]
    mailbox.begin("asker")
    assert mailbox.expects(reply)
    assert (mailbox.take("asker"), mailbox.take("asker"), len(mailbox)) == ([reply], [], 0)


def test_a_peer_is_heard_by_the_running_session_that_wrote_to_it():
    mailbox = Mailbox()
    mailbox.begin("partner")
    mailbox.note_sent("partner", "a")
    mailbox.put(said("a", "1"))

    assert mailbox.take("else") == []
    assert mailbox.take("partner") == [said("a", "1")]
    mailbox.put(said("a", "2"))
    mailbox.end("partner")
    mailbox.begin("else")
    assert mailbox.take("else") == [said("a", "2")]  # from now on it is the partner
    mailbox.begin("partner")
    mailbox.put(said("a", "3"))
    assert mailbox.take("partner") == []


def test_a_reply_to_an_unknown_request_is_like_any_message():
    mailbox = Mailbox()
    mailbox.put(replied("a", "never sent"))

    assert mailbox.take("any") == [replied("a", "never sent")]


def test_one_peer_cannot_fill_the_mailbox_for_others():
    mailbox = Mailbox()

    of_one = [mailbox.put(said("a", str(n))) for n in range(MAX_WAITING_OF_PEER + 1)]

    assert of_one == [True] * MAX_WAITING_OF_PEER + [False]
    assert mailbox.put(said("b", "1", MAX_WAITING_BYTES))
    assert not mailbox.put(said("c", "1", 1))


def test_a_turn_takes_in_no_more_than_fits_into_one_message():
    mailbox = Mailbox()
    half = "x" * (MAX_TEXT_CHARS // 2)
    for _ in range(3):
        mailbox.put(said("a", half))

    assert [len(mailbox.take("s")) for _ in range(4)] == [1, 1, 1, 0]


async def test_a_session_can_wait_for_its_messages():
    mailbox = Mailbox()
    mailbox.note_sent("asker", "a", "request")
    waiting = [asyncio.create_task(mailbox.arrival(session)) for session in ("asker", "else")]
    await asyncio.sleep(0)

    mailbox.put(replied("a", "request"))
    await waiting[0]
    is_early = waiting[1].done()
    mailbox.put(said("b", "hi"))
    await waiting[1]

    assert not is_early


def test_old_routes_are_forgotten():
    mailbox = Mailbox()
    mailbox.note_sent("first", "a", "request 0")
    for number in range(1, MAX_ROUTES + 1):
        mailbox.note_sent("later", "a", f"request {number}")
    mailbox.put(replied("a", "request 0"))

    assert len(mailbox.take("any")) == 1


ANNA, BERT = bytes([1]) * 32, bytes([2]) * 32


def uuid(number: int) -> str:
    return str(UUID(int=number))


def opened(path: Path, **bounds: int) -> ReplayGuard:
    seen = ReplayGuard(path, **bounds)
    seen.load()
    return seen


def remember(seen: ReplayGuard, sender: bytes, number: int) -> None:
    seen.add(sender, uuid(number))
    seen.keep(sender, uuid(number))


def test_what_was_here_is_known_also_after_a_restart(tmp_path: Path):
    path = tmp_path / "run/a.seen"
    seen = opened(path)
    remember(seen, ANNA, 1)

    for known in (seen, opened(path)):
        assert known.has(ANNA, uuid(1))
        assert not known.has(ANNA, uuid(2))
        assert not known.has(BERT, uuid(1))
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_a_peer_itself_pushes_out_what_it_sent(tmp_path: Path):
    seen = opened(tmp_path / "a.seen")
    seen.add(BERT, uuid(0))
    for number in range(MAX_REMEMBERED + 1):
        seen.add(ANNA, uuid(number))

    assert not seen.has(ANNA, uuid(0))
    assert seen.has(ANNA, uuid(1))
    assert seen.has(BERT, uuid(0))


def test_a_record_that_a_crash_cut_off_hurts_nothing(tmp_path: Path):
    path = tmp_path / "a.seen"
    seen = opened(path)
    remember(seen, ANNA, 1)
    remember(seen, ANNA, 2)
    path.write_bytes(path.read_bytes()[:-7])

    again = opened(path)
    remember(again, ANNA, 3)

    assert [opened(path).has(ANNA, uuid(number)) for number in (1, 2, 3)] == [True, False, True]


def test_the_file_does_not_grow_for_ever(tmp_path: Path):
    path = tmp_path / "a.seen"
    bounds = {"max_records": 50, "max_remembered": 20}
    seen = opened(path, **bounds)

    for number in range(500):
        remember(seen, ANNA, number)

    assert path.stat().st_size <= 2 * 50 * 48
    again = opened(path, **bounds)
    assert [again.has(ANNA, uuid(number)) for number in (479, 480, 499)] == [False, True, True]


def test_many_busy_peers_do_not_push_out_a_quiet_one_at_a_restart(tmp_path: Path):
    path = tmp_path / "a.seen"
    bounds = {"max_records": 50, "max_remembered": 20}
    seen = opened(path, **bounds)
    remember(seen, ANNA, 0)
    for peer in range(2, 7):
        for number in range(20):
            remember(seen, bytes([peer]) * 32, number)

    opened(path, **bounds)  # rewrites the file
    again = opened(path, **bounds)

    assert again.has(ANNA, uuid(0))
    assert all(again.has(bytes([peer]) * 32, uuid(number)) for peer in range(2, 7) for number in range(20))


def test_threads_lose_nothing(tmp_path: Path):
    path = tmp_path / "a.seen"
    seen = opened(path, max_records=80)

    with ThreadPoolExecutor(8) as pool:  # in all twice as many records as the file takes
        list(pool.map(lambda number: remember(seen, ANNA, number % 60), range(180)))

    assert all(opened(path).has(ANNA, uuid(number)) for number in range(60))


def test_a_file_that_others_can_read_or_that_is_gone_is_an_error(tmp_path: Path):
    path = tmp_path / "a.seen"
    seen = opened(path)
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="others can read it"):
        opened(path)
    path.unlink()
    with pytest.raises(ConfigError, match="cannot be written"):
        seen.keep(ANNA, uuid(1))
