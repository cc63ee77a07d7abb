"""The vectors of a project: the newest in a matrix in memory, the others in an index file.

```
vectors by id   1 … covered │ covered + 1 … newest
                a Snapshot  │ compared one by one
```

Every method blocks; one thread owns everything.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np
from msgspec import json
from numpy.typing import NDArray

from bridle.memory.database import rows_of
from bridle.memory.index_file import (
    SAMPLE,
    Ids,
    IndexBuilder,
    IndexFile,
    IndexRow,
    Rows,
    checksum,
    top_positions,
)
from bridle.memory.tables import Project, project_of

MAX_LOADED = 2  # projects
BUILD_STEP = 256  # vectors per step, some 30 ms: a search can run in between
_INDEX = "SELECT file, kind, covered, count, expansion, size, checksum FROM indexes WHERE project = ?"
_AFTER = "SELECT id, vector FROM vectors WHERE project = ? AND id > ? ORDER BY id LIMIT ?"


class Vectors:
    """Finds the nearest vectors of each project."""

    def __init__(self, folder: Path, exact_up_to: int) -> None:
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._loaded: dict[int, _LoadedProject] = {}

    def nearest(self, connection: apsw.Connection, project: Project, vector: Rows, count: int) -> list[int]:
        """Return the passages with the nearest vectors, roughly best first."""
        loaded = self._hold(connection, project)
        near = [int(loaded.ids[place]) for place in top_positions(loaded.rows @ vector, count)]
        if loaded.snapshot is not None:
            near += loaded.snapshot.nearest(vector, count)
        return near

    def similarities(
        self, connection: apsw.Connection, project: Project, vector: Rows, ids: Sequence[int]
    ) -> dict[int, float]:
        """Return the cosine similarity of a vector and those of some passages."""
        rows = rows_of(
            connection,
            "SELECT id, vector FROM vectors WHERE project = ? AND id IN (SELECT value FROM json_each(?))",
            project.id,
            json.encode(list(ids)).decode(),
        )
        return {
            row[0]: float(similarity)
            for row, similarity in zip(rows, _matrix(rows, project.dims) @ vector, strict=True)
        }

    def kind(self, connection: apsw.Connection, project: int) -> str:
        """Return how the nearest vectors are found: `exact`, `graph` or `scan`."""
        row = connection.execute(_INDEX, (project,)).fetchone()
        return str(row[1]) if row else "exact"

    def release(self) -> None:
        """Free all loaded vectors."""
        self._loaded.clear()

    # ------------------------------------------------------------------ index files

    def unindexed(self, connection: apsw.Connection) -> list[int]:
        """Return the projects with more vectors outside an index than may be compared one by one."""
        rows = connection.execute(
            "SELECT project, count(*) FROM vectors WHERE id > coalesce((SELECT covered FROM indexes"
            " WHERE indexes.project = vectors.project), 0) GROUP BY project"
        )
        return [project for project, count in rows if count > self._exact_up_to]

    def begin(self, connection: apsw.Connection, number: int) -> "IndexBuild | None":
        """Start a new index file for a project; None if the project is gone."""
        project = project_of(connection, number)
        if project is None or not project.dims:
            return None
        chosen = rows_of(
            connection,
            "SELECT id, vector FROM vectors WHERE id IN"
            " (SELECT id FROM vectors WHERE project = ? ORDER BY random() LIMIT ?)",
            number,
            2 * SAMPLE,
        )
        rows = _matrix(chosen, project.dims)
        half = len(rows) // 2
        # A query lies near its answer, not exactly on it.
        sample = 3 * rows[:half] + rows[half : 2 * half]
        sample /= np.maximum(np.linalg.norm(sample, axis=1, keepdims=True), 1e-9)
        base = self._whole_base(connection, self._opened(connection, project))
        return IndexBuild(project, IndexBuilder(project.dims, sample, base))

    def _whole_base(self, connection: apsw.Connection, loaded: "_LoadedProject") -> IndexFile | None:
        """Return the current index if none of its vectors was deleted: then it can be extended."""
        if loaded.snapshot is None:
            return None
        covered = rows_of(
            connection,
            "SELECT count(*) FROM vectors WHERE project = ? AND id <= ?",
            loaded.project,
            loaded.snapshot.row.covered,
        )[0][0]
        return loaded.snapshot if covered == loaded.snapshot.row.count else None

    def step(self, connection: apsw.Connection, build: "IndexBuild") -> bool:
        """Add some more vectors to an index; return False if it has all."""
        project = build.project
        rows = rows_of(connection, _AFTER, project.id, build.covered, BUILD_STEP)
        if rows:
            build.builder.add(_numbers(rows), _matrix(rows, project.dims))
            build.covered = rows[-1][0]
        return len(rows) == BUILD_STEP

    def save(self, build: "IndexBuild") -> IndexRow:
        """Write the file of a complete index."""
        name = f"index-{build.project.id}-{build.covered}-{build.project.version}.usearch"
        path = self._folder / name
        kind, expansion = build.builder.save(path)
        size = path.stat().st_size
        return IndexRow(name, kind, build.covered, build.builder.count, expansion, size, checksum(path))

    def register(self, connection: apsw.Connection, build: "IndexBuild", row: IndexRow) -> None:
        """Put an index file to use, unless vectors were deleted or replaced meanwhile."""
        now = project_of(connection, build.project.id)
        if now is None or now.version != build.project.version:
            return
        connection.execute(
            "INSERT OR REPLACE INTO indexes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (now.id, row.file, row.kind, row.covered, row.count, row.expansion, row.size, row.checksum),
        )
        self._loaded.pop(now.id, None)  # most of its vectors are in the file now

    def tidy(self, connection: apsw.Connection) -> None:
        """Delete the index files that are no longer in use."""
        known = {row[0] for row in connection.execute("SELECT file FROM indexes")}
        for path in self._folder.glob("index-*.usearch*"):
            if path.name not in known:
                with suppress(FileNotFoundError):
                    path.unlink()

    # ------------------------------------------------------------------ loaded projects

    def _hold(self, connection: apsw.Connection, project: Project) -> "_LoadedProject":
        """Return a project's vectors, after reading those that are in no index file into memory."""
        loaded = self._opened(connection, project)
        loaded.read_new(connection)
        return loaded

    def _opened(self, connection: apsw.Connection, project: Project) -> "_LoadedProject":
        """Return the loaded vectors of a project, with its index file."""
        row = connection.execute(_INDEX, (project.id,)).fetchone()
        index = IndexRow(*row) if row else None
        loaded = self._loaded.pop(project.id, None)
        if loaded is None or loaded.version != project.version or loaded.index != index:
            loaded = _LoadedProject(project, index, self._snapshot(connection, project, index))
        self._loaded[project.id] = loaded
        while len(self._loaded) > MAX_LOADED:
            del self._loaded[next(iter(self._loaded))]
        return loaded

    def _snapshot(
        self, connection: apsw.Connection, project: Project, index: IndexRow | None
    ) -> IndexFile | None:
        """Open an index file; one that is lost or damaged is dropped, and later rebuilt."""
        if index is None:
            return None
        try:
            return IndexFile(self._folder / index.file, index, project.dims)
        except (OSError, ValueError, RuntimeError):
            connection.execute("DELETE FROM indexes WHERE project = ? AND file = ?", (project.id, index.file))
            return None


