"""Memory with 100,000 passages: how fast it finds the nearest vectors, and how many of them it misses.

There are two kinds of vectors, in the sizes of the embedders: clusters, like those of texts, and random ones,
which no graph can order. They are written to memory's own file, searched there, and compared with a full
search by numpy. Times are CPU time; for opening, the best of three.
"""

import sys
import tempfile
import time
from pathlib import Path

from measure import report, rounds
from rows import Line, Row, ours

COUNT = 100_000
QUERIES, WARM_UP = 1_000, 200
BEST = 10
DIMS = {"clusters": 384, "random": 256}
MAX_P99_MS = 5.0
MAX_MISSED = 5.0
MAX_OPEN_MS = 300.0


def main() -> list[Line]:
    """Measure both kinds; the bars are 5 ms, 5 % and 300 ms."""
    rows: list[Line] = []
    for kind, dims in DIMS.items():
        with tempfile.TemporaryDirectory() as place:
            rows += measure(kind, dims, Path(place))
    return report(rows)


def measure(kind: str, dims: int, place: Path, count: int = COUNT) -> list[Row]:
    """Fill a file, index it, reopen it and search."""
    import numpy as np

    from bridle.memory.vectors import Vectors

    rows, questions = vectors_of(kind, dims, count)
    began = time.process_time()
    database, project = fill(place, rows)
    filled = time.process_time()
    vectors = Vectors(place, 20_000)
    build = database.read(lambda c: vectors.begin(c, project.id))
    assert build is not None
    while database.read(lambda c: vectors.step(c, build)):
        pass
    index = vectors.save(build)
    database.write(lambda c: vectors.register(c, build, index))
    built = time.process_time()
    opened = [opened_ms(place, project, questions[0]) for _ in range(rounds(5))]
    exact = [np.argpartition(-(rows @ question), BEST)[:BEST] + 1 for question in questions]
    times, hits = [], 0
    for question, nearest in zip(questions, exact, strict=True):
        start = time.process_time()
        near = database.read(lambda c, q=question: best(vectors, c, project, q))
        times.append(1000 * (time.process_time() - start))
        hits += len(set(nearest.tolist()) & set(near))
    database.close()
    times = sorted(times[WARM_UP:])  # a mapped file is loaded as it is read
    p99, recall = times[int(0.99 * len(times))], hits / (BEST * len(questions))
    print(
        f"{kind}: {count:,} × {dims}, index {index.kind} of {index.size / 1e6:.0f} MB,"
        f" filled in {filled - began:.1f} s, built in {built - filled:.1f} s;"
        f" query p50 {times[len(times) // 2]:.2f} p99 {p99:.2f} ms,"
        f" recall@10 {recall:.4f}",
        file=sys.stderr,
    )
    return [
        Row(
            f"memory.{kind}.p99",
            f"{kind}: 99 of 100 queries take at most",
            "ms CPU",
            ours([p99]),
            bar=MAX_P99_MS,
        ),
        Row(
            f"memory.{kind}.missed",
            f"{kind}: missed of the ten nearest",
            "%",
            ours([100 * (1 - recall)]),
            bar=MAX_MISSED,
        ),
        Row(
            f"memory.{kind}.open",
            f"{kind}: the first query after a start",
            "ms CPU",
            ours(opened),
            bar=MAX_OPEN_MS,
        ),
    ]


def vectors_of(kind: str, dims: int, count: int):  # type: ignore[no-untyped-def]
    """Return vectors of length 1 and queries near them."""
    import numpy as np

    from bridle.memory.embedders.normalize import normalize_rows

    rng = np.random.default_rng(1)
    rows = rng.standard_normal((count, dims), np.float32)
    noise = rng.standard_normal((QUERIES, dims), np.float32)
    if kind == "random":
        return normalize_rows(rows), normalize_rows(noise)
    centres = normalize_rows(rng.standard_normal((2_000, dims), np.float32))
    size = dims**-0.5
    rows = normalize_rows(centres[rng.integers(0, len(centres), count)] + 0.8 * size * rows)
    return rows, normalize_rows(rows[rng.integers(0, count, QUERIES)] + 0.5 * size * noise)


def fill(place: Path, rows, text_of=lambda number: f"remark {number}"):  # type: ignore[no-untyped-def]
    """Write vectors as memory does, with short passages by default."""
    from bridle.memory.database import Database
    from bridle.memory.tables import add_vectors, project_at, use_embedder
    from bridle.memory.vectors import packed
    from bridle.sessions.system_clock import SystemClock

    database = Database(place / "memory.db", SystemClock(), print)

    def work(connection):  # type: ignore[no-untyped-def]
        project = project_at(connection, "/bench")
        connection.executemany(
            "INSERT INTO passages VALUES (?, 1, 's', ?, 0, 1, 'user', 0, ?)",
            ((n + 1, n + 1, text_of(n)) for n in range(len(rows))),
        )
        use_embedder(connection, project.id, "bench", rows.shape[1])
        add_vectors(connection, project.id, [(n + 1, packed(row)) for n, row in enumerate(rows)])
        return project_at(connection, "/bench")

    return database, database.write(work)


def opened_ms(place: Path, project, question) -> float:  # type: ignore[no-untyped-def]
    """Return how long a process waits for its first answer, without the time for imports."""
    from bridle.memory.database import Database
    from bridle.memory.vectors import Vectors
    from bridle.sessions.system_clock import SystemClock

    start = time.process_time()
    database, vectors = Database(place / "memory.db", SystemClock(), print), Vectors(place, 20_000)
    database.read(lambda connection: best(vectors, connection, project, question))
    took = 1000 * (time.process_time() - start)
    database.close()
    return took


def best(vectors, connection, project, question) -> list[int]:  # type: ignore[no-untyped-def]
    """Search as memory does: candidates first, then their true similarities."""
    near = vectors.nearest(connection, project, question, 64)
    similar = vectors.similarities(connection, project, question, near)
    return sorted(similar, key=similar.__getitem__, reverse=True)[:BEST]


if __name__ == "__main__":
    main()
