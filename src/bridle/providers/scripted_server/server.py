"""HTTP server of the scripted model: all vendor APIs, all faults, and a log of the requests.

| path | API |
|---|---|
| `/v1/chat/completions` | OpenAI Chat Completions |
| `/v1/responses` | OpenAI Responses |
| `/v1/messages` | Anthropic Messages |
| `/{version}/models/{model}:generateContent`, `:streamGenerateContent` | Gemini |
| `/health` `/props` `/tokenize` `/v1/models` | llama-server |
| `/_requests` | the requests so far, as a JSON list |
"""

import asyncio
import re
import socket
import struct
import zlib
from collections import deque
from pathlib import Path
from typing import Any, Self, get_args

import msgspec
from aiohttp import web
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.providers.errors import classify_status
from bridle.providers.script import (
    DEFAULT_MESSAGE,
    ErrorFault,
    Fault,
    GarbageFault,
    HangFault,
    HttpFault,
    Reason,
    ResetFault,
    Script,
    TruncateFault,
    load_script,
)
from bridle.providers.scripted_reply import ScriptedReply, ScriptPlayer
from bridle.providers.scripted_server.chat import ChatWire, error_response
from bridle.providers.scripted_server.gemini import GeminiWire
from bridle.providers.scripted_server.messages import MessagesWire
from bridle.providers.scripted_server.responses import ResponsesWire
from bridle.providers.scripted_server.wire_request import ErrorResponse

MAX_KEPT_REQUESTS = 10_000
MAX_BODY_BYTES = 256 * 1024 * 1024
WRITE_BYTES = 8 * 1024  # chunks without a delay are sent together up to this size

Wire = ChatWire | ResponsesWire | MessagesWire | GeminiWire


class SeenRequest(Struct):
    """A received request and its outcome."""

    path: str
    headers: dict[str, str]
    """Header names are in lower case."""
    body: Any
    peer: str
    """Client address and port; equal for requests on the same connection."""
    status: int = 0
    is_abandoned: bool = False
    """True if the client disconnected before the reply was complete."""


