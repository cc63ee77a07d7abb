"""An in-process model that follows a script: for tests, demos and work without a network."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import msgspec

from bridle.core.errors import ProviderError
from bridle.core.messages import ToolCall
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.protocol import Delta
from bridle.providers.errors import (
    malformed_error,
    response_error,
    retry_after_s,
    timeout_error,
    truncation_error,
)
from bridle.providers.reply_builder import ReplyBuilder
from bridle.providers.script import (
    DEFAULT_MESSAGE,
    Call,
    ErrorFault,
    Fault,
    GarbageFault,
    HangFault,
    HttpFault,
    MidStreamFault,
    Reason,
    Reply,
    ResetFault,
    Script,
    TruncateFault,
    load_script,
)
from bridle.providers.scripted_reply import (
    CallChunk,
    Chunk,
    ReasoningChunk,
    ScriptedReply,
    ScriptPlayer,
    TextChunk,
)

MAX_KEPT_REQUESTS = 100
CHUNKS_PER_BREATH = 64  # chunks before other tasks may run; a network would pause more often

ScriptedPart = str | ToolCall | Call
"""A part of a reply in `ScriptedProvider.of`."""


class ScriptedProvider:
    """Follows a script, with the deltas, replies and errors of a real provider."""

    def __init__(self, script: Script, *, name: str = "scripted", idle_timeout_s: float = 300.0) -> None:
        self.script = script
        self.name = name
        self.requests: deque[ModelRequest] = deque(maxlen=MAX_KEPT_REQUESTS)
        """The last requests, the newest last."""
        self._player = ScriptPlayer(script, name)
        self._idle_timeout_s = idle_timeout_s

    @classmethod
    def load(cls, path: Path, *, name: str = "") -> "ScriptedProvider":
        """Return a provider for a script file; raises ConfigError if the file is invalid."""
        return cls(load_script(path), name=name or path.name)

    @classmethod
    def of(
        cls,
        *replies: ScriptedPart | Fault | Reply | Sequence[ScriptedPart],
        repeat: bool = False,
        name: str = "scripted",
        idle_timeout_s: float = 300.0,
    ) -> "ScriptedProvider":
        """Return a provider for these replies; a list is one reply with several parts."""
        script = Script(tuple(map(_reply, replies)), repeat=repeat)
        return cls(script, name=name, idle_timeout_s=idle_timeout_s)

    def model(self, name: str) -> Model:
        """Return the facts of the scripted model under this name."""
        return Model(
            provider="scripted",
            name=name,
            window_tokens=self.script.window_tokens,
            max_output_tokens=self.script.max_output_tokens,
            price=self.script.price,
            images=self.script.images,
            reasoning=self.script.reasoning,
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield the deltas of the scripted reply, then the whole reply; raises ProviderError."""
        self.requests.append(request)
        scene = self._player.play(request)
        await asyncio.sleep(scene.delay_s)
        if isinstance(scene.fault, HttpFault):
            raise _http_failure(self.name, scene.fault)
        builder = ReplyBuilder(self.name, scene.turn)
        for sent, chunk in enumerate(scene.chunks):
            if scene.fails_after(sent):
                break
            if scene.chunk_delay_s or sent % CHUNKS_PER_BREATH == CHUNKS_PER_BREATH - 1:
                await asyncio.sleep(scene.chunk_delay_s)
            yield _delta(builder, scene, chunk)
        if scene.fault is not None:
            raise await self._failure(scene.fault)
        yield builder.finish(scene.stop_reason, scene.usage, scene.model)

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""

    async def _failure(self, fault: MidStreamFault) -> ProviderError:
        match fault:
            case ErrorFault():
                return _scripted_error(self.name, fault.reason, fault.message)
            case TruncateFault():
                return truncation_error(self.name)
            case GarbageFault():
                return malformed_error(self.name, "the script sends garbage")
            case ResetFault():
                return ProviderError(f"{self.name}: the connection was reset", kind="connection_reset")
            case HangFault():
                await asyncio.sleep(self._idle_timeout_s)
                return timeout_error(self.name, self._idle_timeout_s)


def _http_failure(who: str, fault: HttpFault) -> ProviderError:
    """Return the error that a real provider raises for a scripted HTTP response."""
    headers = {name.lower(): value for name, value in fault.headers.items()}
    if fault.body is not None:
        body = fault.body.encode() if isinstance(fault.body, str) else msgspec.json.encode(fault.body)
        return response_error(who, fault.status or 500, headers, body)
    if fault.reason is None:
        body = msgspec.json.encode({"error": {"message": fault.message or DEFAULT_MESSAGE}})
        return response_error(who, fault.status or 500, headers, body)
    return _scripted_error(who, fault.reason, fault.message, retry_after_s(headers))


def _scripted_error(who: str, reason: Reason, message: str, wait_s: float | None = None) -> ProviderError:
    said = message or DEFAULT_MESSAGE
    return ProviderError(f"{who}: {said} ({reason})", kind=reason, retry_after_s=wait_s)


def _delta(builder: ReplyBuilder, scene: ScriptedReply, chunk: Chunk) -> Delta:
    match chunk:
        case TextChunk():
            return builder.text(chunk.text)
        case ReasoningChunk():
            return builder.reasoning(chunk.text)
        case CallChunk():
            call = scene.calls[chunk.index]
            return builder.call(chunk.index, call_id=call.id, name=call.name, args=chunk.args)


def _reply(scripted: ScriptedPart | Fault | Reply | Sequence[ScriptedPart]) -> Reply:
    match scripted:
        case Reply():
            return scripted
        case str() | ToolCall() | Call():
            return _reply([scripted])
        case HttpFault() | ErrorFault() | TruncateFault() | GarbageFault() | ResetFault() | HangFault():
            return Reply(fault=scripted)
        case _:
            return Reply(
                text="".join(part for part in scripted if isinstance(part, str)),
                calls=tuple(_call(part) for part in scripted if not isinstance(part, str)),
            )


def _call(call: ToolCall | Call) -> Call:
    if isinstance(call, Call):
        return call
    return Call(call.name, call.invalid or call.args, call.id)
