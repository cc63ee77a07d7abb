"""Remote servers over real HTTP on loopback: honest ones of both protocol generations, and hostile ones."""

import asyncio
import datetime
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer

from bridle.core.errors import ToolError
from bridle.mcp.http import redact_url
from bridle.mcp.remote import HttpTransport, LoginNeeded, open_transport
from bridle.mcp.settings import ServerSettings
from tests.mcp.loopback import Last, answering, bound, response, serving
from tests.patience import PATIENCE_S

ERAS = ["auto", "legacy"]
VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


def settings(url: str, **more: Any) -> ServerSettings:
    return ServerSettings("far", more.pop("transport", "http"), url=url, **more)


def remote(url: str, home: Path, **more: Any) -> HttpTransport:
    return open_transport(settings(url, **more), home)


async def failure(url: str, home: Path, **more: Any) -> ToolError:
    """Try to connect, and return how that fails."""
    with pytest.raises(ToolError) as caught:
        async with Client(remote(url, home, **more)):
            pass
    return caught.value


def honest() -> MCPServer:
    server = MCPServer("honest")
    server.waiting = asyncio.Event()  # type: ignore[attr-defined]

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool(structured_output=False)
    def seen(ctx: Context) -> str:
        headers = ctx.headers or {}
        return json.dumps({name: headers.get(name) for name in ("x-key", "accept-encoding", "authorization")})

    @server.tool(structured_output=False)
    def much(size: int) -> str:
        return "a" * size

    @server.tool(structured_output=False)
    async def rest() -> str:
        server.waiting.set()  # type: ignore[attr-defined]
        await asyncio.Event().wait()
        return "never"

    return server


def text(result: Any) -> str:
    return str(result.content[0].text)


# ---------------------------------------------------------------------- honest servers


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [{}, {"json_response": True}, {"stateless_http": True}])
async def test_a_server_is_spoken_to_in_its_era(era: Any, options: dict[str, Any], home: Path) -> None:
    async with (
        serving(honest().streamable_http_app(**options)) as url,
        Client(remote(f"{url}/mcp", home, headers={"X-Key": "k-123"}), mode=era) as client,
    ):
        version = client.protocol_version
        summed = (await client.call_tool("add", {"a": 1, "b": 2})).structured_content
        seen = json.loads(text(await client.call_tool("seen", {})))

    assert (version, summed) == (VERSIONS[era], {"result": 3})
    assert seen == {"x-key": "k-123", "accept-encoding": "identity", "authorization": None}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("json_response", [True, False])
async def test_megabytes_arrive_whole(era: Any, json_response: bool, home: Path) -> None:
    app = honest().streamable_http_app(json_response=json_response)
    async with serving(app) as url, Client(remote(f"{url}/mcp", home), mode=era) as client:
        said = text(await client.call_tool("much", {"size": 5_000_000}))

    assert said == "a" * 5_000_000


