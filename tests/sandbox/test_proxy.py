"""The network proxy: which hosts it reaches, at which address, and how it refuses others."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.permission import Mode, Rule
from bridle.sandbox.proxy import Policy, Proxy, Refusal, parse_request, proxy_environment
from tests.patience import PATIENCE_S

ANY = Rule("allow", "bash", "domain:*")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(b"got " + data)
    writer.close()


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Yield the port of a server that answers with what it got."""
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def ask(policy: Policy, request: bytes, addresses: Sequence[str] = ("127.0.0.1",)) -> bytes:
    """Send a request through a proxy for which every name has these addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        if not addresses:
            raise socket.gaierror("unknown")
        return addresses

    proxy = Proxy(policy, resolve)
    await proxy.open(socket.create_server(("127.0.0.1", 0)))
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(request)
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.read(-1)
        writer.close()
        return answer
    finally:
        await proxy.close()


def policy(*rules: Rule, mode: Mode = "ask") -> Policy:
    return Policy("bash", rules, mode)


NAMED = Rule("allow", "bash", "domain:example.com")


async def test_a_tunnel_to_an_allowed_host_carries_bytes(port: int):
    answer = await ask(policy(NAMED), b"CONNECT example.com:%d HTTP/1.1\r\n\r\nhello" % port)

    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\ngot hello"


async def test_a_request_is_sent_on_without_what_concerns_the_proxy(port: int):
    request = (
        b"POST http://u:p@Example.com:%d/x?y HTTP/1.1\r\nHost: other\r\nProxy-Authorization: z\r\n"
        b"Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi" % port
    )

    answer = await ask(policy(NAMED), request)

    head = b"POST /x?y HTTP/1.1\r\nHost: Example.com:%d\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
    assert answer.replace(b"got ", b"") == head % port + b"hi"


@pytest.mark.parametrize(
    ("rules", "mode", "why"),
    [
        ((), "ask", "uses the network (mode ask)"),
        ((), "plan", "uses the network (mode plan)"),
        ((Rule("deny", "bash", "domain:example.com"), ANY), "yolo", "rule deny bash(domain:example.com)"),
        ((Rule("allow", "web_fetch", "domain:example.com"),), "ask", "uses the network (mode ask)"),
        ((Rule("ask", "bash", "domain:*.com"), ANY), "ask", "rule ask bash(domain:*.com)"),
    ],
)
async def test_a_host_that_is_not_allowed_is_refused_with_the_rule_to_add(
    rules: tuple[Rule, ...], mode: Mode, why: str
):
    answer = await ask(policy(*rules, mode=mode), b"CONNECT example.com:443 HTTP/1.1\r\n\r\n")

    hint = "add the rule allow bash(domain:example.com)"
    text = f"bridle: no network access to example.com: {why} (hint: {hint})\n"
    head, body = answer.decode().split("\r\n\r\n")
    assert (head.splitlines()[0], body) == ("HTTP/1.1 403 Forbidden", text)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "::1",
        "fe80::1%lo",
        "0.0.0.0",
        "::ffff:127.0.0.1",
    ],
)
@pytest.mark.parametrize("mode", ["ask", "yolo"])
async def test_private_addresses_need_a_rule_that_names_the_host(address: str, mode: Mode):
    answer = await ask(policy(ANY, mode=mode), b"CONNECT example.com:443 HTTP/1.1\r\n\r\n", [address])

    assert b"example.com is a private network address" in answer


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "localhost", "127.0.0.1.", "LOCALHOST"]
)
async def test_other_ways_to_write_loopback_are_refused_too(host: str):
    proxy = Proxy(policy(ANY))
    await proxy.open(socket.create_server(("127.0.0.1", 0)))
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"CONNECT %s:1 HTTP/1.1\r\n\r\n" % host.encode())
    answer = await reader.read(-1)
    writer.close()
    await proxy.close()

    assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 502"))


async def test_a_name_that_is_unknown_or_a_server_that_is_away_is_told():
    request = b"CONNECT example.com:1 HTTP/1.1\r\n\r\n"

    answers = [await ask(policy(NAMED), request, []), await ask(policy(NAMED), request)]

    assert [answer.partition(b"\r\n")[0] for answer in answers] == [b"HTTP/1.1 502 Bad Gateway"] * 2


@pytest.mark.parametrize(
    "request_head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"CONNECT example.com HTTP/1.1\r\n\r\n",
        b"CONNECT :443 HTTP/1.1\r\n\r\n",
        b"CONNECT example.com:99999 HTTP/1.1\r\n\r\n",
        b"GET ftp://example.com/ HTTP/1.1\r\n\r\n",
        b"GET https://example.com/ HTTP/1.1\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"\r\n\r\n",
    ],
)
async def test_what_is_no_request_for_a_proxy_is_refused(request_head: bytes):
    assert (await ask(policy(ANY), request_head)).startswith(b"HTTP/1.1 400 Bad Request\r\n")


async def test_a_head_that_never_ends_is_cut():
    answer = await ask(policy(ANY), b"GET http://a/ HTTP/1.1\r\n" + b"x" * 200_000)

    assert answer.startswith(b"HTTP/1.1 431 ")


@given(st.binary(max_size=200))
def test_any_head_is_either_parsed_or_refused(data: bytes):
    with contextlib.suppress(Refusal):
        host, port, forwarded = parse_request(data + b"\r\n\r\n")

        assert host
        assert 0 < port < 65536
        assert forwarded is None or forwarded.endswith(b"\r\n\r\n")


def test_both_spellings_of_the_variables_name_the_proxy():
    found = proxy_environment(8080)

    assert {found[name] for name in ("http_proxy", "HTTPS_PROXY", "all_proxy")} == {"http://127.0.0.1:8080"}
    assert found["no_proxy"] == found["NO_PROXY"] == "localhost,127.0.0.1,::1"
