"""The base of a program's own store; that of the example keeps the contract (`tests/test_examples.py`)."""

from collections.abc import Sequence

import pytest

import bridle
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionTitled
from tests.stores.sample import OTHER, S, created


class Rows(bridle.RowStore):
    """Rows in memory; another writer may be faster."""

    def __init__(self) -> None:
        self.kept: dict[SessionId, dict[int, bytes]] = {}
        self.faster = False
        self.read_rows = 0

    async def add(self, session: SessionId, lines: Sequence[tuple[int, bytes]]) -> bool:
        if not self.faster:
            self.kept.setdefault(session, {}).update(lines)
        return not self.faster

    async def rows(self, session: SessionId, first: int, last: int) -> list[bytes]:
        found = [line for number, line in self.kept[session].items() if first <= number <= last]
        self.read_rows += len(found)
        return found

    async def last(self, session: SessionId) -> int:
        return max(self.kept.get(session, {0: b""}))

    async def names(self) -> list[SessionId]:
        return [*self.kept]

    async def drop(self, session: SessionId) -> None:
        del self.kept[session]


async def test_a_writer_that_is_too_late_is_refused():
    store = Rows()
    store.faster = True

    with pytest.raises(bridle.SessionConflict, match="changed by another writer"):
        await store.append(S, 0, [created(S)])


async def test_a_list_reads_only_what_is_new():
    store = Rows()
    for session in (S, OTHER):
        await store.append(session, 0, [created(session)])
    first = await store.list()
    await store.append(S, 1, [SessionTitled("new")])
    before = store.read_rows
    second = await store.list()
    await store.delete(OTHER)

    assert [len(first), store.read_rows - before] == [2, 1]
    assert {one.id: one.title for one in second}[S] == "new"
    assert [one.id for one in await store.list()] == [S]


async def test_a_session_that_begins_again_is_listed_as_it_is():
    store = Rows()
    await store.append(S, 0, [created(S), SessionTitled("old"), SessionTitled("older")])
    await store.list()
    del store.kept[S]  # by another process
    await store.append(S, 0, [created(S), SessionTitled("new")])

    assert [one.title for one in await store.list()] == ["new"]
