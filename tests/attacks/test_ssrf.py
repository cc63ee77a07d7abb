"""Attack 8: addresses that lead a web tool to this machine, this network or a cloud's metadata."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridle.tools.web.download import Download
from bridle.tools.web.fetch import WebFetch
from bridle.tools.web.network import Network
from tests.attacks.door import ANSWER, Door
from tests.attacks.stage import OUTSIDE, Stage, rules

PUBLIC = "93.184.215.14"


class Names:
    """A name server in the hands of the attacker; counts how often each name is asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        count = self.asked[host] = self.asked.get(host, 0) + 1
        if host == "rebind.example":
            return ["127.0.0.1"] if count == 1 else ["10.0.0.1"]
        return {
            "private.example": ["10.0.0.1"],
            "loopback.example": ["127.0.0.2"],
            "loopback6.example": ["::1"],
            "mapped.example": ["::ffff:127.0.0.1"],
            "metadata.example": ["169.254.169.254"],
            "mixed.example": [PUBLIC, "127.0.0.2"],
            "zone.example": ["fe80::1%lo"],
            "localhost": ["127.0.0.3"],
        }.get(host, [])


@pytest.fixture
def stage(world: Path) -> Stage:
    """Give a stage whose names are looked up by the attacker."""
    network = Network(lookup=Names().look_up)
    return Stage(world, tools=[WebFetch(network), Download(network)])


URLS = [
    "http://127.0.0.1:{port}/",
    "http://127.0.0.2:{port}/",
    "http://127.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://017700000001:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://127。0。0。1:{port}/",
    "http://[::1]:{port}/",
    "http://[::]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fd00::1]:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://x.localhost:{port}/",
    "http://good.example@127.0.0.1:{port}/",
    "http://good.example:80@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@good.example/",
    "http://127.0.0.1:{port}\\@good.example/",
    "http://good.example\\@127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}/",
    "http:/127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/\r\nHost: good.example",
    "http://127.0.0.1\t:{port}/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://168.63.129.16/metadata",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://private.example/",
    "http://loopback.example:{port}/",
    "http://loopback6.example:{port}/",
    "http://mapped.example:{port}/",
    "http://metadata.example/",
    "http://mixed.example:{port}/",
    "http://zone.example:{port}/",
    "http://empty.example:{port}/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "gopher://127.0.0.1:{port}/_x",
    "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/",
    "ldap://127.0.0.1:{port}/",
    "data:text/plain,arrived",
    "javascript:1",
    "unix:///run/docker.sock",
    "http+unix://%2Frun%2Fdocker.sock/info",
    "jar:http://127.0.0.1:{port}/!/",
    "http://",
    "http:///",
    "",
]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("tool", ["web_fetch", "download"])
async def test_no_address_leads_inside(stage: Stage, door: Door, tool: str, url: str):
    """In mode yolo, and with a rule that opens every domain: neither is a word for private addresses."""
    args: dict[str, Any] = {"url": url.replace("{port}", str(door.port)), "timeout": 5}
    args |= {"path": "f.txt"} if tool == "download" else {}

    seen = await stage.call(tool, args, rules(f"allow {tool}(domain:*)"))

    assert (seen.action == "deny" or seen.is_error, "arrived" in seen.text, "root:x" in seen.text) == (
        True,
        False,
        False,
    )
    assert (door.visits, (stage.project / "f.txt").exists()) == (0, False)


@pytest.mark.parametrize("tool", ["web_fetch", "download"])
async def test_a_rule_that_names_the_address_opens_it(stage: Stage, door: Door, tool: str):
    """The control of the table above, and the way of the redirects below."""
    args = {"url": f"http://127.0.0.1:{door.port}/", "path": "f.txt"}

    await stage.call(
        tool, args if tool == "download" else {"url": args["url"]}, rules(f"allow {tool}(domain:127.0.0.1)")
    )

    assert door.visits == 1


TARGETS = [
    "http://127.0.0.2:{port}/",
    "http://localhost:{port}/x",
    "http://[::1]:{port}/",
    "http://0:{port}/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://loopback.example:{port}/",
    "http://mixed.example:{port}/",
    "//169.254.169.254/",
    "//localhost:{port}/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/",
    "data:text/plain,arrived",
    "http://a@169.254.169.254/",
    "\\\\169.254.169.254\\x",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("status", [301, 307])
async def test_no_redirect_leads_inside(stage: Stage, door: Door, target: str, status: int):
    location = target.replace("{port}", str(door.port))
    door.answer = f"HTTP/1.0 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()

    seen = await stage.call(
        "web_fetch",
        {"url": f"http://127.0.0.1:{door.port}/", "timeout": 5},
        rules("allow web_fetch(domain:127.0.0.1)"),
    )

    assert (seen.is_error, door.visits, "root:x" in seen.text) == (True, 1, False)
    assert "cannot connect" not in seen.text  # it did not even try


async def test_an_endless_redirect_ends(stage: Stage, door: Door):
    door.answer = b"HTTP/1.0 302 Go\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"

    seen = await stage.call(
        "web_fetch", {"url": f"http://127.0.0.1:{door.port}/"}, rules("allow web_fetch(domain:127.0.0.1)")
    )

    assert (seen.is_error, door.visits) == (True, 6)


async def test_a_name_that_changes_its_mind_is_asked_once(world: Path, door: Door):
    """The address that was judged is the one connected to; there is nothing to rebind."""
    names = Names()
    stage = Stage(world, tools=[WebFetch(Network(lookup=names.look_up))])

    seen = await stage.call(
        "web_fetch",
        {"url": f"http://rebind.example:{door.port}/"},
        rules("allow web_fetch(domain:127.0.0.1)"),
    )

    assert ("arrived" in seen.text, names.asked) == (True, {"rebind.example": 1})


@pytest.mark.parametrize(
    "path", ["../outside/plain.txt", "/etc/x", ".git/hooks/post-commit", ".bridle/config.toml", "out"]
)
async def test_a_download_lands_nowhere_else(stage: Stage, door: Door, path: str):
    (stage.project / "out").symlink_to("../outside/plain.txt")
    opened = rules("allow download(domain:127.0.0.1)")

    seen = await stage.call("download", {"url": f"http://127.0.0.1:{door.port}/", "path": path}, opened)

    assert seen.action == "deny" or seen.is_error
    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE
    assert door.visits == 0


@pytest.mark.parametrize(
    "head",
    [b"Content-Length: 99999999999\r\n", b"X: " + b"a" * 99_999 + b"\r\n"],
)
async def test_a_hostile_answer_is_an_error(stage: Stage, door: Door, head: bytes):
    door.answer = ANSWER.replace(b"Content-Length: 7\r\n", head)

    seen = await stage.call(
        "download",
        {"url": f"http://127.0.0.1:{door.port}/", "path": "f.txt", "timeout": 5},
        rules("allow download(domain:127.0.0.1)"),
    )

    assert (seen.is_error, list(stage.project.glob("*f.txt*"))) == (True, [])
