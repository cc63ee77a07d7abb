"""One session's journal: it never builds on events that the store rejected."""

import pytest

from bridle.core.errors import StoreError, StoreFull
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    Checkpoint,
    Compacted,
    Event,
    MessageAdded,
    Pinned,
    Rewound,
    SessionCreated,
    SessionTitled,
)
from bridle.core.session import fold
from bridle.sessions.bus import Bus
from bridle.sessions.journal import FIRST_CHUNK, open_journal, read_tail
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock

SESSION = SessionId("play")


class FullOnce(EphemeralStore):
    """Has no space for a title called "lost"."""

    async def append(self, session, expected_seq, events):
        if SessionTitled("lost") in events:
            raise StoreFull("no space left on the device")
        return await super().append(session, expected_seq, events)


async def test_after_a_failed_append_nothing_more_is_recorded():
    """The fold has seen an event that the store has not: what follows from it must not be stored."""
    store = FullOnce(FixedClock())
    await store.append(SESSION, 0, [SessionCreated(SESSION, "/")])
    journal = await open_journal(SESSION, store, Bus(), FixedClock())
    with pytest.raises(StoreFull):
        await journal.record(SessionTitled("lost"))

    with pytest.raises(StoreError, match=r"reloaded: .*: no space left on the device$"):
        await journal.record(SessionTitled("later"))
    with pytest.raises(StoreError, match="must be reloaded"):
        await journal.flush()

    assert journal.is_stale
    assert [record.event for record in await store.read(SESSION)] == [SessionCreated(SESSION, "/")]


def talk(count: int) -> list[Event]:
    return [MessageAdded(user_message(str(number)), tokens=10) for number in range(count)]


async def stored(*events: Event) -> EphemeralStore:
    store = EphemeralStore(FixedClock())
    created = SessionCreated(SESSION, "/")
    await store.append(SESSION, 0, [created, *events])
    return store


async def test_the_tail_reaches_back_to_a_checkpoint_however_little_is_asked_for():
    """Without one the facts of the session would be unknown."""
    facts = fold(await (await stored()).read(SESSION)).known
    store = await stored(*talk(100), Checkpoint(facts), *talk(5 * FIRST_CHUNK))

    tail = await read_tail(store, SESSION, tokens=1)

    assert tail[0].seq > 1
    assert fold(tail).known.created == SessionCreated(SESSION, "/")


async def test_the_tail_holds_as_many_tokens_as_are_asked_for_and_not_the_whole_session():
    facts = fold(await (await stored()).read(SESSION)).known
    store = await stored(*talk(5_000), Checkpoint(facts))

    tail = await read_tail(store, SESSION, tokens=3_000)

    assert 300 <= len(fold(tail).messages) < 1_000


def summary(kept: int) -> Compacted:
    return Compacted(user_message("sum"), kept, 50, 0, 0, 0, 0, summary="sum", corrections=("blue",))


async def test_the_tail_of_a_compacted_session_is_what_the_compaction_left():
    """However little that is: what came before it is never sent again."""
    facts = fold(await (await stored(Pinned("rule"))).read(SESSION)).known
    store = await stored(
        Pinned("rule"), *talk(5_000), Checkpoint(facts), summary(kept=3), *talk(100), Checkpoint(facts)
    )

    tail = await read_tail(store, SESSION, tokens=256_000)

    whole = fold(await store.read(SESSION))
    assert len(tail) < 500
    assert fold(tail).messages == whole.messages
    assert fold(tail).known == whole.known


async def test_the_tail_reaches_back_to_all_that_a_compaction_kept():
    facts = fold(await (await stored()).read(SESSION)).known
    store = await stored(*talk(5_000), summary(kept=300), Checkpoint(facts))

    tail = await read_tail(store, SESSION, tokens=256_000)

    assert 300 < len(tail) < 1_000
    assert fold(tail).messages == fold(await store.read(SESSION)).messages


async def test_a_compaction_that_was_rewound_does_not_end_the_tail():
    facts = fold(await (await stored()).read(SESSION)).known
    store = await stored(*talk(1_000), summary(kept=3), *talk(40), Rewound(900), *talk(40), Checkpoint(facts))

    tail = await read_tail(store, SESSION, tokens=256_000)

    assert fold(tail).messages == fold(await store.read(SESSION)).messages
    assert len(fold(tail).messages) == 899 + 40


async def test_a_compaction_before_the_target_of_a_rewind_ends_the_tail():
    facts = fold(await (await stored()).read(SESSION)).known
    store = await stored(
        *talk(5_000), summary(kept=3), *talk(40), *talk(2_000), Rewound(5_042), *talk(9), Checkpoint(facts)
    )

    tail = await read_tail(store, SESSION, tokens=256_000)

    assert len(tail) < 4_500
    assert fold(tail).messages == fold(await store.read(SESSION)).messages
    assert len(fold(tail).messages) == 1 + 3 + 40 + 9
