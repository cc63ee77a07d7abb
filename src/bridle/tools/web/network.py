"""How requests access the web: the proxy, if any, and the lookup of host addresses."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Thread

from msgspec import Struct

from bridle.core.errors import ToolError

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; raises ToolError."""


async def look_up(host: str) -> Sequence[str]:
    """Return the addresses of a host in the system's order; raises ToolError.

    A lookup cannot be cancelled and may take half a minute. It runs in a separate daemon thread, which
    blocks neither the threads for files nor the exit of the program.
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
        with suppress(RuntimeError):  # the loop is closed, and with it the caller
            loop.call_soon_threadsafe(settle, result)

    Thread(target=work, name=f"look up {host}", daemon=True).start()
    result = await found
    if isinstance(result, OSError):
        raise ToolError(f"{host} not found: {result.strerror or result}") from result
    return result


class Network(Struct, frozen=True):
    """How requests access the web."""

    proxy: str = ""
    """The URL of a proxy for all requests; a proxy in the environment is never used by default."""
    lookup: Lookup = look_up


DIRECT = Network()
