"""The files of the daemon of a BRIDLE_HOME: its lock, sockets, token, page address and log.

```
BRIDLE_HOME/run/daemon.lock    held while the daemon lives, however it ends; contains its pid
BRIDLE_HOME/run/daemon.sock    0600: only the user can open it
BRIDLE_HOME/run/rpc.sock       the same, for JSON-RPC
BRIDLE_HOME/run/token          0600: for clients that connect in another way
BRIDLE_HOME/run/web            0600: the address of the page, so that a restart serves it there again
BRIDLE_HOME/logs/daemon.log    for a Kontekst installation, daemon.log in its data directory
BRIDLE_HOME/work               the folder of sessions that other programs start without naming one
```
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bridle.config.file_names import POINTER_FILE, TOKEN_FILE
from bridle.core.errors import BridleError
from bridle.system.unix_socket import short_path

MAX_ADDRESS_CHARS = 100
_LOOK_S = 0.001
_MAX_LOOKS = 1_000


class DaemonAlreadyRuns(BridleError):
    """Another daemon holds the lock."""


class DaemonFiles:
    """The files of one daemon."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.lock = home / "run" / "daemon.lock"
        self.socket = home / "run" / "daemon.sock"
        self.rpc = home / "run" / "rpc.sock"
        self.token = home / TOKEN_FILE
        self.web = home / "run" / "web"
        self.work = home / "work"

    @property
    def log(self) -> Path:
        """The log of a daemon in the background."""
        is_kontekst = (self.home / POINTER_FILE).exists()
        return (self.home.parent if is_kontekst else self.home / "logs") / "daemon.log"

    def make_folders(self) -> None:
        """Create the folders, accessible only to the user."""
        for folder in (self.lock.parent, self.log.parent, self.work):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the daemon lock; raises DaemonRuns if another process holds it."""
        self.make_folders()
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _take(descriptor):
                raise DaemonAlreadyRuns(
                    f"the daemon of {self.home} is already running (process {self.pid()})"
                )
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(descriptor)

    def is_held(self) -> bool:
        """Return whether a daemon lives, without connecting to it."""
        try:
            descriptor = os.open(self.lock, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not _lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def pid(self) -> int:
        """Return the pid of the process that holds, or last held, the lock; 0 if unknown."""
        with suppress(OSError, ValueError):
            return int(self.lock.read_text())
        return 0

    @contextmanager
    def socket_path(self) -> Iterator[str]:
        """Yield a path to the socket that is short enough for the kernel."""
        with short_path(str(self.socket)) as path:
            yield path

    def load_token(self) -> str:
        """Return the token, creating it if there is none."""
        with suppress(FileNotFoundError):
            if token := self.token.read_text().strip():
                return token
        import secrets  # most clients read no token, and must start fast

        self.make_folders()
        token = secrets.token_hex(32)
        _write(self.token, token)
        return token

    def keep_web(self, address: str) -> None:
        """Save the address of the page."""
        _write(self.web, address)

    def kept_web(self) -> str:
        """Return the saved address of the page; empty if the page was never requested."""
        with suppress(OSError, ValueError):
            return self.web.read_text(encoding="ascii").strip()[:MAX_ADDRESS_CHARS]
        return ""

    def forget_web(self) -> None:
        """Delete the saved address, so that the page is not served after a restart."""
        self.web.unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    """Write a file that only the user can read, atomically."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="ascii") as opened:
        opened.write(text + "\n")
    fresh.replace(file)


def _take(descriptor: int) -> bool:
    """Take the lock, unless a daemon holds it; retry while another process only checks it."""
    for _ in range(_MAX_LOOKS):
        if _lock(descriptor, fcntl.LOCK_EX):
            return True
        if not _lock(descriptor, fcntl.LOCK_SH):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(_LOOK_S)
    return False


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
