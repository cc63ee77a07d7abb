"""Indexing and searching, with a real file and a store."""

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bridle.core.errors import ConfigError, StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import MemoryHit
from bridle.core.protocol import Rewound
from bridle.memory.active_embedder import KEYWORDS_ONLY
from bridle.memory.local import PAGE_RECORDS, LocalMemory
from bridle.memory.storage import ProjectStats
from tests.memory.stage import (
    DIMS,
    HERE,
    A,
    B,
    Clock,
    WordEmbedder,
    created,
    ended,
    gave,
    memory_of,
    replied,
    said,
    started,
    store_of,
)

CAT = "The cat sleeps on the red sofa in the kitchen."
DATABASE = "The staging database is called heron and lives in Oslo."


def texts(found: list[MemoryHit]) -> list[str]:
    return [passage.text for passage in found]


async def ask(memory: LocalMemory, query: str, **options) -> list[str]:
    return texts(await memory.search(query, cwd=HERE, **options))


@pytest.fixture
async def opened():
    """Yield a list; every memory in it is closed in the end."""
    memories: list[LocalMemory] = []
    yield memories
    for memory in memories:
        await memory.aclose()


async def test_a_passage_is_found_by_its_words(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), replied(DATABASE)]})
    opened.append(memory := memory_of(tmp_path, store))

    assert await memory.search("heron database", cwd=HERE) == [
        MemoryHit(DATABASE, 1.0, A, 3, 1, "assistant", 1_700_000_000_000)
    ]
    assert memory.notices == (KEYWORDS_ONLY,)


async def test_a_passage_is_found_by_its_meaning(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), replied(DATABASE)]})
    same = {"kitten": "cat", "naps": "sleeps", "couch": "sofa", "crimson": "red"}
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder(synonyms=same)))

    assert await ask(memory, "kitten naps crimson couch") == [CAT]
    assert memory.notices == ()


async def test_nonsense_finds_nothing(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), replied(DATABASE)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))

    assert await ask(memory, "zorgle blatt quux") == []
    assert await ask(memory, "the is and on") == []
    assert await ask(memory, "!?* \x00 ()") == []
    assert await ask(memory, '"AND" NEAR(x* OR -') == []


async def test_the_limit_holds(tmp_path: Path, opened: list):
    store = await store_of({A: [said(f"tea number {n}") for n in range(40)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))

    assert [len(await ask(memory, "tea number", limit=n)) for n in (0, -1, 1, 20, 1000)] == [0, 0, 1, 20, 20]


async def test_what_was_said_twice_is_shown_once(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)], B: [said(CAT)]})
    opened.append(memory := memory_of(tmp_path, store))

    assert await ask(memory, "cat sofa") == [CAT]


async def test_projects_are_kept_apart(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    await store.append(B, 0, [created(B, "/other/deep/down"), said("The cat is out.")])
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))

    assert await ask(memory, "cat") == [CAT]
    assert texts(await memory.search("cat", cwd="/other")) == ["The cat is out."]
    assert texts(await memory.search("cat", cwd="/third")) == []


async def test_what_is_added_later_is_found(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    embedder = WordEmbedder()
    opened.append(memory := memory_of(tmp_path, store, embedder))
    await ask(memory, "cat")
    await store.append(A, 2, [said(DATABASE)])

    assert await ask(memory, "heron") == [DATABASE]
    assert embedder.texts.count(CAT) == 1  # nothing is embedded twice


async def test_a_noted_session_is_taken_in_without_a_search(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))
    memory.note(A, HERE)
    await memory.settled()

    assert (await memory.stats()).passages == 1
    assert (await memory.stats()).left_sessions == 0


async def test_a_long_session_is_taken_in_page_by_page(tmp_path: Path, opened: list):
    events = [said(f"remark {n} about thing{n}") for n in range(2 * PAGE_RECORDS + 7)]
    store = await store_of({A: events})
    opened.append(memory := memory_of(tmp_path, store))

    assert await ask(memory, f"thing{len(events) - 1}") == [events[-1].message.text]
    assert (await memory.stats()).passages == len(events)


async def test_what_was_rewound_is_not_found_until_it_is_brought_back(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), said(DATABASE)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))
    assert await ask(memory, "heron") == [DATABASE]

    await store.append(A, 3, [Rewound(2)])
    assert await ask(memory, "heron") == []
    assert await ask(memory, "cat") == [CAT]

    await store.append(A, 4, [Rewound(3)])
    assert await ask(memory, "heron") == [DATABASE]

    await store.append(A, 5, [Rewound(2, "files"), said("more")])
    assert await ask(memory, "heron") == [DATABASE]


