"""Index files: what they find, and that a damaged one is refused."""

from pathlib import Path

import numpy as np
import pytest

from bridle.memory.embedders.normalize import normalize_rows
from bridle.memory.index_file import (
    IndexBuilder,
    IndexFile,
    IndexRow,
    Kind,
    checksum,
    quantize,
    top_positions,
)

DIMS, COUNT = 48, 1500
RNG = np.random.default_rng(7)


def clusters() -> np.ndarray:
    centres = RNG.standard_normal((40, DIMS), np.float32)
    return normalize_rows(
        centres[np.arange(COUNT) % 40] + 0.4 * RNG.standard_normal((COUNT, DIMS), np.float32)
    )


ROWS = clusters()
IDS = np.arange(1, COUNT + 1, dtype=np.int64) * 3


def built(path: Path, kind: Kind, base: IndexFile | None = None, count: int = COUNT) -> IndexFile:
    builder = IndexBuilder(DIMS, ROWS[:32], base)
    for start in range(0, count, 256):
        builder.add(IDS[start : min(start + 256, count)], ROWS[start : min(start + 256, count)])
    made, expansion = builder.save(path, good_recall=0.9 if kind == "graph" else 2.0)
    assert made == kind
    row = IndexRow(
        path.name, made, int(IDS[count - 1]), builder.count, expansion, path.stat().st_size, checksum(path)
    )
    return IndexFile(path, row, DIMS)


@pytest.mark.parametrize("kind", ["graph", "scan"])
def test_the_nearest_are_found(tmp_path: Path, kind: Kind):
    snapshot = built(tmp_path / "index", kind)

    hits = 0
    for row in ROWS[::50]:
        query = normalize_rows(row[None] + 0.1 * RNG.standard_normal((1, DIMS), np.float32))[0]
        best = {int(IDS[place]) for place in top_positions(ROWS @ query, 10)}
        hits += len(best & set(snapshot.nearest(query, 30)))

    assert hits / (10 * len(ROWS[::50])) >= 0.97
    assert snapshot.row.count == COUNT


def test_a_graph_is_gone_on_with(tmp_path: Path):
    first = built(tmp_path / "first", "graph", count=1000)
    second = built(tmp_path / "second", "graph", base=first)

    assert [second.nearest(ROWS[place], 1) for place in (0, 999, 1000, 1499)] == [
        [int(IDS[place])] for place in (0, 999, 1000, 1499)
    ]
    assert first.nearest(ROWS[1499], 1) != [int(IDS[1499])]


@pytest.mark.parametrize("kind", ["graph", "scan"])
def test_a_changed_or_cut_file_is_refused(tmp_path: Path, kind: Kind):
    path = tmp_path / "index"
    row = built(path, kind).row
    data = path.read_bytes()

    for spoiled in (data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        path.write_bytes(spoiled)
        with pytest.raises(ValueError, match="damaged"):
            IndexFile(path, row, DIMS)
    path.write_bytes(data)
    with pytest.raises(ValueError, match="other vectors"):
        IndexFile(path, row, DIMS + 1)


def test_numbers_of_one_byte_keep_the_direction():
    scales, numbers = quantize(ROWS)
    again = normalize_rows(numbers.astype(np.float32) * scales[:, None])

    assert numbers.dtype == np.int8
    assert float((again * ROWS).sum(axis=1).min()) > 0.999
    zero = quantize(np.zeros((1, 4), np.float32))
    assert (zero[0].tolist(), zero[1].tolist()) == ([0.0], [[0, 0, 0, 0]])


def test_the_highest_come_first():
    scores = np.array([0.1, 0.9, 0.5], np.float32)

    assert [top_positions(scores, count) for count in (0, 1, 2, 5)] == [[], [1], [1, 2], [1, 2, 0]]
    assert top_positions(np.zeros(0, np.float32), 3) == []
