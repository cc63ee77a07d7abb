"""Save the database of a cluster to a file, and restore it: a front end for pg_dump and pg_restore.

```
python -m scripts.backup save FILE        while the cluster runs: a consistent snapshot of all sessions
python -m scripts.backup restore FILE     into an empty database, before any node starts
```

BRIDLE_DATABASE_URL names the database; its password does not appear in the process list. The file does not
contain blobs in files or in a bucket, or workspaces: save them after the database (see docs/scale.md).
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

SCHEMAS = ("bridle", "dbos")
URL = "BRIDLE_DATABASE_URL"
VARIABLES = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "passfile": "PGPASSFILE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}
_PRESENT = "SELECT nspname FROM pg_namespace WHERE nspname = ANY(%s) ORDER BY 1"
_COUNT = "SELECT count(*) FROM bridle.sessions WHERE seq > 0"


class BackupError(Exception):
    """Saving or restoring failed; the text says why."""


def main() -> int:
    """Save or restore; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.backup", description="Save and restore a cluster"
    )
    parser.add_argument("word", choices=("save", "restore"))
    parser.add_argument("file", type=Path)
    args = parser.parse_args()
    url = os.environ.get(URL, "")
    try:
        if not url:
            raise BackupError(f"{URL} is not set")
        print({"save": save, "restore": restore}[args.word](url, args.file))
    except BackupError as error:
        print(f"backup: {error}", file=sys.stderr)
        return 1
    except (OSError, psycopg.Error) as error:
        print(f"backup: {str(error).strip()}", file=sys.stderr)
        return 1
    return 0


def save(url: str, file: Path) -> str:
    """Write the whole database to a file, which appears only once it is complete; return what was done."""
    with psycopg.connect(url) as connection:
        _require(connection, set(SCHEMAS))
    partial = file.with_name(f"{file.name}.partial")
    partial.touch(0o600)  # it contains every conversation
    schemas = [f"--schema={name}" for name in SCHEMAS]
    try:
        _run(url, "pg_dump", "--format=custom", "--no-owner", f"--file={partial}", *schemas)
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)
    return f"saved {file.stat().st_size} bytes in {file}"


def restore(url: str, file: Path) -> str:
    """Fill an empty database from a file, completely or not at all; return what was done."""
    with psycopg.connect(url) as connection:
        _require(connection, set())
    _run(url, "pg_restore", "--no-owner", "--single-transaction", "--exit-on-error", "--dbname=", str(file))
    with psycopg.connect(url) as connection:
        count = connection.execute(_COUNT).fetchone()
    return f"restored {count[0] if count else 0} sessions"


def _require(connection: psycopg.Connection, wanted: set[str]) -> None:
    """Raise BackupError unless the database has exactly these of Bridle's schemas."""
    found = {name for (name,) in connection.execute(_PRESENT, (list(SCHEMAS),))}
    if missing := sorted(wanted - found):
        raise BackupError(f"the database has no {' and no '.join(missing)}: does it belong to a cluster?")
    if found - wanted:
        raise BackupError(
            f"the database already has sessions: restore into an empty one, then set {URL} to it"
        )


def _run(url: str, program: str, *args: str) -> None:
    parts = conninfo_to_dict(url)
    given = {VARIABLES[key]: str(value) for key, value in parts.items() if key in VARIABLES}
    args = tuple(f"--dbname={parts.get('dbname', '')}" if arg == "--dbname=" else arg for arg in args)
    try:
        done = subprocess.run(
            [program, *args], env={**os.environ, **given}, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise BackupError(f"{program} is not installed (hint: install the PostgreSQL client)") from error
    if done.returncode:
        raise BackupError(f"{program} failed: {done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