async def test_megabytes_arrive_whole_over_the_transport_of_2024(home: Path) -> None:
    async with (
        serving(honest().sse_app()) as url,
        Client(remote(f"{url}/sse", home, transport="sse"), mode="legacy") as client,
    ):
        said = text(await client.call_tool("much", {"size": 5_000_000}))
        summed = (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

    assert (said, summed) == ("a" * 5_000_000, {"result": 3})


@pytest.mark.parametrize(("era", "transport"), [("auto", "http"), ("legacy", "http"), ("legacy", "sse")])
async def test_a_cancelled_call_settles_and_others_go_on(era: Any, transport: Any, home: Path) -> None:
    server = honest()
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    path = "/sse" if transport == "sse" else "/mcp"
    async with (
        serving(app) as url,
        Client(remote(url + path, home, transport=transport), mode=era) as client,
    ):
        call = asyncio.create_task(client.call_tool("rest", {}))
        await server.waiting.wait()  # type: ignore[attr-defined]
        call.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([call])
        summed = (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

    assert call.cancelled()
    assert summed == {"result": 3}


# ---------------------------------------------------------------------- no connection


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_an_address_where_nobody_listens_is_said_without_its_secrets(
    transport: Any, home: Path
) -> None:
    with bound() as free:
        port = free.getsockname()[1]
    url = f"http://me:hidden-word@127.0.0.1:{port}/mcp?key=hidden-key#there"

    error = await failure(url, home, transport=transport)

    assert str(error) == f"MCP server far: cannot reach http://127.0.0.1:{port}/mcp: connection refused"


def test_a_key_in_the_path_of_an_address_is_not_shown() -> None:
    key = "sk1234567890abcdef1234567890"

    assert redact_url(f"https://a:b@example.com/v2/{key}/mcp?k={key}#{key}") == (
        "https://example.com/v2/(hidden)/mcp"
    )
    assert redact_url("https://example.com/model-context-protocol/v2") == (
        "https://example.com/model-context-protocol/v2"
    )


async def test_a_host_that_is_not_known_is_said(home: Path) -> None:
    error = await failure("http://no-such-host.invalid/mcp", home)

    assert str(error) == "MCP server far: cannot reach http://no-such-host.invalid/mcp: host not found"


async def test_a_certificate_that_nobody_vouches_for_is_said(home: Path, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_certificate(tmp_path))
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # the server's side of it

    error = await failure(f"https://127.0.0.1:{port}/mcp", home)
    server.close()

    why = "its certificate is not valid (self-signed certificate)"
    assert str(error) == f"MCP server far: cannot reach https://127.0.0.1:{port}/mcp: {why}"


def make_certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_server_that_wants_a_login_says_so(transport: Any, home: Path) -> None:
    async with answering(lambda *_: response("401 Unauthorized")) as url:
        error = await failure(f"{url}/mcp?key=hidden", home, transport=transport)

    assert isinstance(error, LoginNeeded)
    assert error.url == f"{url}/mcp"
    assert str(error) == f"MCP server far at {url}/mcp needs a login (hint: bridle mcp login far)"


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_header_of_the_users_own_that_is_refused_is_no_matter_of_a_login(
    transport: Any, home: Path
) -> None:
    headers = {"authorization": "Bearer hidden-token"}
    async with answering(lambda *_: response("401 Unauthorized")) as url:
        error = await failure(f"{url}/mcp", home, transport=transport, headers=headers)

    assert type(error) is ToolError
    assert str(error) == f"MCP server far: {url}/mcp does not accept the Authorization header of its settings"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            response("503 Service Unavailable", b"<h1>oops</h1>", content_type="text/html"),
            "503 Service Unavailable",
        ),
        (
            response("500 Oh", b"bad key \x1b[1mhidden-key\n", content_type="text/plain"),
            "500 Internal Server Error: bad key (hidden)",
        ),
        (response("403 Forbidden"), "403 Forbidden (hint: bridle mcp login far)"),
        (
            response("418 x", b'{"detail": 1}', content_type="application/json"),
            '418 I\'m a Teapot: {"detail": 1}',
        ),
        (response("799 what"), "799"),
    ],
)
async def test_a_refusal_is_told_in_plain_words(made: bytes, said: str, home: Path) -> None:
    async with answering(lambda *_: made) as url:
        error = await failure(f"{url}/mcp", home, headers={"x-key": "hidden-key"})

    assert str(error) == f"MCP server far: {url}/mcp answered {said}"


