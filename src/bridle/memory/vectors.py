"""The vectors of a project in memory: the newest as a matrix, the others behind an index file.

```
vectors by id   1 … covered │ covered + 1 … newest
                a Snapshot  │ compared one by one
```

Every method blocks; one thread owns all of it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np
from msgspec import json
from numpy.typing import NDArray

from bridle.memory.database import rows_of
from bridle.memory.snapshot import SAMPLE, Builder, Ids, IndexRow, Rows, Snapshot, checksum, top
from bridle.memory.tables import Project, project_of

MAX_HELD = 2  # projects
BUILD_STEP = 256  # vectors per piece of work, some 30 ms: a search can come in between
_INDEX = "SELECT file, kind, covered, count, expansion, size, checksum FROM indexes WHERE project = ?"
_AFTER = "SELECT id, vector FROM vectors WHERE project = ? AND id > ? ORDER BY id LIMIT ?"


class Vectors:
    """Finds the nearest vectors of each project."""

    def __init__(self, folder: Path, exact_up_to: int) -> None:
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._held: dict[int, _Held] = {}

    def nearest(self, connection: apsw.Connection, project: Project, vector: Rows, count: int) -> list[int]:
        """Return the passages whose vectors are nearest, about the best first."""
        held = self._hold(connection, project)
        near = [int(held.ids[place]) for place in top(held.rows @ vector, count)]
        if held.snapshot is not None:
            near += held.snapshot.nearest(vector, count)
        return near

    def similarities(
        self, connection: apsw.Connection, project: Project, vector: Rows, ids: Sequence[int]
    ) -> dict[int, float]:
        """Return the cosine of the angle between a vector and those of some passages."""
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
        """Return what is asked for the nearest vectors: `exact`, `graph` or `scan`."""
        row = connection.execute(_INDEX, (project,)).fetchone()
        return str(row[1]) if row else "exact"

    def release(self) -> None:
        """Let go of all that is held in memory."""
        self._held.clear()

    # ------------------------------------------------------------------ index files

    def unindexed(self, connection: apsw.Connection) -> list[int]:
        """Return the projects that have more vectors outside of an index than are compared one by one."""
        rows = connection.execute(
            "SELECT project, count(*) FROM vectors WHERE id > coalesce((SELECT covered FROM indexes"
            " WHERE indexes.project = vectors.project), 0) GROUP BY project"
        )
        return [project for project, count in rows if count > self._exact_up_to]

    def begin(self, connection: apsw.Connection, number: int) -> "Build | None":
        """Start a new index file of a project; None when it is gone."""
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
        # A question lies near what it asks for, not right on it.
        sample = 3 * rows[:half] + rows[half : 2 * half]
        sample /= np.maximum(np.linalg.norm(sample, axis=1, keepdims=True), 1e-9)
        base = self._whole_base(connection, self._opened(connection, project))
        return Build(project, Builder(project.dims, sample, base))

    def _whole_base(self, connection: apsw.Connection, held: "_Held") -> Snapshot | None:
        """Return the present index if nothing that is in it was deleted: then it can be gone on with."""
        if held.snapshot is None:
            return None
        covered = rows_of(
            connection,
            "SELECT count(*) FROM vectors WHERE project = ? AND id <= ?",
            held.project,
            held.snapshot.row.covered,
        )[0][0]
        return held.snapshot if covered == held.snapshot.row.count else None

    def step(self, connection: apsw.Connection, build: "Build") -> bool:
        """Take some more vectors into an index; False when it has all."""
        project = build.project
        rows = rows_of(connection, _AFTER, project.id, build.covered, BUILD_STEP)
        if rows:
            build.builder.add(_numbers(rows), _matrix(rows, project.dims))
            build.covered = rows[-1][0]
        return len(rows) == BUILD_STEP

    def save(self, build: "Build") -> IndexRow:
        """Write the file of an index that has all."""
        name = f"index-{build.project.id}-{build.covered}-{build.project.version}.usearch"
        path = self._folder / name
        kind, expansion = build.builder.save(path)
        size = path.stat().st_size
        return IndexRow(name, kind, build.covered, build.builder.count, expansion, size, checksum(path))

    def register(self, connection: apsw.Connection, build: "Build", row: IndexRow) -> None:
        """Let an index file count, unless vectors were deleted or made anew meanwhile."""
        now = project_of(connection, build.project.id)
        if now is None or now.version != build.project.version:
            return
        connection.execute(
            "INSERT OR REPLACE INTO indexes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (now.id, row.file, row.kind, row.covered, row.count, row.expansion, row.size, row.checksum),
        )
        self._held.pop(now.id, None)  # most of what it held is in the file now

    def tidy(self, connection: apsw.Connection) -> None:
        """Delete the index files that do not count any more."""
        known = {row[0] for row in connection.execute("SELECT file FROM indexes")}
        for path in self._folder.glob("index-*.usearch*"):
            if path.name not in known:
                with suppress(FileNotFoundError):
                    path.unlink()

    # ------------------------------------------------------------------ what is held in memory

    def _hold(self, connection: apsw.Connection, project: Project) -> "_Held":
        """Return all vectors of a project, read into memory as far as they are in no index file."""
        held = self._opened(connection, project)
        held.read_on(connection)
        return held

    def _opened(self, connection: apsw.Connection, project: Project) -> "_Held":
        """Return what is held of a project, with its index file."""
        row = connection.execute(_INDEX, (project.id,)).fetchone()
        index = IndexRow(*row) if row else None
        held = self._held.pop(project.id, None)
        if held is None or held.version != project.version or held.index != index:
            held = _Held(project, index, self._snapshot(connection, project, index))
        self._held[project.id] = held
        while len(self._held) > MAX_HELD:
            del self._held[next(iter(self._held))]
        return held

    def _snapshot(
        self, connection: apsw.Connection, project: Project, index: IndexRow | None
    ) -> Snapshot | None:
        """Open an index file; one that is lost or damaged is forgotten, and made anew in time."""
        if index is None:
            return None
        try:
            return Snapshot(self._folder / index.file, index, project.dims)
        except (OSError, ValueError, RuntimeError):
            connection.execute("DELETE FROM indexes WHERE project = ? AND file = ?", (project.id, index.file))
            return None


class Build:
    """An index file in the making."""

    def __init__(self, project: Project, builder: Builder) -> None:
        self.project = project
        self.builder = builder
        self.covered = 0


class _Held:
    """The vectors of one project outside of its index file."""

    def __init__(self, project: Project, index: IndexRow | None, snapshot: Snapshot | None) -> None:
        self.project = project.id
        self.version = project.version
        self.index = index
        self.snapshot = snapshot
        self.ids: Ids = np.zeros(0, np.int64)
        self.rows: Rows = np.zeros((0, project.dims), np.float32)

    def read_on(self, connection: apsw.Connection) -> None:
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
    """Return stored vectors as a matrix; one of another length counts as nothing."""
    size = 2 * dims
    data = b"".join(row[1] if len(row[1]) == size else bytes(size) for row in rows)
    return np.frombuffer(data, np.float16).astype(np.float32).reshape(len(rows), dims)


def packed(row: NDArray[np.float32]) -> bytes:
    """Return a vector as it is stored."""
    return row.astype(np.float16).tobytes()
