"""Killed at any point, memory loses nothing, duplicates nothing and continues where it stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from bridle.core.ids import SessionId
from bridle.memory.database import rows_of
from bridle.stores.sqlite import SqliteStore
from tests.memory.stage import HERE, Clock, WordEmbedder, created, memory_of, said

SESSIONS, TEXTS = 12, 20
ROOT = Path(__file__).parents[2]


async def fill(folder: Path) -> set[str]:
    store = SqliteStore(folder / "bridle.db", Clock())
    texts = set()
    for number in range(SESSIONS):
        session = SessionId(f"session{number:02}")
        words = [f"remark {number} {n} on topic{n}" for n in range(TEXTS)]
        await store.append(session, 0, [created(session), *map(said, words)])
        texts |= set(words)
    await store.aclose()
    return texts


def run_and_kill(folder: Path, lines: int) -> None:
    """Kill the child with SIGKILL once it has printed so many lines."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.memory.child", str(folder)], stdout=subprocess.PIPE, env=env, cwd=ROOT
    )
    assert child.stdout is not None
    for _ in range(lines):
        if not child.stdout.readline():
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.mark.parametrize("lines", [1, 4, 12, 13, 17, 26, 43])
async def test_what_a_killed_process_left_is_whole(tmp_path: Path, lines: int):
    texts = await fill(tmp_path)
    run_and_kill(tmp_path, lines)

    store = SqliteStore(tmp_path / "bridle.db", Clock())
    memory = memory_of(tmp_path / "memory", store, WordEmbedder(), exact_up_to=150)
    await memory.catch_up()
    stats = await memory.stats()
    found = await memory.search("remark 7 13 on topic13", cwd=HERE, limit=1)
    await memory.aclose()
    await store.aclose()

    connection = apsw.Connection(str(tmp_path / "memory/memory.db"))
    kept = [row[0] for row in rows_of(connection, "SELECT text FROM passages")]
    connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    whole = rows_of(connection, "SELECT count(*) FROM passages JOIN vectors USING (id)")
    connection.close()
    assert (sorted(kept), whole) == (sorted(texts), [(SESSIONS * TEXTS,)])
    assert (stats.left_sessions, stats.left_vectors, stats.notices) == (0, 0, ())
    assert [passage.text for passage in found] == ["remark 7 13 on topic13"]
    assert len(list((tmp_path / "memory").glob("index-*"))) == 1