async def test_no_address_is_logged(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with answering(lambda *_: response("401 Unauthorized")) as url:
        await failure(f"{url}/mcp?key=hidden", home)

    assert "hidden" not in caplog.text


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_nothing_is_sent_where_a_redirect_points(transport: Any, home: Path) -> None:
    hits: list[str] = []

    def hit(line: str, *_: Any) -> bytes:
        hits.append(line)
        return response("404 Not Found")

    async with answering(hit) as elsewhere:
        moved = response("307 Moved", location=f"{elsewhere}/mcp?token=hidden")
        async with answering(lambda *_: moved) as url:
            error = await failure(f"{url}/mcp", home, transport=transport, headers={"x-key": "k"})

    assert hits == []
    assert f"{elsewhere}/mcp" in str(error)
    assert "hidden" not in str(error)


@pytest.mark.parametrize(
    ("url", "headers"), [("http://[::1/mcp", {}), ("http://127.0.0.1:1/mcp", {"x-key": "hidden-ü\u2028"})]
)
async def test_settings_that_make_no_request_are_said(url: str, headers: dict[str, str], home: Path) -> None:
    error = await failure(url, home, headers=headers)

    assert str(error) == "MCP server far: its address or a header of its settings is not valid"


# ---------------------------------------------------------------------- hostile servers

Method = Callable[[dict[str, Any]], bytes]


@asynccontextmanager
async def hostile(call: Method, **extra: Method) -> AsyncIterator[str]:
    """Serve the protocol of 2025 by hand; `call` answers calls of tools with raw bytes."""

    def answer(line: str, body: bytes, headers: dict[str, str]) -> bytes:
        if not line.startswith("POST"):
            return response("405 Method Not Allowed")
        message = json.loads(body)
        method = message["method"]
        if method in extra:
            return extra[method](message)
        if method == "tools/call":
            return call(message)
        if method == "initialize":
            return reply(
                message,
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "hostile", "version": "1"},
                },
                mcp_session_id="s1",
            )
        if "id" not in message:
            return response("202 Accepted")
        known = {"ping": {}, "tools/list": {"tools": []}}
        if method in known:
            return reply(message, known[method])
        error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
        return response("200 OK", json.dumps(error).encode(), content_type="application/json")

    async with answering(answer) as url:
        yield f"{url}/mcp"


def reply(message: dict[str, Any], result: dict[str, Any], **headers: str) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    return response("200 OK", body, content_type="application/json", **headers)


async def failed_call(url: str, home: Path) -> str:
    """Make a call that fails, and see that the connection is still good."""
    async with Client(remote(url, home)) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("t", {})
        await client.session.send_ping()
    return caught.value.message


HUGE = 17 * 1024 * 1024


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            response("200 OK", b'"' + b"a" * HUGE + b'"', content_type="application/json"),
            "{url} sent an invalid answer: the answer is larger than 16 MiB",
        ),
        (
            response("200 OK", b"data: " + b"a" * HUGE + b"\n\n", content_type="text/event-stream"),
            "SSE stream failed: Server-sent event exceeded the 16777216 byte limit.",
        ),
        (
            response("200 OK", b"x", content_type="application/json", content_encoding="gzip"),
            "{url} sent an invalid answer: the answer is compressed, which was not requested",
        ),
        (response("500 Oh", b"a" * HUGE), "{url} sent an invalid answer: the answer is larger than 16 MiB"),
        (
            Last(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\ncontent-type: application/json\r\n\r\n{"),
            "cannot reach {url}: the connection was lost",
        ),
        (Last(b"no http at all\r\n\r\n"), "cannot reach {url}: the connection was lost"),
        (Last(b""), "cannot reach {url}: the connection was lost"),
        (response("200 OK", b"<p>", content_type="text/html"), "Unexpected content type: text/html"),
        (response("502 Bad Gateway"), "{url} answered 502 Bad Gateway"),
    ],
    ids=[
        "huge",
        "huge event",
        "compressed",
        "huge failure",
        "short",
        "no http",
        "nothing",
        "html",
        "gateway",
    ],
)
async def test_an_answer_that_makes_no_sense_fails_one_call_alone(made: bytes, said: str, home: Path) -> None:
    async with hostile(lambda _: made) as url:
        assert await failed_call(url, home) == said.format(url=url)


