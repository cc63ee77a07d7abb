"""The way out to the web: a proxy if there is one, and who is asked for the addresses of a host."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Thread

from msgspec import Struct

from bridle.core.errors import ToolError

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Finds the addresses of a host; raises ToolError."""


async def look_up(host: str) -> Sequence[str]:
    """Return the addresses of a host in the system's order; raises ToolError.

    A lookup cannot be ended and may take half a minute. It has a thread of its own, which holds up neither
    the threads for files nor the end of the program.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Sequence[str] | OSError] = loop.create_future()

    def settle(result: Sequence[str] | OSError) -> None:
        if not found.done():
            found.set_result(result)

    def work() -> None:
        result: Sequence[str] | OSError
        try:
            result = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
        except UnicodeError as error:
            result = OSError(str(error))
        except OSError as error:
            result = error
        with suppress(RuntimeError):  # the loop is gone, and with it who asked
            loop.call_soon_threadsafe(settle, result)

    Thread(target=work, name=f"look up {host}", daemon=True).start()
    result = await found
    if isinstance(result, OSError):
        raise ToolError(f"{host} is not found: {result.strerror or result}") from result
    return result


class Network(Struct, frozen=True):
    """How requests leave."""

    proxy: str = ""
    """The URL of a proxy that all requests go through; that of the environment is never used unasked."""
    lookup: Lookup = look_up


DIRECT = Network()
