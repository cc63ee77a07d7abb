"""A list of sessions is complete, or says that it is not."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId
from bridle.stores.record_lines import DamagedList
from bridle.stores.sqlite import SqliteStore
from tests.stores.sample import CountingClock, created, said

PAGE = 4096
SESSIONS = [SessionId(f"s{number:02d}") for number in range(24)]

Fill = Callable[[bytes, int], bytes]
FILLS: dict[str, Fill] = {
    "ones": lambda whole, page: b"\xff" * PAGE,
    "zeros": lambda whole, page: bytes(PAGE),
    "noise": lambda whole, page: random.Random(page).randbytes(PAGE),
    "its neighbour": lambda whole, page: _page(whole, page + 1) or _page(whole, page - 1),
    "an empty index page": lambda whole, page: b"\x0a\0\0\0\0\x10\0\0".ljust(PAGE, b"\0"),
    "an empty table page": lambda whole, page: b"\x0d\0\0\0\0\x10\0\0".ljust(PAGE, b"\0"),
}


def _page(whole: bytes, page: int) -> bytes:
    return whole[page * PAGE : (page + 1) * PAGE]


@pytest.fixture
async def whole(tmp_path: Path) -> bytes:
    """Return the bytes of a journal of many sessions."""
    store = SqliteStore(tmp_path / "whole.db", CountingClock())
    for session in SESSIONS:
        await store.append(session, 0, [created(title=session)])
        await store.append(session, 1, [said("x" * 300), said("y" * 300)])
    await store.aclose()
    return (tmp_path / "whole.db").read_bytes()


async def listed(path: Path) -> tuple[set[str], bool]:
    store = SqliteStore(path, CountingClock())
    try:
        return {one.id for one in await store.list()}, False
    except DamagedList as damage:
        return {one.id for one in damage.sessions}, str(path) in damage.message and "fsck" in damage.hint
    finally:
        await store.aclose()


async def flaws(path: Path) -> list[str]:
    store = SqliteStore(path, CountingClock())
    try:
        return [flaw.kind for flaw in await store.flaws()]
    except StoreCorrupt:
        return ["damaged_file"]
    finally:
        await store.aclose()


@pytest.mark.parametrize("fill", FILLS)
async def test_one_overwritten_page_hides_no_session(whole: bytes, tmp_path: Path, fill: str):
    silent = 0
    for page in range(1, len(whole) // PAGE):
        path = tmp_path / f"{page}.db"
        path.write_bytes(whole[: page * PAGE] + FILLS[fill](whole, page) + whole[(page + 1) * PAGE :])
        found, is_said = await listed(path)
        silent += not is_said

        assert found == set(SESSIONS)
        assert await flaws(path), page

    assert silent < len(whole) // PAGE / 2  # a list does not read what was said in the middle


async def test_a_lost_schema_is_said(whole: bytes, tmp_path: Path):
    for name, data in {
        "all.db": b"\xff" * PAGE + whole[PAGE:],
        "behind the header.db": whole[:100] + b"\xff" * (PAGE - 100) + whole[PAGE:],
        "empty.db": whole[:100] + b"\x0d\0\0\0\0\x10\0\0".ljust(PAGE - 100, b"\0") + whole[PAGE:],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreCorrupt, match=name):
            await listed(tmp_path / name)


async def test_the_lines_of_sessions_that_lost_their_summaries_are_rebuilt(whole: bytes, tmp_path: Path):
    pages = len(whole) // PAGE
    rebuilt = []
    for page in range(1, pages):
        path = tmp_path / f"{page}.db"
        path.write_bytes(whole[: page * PAGE] + b"\xff" * PAGE + whole[(page + 1) * PAGE :])
        store = SqliteStore(path, CountingClock())
        try:
            await store.list()
        except DamagedList as damage:
            rebuilt.append(all(one.title == one.id for one in damage.sessions))
        await store.aclose()

    assert all(rebuilt)
