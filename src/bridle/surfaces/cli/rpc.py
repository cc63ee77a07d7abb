"""`bridle rpc`: serve JSON-RPC on stdin and stdout, or on a socket for any number of clients."""

import argparse
import asyncio
import os
import signal
import socket
import stat
from pathlib import Path

import bridle
from bridle.core.errors import UsageError
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.meerkat.contract import Contract, parse_contract
from bridle.surfaces.rpc import RpcContext, SocketServer, serve_stdio
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.terminal import Console

BACKLOG = 64
UNIX = "unix:"


def rpc(args: argparse.Namespace, console: Console) -> int:
    """Serve until input ends or a signal arrives."""
    contract = parse_contract(args.contract)
    cwd = _folder(args.cwd)
    path = None if args.listen is None else _socket_path(args.listen)

    async def serve() -> None:
        async with open_sessions(console, cwd) as api:
            context = _context(api, console, cwd, contract, keeps_runs=api.is_remote or path is not None)
            await (serve_stdio(context) if path is None else _listen(context, path, console))

    asyncio.run(serve())
    return 0


def _context(
    api: SessionApi, console: Console, cwd: str, contract: Contract, *, keeps_runs: bool
) -> RpcContext:
    return RpcContext(
        api=api,
        folders=Folders(console.environ, cwd),
        contract=contract,
        keeps_runs=keeps_runs,
        version=bridle.__version__,
    )


def _folder(given: str | None) -> str:
    if given is None:
        return resolve_directory()
    folder = os.path.realpath(given)
    if not os.path.isdir(folder):
        raise UsageError(f"--cwd: {given} is not a folder")
    return folder


def _socket_path(given: str) -> Path:
    if not given.startswith(UNIX) or len(given) == len(UNIX):
        raise UsageError(f'--listen: "{given}" is not a socket', hint="write unix:/path/of/the.sock")
    return Path(given.removeprefix(UNIX))


async def _listen(context: RpcContext, path: Path, console: Console) -> None:
    """Serve every connection to a socket that only the user can open."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    listener = SocketServer(context)
    api = _bound(path)
    try:
        async with await asyncio.start_unix_server(listener.take, sock=api, backlog=BACKLOG):
            console.err.line(f"listening at {path}")
            console.err.flush()
            await stopped.wait()
    finally:
        _remove(path)
        await listener.aclose()


def _bound(path: Path) -> socket.socket:
    """Bind a socket that only the user can open; raises UsageError if the path is in use."""
    if os.path.lexists(path):
        if not stat.S_ISSOCK(path.lstat().st_mode) or _is_served(path):
            raise UsageError(f"--listen: {path} already exists", hint="choose another path")
        path.unlink()
    api = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        api.bind(str(path))
    except OSError as error:
        api.close()
        raise UsageError(f"--listen: cannot listen at {path}: {error.strerror or error}") from None
    finally:
        os.umask(before)
    return api


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        try:
            other.connect(str(path))
        except OSError:
            return False
    return True