async def test_a_session_that_is_another_one_now_is_taken_in_anew(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), said("tea"), said("milk")]})
    opened.append(memory := memory_of(tmp_path, store))
    await ask(memory, "cat")
    await store.delete(A)
    await store.append(A, 0, [created(), said(DATABASE)])

    assert await ask(memory, "heron") == [DATABASE]
    assert await ask(memory, "cat") == []


async def test_what_the_asking_session_still_sees_is_left_out(tmp_path: Path, opened: list):
    first = [started(), said(f"remember: {CAT}"), ended()]
    store = await store_of(
        {A: [*first, started(), said("Where does the cat sleep?")], B: [said("The cat is old.")]}
    )
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder(), min_score=0.1))

    assert set(await ask(memory, "cat sleep", session=A)) == {f"remember: {CAT}", "The cat is old."}
    assert "Where does the cat sleep?" in await ask(memory, "cat sleep", session=B)


async def test_no_secret_is_taken_in(tmp_path: Path, opened: list):
    store = await store_of({A: [said("login as admin with hunter2"), gave("export API_KEY=abcd1234efgh")]})
    opened.append(memory := memory_of(tmp_path, store))

    assert await ask(memory, "login admin") == ["login as admin with [secret PASSWORD]"]
    assert await ask(memory, "export") == ["export API_KEY=[secret]"]
    await memory.aclose()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"hunter2" not in data
    assert b"abcd1234efgh" not in data


async def test_memory_outlives_the_process(tmp_path: Path, opened: list):
    store, embedder = await store_of({A: [said(CAT)]}), WordEmbedder()
    first = memory_of(tmp_path, store, embedder)
    await ask(first, "cat")
    await first.aclose()
    embedder.texts.clear()
    opened.append(second := memory_of(tmp_path, store, embedder))

    assert await ask(second, "cat sofa") == [CAT]
    assert embedder.texts == ["cat sofa"]


# ---------------------------------------------------------------------------- forgetting


async def test_a_forgotten_session_stays_forgotten(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)], B: [said(DATABASE)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))
    await ask(memory, "cat")

    await memory.forget(A)
    assert await ask(memory, "cat") == []
    assert await ask(memory, "heron") == [DATABASE]

    await memory.rebuild()
    assert await ask(memory, "cat") == []

    await store.append(A, 2, [said("A new cat came.")])
    assert await ask(memory, "cat") == ["A new cat came."]


async def test_a_deleted_session_leaves_nothing(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder()))
    await ask(memory, "cat")
    await store.delete(A)

    await memory.forget(A)

    assert await memory.sessions() == []
    assert b"kitchen" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


async def test_the_sessions_of_a_project_or_all_can_be_named(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    await store.append(B, 0, [created(B, "/other"), said("x y z")])
    opened.append(memory := memory_of(tmp_path, store))

    assert await memory.sessions(HERE) == [A]
    assert sorted(await memory.sessions()) == [A, B]


# ---------------------------------------------------------------------------- when things go wrong


async def test_a_damaged_file_is_made_anew_from_the_store(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    first = memory_of(tmp_path, store, WordEmbedder())
    await ask(first, "cat")
    await first.aclose()
    (tmp_path / "memory.db").write_bytes(b"not a database at all")
    opened.append(second := memory_of(tmp_path, store, WordEmbedder()))

    assert await ask(second, "cat") == [CAT]
    assert [notice.partition(";")[0] for notice in second.notices] == [
        f"{tmp_path / 'memory.db'}: it is not a SQLite database"
    ]


async def test_another_embedder_makes_all_vectors_anew(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT), said(DATABASE)]})
    first = memory_of(tmp_path, store, WordEmbedder())
    await ask(first, "cat")
    await first.aclose()
    other = WordEmbedder("other", 32, {"kitten": "cat", "couch": "sofa", "scarlet": "red"})
    opened.append(second := memory_of(tmp_path, store, other))

    assert await ask(second, "kitten scarlet couch") == [CAT]
    assert (await second.stats()).projects == (ProjectStats(HERE, 1, 2, 2, "other", 32, "exact"),)


async def test_a_broken_embedder_leaves_the_search_by_words(tmp_path: Path, opened: list):
    store, clock, embedder = await store_of({A: [said(CAT)]}), Clock(), WordEmbedder()
    embedder.is_broken = True
    opened.append(memory := memory_of(tmp_path, store, embedder, clock=clock))

    assert await ask(memory, "cat sofa") == [CAT]
    assert memory.notices == (
        "embeddings of words: the server is gone; until then memory uses keyword search",
    )
    assert (await memory.stats()).left_vectors == 1

    embedder.is_broken = False
    clock.at_ms += 61_000
    await ask(memory, "cat")
    assert (await memory.stats()).left_vectors == 0


