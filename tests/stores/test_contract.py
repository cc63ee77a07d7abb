"""The contract of every store; durable stores are also closed and reopened around each call."""

import asyncio
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.codec import GENESIS, encode_records
from bridle.core.errors import SessionConflict, SessionNotFound, StoreError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    Event,
    Record,
    RunEnded,
    RunStarted,
    SessionArchived,
    SessionTitled,
    ToolFinished,
    ToolStarted,
)
from bridle.core.protocol.unknown import unknown_event
from bridle.core.summary import SessionSummary, summarise
from bridle.stores.integrity import fsck, verify
from tests.stores.sample import (
    OTHER,
    RUN,
    SAMPLES,
    AnyStore,
    CountingClock,
    S,
    StandingClock,
    created,
    finished,
    make_store,
    said,
)
from tests.stores.strategies import events

DURABLE = ("sqlite", "jsonl", "postgres")
LIVE = ("ephemeral", *DURABLE)
KINDS = (*LIVE, "sqlite-reopened", "jsonl-reopened", "postgres-reopened", "kontekst", "kontekst-reopened")
WRITER = Path(__file__).with_name("writer.py")


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path):
    opened = make_store(request.param, tmp_path)
    yield opened
    await opened.aclose()


@pytest.fixture(params=DURABLE)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


# ---------------------------------------------------------------------------- append and read


async def test_records_are_numbered_dated_and_chained(store: AnyStore):
    records = await store.append(S, 0, SAMPLES)

    expected = encode_records(GENESIS, 1, records[0].at, SAMPLES)
    assert records == [record for record, _ in expected]
    assert [line async for line in store.lines(S)] == [line for _, line in expected]


async def test_what_happened_before_keeps_its_date(store: AnyStore):
    """The records of another program, none of them in the future."""
    told = [created(), said("one"), said("two")]

    records = await store.append(S, 0, told, dates=(5, 7, 10**15))
    [after] = await store.append(S, 3, [said("three")])

    assert [record.at for record in records[:2]] == [5, 7]
    assert 7 < records[2].at <= after.at < 10**15
    assert await store.read(S) == [*records, after]
    assert await store.flaws(S) == []
    [summary] = await store.list()
    assert (summary.created_at, summary.updated_at) == (5, after.at)


async def test_what_was_appended_is_read_back(store: AnyStore):
    first = await store.append(S, 0, SAMPLES[:3])
    second = await store.append(S, 3, SAMPLES[3:4])
    third = await store.append(S, 4, SAMPLES[4:])

    assert await store.read(S) == first + second + third
    assert second[0].at > first[0].at


async def test_a_read_is_a_slice(store: AnyStore):
    """Every window over a short session, in every direction."""
    records = await store.append(S, 0, SAMPLES[:2])
    records += await store.append(S, 2, SAMPLES[2:6])

    for after, before, limit, newest in product(
        [-1, 0, 1, 4, 6, 9], [None, 0, 1, 3, 6, 7, 9], [None, 0, 1, 3, 6, 9], [False, True]
    ):
        inside = [r for r in records if r.seq > after and (before is None or r.seq < before)]
        if limit is not None:
            inside = inside[max(0, len(inside) - limit) :] if newest else inside[:limit]
        found = await store.read(S, after=after, before=before, limit=limit, newest=newest)
        assert found == inside, (after, before, limit, newest)


async def test_paging_visits_every_record_once_in_both_directions(store: AnyStore):
    records = await store.append(S, 0, [created(), *(said(f"{n} " * n) for n in range(700))])

    forwards: list[Record] = []
    while page := await store.read(S, after=len(forwards), limit=97):
        forwards += page
    backwards: list[Record] = []
    while page := await store.read(S, before=701 - len(backwards) + 1, limit=97, newest=True):
        backwards = page + backwards

    assert forwards == records
    assert backwards == records


