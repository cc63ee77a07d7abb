"""The only network access of a cell: an HTTP proxy that checks every host against the rules.

It listens on a socket that was created in the cell's private network, where nothing else answers, and
connects from here. It accepts `CONNECT host:port` and requests with a whole URL; everything else gets 400. A
host that no rule allows gets 403 with a text that names the rule to add.

The name is resolved here and the resulting address is used for the connection, so a name cannot resolve
differently after it was judged. Private and loopback addresses need a rule that names exactly that host. The
proxy does not check certificates: TLS is between the server and the program.
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.core.permission import Mode, Rule, judge
from bridle.core.tool import Access, Subject

_MAX_HEAD_BYTES = 64 * 1024
_MAX_CONNECTIONS = 64
_HEAD_S, _CONNECT_S, _IDLE_S = 30.0, 20.0, 300.0
_CHUNK_BYTES = 64 * 1024
_LINGER_S, _LINGER_CHUNKS = 1.0, 64
_HOP_HEADERS = (b"proxy-", b"connection:", b"keep-alive:", b"host:")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds the addresses of a host."""


class Policy(Struct, frozen=True):
    """The tool and the rules by which requests are judged."""

    tool: str
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"


class Refusal(Exception):
    """Why a request is refused: an HTTP status line and a text."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def proxy_environment(port: int) -> dict[str, str]:
    """Return the environment variables that point programs to the proxy."""
    url = f"http://127.0.0.1:{port}"
    local = "localhost,127.0.0.1,::1"
    found = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": local}
    return found | {name.lower(): value for name, value in found.items()}


async def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class Proxy:
    """Serves one listening socket until `close`."""

    def __init__(self, policy: Policy, resolve: Resolve = look_up) -> None:
        self.policy = policy
        """May be replaced at any time; the next request is judged by it."""
        self.port = 0
        self._resolve = resolve
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, listener: socket.socket) -> None:
        """Start to serve; takes over the socket."""
        self.port = listener.getsockname()[1]
        self._server = await asyncio.start_server(
            self._serve, sock=listener, limit=_MAX_HEAD_BYTES, start_serving=False
        )
        await self._server.start_serving()  # a caller that is cancelled here can still close it

    async def close(self) -> None:
        """Stop, and cut open connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) > _MAX_CONNECTIONS:
                raise Refusal("503 Service Unavailable", "too many connections at once")
            await self._answer(reader, writer)
        except Refusal as refusal:
            writer.write(_page(refusal))
            with contextlib.suppress(OSError, TimeoutError):
                await _linger(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # one side went away; there is no client to answer
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise Refusal("431 Request Header Fields Too Large", "the request head is too long") from None
        host, port, forwarded = parse_request(head)
        address = await self._admit(host, port)
        try:
            async with asyncio.timeout(_CONNECT_S):
                far_reader, far_writer = await asyncio.open_connection(address, port)
        except (OSError, TimeoutError) as error:
            raise Refusal("502 Bad Gateway", f"{host}:{port} cannot be reached: {error}") from error
        try:
            if forwarded is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(forwarded)
            async with asyncio.TaskGroup() as group:
                group.create_task(_pipe(reader, far_writer))
                group.create_task(_pipe(far_reader, writer))
        except* (OSError, TimeoutError):
            pass
        finally:
            far_writer.close()

    async def _admit(self, host: str, port: int) -> str:
        """Return the address to connect to; raises Refusal."""
        policy = self.policy
        verdict = judge(Access(policy.tool, "network", (Subject("domain", host),)), policy.rules, policy.mode)
        rule = f"{policy.tool}(domain:{host})"
        if verdict.action != "allow":
            raise Refusal(
                "403 Forbidden",
                f"no network access to {host}: {verdict.why} (hint: add the rule allow {rule})",
            )
        try:
            async with asyncio.timeout(_CONNECT_S):
                addresses = await self._resolve(host, port)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise Refusal("502 Bad Gateway", f"the name {host} cannot be found: {error}") from error
        named = Rule("allow", policy.tool, f"domain:{host}") in policy.rules
        for address in addresses:
            if named or ipaddress.ip_address(address.partition("%")[0]).is_global:
                return address
        raise Refusal(
            "403 Forbidden", f"{host} is a private network address (hint: add the rule allow {rule})"
        )


def parse_request(head: bytes) -> tuple[str, int, bytes | None]:
    """Return host, port and the head to forward, None for a tunnel; raises Refusal for an invalid request."""
    lines = head.split(b"\r\n")
    words = lines[0].split(b" ")
    malformed = Refusal("400 Bad Request", "this is a proxy: use CONNECT or a request with a full URL")
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        raise malformed
    method, target = words[0], words[1].decode("latin-1")
    try:
        url = urlsplit(f"//{target}" if method == b"CONNECT" else target)
        host, port = (url.hostname or "").rstrip(".").lower(), url.port
    except ValueError:
        raise malformed from None
    if not host or not host.isascii() or not host.isprintable() or " " in host:
        raise malformed
    if method == b"CONNECT":
        if not port:
            raise malformed
        return host, port, None
    if url.scheme != "http":
        raise malformed
    path = url._replace(scheme="", netloc="").geturl() or "/"
    kept = [line for line in lines[1:-2] if not line.lower().startswith(_HOP_HEADERS)]
    authority = url.netloc.rpartition("@")[2]
    first = b"%s %s %s" % (method, path.encode("latin-1"), words[2])
    added = [b"Host: " + authority.encode("latin-1"), b"Connection: close"]
    return host, port or 80, b"\r\n".join([first, *added, *kept, b"", b""])


async def _linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Let the client read our answer: closing while it still sends would discard the answer."""
    async with asyncio.timeout(_LINGER_S):
        await writer.drain()
        writer.write_eof()
        for _ in range(_LINGER_CHUNKS):
            if not await reader.read(_CHUNK_BYTES):
                return


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        async with asyncio.timeout(_IDLE_S):
            data = await reader.read(_CHUNK_BYTES)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    if writer.can_write_eof():
        with contextlib.suppress(OSError):
            writer.write_eof()


def _page(refusal: Refusal) -> bytes:
    body = f"bridle: {refusal.text}\n".encode()
    head = (
        f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
