"""Several processes on one file."""

from pathlib import Path

import numpy as np
import pytest

from bridle.core.protocol import Record
from bridle.memory.embedders.normalize import normalize_rows
from bridle.memory.storage import MemoryStorage, Query, combine_scores, score_similarity
from bridle.memory.tables import Calibration, Cursor
from tests.memory.stage import HERE, A, B, Clock, created, said

ROWS = normalize_rows(np.random.default_rng(3).standard_normal((4, 8)))
TEXTS = ["one", "two", "three", "four"]
RECORDS = [
    Record(seq, seq, event, f"hash{seq}") for seq, event in enumerate([created(), *map(said, TEXTS)], 1)
]


@pytest.fixture
def shelf(tmp_path: Path):
    opened = MemoryStorage(tmp_path, Clock(), str, exact_up_to=100)
    yield opened
    opened.close()


@pytest.fixture
def filled(shelf: MemoryStorage) -> MemoryStorage:
    """Return a shelf with four passages, which have no vectors."""
    assert shelf.take_in(A, HERE, Cursor(), RECORDS)
    shelf.put_calibration("e", Calibration(0.0, 0.05))
    return shelf


def nearest(shelf: MemoryStorage, row: np.ndarray) -> list[str]:
    question = Query("zzz", 1, 10, 0.35, embedder="e", vector=row)
    return [passage.text for passage in shelf.search(question)]


def test_what_somebody_else_has_taken_in_is_not_taken_in_twice(filled: MemoryStorage):
    assert not filled.take_in(A, HERE, Cursor(), RECORDS[:3])

    assert filled.cursor(A) == Cursor(1, 5, "hash5")
    assert filled.stats().projects[0].passages == 4


def test_a_vector_that_comes_late_is_found(filled: MemoryStorage):
    """Two processes that make vectors may finish in another order than they began."""
    filled.add_vectors(1, "e", [2, 3], ROWS[1:3])
    assert nearest(filled, ROWS[1]) == ["two"]

    filled.add_vectors(1, "e", [1], ROWS[:1])

    assert nearest(filled, ROWS[0]) == ["one"]
    assert filled.pending(1, 10) == [(4, "four")]


def test_vectors_of_another_size_take_the_place_of_all(filled: MemoryStorage):
    filled.add_vectors(1, "e", [1, 2], ROWS[:2])
    assert nearest(filled, ROWS[0]) == ["one"]
    wider = normalize_rows(np.eye(2, 9))

    filled.add_vectors(1, "e", [1, 2], wider)

    assert nearest(filled, wider[1]) == ["two"]
    assert nearest(filled, ROWS[0]) == []
    assert [number for number, _ in filled.pending(1, 10)] == [3, 4]


def test_a_vector_of_a_passage_that_is_gone_is_dropped(filled: MemoryStorage):
    filled.forget({A: 0})

    filled.add_vectors(1, "e", [1, 2], ROWS[:2])

    assert filled.stats().projects[0].vectors == 0


def test_a_whole_session_takes_the_place_of_what_was_known(filled: MemoryStorage):
    filled.take_whole(A, HERE, RECORDS[:2])
    assert (filled.cursor(A), filled.stats().projects[0].passages) == (Cursor(1, 2, "hash2"), 1)

    filled.take_whole(A, HERE, [])
    assert (filled.cursor(A), filled.seqs()) == (Cursor(), {})


def test_forgetting_says_up_to_where(filled: MemoryStorage):
    filled.forget({A: 5, B: 0})

    assert filled.seqs() == {A: 5}
    assert filled.take_in(A, HERE, filled.cursor(A), RECORDS)
    assert filled.stats().projects[0].passages == 0


def test_scores_are_read_by_how_unrelated_texts_are_judged():
    calibration = Calibration(mean=0.1, spread=0.05)

    values = [score_similarity(value, calibration) for value in (-0.5, 0.1, 0.17, 0.24, 0.62, 1.0)]

    assert values == pytest.approx([0, 0, 0.175, 0.35, 0.675, 1])
    assert [combine_scores(a, b) for a, b in ((0, 0), (0, 1), (1, 0), (0.5, 0.5))] == pytest.approx(
        [0, 0.6, 1, 0.65]
    )
