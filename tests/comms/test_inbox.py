import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest

from bridle.comms.envelope import Message, Request
from bridle.comms.inbox import (
    MAX_REMEMBERED,
    MAX_TEXT_CHARS,
    MAX_WAITING,
    MAX_WAITING_BYTES,
    Inbox,
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
