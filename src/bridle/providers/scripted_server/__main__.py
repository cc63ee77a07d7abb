"""Command line of the scripted server; the first line on stdout is its address."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from bridle.core.errors import BridleError
from bridle.providers.scripted_server.server import ScriptedServer


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, or with --exit-on-eof until stdin closes; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bridle.providers.scripted_server",
        description="Serve a scripted model: OpenAI, Anthropic, Gemini and llama-server in one.",
    )
    parser.add_argument("script", type=Path, help="a script file, .json or .toml")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any that is free)")
    parser.add_argument("--exit-on-eof", action="store_true", help="stop when stdin is closed")
    args = parser.parse_args(argv)
    try:
        asyncio.run(_serve(args.script, args.host, args.port, exit_on_eof=args.exit_on_eof))
    except (BridleError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


async def _serve(script: Path, host: str, port: int, *, exit_on_eof: bool) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    async with ScriptedServer(script, host=host, port=port) as server:
        if exit_on_eof:
            _watch_stdin(loop, stopped)
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await stopped.wait()


def _watch_stdin(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    def read() -> None:
        if not os.read(0, 4096):
            stopped.set()

    try:
        loop.add_reader(0, read)
    except PermissionError:
        stopped.set()  # the loop cannot watch a file or /dev/null, which count as closed


if __name__ == "__main__":
    sys.exit(main())