async def test_a_server_that_has_forgotten_the_session_is_lost(home: Path) -> None:
    async with hostile(lambda _: response("404 Not Found")) as url:
        transport = remote(url, home)
        async with Client(transport) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("t", {})
            async with asyncio.timeout(PATIENCE_S):
                lost = await transport.lost()

    said = "it lost the session and was reconnected; make the call again"
    assert (caught.value.message, str(lost)) == (said, f"MCP server far: {said}")


async def test_a_token_that_is_refused_while_working_is_a_lost_connection(home: Path) -> None:
    async with hostile(lambda _: response("401 Unauthorized")) as url:
        transport = remote(url, home)
        with pytest.raises(LoginNeeded):
            async with Client(transport) as client:
                await client.call_tool("t", {})

        assert isinstance(await transport.lost(), LoginNeeded)


# ---------------------------------------------------------------------- the transport of 2024


EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Last(EVENTS), "{url} ended the stream of events before it began"),
        (
            EVENTS + b"event: endpoint\ndata: http://evil.example/post?k=hidden\n\n",
            "{url} wants messages sent elsewhere, to http://evil.example/post",
        ),
        (Last(EVENTS + b"event: endpoint\ndata: " + b"a" * HUGE), None),
        (response("200 OK", b"hello"), "{url} answered with no stream of events (is its transport http?)"),
        (response("404 Not Found"), "{url} answered 404 Not Found"),
        (response("200 OK", b"x", content_encoding="br"), None),
        (Last(b""), "cannot reach {url}: the connection was lost"),
    ],
    ids=["empty", "elsewhere", "huge", "text", "missing", "compressed", "nothing"],
)
async def test_a_stream_that_makes_no_sense_is_refused(made: bytes, said: str | None, home: Path) -> None:
    async with answering(lambda *_: made) as url:
        error = await failure(f"{url}/sse", home, transport="sse")

        if said is not None:
            assert str(error) == f"MCP server far: {said}".format(url=f"{url}/sse")


async def test_a_stream_that_ends_is_a_lost_connection(home: Path) -> None:
    """The server answers what it is asked on its stream, and hangs up when a tool is called."""
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("POST"):
            size = int(head.lower().partition("content-length: ")[2].split("\r\n")[0])
            messages.put_nowait(json.loads(await reader.readexactly(size)))
            writer.write(response("202 Accepted", connection="close"))
        else:
            writer.write(EVENTS + b"event: endpoint\ndata: /post\n\ndata: no json\n\n: nothing\n\n")
            while (message := await messages.get())["method"] != "tools/call":
                if "id" in message:
                    result = {
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "serverInfo": {"name": "old", "version": "1"},
                    }
                    data = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
                    writer.write(f"event: message\ndata: {data}\n\n".encode())
                await writer.drain()
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sse"
    transport = remote(url, home, transport="sse")
    with pytest.raises(ToolError) as caught:
        async with Client(transport, mode="legacy") as client:
            await client.call_tool("t", {})
    lost = await transport.lost()
    server.close()

    assert str(lost) == str(caught.value)
    assert str(lost).startswith("MCP server far: ")


async def test_a_post_that_fails_is_one_failed_call(home: Path) -> None:
    app = honest().sse_app()

    async def gate(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and gate_is_shut:
            await send(
                {"type": "http.response.start", "status": 429, "headers": [(b"content-type", b"text/plain")]}
            )
            await send({"type": "http.response.body", "body": b"slow down"})
        else:
            await app(scope, receive, send)

    gate_is_shut = False
    async with (
        serving(gate) as url,
        Client(remote(f"{url}/sse", home, transport="sse"), mode="legacy") as client,
    ):
        gate_is_shut = True
        with pytest.raises(MCPError) as caught:
            await client.call_tool("add", {"a": 1, "b": 2})
        gate_is_shut = False
        summed = (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

    assert caught.value.message == f"{url}/sse answered 429 Too Many Requests: slow down"
    assert summed == {"result": 3}