async def test_an_unknown_session_is_empty(store: AnyStore):
    assert await store.read(S) == []
    assert [line async for line in store.lines(S)] == []
    assert await store.list() == []
    assert await store.ids() == []
    with pytest.raises(SessionNotFound):
        await store.delete(S)
    with pytest.raises(SessionNotFound):
        await verify(store, S)


async def test_an_empty_append_stores_nothing_but_still_compares(store: AnyStore):
    assert await store.append(S, 0, []) == []
    assert await store.list() == []
    with pytest.raises(SessionConflict):
        await store.append(S, 1, [])
    await store.append(S, 0, [created()])

    assert await store.append(S, 1, []) == []
    with pytest.raises(SessionConflict):
        await store.append(S, 0, [])


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x01\x1f\x7f\r\n\t\\\"'",
        "\u2028\u2029\u0085\ufeff\uffff",
        "日本語 🐎 \U0010ffff é ﷽",
        '","hash":"' + "0" * 64 + '"}\n{"seq":2,"at":1,',
    ],
)
async def test_any_text_comes_back_unchanged(store: AnyStore, text: str):
    stored = await store.append(S, 0, [created(), said(text), ToolStarted("c1", text, {text: [text]})])

    assert await store.read(S) == stored
    assert (await verify(store, S)).ok


async def test_events_of_a_newer_bridle_are_kept_as_they_are(store: AnyStore):
    newer = unknown_event("moon_risen", {"phase": 3, "seen": [{"by": "x"}]})
    stored = await store.append(S, 0, [created(), newer, said("hello")])
    stored += await store.append(S, 3, [newer])

    assert await store.read(S) == stored
    assert [line async for line in store.lines(S)][1].startswith(
        b'{"seq":2,"at":%d,"event":{"type":"moon_risen","phase":3,"seen":[{"by":"x"}]},"hash":' % stored[1].at
    )
    assert ((await verify(store, S)).records, await fsck(store)) == (4, [])
    assert [(s.title, s.last_seq) for s in await store.list()] == [("hello", 4)]


async def test_a_batch_with_an_event_that_json_cannot_hold_stores_nothing(store: AnyStore):
    """A lone surrogate comes from a file name that is not UTF-8."""
    stored = await store.append(S, 0, [created()])

    with pytest.raises(StoreError, match="cannot be stored as JSON"):
        await store.append(S, 1, [said("fine"), said("broken \udcff"), said("fine")])
    with pytest.raises(StoreError):
        await store.append(OTHER, 0, [said("broken \udcff")])

    assert await store.read(S) == stored
    assert await store.ids() == [S]
    assert await fsck(store) == []
    assert len(await store.append(S, 1, [said("goes on")])) == 1


async def test_an_event_of_ten_megabytes(store: AnyStore):
    large = ToolFinished(ToolResult("c1", "read_file", "0123456789" * 1_000_000))

    await store.append(S, 0, [created(), large, said("small")])
    await store.append(S, 3, [large])
    await store.append(S, 4, [said("end")])

    assert [r.event for r in await store.read(S, limit=2, newest=True)] == [large, said("end")]
    assert [r.event for r in await store.read(S, after=2, limit=1)] == [said("small")]
    assert (await verify(store, S)).records == 5


# ---------------------------------------------------------------------------- one writer wins


@pytest.mark.parametrize("expected", [0, 1, 3, 100])
async def test_an_append_elsewhere_than_at_the_end_is_a_conflict(store: AnyStore, expected: int):
    stored = await store.append(S, 0, SAMPLES[:2])

    with pytest.raises(SessionConflict, match="ends at event 2"):
        await store.append(S, expected, [said("too late")])

    assert await store.read(S) == stored


async def test_a_new_session_begins_at_zero(store: AnyStore):
    with pytest.raises(SessionConflict):
        await store.append(S, 1, [said("hello")])

    assert await store.ids() == []