class ScriptedServer:
    """Serves a script, by default on loopback, inside an `async with` block."""

    def __init__(self, script: Script | Path, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = load_script(script) if isinstance(script, Path) else script
        self.requests: deque[SeenRequest] = deque(maxlen=MAX_KEPT_REQUESTS)
        name = script.name if isinstance(script, Path) else "script"
        self._player = ScriptPlayer(self.script, name)
        self._host, self._port = host, port
        self._runner = web.AppRunner(
            self._app(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/{version}/models/{target}"):
            app.router.add_post(path, self._answer)
        app.router.add_get("/health", self._health)
        app.router.add_get("/props", self._props)
        app.router.add_post("/tokenize", self._tokenize)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/_requests", self._seen)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return _json({"status": "ok"})

    async def _props(self, _: web.Request) -> web.Response:
        return _json(_llama_props(self.script))

    async def _models(self, _: web.Request) -> web.Response:
        return _json(_llama_models(self.script))

    async def _tokenize(self, http: web.Request) -> web.Response:
        try:
            return _json(tokenize(await http.read()))
        except msgspec.DecodeError as error:
            return _refusal(error_response("invalid_request", str(error)))

    async def _seen(self, _: web.Request) -> web.Response:
        return _json(list(self.requests))

    async def _answer(self, http: web.Request) -> web.StreamResponse:
        body = await http.read()
        seen = _log_request(http, body)
        self.requests.append(seen)
        try:
            response = await self._play(http, body)
        except asyncio.CancelledError:
            seen.is_abandoned = True
            raise
        seen.status = response.status
        return response

    async def _play(self, http: web.Request, body: bytes) -> web.StreamResponse:
        try:
            wire = select_wire(http, body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _refusal(error_response("invalid_request", str(error)))
        try:
            scene = self._player.play(wire.asked.request)
        except ProviderError as error:
            return _refusal(wire.error("invalid_request", str(error)))
        await asyncio.sleep(scene.delay_s)
        if isinstance(scene.fault, HttpFault):
            return _http_fault(wire, scene.fault)
        if isinstance(scene.fault, ResetFault | HangFault) and scene.fault.after == 0:
            await _reset_or_hang(http, scene.fault)
        return await (_stream if wire.asked.stream else _whole)(http, wire, scene)


def select_wire(http: web.Request, body: bytes) -> Wire:
    """Return the vendor format for the path; raises msgspec.DecodeError if the body is no valid request."""
    match http.path:
        case "/v1/chat/completions":
            return ChatWire(body)
        case "/v1/responses":
            return ResponsesWire(body)
        case "/v1/messages":
            return MessagesWire(body)
        case _:
            model, _, method = http.match_info["target"].rpartition(":")
            if method != "streamGenerateContent":
                return GeminiWire(body, model, "whole")
            return GeminiWire(body, model, "sse" if http.query.get("alt") == "sse" else "array")


async def _stream(http: web.Request, wire: Wire, scene: ScriptedReply) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": wire.content_type, "Cache-Control": "no-cache"})
    await response.prepare(http)
    pending = wire.begin(scene)
    for sent, chunk in enumerate(scene.chunks):
        if scene.fails_after(sent):
            break
        if len(pending) >= WRITE_BYTES or scene.chunk_delay_s:
            await response.write(pending)
            await asyncio.sleep(scene.chunk_delay_s)
            pending = b""
        pending += wire.chunk(scene, chunk)
    match scene.fault:
        case None:
            pending += wire.end(scene)
        case ErrorFault(reason=reason, message=message):
            pending += wire.error_event(reason, message or DEFAULT_MESSAGE)
        case GarbageFault(data=data):
            pending += data.encode("latin-1", "replace")
        case HttpFault() | TruncateFault() | ResetFault() | HangFault():
            pass
    await response.write(pending)
    await _reset_or_hang(http, scene.fault)
    await response.write_eof()
    return response


async def _whole(http: web.Request, wire: Wire, scene: ScriptedReply) -> web.StreamResponse:
    body = msgspec.json.encode(wire.whole(scene))
    match scene.fault:
        case ErrorFault(reason=reason, message=message):
            return _refusal(wire.error(reason, message or DEFAULT_MESSAGE))
        case GarbageFault(data=data):
            body = data.encode("latin-1", "replace")
        case TruncateFault():
            body = body[: len(body) // 2]
        case HttpFault() | ResetFault() | HangFault() | None:
            await _reset_or_hang(http, scene.fault)
    return web.Response(body=body, content_type="application/json")


async def _reset_or_hang(http: web.Request, fault: Fault | None) -> None:
    """Reset the connection or send nothing more; then wait until the connection closes."""
    if isinstance(fault, ResetFault) and http.transport is not None:
        connection: socket.socket = http.transport.get_extra_info("socket")
        # Closing with a linger time of zero makes the kernel send RST instead of FIN.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        http.transport.abort()
    if isinstance(fault, ResetFault | HangFault):
        await asyncio.Event().wait()


def _http_fault(wire: Wire, fault: HttpFault) -> web.Response:
    told: dict[str, Reason] = {reason: reason for reason in get_args(Reason)}
    reason = fault.reason or told.get(classify_status(fault.status or 500), "server_error")
    answer = wire.error(reason, fault.message or DEFAULT_MESSAGE)
    body = answer.body if fault.body is None else fault.body
    response = web.Response(
        status=fault.status or answer.status,
        body=body.encode() if isinstance(body, str) else msgspec.json.encode(body),
        content_type="text/plain" if isinstance(body, str) else "application/json",
    )
    response.headers.update(fault.headers)
    return response


def _log_request(http: web.Request, body: bytes) -> SeenRequest:
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        decoded = body.decode("utf-8", "replace")
    host, port = http.transport.get_extra_info("peername")[:2] if http.transport else ("", 0)
    headers = {name.lower(): value for name, value in http.headers.items()}
    return SeenRequest(http.path_qs, headers, decoded, f"{host}:{port}")


def _refusal(answer: ErrorResponse) -> web.Response:
    return _json(answer.body, answer.status)


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(value), content_type="application/json")


# ---------------------------------------------------------------------------- llama endpoints
# Responses of the llama-server endpoints other than chat: `/props`, `/tokenize`, `/v1/models`.


MODEL_NAME = "scripted"
VOCABULARY = 32_000
_TOKEN = re.compile(r"\s*\w{1,4}|\s*[^\w\s]|\s+")  # pieces of up to four letters, like real tokens


class _Tokenize(Struct):
    content: str = ""
    with_pieces: bool = False


def _llama_props(script: Script) -> dict[str, Any]:
    """Return the server properties that clients read."""
    able = ("tools", "tool_calls", "parallel_tool_calls", "object_arguments", "system_role", "string_content")
    return {
        "default_generation_settings": {"params": {"n_predict": -1}, "n_ctx": script.window_tokens},
        "total_slots": 1,
        "model_alias": MODEL_NAME,
        "model_path": f"/models/{MODEL_NAME}.gguf",
        "chat_template": "",
        "chat_template_caps": {f"supports_{what}": True for what in able},
        "modalities": {"vision": False, "video": False, "audio": False},
        "bos_token": "<s>",
        "eos_token": "</s>",
        "build_info": "scripted",
        "is_sleeping": False,
    }


def _llama_models(script: Script) -> dict[str, Any]:
    """Return the model list, which has one model."""
    window = script.window_tokens
    meta = {"n_ctx": window, "n_ctx_train": window, "n_vocab": VOCABULARY}
    entry = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "llamacpp", "meta": meta}
    listed = {"name": MODEL_NAME, "model": MODEL_NAME, "type": "model", "capabilities": ["completion"]}
    return {"models": [listed], "object": "list", "data": [entry]}


def tokenize(body: bytes) -> dict[str, Any]:
    """Return the tokens of a text: not a real vocabulary, but deterministic."""
    asked = msgspec.json.decode(body, type=_Tokenize)
    pieces = _TOKEN.findall(asked.content)
    ids = [zlib.crc32(piece.encode()) % VOCABULARY for piece in pieces]
    if not asked.with_pieces:
        return {"tokens": ids}
    return {"tokens": [{"id": n, "piece": piece} for n, piece in zip(ids, pieces, strict=True)]}