async def test_an_embedder_that_cannot_be_had_is_an_error(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})

    def refuse() -> None:
        raise ConfigError("memory.embedder is minilm, which is not installed")

    opened.append(memory := memory_of(tmp_path, store, refuse))

    with pytest.raises(ConfigError, match="minilm"):
        await memory.search("cat", cwd=HERE)


async def test_a_search_after_the_end_is_an_error(tmp_path: Path):
    memory = memory_of(tmp_path, await store_of({}), WordEmbedder())
    await memory.aclose()

    with pytest.raises(StoreError, match="memory is closed"):
        await memory.search("cat", cwd=HERE)
    memory.note(A, HERE)  # says nothing, does nothing
    await memory.aclose()


async def test_closing_stops_the_work_and_leaves_the_rest_for_later(tmp_path: Path, opened: list):
    sessions = {SessionId(f"s{n}"): [said(f"remark {n}")] for n in range(50)}
    store = await store_of(sessions)
    first = memory_of(tmp_path, store, WordEmbedder())
    for session in sessions:
        first.note(session, HERE)
    await asyncio.sleep(0)
    await first.aclose()
    opened.append(second := memory_of(tmp_path, store, WordEmbedder()))

    assert len(await ask(second, "remark", limit=20)) == 20
    assert (await second.stats()).passages == 50


async def test_a_slow_embedder_does_not_hold_up_a_search(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)]})
    first = memory_of(tmp_path, store)
    await ask(first, "cat")
    await first.aclose()
    release = asyncio.Event()

    class Slow(WordEmbedder):
        async def embed(self, texts):
            await release.wait()
            return await super().embed(texts)

    opened.append(second := memory_of(tmp_path, store, Slow(), catch_up_s=0.05))

    assert await ask(second, "cat sofa") == [CAT]
    assert (await second.stats()).left_vectors == 1
    release.set()
    await second.settled()
    assert (await second.stats()).left_vectors == 0


async def test_an_embedder_that_is_not_used_lets_go(tmp_path: Path, opened: list):
    store, embedder = await store_of({A: [said(CAT)]}), WordEmbedder()
    opened.append(memory := memory_of(tmp_path, store, embedder, idle_s=0.0))
    await ask(memory, "cat")
    assert memory._task is not None
    await memory._task
    assert embedder.closed == 1

    assert await ask(memory, "cat sofa") == [CAT]
    await memory._task
    assert embedder.closed == 2


async def test_a_process_that_ends_at_once_does_not_begin(tmp_path: Path):
    store, embedder = await store_of({A: [said(CAT)]}), WordEmbedder()
    memory = memory_of(tmp_path, store, embedder, delay_s=60.0)
    memory.note(A, HERE)
    await asyncio.sleep(0)
    await memory.aclose()

    assert (embedder.texts, list(tmp_path.iterdir())) == ([], [])