async def test_two_stores_on_the_same_place_see_each_other(kind: str, tmp_path: Path):
    one, two = make_store(kind, tmp_path), make_store(kind, tmp_path)
    await one.append(S, 0, [created()])
    await two.append(S, 1, [said("two")])

    with pytest.raises(SessionConflict):
        await one.append(S, 1, [said("one")])
    await one.append(S, 2, [said("one")])
    with pytest.raises(SessionConflict):
        await two.append(S, 2, [said("two again")])

    assert await one.read(S) == await two.read(S)
    assert [r.event for r in await one.read(S, after=1)] == [said("two"), said("one")]
    assert (await verify(two, S)).ok
    await one.aclose()
    await two.aclose()


async def test_a_session_replaced_by_one_of_the_same_length_is_noticed(kind: str, tmp_path: Path):
    """Numbers alone are not enough: the hash must match the current record."""
    one, two = make_store(kind, tmp_path), make_store(kind, tmp_path)
    await one.append(S, 0, [created(), said("old")])
    await two.delete(S)
    await two.append(S, 0, [created(), said("new")])

    await one.append(S, 2, [said("next")])

    assert [r.event for r in await one.read(S, after=1)] == [said("new"), said("next")]
    assert (await verify(one, S)).ok
    await one.aclose()
    await two.aclose()


