"""An index file: many vectors of one project, memory-mapped, searched in a millisecond or two.

```
graph   an HNSW graph of usearch over int8 vectors: a search reads some hundred of them
scan    ids (int64), scales (float32), int8 vectors: a search reads all of them
```

Texts form clusters, where the graph finds what a full search finds. On vectors without structure it does not
(recall 0.3 of 100,000 random ones at the same cost, 0.97 at 30 times the cost). So each new graph is compared
with a full search, and if it misses too much, a scan is used instead.

An index may lack the newest vectors and contain deleted ones; the caller corrects both.
"""

import importlib
import mmap
import os
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

CONNECTIVITY = 16
EXPANSION_ADD = 64  # twice as much raises recall by 0.002 and takes twice as long
EXPANSIONS = (128, 256, 512)
"""How much of a graph a search visits; the first value with enough recall is used."""
GOOD_RECALL = 0.97
SAMPLE = 64
COMPARED = 10
_SAMPLE_STEP = 16
_CRC_STEP = 16 * 1024 * 1024

Kind = Literal["graph", "scan"]
Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


class IndexRow(Struct, frozen=True):
    """The stored description of an index file."""

    file: str
    kind: Kind
    covered: int
    """The newest passage that the index may contain."""
    count: int
    expansion: int
    size: int
    checksum: int


class IndexBuilder:
    """Collects vectors in chunks and then writes an index file."""

    def __init__(self, dims: int, sample: Rows, base: "IndexFile | None" = None) -> None:
        """Create with `sample`, queries to measure recall with: vectors of the project.

        If `base` is a graph it is extended: it holds everything up to what it covers.
        """
        self._dims = dims
        self._sample = sample
        self._best = np.full((len(sample), COMPARED), -2.0, np.float32)
        self._best_ids = np.zeros((len(sample), COMPARED), np.int64)
        self._ids: list[Ids] = []
        self._scales: list[Rows] = []
        self._numbers: list[NDArray[np.int8]] = []
        is_graph = base is not None and base.row.kind == "graph"
        self._graph = base.copied_graph() if base and is_graph else _new_graph(dims)
        self._covered = base.row.covered if base and is_graph else 0

    @property
    def count(self) -> int:
        """The number of vectors added."""
        return sum(map(len, self._ids))

    def add(self, ids: Ids, rows: Rows) -> None:
        """Add vectors."""
        scales, numbers = quantize(rows)
        self._ids.append(ids)
        self._scales.append(scales)
        self._numbers.append(numbers)
        new = ids > self._covered
        if new.any():
            self._graph.add(
                ids[new].astype(np.uint64), numbers[new].astype(np.float32) / np.float32(127), threads=1
            )
        scores = np.concatenate([self._best, self._sample @ rows.T], axis=1)
        known = np.concatenate([self._best_ids, np.broadcast_to(ids, (len(self._sample), len(ids)))], axis=1)
        order = np.argsort(-scores, axis=1)[:, :COMPARED]
        self._best = np.take_along_axis(scores, order, axis=1)
        self._best_ids = np.take_along_axis(known, order, axis=1)

    def save(self, path: Path, good_recall: float = GOOD_RECALL) -> tuple[Kind, int]:
        """Write the file, durably; return its kind and the expansion for searches."""
        expansion = next((size for size in EXPANSIONS if self._recall(size) >= good_recall), 0)
        scratch = path.with_name(f"{path.name}.new")
        if expansion:
            self._graph.save(str(scratch))
        else:
            parts = (np.concatenate(part) for part in (self._ids, self._scales, self._numbers))
            scratch.write_bytes(b"".join(part.tobytes() for part in parts))
        descriptor = os.open(scratch, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(scratch, path)
        return ("graph", expansion) if expansion else ("scan", 0)

    def _recall(self, expansion: int) -> float:
        """Return the share of the best vectors that the graph finds, among twice as many as wanted."""
        wanted = min(COMPARED, self.count)
        self._graph.expansion_search = expansion
        found = 0
        for question, best in zip(self._sample, self._best_ids, strict=True):
            keys = self._graph.search(_full_scale(question), 2 * wanted + COMPARED).keys
            found += len({int(key) for key in keys} & {int(key) for key in best[:wanted]})
        return found / max(1, wanted * len(self._sample))


class IndexFile:
    """An index file, open for searches."""

    def __init__(self, path: Path, row: IndexRow, dims: int) -> None:
        """Map the file; raises ValueError if it differs from its description."""
        self.row = row
        if path.stat().st_size != row.size or checksum(path) != row.checksum:
            raise ValueError(f"{path.name} is damaged")
        self._path = path
        self._graph: Any = None
        if row.kind == "graph":
            self._graph = importlib.import_module("usearch.index").Index.restore(str(path), view=True)
            self._graph.expansion_search = row.expansion
            if self._graph.ndim != dims:
                raise ValueError(f"{path.name} has other vectors")
            return
        if row.size != row.count * (12 + dims):
            raise ValueError(f"{path.name} has other vectors")
        self._ids = np.memmap(path, np.int64, "r", shape=(row.count,))
        self._scales = np.memmap(path, np.float32, "r", offset=8 * row.count, shape=(row.count,))
        self._numbers = np.memmap(path, np.int8, "r", offset=12 * row.count, shape=(row.count, dims))
        self._distances = importlib.import_module("numkong").cdist

    def copied_graph(self) -> Any:
        """Return a copy of the graph in memory, which can grow."""
        return importlib.import_module("usearch.index").Index.restore(str(self._path), view=False)

    def nearest(self, vector: Rows, count: int) -> list[int]:
        """Return the passages with the nearest vectors, roughly best first; some may be deleted."""
        if self._graph is not None:
            return [int(key) for key in self._graph.search(_full_scale(vector), count).keys]
        _, number = quantize(vector[None, :])
        dots = np.asarray(self._distances(number, self._numbers, metric="dot"), np.float32).reshape(-1)
        return [int(self._ids[place]) for place in top_positions(dots * self._scales, count)]


def top_positions(scores: Rows, count: int) -> list[int]:
    """Return the positions of the highest scores, highest first."""
    count = min(count, len(scores))
    if count <= 0:
        return []
    places = np.arange(len(scores))
    some = scores[::_SAMPLE_STEP]
    if len(some) > count:  # most scores are below the best of a sample and need no sorting
        places = np.flatnonzero(scores >= np.partition(some, len(some) - count)[len(some) - count])
    order = np.argsort(-scores[places], kind="stable")[:count]
    return [int(place) for place in places[order]]


def quantize(rows: Rows) -> tuple[Rows, NDArray[np.int8]]:
    """Return each row's scale, and the rows divided by it as integers from -127 to 127."""
    scales = np.abs(rows).max(axis=1) / np.float32(127)
    safe = np.where(scales > 0, scales, np.float32(1))
    return scales.astype(np.float32), np.rint(rows / safe[:, None]).astype(np.int8)


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    value = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for start in range(0, len(data), _CRC_STEP):
            value = zlib.crc32(data[start : start + _CRC_STEP], value)
    return value


def _new_graph(dims: int) -> Any:
    index = importlib.import_module("usearch.index")
    return index.Index(
        ndim=dims, metric="cos", dtype="i8", connectivity=CONNECTIVITY, expansion_add=EXPANSION_ADD
    )


def _full_scale(vector: Rows) -> Rows:
    """Scale a vector to the full int8 range; only its direction counts."""
    scaled: Rows = quantize(vector[None, :])[1][0].astype(np.float32) / np.float32(127)
    return scaled