def test_without_numpy_words_are_searched(tmp_path: Path):
    code = (
        "import sys\n"
        "for name in ('numpy', 'usearch', 'numkong', 'tokenizers', 'wordllama'): sys.modules[name] = None\n"
        "import asyncio, pathlib\n"
        "from bridle.app import memory_in, open_store\n"
        "from bridle.config.settings import load_settings\n"
        "from bridle.core.ids import SessionId\n"
        "from bridle.core.messages import user_message\n"
        "from bridle.core.protocol import MessageAdded, SessionCreated\n"
        "async def main():\n"
        "    here = pathlib.Path(sys.argv[1])\n"
        "    environ = {'HOME': sys.argv[1], 'BRIDLE_HOME': sys.argv[1] + '/home'}\n"
        "    settings = load_settings(environ, here)\n"
        "    store = open_store(settings)\n"
        "    memory = memory_in(settings, environ, store)\n"
        "    words = MessageAdded(user_message('The cat sleeps.'))\n"
        "    await store.append(SessionId('a'), 0, [SessionCreated(SessionId('a'), sys.argv[1]), words])\n"
        "    print([passage.text for passage in await memory.search('cats', cwd=sys.argv[1])])\n"
        "    print((await memory.stats()).projects[0].index, memory.notices)\n"
        "    await memory.rebuild(); await memory.aclose(); await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == (f"['The cat sleeps.']\nnone {(KEYWORDS_ONLY,)}\n", "")


async def test_many_searches_at_once_agree(tmp_path: Path, opened: list):
    store = await store_of({A: [said(f"tea number {n}") for n in range(30)]})
    embedder = WordEmbedder()
    opened.append(memory := memory_of(tmp_path, store, embedder))

    answers = await asyncio.gather(*(ask(memory, "the tea number 7", limit=3) for _ in range(10)))

    assert answers == [answers[0]] * 10
    assert answers[0][0] == "tea number 7"
    assert (await memory.stats()).passages == 30
    assert max(embedder.texts.count(f"tea number {n}") for n in range(30)) == 1


async def test_two_processes_share_the_file(tmp_path: Path, opened: list):
    store = await store_of({A: [said(CAT)], B: [said(DATABASE)]})
    opened += [
        one := memory_of(tmp_path, store, WordEmbedder()),
        two := memory_of(tmp_path, store, WordEmbedder()),
    ]
    await asyncio.gather(ask(one, "cat"), ask(two, "heron"), ask(one, "heron"), ask(two, "cat"))
    await one.forget(A)

    assert await ask(two, "cat") == []
    assert await ask(two, "heron") == [DATABASE]
    assert (await two.stats()).passages == 1


# ---------------------------------------------------------------------------- many passages


async def test_an_index_finds_what_a_full_search_finds(tmp_path: Path, opened: list):
    events = [said(f"topic{n % 10} remark{n}") for n in range(1000)]
    store, embedder = await store_of({A: events}), WordEmbedder()
    opened.append(memory := memory_of(tmp_path, store, embedder, exact_up_to=500, min_score=0.0))
    await memory.catch_up()
    project = (await memory.stats()).projects[0]
    assert project == ProjectStats(HERE, 1, 1000, 1000, "words", DIMS, "graph")

    query = (await embedder.embed(["topic7 remark77"]))[0]
    every = await embedder.embed([event.message.text for event in events])
    best = np.argsort(-(every @ query))[:10]
    near = await memory._worker.run(
        lambda: memory._storage._database.read(
            lambda c: memory._storage._vectors().nearest(c, memory._storage.project(HERE), query, 64)
        )
    )

    assert {int(n) + 1 for n in best} <= set(near)
    assert (await ask(memory, "topic7 remark77"))[0] == "topic7 remark77"

    await store.append(A, 1001, [said("a late topic7 remark1000")])
    assert (await ask(memory, "a late topic7 remark1000"))[0] == "a late topic7 remark1000"


async def test_what_is_in_an_index_file_is_not_held_as_well(tmp_path: Path, opened: list):
    store = await store_of({A: [said(f"topic{n % 5} remark{n}") for n in range(300)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder(), exact_up_to=100))
    await memory.catch_up()
    before = dict(memory._storage._vectors()._loaded)
    await ask(memory, "topic3 remark8")
    [held] = memory._storage._vectors()._loaded.values()

    assert (before, len(held.rows)) == ({}, 0)


async def test_a_damaged_index_is_made_anew(tmp_path: Path, opened: list):
    store = await store_of({A: [said(f"topic{n % 5} remark{n}") for n in range(300)]})
    first = memory_of(tmp_path, store, WordEmbedder(), exact_up_to=100)
    await first.catch_up()
    await first.aclose()
    (index,) = tmp_path.glob("index-*.usearch")
    data = bytearray(index.read_bytes())
    data[len(data) // 2] ^= 0xFF
    index.write_bytes(data)
    opened.append(second := memory_of(tmp_path, store, WordEmbedder(), exact_up_to=100))

    assert (await ask(second, "topic3 remark8"))[0] == "topic3 remark8"
    assert (await second.stats()).projects[0].index == "exact"
    await second.catch_up()
    assert (await second.stats()).projects[0].index in ("graph", "scan")


async def test_an_index_grows_with_its_project_and_goes_with_what_is_forgotten(tmp_path: Path, opened: list):
    store = await store_of({A: [said(f"topic{n % 5} remark{n}") for n in range(300)], B: [said(CAT)]})
    opened.append(memory := memory_of(tmp_path, store, WordEmbedder(), exact_up_to=100))
    await memory.catch_up()
    before = {path.name for path in tmp_path.glob("index-*")}
    await store.append(A, 301, [said(f"topic{n % 5} later{n}") for n in range(150)])
    await memory.catch_up()
    after = {path.name for path in tmp_path.glob("index-*")}

    assert (len(before), len(after), before & after) == (1, 1, set())
    assert (await ask(memory, "topic2 later77"))[0] == "topic2 later77"

    await memory.forget(A)
    assert list(tmp_path.glob("index-*")) == []
    assert await ask(memory, "topic2 later77") == []
    assert await ask(memory, "cat") == [CAT]