async def test_two_processes_hammering_one_session_lose_nothing(kind: str, tmp_path: Path):
    store = make_store(kind, tmp_path)
    await store.append(S, 0, [created()])
    writers = [
        subprocess.Popen(
            [sys.executable, WRITER, "hammer", kind, str(tmp_path), name, "150"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    wins = {name: json.loads(writer.communicate()[0]) for name, writer in zip("ab", writers, strict=True)}
    records = await store.read(S)

    assert [writer.returncode for writer in writers] == [0, 0]
    assert sorted(wins["a"] + wins["b"]) == list(range(2, 302))
    assert {r.seq: r.event.title.partition(" ")[0] for r in records[1:]} == {
        seq: name for name, won in wins.items() for seq in won
    }
    assert (await verify(store, S)).ok
    await store.aclose()


@pytest.mark.parametrize("store", LIVE, indirect=True)
async def test_tasks_of_one_process_may_append_to_many_sessions_at_once(store: AnyStore):
    async def talk(session: SessionId) -> None:
        for seq in range(10):
            await store.append(session, seq, [said(f"{session} {seq}")])

    names = [SessionId(f"s{n}") for n in range(20)]
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(talk(name))

    assert await fsck(store) == []
    assert [len(await store.read(name)) for name in names] == [10] * 20


# ---------------------------------------------------------------------------- list and delete


async def test_the_list_is_newest_first_and_leaves_out_the_archived(store: AnyStore):
    for name in ("a", "b", "c"):
        await store.append(SessionId(name), 0, [created(SessionId(name)), said(f"hello {name}\nmore")])
    await store.append(SessionId("a"), 2, [RunStarted(RUN, "m")])
    await store.append(SessionId("b"), 2, [SessionArchived(True)])

    shown = await store.list()

    assert [(s.id, s.title, s.last_seq, s.unfinished) for s in shown] == [
        ("a", "hello a", 3, True),
        ("c", "hello c", 2, False),
    ]
    assert [s.id for s in await store.list(archived=True)] == ["b", "a", "c"]
    await store.append(SessionId("b"), 3, [SessionArchived(False), SessionTitled("back")])
    assert [(s.id, s.title) for s in await store.list()] == [
        ("b", "back"),
        ("a", "hello a"),
        ("c", "hello c"),
    ]


@pytest.mark.parametrize("each", KINDS)
async def test_sessions_of_the_same_millisecond_are_listed_by_id(each: str, tmp_path: Path):
    store = make_store(each, tmp_path, StandingClock())
    for name in ("b", "d", "a", "c"):
        await store.append(SessionId(name), 0, [created(SessionId(name))])

    assert [one.id for one in await store.list()] == ["d", "c", "b", "a"]
    await store.aclose()


async def test_the_list_knows_events_that_change_no_summary(store: AnyStore):
    await store.append(S, 0, [created(), RunStarted(RUN, "m")])
    (record,) = await store.append(S, 2, [finished("c1")])

    (summary,) = await store.list()

    assert (summary.last_seq, summary.updated_at) == (3, record.at)


@pytest.mark.parametrize("kind", LIVE)
@settings(max_examples=40)
@given(batches=st.lists(st.lists(events, min_size=1, max_size=4), min_size=1, max_size=6))
async def test_a_summary_is_the_fold_of_the_records(
    kind: str, batches: list[list[Event]], tmp_path_factory: pytest.TempPathFactory
):
    """Holds also for events that a store thinks do not matter to the summary."""
    store = make_store(kind, tmp_path_factory.getbasetemp() / f"folded-{kind}")  # the same for all examples
    expected: SessionSummary | None = None
    seq = 0
    try:
        for batch in batches:
            for record in await store.append(S, seq, batch):
                expected = summarise(expected, S, record)
                seq = record.seq

            assert await store.list(archived=True) == [expected]
    finally:
        await store.delete(S)
        await store.aclose()


async def test_a_deleted_session_is_gone_and_its_name_is_free(store: AnyStore):
    await store.append(S, 0, SAMPLES)
    kept = await store.append(OTHER, 0, [created(OTHER)])

    await store.delete(S)

    assert await store.read(S) == []
    assert [s.id for s in await store.list(archived=True)] == [OTHER]
    assert await store.read(OTHER) == kept
    with pytest.raises(SessionNotFound):
        await store.delete(S)
    with pytest.raises(SessionConflict):
        await store.append(S, len(SAMPLES), [said("hello")])
    await store.append(S, 0, [created(title="again")])
    assert [s.title for s in await store.list()] == ["again", ""]
    assert await fsck(store) == []


@pytest.mark.parametrize("store", LIVE, indirect=True)
async def test_many_sessions(store: AnyStore):
    for n in range(300):
        await store.append(SessionId(f"s{n:03}"), 0, [created(SessionId(f"s{n:03}"), title=f"title {n}")])

    shown = await store.list()

    assert [s.title for s in shown] == [f"title {n}" for n in reversed(range(300))]
    assert await store.ids() == [f"s{n:03}" for n in range(300)]


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        ".",
        "..",
        "../evil",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "a..b",
        ".hidden",
        "a\x00b",
        "é",
        "x" * 129,
        "a\n",
    ],
)
async def test_an_id_that_is_no_plain_name_is_refused(store: AnyStore, hostile: str, tmp_path: Path):
    with pytest.raises(UsageError, match="cannot name a session"):
        await store.append(SessionId(hostile), 0, [created()])
    with pytest.raises(SessionNotFound):
        await store.delete(SessionId(hostile))

    assert await store.read(SessionId(hostile)) == []
    assert await store.flaws(SessionId(hostile)) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# ---------------------------------------------------------------------------- proof


async def test_an_honest_record_is_proven(store: AnyStore):
    records = await store.append(S, 0, SAMPLES)

    verdict = await verify(store, S)

    assert (verdict.ok, verdict.records, verdict.last_hash) == (True, len(SAMPLES), records[-1].hash)
    assert await fsck(store) == []


async def test_the_same_events_give_the_same_bytes_in_every_store(tmp_path: Path):
    written = []
    for kind in LIVE:
        store = make_store(kind, tmp_path, CountingClock())
        await store.append(S, 0, SAMPLES)
        await store.append(S, len(SAMPLES), [RunEnded(RUN, "failed", reason="tired")])
        written.append([line async for line in store.lines(S)])
        await store.aclose()

    assert written == [written[0]] * len(LIVE)
