"""`bridle acp`: act as an editor's agent over the Agent Client Protocol, on stdin and stdout."""

import argparse
import asyncio
import os
import signal
import stat
import sys
from contextlib import suppress

from bridle.core.errors import UsageError
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Console

READ_BYTES = 64 * 1024


def acp(args: argparse.Namespace, console: Console) -> int:
    """Serve the editor until it disconnects."""
    from bridle.surfaces.acp.server import serve_editor
    from bridle.surfaces.shared.folder_info import Folders

    async def serve() -> None:
        reader, writer = await _streams()
        cwd = resolve_directory()
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with open_sessions(console, cwd) as api:
            await serve_editor(api, Folders(console.environ, cwd), reader, writer)

    with suppress(asyncio.CancelledError):  # cancelled by SIGTERM: everything open is closed
        asyncio.run(serve())
    return 0


async def _streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Reserve stdin and stdout for the editor; anything else that prints goes to stderr."""
    for stream in (sys.stdin, sys.stdout):
        kind = os.fstat(stream.fileno()).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stream.isatty()):
            raise UsageError(
                "stdin and stdout are not connected to an editor",
                hint="configure `bridle acp` as an agent in your editor",
            )
    loop = asyncio.get_running_loop()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    reader = asyncio.StreamReader(READ_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), output
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
