"""Targets: data from a wire, split in any way."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import msgspec

from bridle.core.errors import BridleError, ProviderError, UsageError
from bridle.core.messages import user_message
from bridle.core.model import ModelRequest, Price, cost_of
from bridle.core.surrogates import replace_surrogates
from bridle.kernel.frames import FrameDecoder as KernelLines
from bridle.kernel.frames import Malformed as MalformedLine
from bridle.lsp.connection import Frames, Malformed
from bridle.mcp.stdio import MessageReader
from bridle.providers import anthropic, gemini, openai, openai_responses
from bridle.providers.http import Endpoint
from bridle.providers.sse import SseError, SseParser, encode_event
from bridle.surfaces.acp.server import LineTransport
from bridle.surfaces.mcp_server.stdio import _parse as parse_mcp
from bridle.surfaces.meerkat.requests import CreateParams
from bridle.surfaces.remote.connection import Lines as RemoteLines
from bridle.surfaces.remote.connection import LineTooLong
from bridle.surfaces.remote.server import _Connection
from bridle.surfaces.rpc.connection import _params
from bridle.surfaces.rpc.protocol import Request, parse_line
from bridle.system.line_buffer import LineBuffer
from tests.fuzz.target import Target

_ENDPOINT = Endpoint("vendor", "http://127.0.0.1/", {"Authorization": "Bearer sk-secret-key-0123"})
_REQUEST = ModelRequest("model", "", (user_message("hello"),))
_PRICE = Price(input=3.0, output=15.0)


def chunks(data: bytes) -> Iterator[bytes]:
    """Cut bytes at places that the bytes themselves give, so that an input is always cut the same way."""
    at, step = 0, sum(data[:16]) % 7 + 1
    while at < len(data):
        yield data[at : at + step]
        at += step
        step = (step * 5 + data[min(at, len(data) - 1)]) % 61 + 1


# ---------------------------------------------------------------------------- server-sent events


def run_sse(data: bytes) -> None:
    whole = SseParser().feed(data)
    parser = SseParser()
    assert [event for chunk in chunks(data) for event in parser.feed(chunk)] == whole
    for event in whole:
        if b"\n" not in event.data and "\ufffd" not in event.name:
            assert SseParser().feed(encode_event(event.data, event.name)) == [event]
    small = SseParser(max_event_bytes=64)
    try:
        for chunk in chunks(data):
            for event in small.feed(chunk):
                assert len(event.data) <= 64 + 61
    except SseError:
        pass


def run_reply(reader: Callable[[Endpoint, ModelRequest], Any], data: bytes) -> None:
    """Read an answer of a vendor: a ProviderError without the key, or a reply that can be stored."""
    made = reader(_ENDPOINT, _REQUEST)
    try:
        for event in SseParser().feed(data):
            for delta in made.read(event.data):
                msgspec.json.encode(replace_surrogates(delta))
        reply = made.reply()
    except ProviderError as error:
        if "sk-secret-key-0123" in f"{error}{error.hint}":
            raise AssertionError("the error tells a key") from error
        return
    line = msgspec.json.encode(replace_surrogates(reply.message))
    assert msgspec.json.decode(line, type=type(reply.message)) == replace_surrogates(reply.message)
    usage = msgspec.json.decode(msgspec.json.encode(reply.usage), type=type(reply.usage))
    assert usage == reply.usage
    assert cost_of(reply.usage, _PRICE) is not None


def _reply_target(name: str, module: Any) -> Target:
    return Target(
        name=name,
        run=lambda data: run_reply(module._Reader, data),
        modules=(module.__name__, "bridle.providers.reply_builder", "bridle.providers.errors"),
        tokens=(b"data: ", b"\n\n", b'"type":"', b'"index":1', b'"usage":{}', b"null", b"[DONE]"),
        is_json=True,
    )


# ---------------------------------------------------------------------------- lines and frames


def run_lines(data: bytes) -> None:
    whole = LineBuffer(64).feed(data)
    lines = LineBuffer(64)
    assert [line for chunk in chunks(data) for line in lines.feed(chunk)] == whole
    assert all(line is None or len(line) <= 64 for line in whole)
    assert len(lines.rest()) <= 64


def run_lsp(data: bytes) -> None:
    def read(pieces: Iterator[bytes]) -> tuple[list[bytes], bool]:
        frames, found = Frames(), []
        try:
            for piece in pieces:
                found += list(frames.feed(piece))
        except Malformed:
            return found, True
        return found, False

    whole, is_bad = read(iter([data]))
    apart, is_bad_apart = read(chunks(data))
    assert is_bad == is_bad_apart
    assert apart == whole
    if not is_bad:
        for body in whole:
            assert read(iter([b"Content-Length: %d\r\n\r\n%b" % (len(body), body)])) == ([body], False)


def run_kernel(data: bytes) -> None:
    lines = KernelLines(256)
    apart = [frame for chunk in chunks(data) for frame in lines.feed(chunk)]
    assert list(map(_frame_or_none, apart)) == list(map(_frame_or_none, KernelLines(256).feed(data)))


def _frame_or_none(frame: Any) -> Any:
    return None if isinstance(frame, MalformedLine) else frame


def run_jsonrpc(data: bytes) -> None:
    for line in data.split(b"\n")[:50]:
        read = parse_line(line)
        msgspec.json.encode(read.id if hasattr(read, "id") else None)
        if isinstance(read, Request):
            assert bytes(read.params)[:1] == b"{"
            with suppress(UsageError):
                _params(read, CreateParams)


class _Said:
    """Keeps what would be shown of a server's output."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def run_mcp(data: bytes) -> None:
    reads = MessageReader(_Said(), lambda: None)  # type: ignore[arg-type]
    for line in data.split(b"\n")[:50]:
        reads._read(line)
        parse_mcp(line)


