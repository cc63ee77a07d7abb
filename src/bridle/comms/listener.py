"""The socket of a listener: private to the user, and owned by one process at a time."""

import asyncio
import fcntl
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

from bridle.comms.address import TcpAddress, UnixAddress
from bridle.comms.wire import RECEIVE_S, Connections, Take
from bridle.core.errors import ConfigError
from bridle.system.unix_socket import short_path

BACKLOG = 128


@asynccontextmanager
async def open_listener(
    address: UnixAddress | TcpAddress,
    take: Take,
    *,
    other_machines: bool = False,
    receive_s: float = RECEIVE_S,
) -> AsyncIterator[UnixAddress | TcpAddress]:
    """Serve an address and yield the actual one: port 0 becomes a free port; raises ConfigError.

    A TCP address that other machines could connect to is refused unless `other_machines` allows it.
    """
    connections = Connections(take, receive_s=receive_s)
    with ExitStack() as stack:
        if isinstance(address, UnixAddress):
            bound = stack.enter_context(_own_socket(Path(address.path)))
            server = await asyncio.start_unix_server(connections, sock=bound, backlog=BACKLOG)
        else:
            server = await _open_tcp(address, connections, other_machines=other_machines)
            address = TcpAddress(address.host, server.sockets[0].getsockname()[1])
        try:
            yield address
        finally:
            server.close()
            await connections.aclose()


async def _open_tcp(address: TcpAddress, connections: Connections, *, other_machines: bool) -> asyncio.Server:
    if not address.is_local and not other_machines:
        raise ConfigError(
            f"{address} can be reached from other machines",
            hint="use 127.0.0.1, or bridle config set comms.other_machines true",
        )
    try:
        return await asyncio.start_server(connections, address.host, address.port, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ConfigError(f"cannot listen at {address}: {reason}") from error


@contextmanager
def _own_socket(path: Path) -> Iterator[socket.socket]:
    """Own the socket at a path, and remove it afterwards; raises ConfigError if another process owns it."""
    make_private(path.parent)
    lock = path.with_suffix(".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ConfigError(f"{lock}: cannot be opened: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"another process is listening at {path}", hint="stop it, or change comms.name"
            ) from None
        try:
            with _bound(path) as bound:
                yield bound
        finally:
            with suppress(FileNotFoundError):
                path.unlink()
    finally:
        os.close(descriptor)


def make_private(folder: Path) -> None:
    """Create a folder and its parents, for the user alone; raises ConfigError if others can enter it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.stat(folder, follow_symlinks=False)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made: {error.strerror}") from error
    if status.st_mode & 0o077 or status.st_uid != os.geteuid():
        raise ConfigError(f"{folder}: is not private to you", hint=f"chmod 700 {folder}")


def _bound(path: Path) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):  # we hold the lock: an existing socket is from a dead process
            path.unlink()
        with short_path(str(path)) as short:
            bound.bind(short)
        path.chmod(0o600)  # no other user can enter its folder meanwhile
    except OSError as error:
        bound.close()
        raise ConfigError(f"cannot listen at {path}: {error.strerror or error}") from error
    return bound
