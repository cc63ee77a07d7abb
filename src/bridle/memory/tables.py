"""Queries on memory's tables; each function works in the caller's transaction."""

from collections.abc import Iterable, Sequence

import apsw
from msgspec import Struct, json

from bridle.core.ids import SessionId
from bridle.core.ports import MemoryHit
from bridle.memory.database import rows_of
from bridle.memory.passages import SplitRecords

_PENDING = """
    SELECT passages.id, text FROM pending JOIN passages ON passages.id = pending.id
    WHERE pending.project = ? ORDER BY pending.id LIMIT ?
"""
_SESSION = "SELECT project, seq, hash, turns, recent, forgotten FROM sessions WHERE id = ?"
_PUT_SESSION = """
    INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    project = excluded.project, seq = excluded.seq, hash = excluded.hash, turns = excluded.turns,
    recent = excluded.recent, forgotten = excluded.forgotten
"""
_PASSAGE = """
    INSERT OR IGNORE INTO passages (project, session, seq, part, turn, role, at, text)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


class Cursor(Struct, frozen=True):
    """How far a session is indexed."""

    project: int = 0
    seq: int = 0
    hash: str = ""
    """The hash of record `seq`; a different hash there means that the session was replaced."""
    turns: int = 0
    recent: int = 0
    forgotten: int = 0
    """Records up to this number stay forgotten."""


class Calibration(Struct, frozen=True):
    """How similar an embedder rates unrelated texts."""

    mean: float
    spread: float


class Project(Struct, frozen=True):
    """A project, and the embedder of its vectors."""

    id: int
    root: str
    embedder: str
    dims: int
    version: int


def project_at(connection: apsw.Connection, root: str) -> Project:
    """Return the project of this folder, creating it if it is new."""
    connection.execute("INSERT OR IGNORE INTO projects (root) VALUES (?)", (root,))
    return next(iter(_projects(connection, "WHERE root = ?", root)))


def project_of(connection: apsw.Connection, project: int) -> Project | None:
    """Return a project by its number."""
    return next(iter(_projects(connection, "WHERE id = ?", project)), None)


def _projects(connection: apsw.Connection, where: str, value: str | int) -> list[Project]:
    rows = connection.execute(f"SELECT id, root, embedder, dims, version FROM projects {where}", (value,))
    return [Project(*row) for row in rows]


def cursor_of(connection: apsw.Connection, session: SessionId) -> Cursor:
    """Return how far a session is indexed; an empty cursor for a new one."""
    row = connection.execute(_SESSION, (session,)).fetchone()
    return Cursor(*row) if row else Cursor()


def all_seqs(connection: apsw.Connection) -> dict[SessionId, int]:
    """Return the last record of every known session that is indexed or forgotten."""
    return {
        SessionId(row[0]): row[1]
        for row in connection.execute("SELECT id, max(seq, forgotten) FROM sessions")
    }


def put_cursor(connection: apsw.Connection, session: SessionId, cursor: Cursor) -> None:
    """Store how far a session is indexed."""
    values = (cursor.project, cursor.seq, cursor.hash, cursor.turns, cursor.recent, cursor.forgotten)
    connection.execute(_PUT_SESSION, (session, *values))


def add_passages(
    connection: apsw.Connection, session: SessionId, cursor: Cursor, taken: SplitRecords
) -> None:
    """Add the passages that are not forgotten."""
    connection.executemany(
        _PASSAGE,
        [
            (cursor.project, session, item.seq, item.part, item.turn, item.role, item.at, item.text)
            for item in taken.passages
            if item.seq > cursor.forgotten
        ],
    )


def drop_passages(connection: apsw.Connection, session: SessionId) -> set[int]:
    """Remove the passages of a session; return the projects that they were in."""
    rows = connection.execute("SELECT DISTINCT project FROM passages WHERE session = ?", (session,))
    projects = {row[0] for row in rows}
    connection.execute("DELETE FROM passages WHERE session = ?", (session,))
    return projects


def pending_of(connection: apsw.Connection, project: int, count: int) -> list[tuple[int, str]]:
    """Return passages that have no vector yet, oldest first."""
    return [(row[0], row[1]) for row in connection.execute(_PENDING, (project, count))]


def pending_projects(connection: apsw.Connection) -> list[int]:
    """Return the projects with passages that have no vector yet."""
    return [row[0] for row in connection.execute("SELECT DISTINCT project FROM pending")]


def use_embedder(connection: apsw.Connection, project: int, embedder: str, dims: int) -> None:
    """Make sure that a project has only vectors of this embedder; others are removed and computed again."""
    row = connection.execute("SELECT embedder, dims FROM projects WHERE id = ?", (project,)).fetchone()
    if row is None or tuple(row) == (embedder, dims):
        return
    for table in ("vectors", "indexes", "pending"):
        connection.execute(f"DELETE FROM {table} WHERE project = ?", (project,))
    connection.execute("INSERT INTO pending SELECT project, id FROM passages WHERE project = ?", (project,))
    connection.execute(
        "UPDATE projects SET embedder = ?, dims = ?, version = version + 1 WHERE id = ?",
        (embedder, dims, project),
    )


def add_vectors(connection: apsw.Connection, project: int, vectors: Sequence[tuple[int, bytes]]) -> None:
    """Add the vectors of passages that still exist and lack one."""
    newest = rows_of(connection, "SELECT max(id) FROM vectors WHERE project = ?", project)[0][0]
    for passage, vector in vectors:
        waits = "SELECT id, project, ? FROM pending WHERE project = ? AND id = ?"
        connection.execute(f"INSERT OR REPLACE INTO vectors {waits}", (vector, project, passage))
        connection.execute("DELETE FROM pending WHERE project = ? AND id = ?", (project, passage))
    first = min(passage for passage, _ in vectors)
    if newest is not None and first < newest:  # two processes index: a reader past this id missed it
        connection.execute("UPDATE projects SET version = version + 1 WHERE id = ?", (project,))
        connection.execute("DELETE FROM indexes WHERE project = ? AND covered >= ?", (project, first))


def calibration_of(connection: apsw.Connection, embedder: str) -> Calibration | None:
    """Return an embedder's calibration, if it is known."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (f"calibration {embedder}",)).fetchone()
    return json.decode(row[0], type=Calibration) if row else None


def put_calibration(connection: apsw.Connection, embedder: str, value: Calibration) -> None:
    """Store an embedder's calibration."""
    text = json.encode(value).decode()
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"calibration {embedder}", text))


def recall(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, MemoryHit]:
    """Return passages by id, not yet scored."""
    wanted = json.encode(list(ids)).decode()
    rows = connection.execute(
        "SELECT id, text, session, seq, turn, role, at FROM passages"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (wanted,),
    )
    return {row[0]: MemoryHit(row[1], 0.0, SessionId(row[2]), row[3], row[4], row[5], row[6]) for row in rows}