def run_acp(data: bytes) -> None:
    """Read lines of an editor: whatever they are, each is taken or refused."""
    sent: list[bytes] = []

    async def go() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        writer = SimpleNamespace(write=sent.append, drain=lambda: asyncio.sleep(0))
        link = LineTransport(reader, writer)  # type: ignore[arg-type]
        while await link.receive() is not None:
            pass

    asyncio.run(go())
    for line in b"".join(sent).splitlines():
        assert msgspec.json.decode(line)["jsonrpc"] == "2.0"


class _NoApi:
    """A session API with nothing behind it: every ask fails in a documented way."""

    def __getattr__(self, name: str) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise BridleError(f"{name} does not exist")

        return refuse


def run_remote(data: bytes) -> None:
    """Serve a client of the daemon's own wire: every answer is a line, and the connection ends."""
    sent: list[bytes] = []

    async def go() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        writer = SimpleNamespace(write=sent.append, drain=lambda: asyncio.sleep(0))
        api: Any = _NoApi()
        await _Connection(api, None, RemoteLines(reader), writer).serve()  # type: ignore[arg-type]

    asyncio.run(asyncio.wait_for(go(), 60))
    for line in b"".join(sent).splitlines():
        assert isinstance(msgspec.json.decode(line)["id"], int)


def run_remote_lines(data: bytes) -> None:
    async def read(pieces: Iterator[bytes]) -> list[bytes] | None:
        reader = asyncio.StreamReader()
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        lines, found = RemoteLines(reader), []
        try:
            while (line := await lines.next(1_000_000)) is not None:
                found.append(line)
        except LineTooLong:
            return None
        return found

    assert asyncio.run(read(iter([data]))) == data.split(b"\n")[:-1]


_RPC_TOKENS = (b'"jsonrpc":"2.0"', b'"id":', b'"method":"', b'"params":', b'"result":', b'"error":', b"null")
TARGETS = (
    Target(
        name="sse",
        run=run_sse,
        modules=("bridle.providers.sse",),
        tokens=(b"data: ", b"data:", b"event: ", b": ping", b"\n\n", b"\r\n\r\n", b"id: 1", b"retry: 3"),
    ),
    _reply_target("anthropic", anthropic),
    _reply_target("openai", openai),
    _reply_target("gemini", gemini),
    _reply_target("responses", openai_responses),
    Target(
        name="lines",
        run=run_lines,
        modules=("bridle.system.line_buffer",),
    ),
    Target(
        name="lsp_frames",
        run=run_lsp,
        modules=("bridle.lsp.connection",),
        tokens=(b"Content-Length: ", b"\r\n\r\n", b"Content-Type: x\r\n", b"content-length:2\n\n{}"),
    ),
    Target(
        name="kernel_frames",
        run=run_kernel,
        modules=("bridle.kernel.frames", "bridle.core.surrogates"),
        tokens=(b'"type":"', b'"exec_result"', b'"tool_call"', b'\\ud83d"', b'"id":"1"'),
        is_json=True,
    ),
    Target(
        name="jsonrpc",
        run=run_jsonrpc,
        modules=("bridle.surfaces.rpc.protocol",),
        tokens=_RPC_TOKENS,
        is_json=True,
    ),
    Target(
        name="mcp_lines",
        run=run_mcp,
        modules=("bridle.mcp.stdio", "bridle.surfaces.mcp_server.stdio"),
        tokens=_RPC_TOKENS,
        is_json=True,
    ),
    Target(
        name="acp_lines",
        run=run_acp,
        modules=("bridle.surfaces.acp.server",),
        tokens=_RPC_TOKENS,
        is_json=True,
    ),
    Target(
        name="remote_wire",
        run=run_remote,
        modules=("bridle.surfaces.remote.server", "bridle.surfaces.remote.connection"),
        tokens=(
            b'"type":"submit"',
            b'"type":"watch"',
            b'"ask":',
            b'"id":1',
            b'"session":"s"',
            b'"type":"lend"',
        ),
        is_json=True,
    ),
    Target(
        name="remote_lines",
        run=run_remote_lines,
        modules=("bridle.surfaces.remote.connection",),
    ),
)
