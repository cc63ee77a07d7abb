"""Every operation on memory's file; each method blocks and is called in one thread.

```
indexing    records ─▶ passages, cursor   in one transaction: all of it or nothing
            passages ─▶ vectors           later, in batches; until then keywords find them
searching   the nearest vectors and the best keyword matches, combined:  1 - (1 - meaning) (1 - 0.6 words)
```
"""

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.ports import Clock, MemoryHit
from bridle.core.protocol import Record
from bridle.core.transcript import drop_rewound
from bridle.memory.database import Database, empty, rows_of
from bridle.memory.keywords import SearchScope, Tokenize, best_by_words, score_keywords, tokenizer, words_of
from bridle.memory.passages import Clean, passages_of
from bridle.memory.tables import (
    Calibration,
    Cursor,
    Project,
    add_passages,
    add_vectors,
    all_seqs,
    calibration_of,
    cursor_of,
    drop_passages,
    pending_of,
    pending_projects,
    project_at,
    project_of,
    put_calibration,
    put_cursor,
    recall,
    use_embedder,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bridle.memory.vectors import IndexBuild, Vectors

CANDIDATES = 64
WORDS_WEIGHT = 0.6  # a passage with all words of a query need not answer it
UNRELATED_SPREADS = 2.8
"""Texts whose similarity exceeds the mean of unrelated ones by this many spreads are likely related."""
RELATED_SCORE = 0.35
MAX_NOTICES = 20


class Query(Struct, frozen=True):
    """A search query."""

    text: str
    project: int
    limit: int
    min_score: float
    session: SessionId | None = None
    """The session that searches: what its model still has is left out."""
    embedder: str = ""
    vector: "NDArray[np.float32] | None" = None
    """The vector of `text` by `embedder`; None to search by keywords only."""


class ProjectStats(Struct, frozen=True):
    """What memory holds for a project."""

    root: str
    sessions: int
    passages: int
    vectors: int
    embedder: str
    dims: int
    index: str
    """How vectors are searched: `exact`, `graph` or `scan`; `none` if there are no vectors."""


class StorageStats(Struct, frozen=True):
    """What memory holds."""

    size_bytes: int
    projects: tuple[ProjectStats, ...]
    pending: int
    """Passages that have no vector yet."""


class MemoryStorage:
    """Memory's file, and the parts of it that are cached in memory."""

    def __init__(self, folder: Path, clock: Clock, clean: Clean, *, exact_up_to: int) -> None:
        """Create with the folder, and the function that removes secrets from texts."""
        self._folder = folder
        self._clean = clean
        self._exact_up_to = exact_up_to
        self._database = Database(folder / "memory.db", clock, self.tell)
        self._opened_vectors: Vectors | None = None
        self._tokenizer: tuple[apsw.Connection, Tokenize] | None = None
        self.notices: list[str] = []
        """Messages for the user."""

    def tell(self, notice: str) -> None:
        """Add a message for the user."""
        if notice not in self.notices:
            self.notices[:] = [*self.notices, notice][-MAX_NOTICES:]

    def close(self) -> None:
        """Close everything; a later call opens it again."""
        if self._opened_vectors is not None:
            self._opened_vectors.release()
        self._tokenizer = None
        self._database.close()

    def rest(self) -> None:
        """Free the page cache, until there is more work."""
        self._database.free_cache()

    # ------------------------------------------------------------------ indexing

    def project(self, root: str) -> Project:
        """Return the project of a folder, creating it if it is new."""
        return self._database.write(lambda connection: project_at(connection, root))

    def seqs(self) -> dict[SessionId, int]:
        """Return the last indexed record of every known session."""
        return self._database.read(all_seqs)

    def roots(self) -> dict[SessionId, str]:
        """Return the project of every known session."""
        query = "SELECT sessions.id, root FROM sessions JOIN projects ON projects.id = project"
        return self._database.read(lambda connection: dict(connection.execute(query)))

    def cursor(self, session: SessionId) -> Cursor:
        """Return how far a session is indexed."""
        return self._database.read(lambda connection: cursor_of(connection, session))

    def take_in(self, session: SessionId, root: str, before: Cursor, records: Sequence[Record]) -> bool:
        """Index the records after `before`; False if another process did so first, or the file is new."""
        taken = passages_of(records, self._clean, turns=before.turns, recent=before.recent)

        def work(connection: apsw.Connection) -> bool:
            if cursor_of(connection, session) != before:
                return False
            project, last = project_at(connection, root).id, records[-1]
            cursor = Cursor(project, last.seq, last.hash, taken.turns, taken.recent, before.forgotten)
            add_passages(connection, session, cursor, taken)
            put_cursor(connection, session, cursor)
            return True

        return self._database.write(work)

    def take_whole(self, session: SessionId, root: str, records: Sequence[Record]) -> None:
        """Index all records of a session, replacing what is known of it; without records, remove it."""
        taken = passages_of(drop_rewound(records), self._clean)

        def work(connection: apsw.Connection) -> None:
            forgotten = cursor_of(connection, session).forgotten
            self._drop(connection, session)
            if records:
                project, last = project_at(connection, root).id, records[-1]
                forgotten = forgotten if forgotten <= last.seq else 0
                cursor = Cursor(project, last.seq, last.hash, taken.turns, taken.recent, forgotten)
                add_passages(connection, session, cursor, taken)
                put_cursor(connection, session, cursor)

        self._database.write(work)

    def forget(self, sessions: Mapping[SessionId, int]) -> None:
        """Remove sessions; the records up to the number given for each are not indexed again."""

        def work(connection: apsw.Connection) -> None:
            for session, upto in sessions.items():
                cursor = cursor_of(connection, session)
                self._drop(connection, session)
                if upto:
                    put_cursor(connection, session, Cursor(cursor.project, forgotten=upto))

        self._database.write(work)
        self._database.read(self._tidy)
        self._database.checkpoint()

    def reset(self) -> None:
        """Drop everything, to index it again."""
        self._database.write(empty)
        self._database.read(self._tidy)

    def _drop(self, connection: apsw.Connection, session: SessionId) -> None:
        for project in drop_passages(connection, session):
            # An index file would keep the vectors of removed passages.
            connection.execute("DELETE FROM indexes WHERE project = ?", (project,))
        connection.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def _tidy(self, connection: apsw.Connection) -> None:
        vectors = self._vectors()
        if vectors is not None:
            vectors.tidy(connection)

    # ------------------------------------------------------------------ vectors

    def pending(self, project: int, count: int) -> list[tuple[int, str]]:
        """Return passages that have no vector yet."""
        return self._database.read(lambda connection: pending_of(connection, project, count))

    def pending_projects(self) -> list[int]:
        """Return the projects with passages that have no vector yet."""
        return self._database.read(pending_projects)

    def pending_count(self) -> int:
        """Count the passages that have no vector yet."""
        return self._database.read(_count_pending)

    def use_embedder(self, project: int, embedder: str, dims: int) -> None:
        """Make sure that a project has only vectors of this embedder."""
        self._database.write(lambda connection: use_embedder(connection, project, embedder, dims))

    def embedder_of(self, project: int) -> str:
        """Return the embedder of a project's vectors; empty if there is none."""
        found = self._database.read(lambda connection: project_of(connection, project))
        return found.embedder if found else ""

    def add_vectors(
        self, project: int, embedder: str, ids: Sequence[int], rows: "NDArray[np.float32]"
    ) -> None:
        """Add vectors for the passages that still lack one; another embedder's vectors are dropped first."""
        from bridle.memory.vectors import packed  # noqa: PLC0415  numpy is optional

        vectors = [(number, packed(row)) for number, row in zip(ids, rows, strict=True)]

        def work(connection: apsw.Connection) -> None:
            use_embedder(connection, project, embedder, rows.shape[1])
            add_vectors(connection, project, vectors)

        self._database.write(work)

    def calibration(self, embedder: str) -> Calibration | None:
        """Return an embedder's calibration, if it is known."""
        return self._database.read(lambda connection: calibration_of(connection, embedder))

    def put_calibration(self, embedder: str, value: Calibration) -> None:
        """Store an embedder's calibration."""
        self._database.write(lambda connection: put_calibration(connection, embedder, value))

    def _vectors(self) -> "Vectors | None":
        if self._opened_vectors is None and has_numpy():
            from bridle.memory.vectors import Vectors  # noqa: PLC0415  numpy is optional

            self._opened_vectors = Vectors(self._folder, self._exact_up_to)
        return self._opened_vectors

    # ------------------------------------------------------------------ index files

    def unindexed(self) -> list[int]:
        """Return the projects that need a new index file."""
        vectors = self._vectors() if has_index() else None
        return self._database.read(vectors.unindexed) if vectors else []

    def begin_index(self, project: int) -> "IndexBuild | None":
        """Start a new index file for a project."""
        vectors = self._vectors()
        return self._database.read(lambda connection: vectors.begin(connection, project)) if vectors else None

    def grow_index(self, build: "IndexBuild") -> bool:
        """Add some more vectors to an index file; return False if it has all."""
        vectors = self._vectors()
        if vectors is None:
            return False
        has_more = self._database.read(lambda connection: vectors.step(connection, build))
        self._database.free_cache()  # each page is read once
        return has_more

    def save_index(self, build: "IndexBuild") -> None:
        """Write an index file and put it to use."""
        vectors = self._vectors()
        if vectors is not None:
            row = vectors.save(build)
            self._database.write(lambda connection: vectors.register(connection, build, row))
            self._database.read(vectors.tidy)

    # ------------------------------------------------------------------ searching

    def search(self, question: Query) -> list[MemoryHit]:
        """Return the passages that match a query, best first."""
        return self._database.read(lambda connection: self._search(connection, question))

    def _search(self, connection: apsw.Connection, question: Query) -> list[MemoryHit]:
        recent = cursor_of(connection, question.session).recent if question.session else 0
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        tokenize = self._tokenize(connection)
        words = words_of(connection, tokenize, question.text, row[0] if row else 0)
        asker = SearchScope(question.project, question.session or "", recent)
        ids = best_by_words(connection, words, asker, CANDIDATES)
        meanings = self._meanings(connection, question, ids)
        passages = recall(connection, dict.fromkeys([*ids, *(meanings or {})]))
        scored = []
        for number, passage in passages.items():
            if passage.session == question.session and passage.seq > recent:
                continue
            share = score_keywords(words, tokenize, passage.text)
            score = share if meanings is None else combine_scores(meanings.get(number, 0.0), share)
            if score >= question.min_score and score > 0:
                scored.append(replace(passage, score=round(score, 4)))
        scored.sort(key=lambda passage: (-passage.score, -passage.at, -passage.seq))
        return list({passage.text: passage for passage in reversed(scored)}.values())[::-1][: question.limit]

    def _meanings(
        self, connection: apsw.Connection, question: Query, by_words: Sequence[int]
    ) -> dict[int, float] | None:
        """Return passages' similarity in meaning, from 0 to 1; None if there are no vectors to compare."""
        project, vectors = project_of(connection, question.project), self._vectors()
        calibration = calibration_of(connection, question.embedder)
        if question.vector is None or vectors is None or calibration is None or project is None:
            return None
        if (project.embedder, project.dims) != (question.embedder, len(question.vector)):
            return None
        near = vectors.nearest(connection, project, question.vector, CANDIDATES)
        wanted = list(dict.fromkeys([*near, *by_words]))
        similar = vectors.similarities(connection, project, question.vector, wanted)
        return {number: score_similarity(value, calibration) for number, value in similar.items()}

    def _tokenize(self, connection: apsw.Connection) -> Tokenize:
        if self._tokenizer is None or self._tokenizer[0] is not connection:
            self._tokenizer = connection, tokenizer(connection)
        return self._tokenizer[1]

    # ------------------------------------------------------------------ statistics

    def stats(self) -> StorageStats:
        """Return what memory holds."""
        return self._database.read(self._stats)

    def _stats(self, connection: apsw.Connection) -> StorageStats:
        vectors = self._vectors()
        rows = rows_of(
            connection,
            "SELECT id, root, embedder, dims,"
            " (SELECT count(*) FROM sessions WHERE project = projects.id AND seq > 0),"
            " (SELECT count(*) FROM passages WHERE project = projects.id),"
            " (SELECT count(*) FROM vectors WHERE project = projects.id) FROM projects ORDER BY root",
        )
        projects = tuple(
            ProjectStats(
                root,
                sessions,
                passages,
                count,
                embedder if count else "",
                dims if count else 0,
                vectors.kind(connection, number) if vectors and count else "none",
            )
            for number, root, embedder, dims, sessions, passages, count in rows
        )
        files = self._folder.glob("*") if self._folder.is_dir() else ()
        size = sum(path.stat().st_size for path in files if ".damaged-" not in path.name)
        return StorageStats(size, projects, _count_pending(connection))


def _count_pending(connection: apsw.Connection) -> int:
    return int(rows_of(connection, "SELECT count(*) FROM pending")[0][0])


def score_similarity(similarity: float, calibration: Calibration) -> float:
    """Return a score for a similarity, given the similarity of unrelated texts."""
    related = min(calibration.mean + UNRELATED_SPREADS * calibration.spread, 0.98)
    if similarity < related:
        return max(
            0.0, RELATED_SCORE * (similarity - calibration.mean) / max(related - calibration.mean, 1e-6)
        )
    return min(1.0, RELATED_SCORE + (1 - RELATED_SCORE) * (similarity - related) / (1 - related))


def combine_scores(by_meaning: float, by_words: float) -> float:
    """Combine the scores by meaning and by keywords: each can make up for the other."""
    return 1 - (1 - by_meaning) * (1 - WORDS_WEIGHT * by_words)


def has_numpy() -> bool:
    """Return whether numpy is installed, to compare vectors."""
    return importlib.util.find_spec("numpy") is not None


def has_index() -> bool:
    """Return whether the packages for index files are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("numpy", "usearch", "numkong"))