class IndexBuild:
    """An index file that is being built."""

    def __init__(self, project: Project, builder: IndexBuilder) -> None:
        self.project = project
        self.builder = builder
        self.covered = 0


class _LoadedProject:
    """The vectors of one project outside its index file."""

    def __init__(self, project: Project, index: IndexRow | None, snapshot: IndexFile | None) -> None:
        self.project = project.id
        self.version = project.version
        self.index = index
        self.snapshot = snapshot
        self.ids: Ids = np.zeros(0, np.int64)
        self.rows: Rows = np.zeros((0, project.dims), np.float32)

    def read_new(self, connection: apsw.Connection) -> None:
        """Read the vectors that were added since the last time."""
        covered = self.snapshot.row.covered if self.snapshot else 0
        last = int(self.ids[-1]) if len(self.ids) else covered
        rows = rows_of(connection, _AFTER, self.project, last, -1)
        if rows:
            self.ids = np.concatenate([self.ids, _numbers(rows)])
            self.rows = np.concatenate([self.rows, _matrix(rows, self.rows.shape[1])])


def _numbers(rows: Sequence[tuple[int, bytes]]) -> Ids:
    return np.array([row[0] for row in rows], np.int64)


def _matrix(rows: Sequence[tuple[int, bytes]], dims: int) -> Rows:
    """Return stored vectors as a matrix; a vector of the wrong length becomes zeros."""
    size = 2 * dims
    data = b"".join(row[1] if len(row[1]) == size else bytes(size) for row in rows)
    return np.frombuffer(data, np.float16).astype(np.float32).reshape(len(rows), dims)


def packed(row: NDArray[np.float32]) -> bytes:
    """Return a vector in its stored form, float16."""
    return row.astype(np.float16).tobytes()
