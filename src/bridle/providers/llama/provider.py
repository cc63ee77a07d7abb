"""Provider for a llama-server: real window and token counts, and tool calls even without tool support.

```
stream ─▶ server.ready ─▶ plan_request ─▶ OpenAIProvider ─▶ read by its plan ─▶ deltas, reply
          (starts it)     (constrain)     (the wire)  native │ words │ choice │ call │ value
```
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Container, Sequence
from contextlib import aclosing
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import estimate_tokens
from bridle.core.errors import ConfigError, ProviderError
from bridle.core.malformed import MALFORMED
from bridle.core.model import Model, ModelReply, ModelRequest, Price, merge_params
from bridle.core.protocol import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from bridle.providers.http import IDLE_TIMEOUT_S, Endpoint, HttpClient
from bridle.providers.llama.server import ExternalServer, LlamaServer
from bridle.providers.llama.server_client import ServerAddress, ServerFacts
from bridle.providers.llama.token_counter import TokenCounter
from bridle.providers.llama.tool_plan import WEAK_BELOW_PARAMETERS, RequestPlan, ToolMode, plan_request
from bridle.providers.openai import OpenAIProvider
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.supported_schema import LLAMA, reduce_schema
from bridle.providers.wire_format import Items, first_accepted

# ---------------------------------------------------------------------------- written
# Streaming parser of a tool call that a model writes as schema-constrained text.
#
# ```
# the text: {"tool": "list_files", "arguments": {"pattern": "*"}}
#           └────────── head ──────────────────┘└── arguments ──┘└ the last brace is held back
# ```


_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*')
_TAIL = re.compile(r"[\s}]*\Z")


class CallParser:
    """Parses one call."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self._builder = builder
        self._name = ""
        self._held = ""

    def feed(self, fragment: str) -> list[ToolCallDelta]:
        """Add a fragment of the text and return the new deltas of the arguments."""
        self._held += fragment
        if not self._name:
            head = _HEAD.match(self._held)
            if head is None:
                return []
            self._name = head[1]
            self._held = self._held[head.end() :]
        tail = _TAIL.search(self._held)
        return self._show(tail.start() if tail else len(self._held))

    def finish(self) -> list[ToolCallDelta]:
        """Return the last deltas; a truncated text stays truncated, so its arguments are invalid JSON."""
        self._held = self._held.rstrip().removesuffix("}")
        return self._show(len(self._held))

    def _show(self, count: int) -> list[ToolCallDelta]:
        shown, self._held = self._held[:count], self._held[count:]
        return [self._builder.call(0, name=self._name, args=shown)] if shown else []


# ---------------------------------------------------------------------------- printed calls
# Detects tool calls that a model prints as text, such as `{"name": "list_files", "arguments": {…}}`.
#
# Only a reply that is such an object from its first to its last character, and that names a tool of the
# request, counts as a call. Anything else is a normal text reply.


_NAMES = ("name", "tool", "function")
_ARGS = ("arguments", "parameters", "args")
_KEYS = frozenset({*_NAMES, *_ARGS, "type", "id"})
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FIRST_KEY = re.compile(r'\{\s*(?:"(?P<key>\w*)(?P<end>")?)?')
_decoder = msgspec.json.Decoder(dict[str, Any])

Verdict = Literal["call", "prose", "unclear"]


class PrintedCall(Struct, frozen=True):
    """A call printed as text: its tool, and its arguments as JSON."""

    name: str
    args: str


def classify_start(text: str) -> Verdict:
    """Return whether a reply that starts like this is a printed call, normal text, or still unclear."""
    text = text.lstrip()
    if text.startswith(_OPEN):
        text = text.removeprefix(_OPEN).lstrip()
    elif _OPEN.startswith(text):
        return "unclear"
    if not text:
        return "unclear"
    match = _FIRST_KEY.match(text)
    if match is None:
        return "prose"
    if match["end"]:
        return "call" if match["key"] in _KEYS else "prose"
    if match.end() < len(text):
        return "prose"  # what follows is not a key
    return "unclear" if not match["key"] or any(k.startswith(match["key"]) for k in _KEYS) else "prose"


def parse_printed_call(text: str, tools: Container[str]) -> PrintedCall | None:
    """Return the call in a whole reply; None if it is anything else."""
    text = text.strip()
    if text.startswith(_OPEN):
        text = text.removeprefix(_OPEN).removesuffix(_CLOSE).strip()
    try:
        found = _decoder.decode(text)
    except MALFORMED:
        return None
    if isinstance(inner := found.get("function"), dict) and found.keys() <= {"function", "type", "id"}:
        found = inner
    if not found.keys() <= _KEYS:
        return None
    names = [found[key] for key in _NAMES if key in found]
    args = [found[key] for key in _ARGS if key in found]
    if len(names) != 1 or len(args) != 1 or not isinstance(names[0], str) or names[0] not in tools:
        return None
    wanted = _object(args[0])
    return None if wanted is None else PrintedCall(names[0], msgspec.json.encode(wanted).decode())


def _object(value: Any) -> dict[str, Any] | None:
    """Return arguments as an object; in OpenAI's format they are JSON text. None if invalid."""
    if isinstance(value, str):
        try:
            return _decoder.decode(value)
        except MALFORMED:
            return None
    return value if isinstance(value, dict) else None


# ---------------------------------------------------------------------------- provider


DEFAULT_WINDOW_TOKENS = 4096  # until the server reports it; small, so that no request is too long
DEFAULT_MAX_OUTPUT_TOKENS = 2048
FREE = Price(0.0, 0.0)  # a known price of zero: our own process costs no money


class ChatFormat(Protocol):
    """The format that a model was trained on, for requests that it takes."""

    window_tokens: int
    """The tokens that a conversation may have; the format sends what fits."""

    def takes(self, request: ModelRequest) -> bool:
        """Return whether the format serves a request."""
        ...

    def unserved(self, request: ModelRequest) -> ModelRequest:
        """Return a request that the format does not serve, as it must be sent."""
        ...

    def stream(self, request: ModelRequest, ask: Callable[[ModelRequest], Items]) -> Items:
        """Yield the deltas of a reply, then the reply."""
        ...


class LlamaProvider:
    """Streams replies from a llama-server; the first request starts a managed one."""

    def __init__(
        self,
        name: str,
        server: LlamaServer | ExternalServer,
        *,
        params: dict[str, Any] | None = None,
        tools: ToolMode = "auto",
        tool_role: bool | None = None,
        chat_format: ChatFormat | None = None,
        weak_below_parameters: int = WEAK_BELOW_PARAMETERS,
        concurrency: int = 0,
        max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        """Create a provider; `tool_role` False puts tool results into user messages.

        `concurrency` 0 means the number of the server's slots.
        """
        self._name = name
        self._server = server
        self._params = params or {}
        self._tools = tools
        self._tool_role = tool_role
        self._format = chat_format
        self._weak_below = weak_below_parameters
        self._concurrency = concurrency
        self._max_output_tokens = max_output_tokens
        self._client = HttpClient(idle_timeout_s=idle_timeout_s)
        self._free: asyncio.Semaphore | None = None
        self._facts: dict[str, ServerFacts] = {}
        self._counters: dict[str, TokenCounter] = {}

    @property
    def server(self) -> LlamaServer | ExternalServer:
        """The server of this provider, to show its state."""
        return self._server

    def model(self, name: str) -> Model:
        """Return the facts of a model that are known now, without starting anything."""
        known = self._facts.get(name) or ServerFacts()
        window = known.window_tokens or self._server.window_guess or DEFAULT_WINDOW_TOKENS
        most = min(self._max_output_tokens, max(1, window // 2))
        if self._format:
            window = max(window, self._format.window_tokens)
        price = FREE if isinstance(self._server, LlamaServer) else None
        return Model(self._name, name, window, most, price)

    async def facts(self, name: str) -> Model:
        """Return the facts of a model from its server, starting it if needed; raises ProviderError."""
        await self._ask_facts(name)
        return self.model(name)

    async def count_tokens(self, texts: Sequence[str], model: str = "") -> list[int]:
        """Return the token count of each text by the model's tokenizer; an estimate without it."""
        try:
            facts = await self._ask_facts(model)
            address = await self._server.ready()
        except ProviderError:
            return [estimate_tokens(text) for text in texts]
        counter = self._counters.get(model)
        if counter is None:
            counter = self._counters[model] = TokenCounter(self._server.control, model)
        return await counter.count(address, facts.end_token, texts)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError.

        If the server dies, the ProviderError is retryable, and the next request starts the server again.
        """
        facts = await self._ask_facts(request.model)
        async with self._slot(facts):
            wire = self._wire(await self._server.ready())
            try:
                async with aclosing(self._reply(request, facts, wire)) as items:
                    async for item in items:
                        yield item
            except ProviderError as error:
                raise await self._server.explain(error) from error

    def unenforced(self, schema: dict[str, Any]) -> tuple[str, ...]:
        """Return the parts of a schema that the server cannot enforce, as sentences."""
        return reduce_schema(schema, LLAMA).said_of(self._name)

    async def aclose(self) -> None:
        """Stop the server if Bridle started it, and close the connections."""
        try:
            await self._client.aclose()
        finally:
            await self._server.aclose()

    async def _ask_facts(self, model: str) -> ServerFacts:
        try:
            facts = self._facts[model] = await self._server.facts(model)
        except ConfigError as error:  # invalid options, found at the start of the server
            raise ProviderError(
                f"{self._name}: {error.message}", kind="invalid_request", hint=error.hint
            ) from error
        except ProviderError as error:
            raise await self._server.explain(error) from error
        return facts

    def _slot(self, facts: ServerFacts) -> asyncio.Semaphore:
        if self._free is None:
            self._free = asyncio.Semaphore(self._concurrency or facts.slots)
        return self._free

    def _wire(self, address: ServerAddress) -> OpenAIProvider:
        endpoint = Endpoint(self._name, f"{address.url}/v1/chat/completions", address.headers)
        return OpenAIProvider(endpoint, self._client, params=self._params)

    # ------------------------------------------------------------------ reply

    def _reply(self, request: ModelRequest, facts: ServerFacts, wire: OpenAIProvider) -> Items:
        if request.effort:  # a server reads it only as a variable of the chat template
            template = {"reasoning_effort": request.effort, "enable_thinking": request.effort != "none"}
            params = merge_params({"chat_template_kwargs": template}, request.params)
            request = replace(request, params=params, effort=None)
        if self._format and self._format.takes(request):
            return self._format.stream(request, wire.stream)
        if self._format:
            request = self._format.unserved(request)
        plan = plan_request(
            request, facts, mode=self._tools, tool_role=self._tool_role, weak_below=self._weak_below
        )
        return self._read(plan, wire, request)

    def _read(self, plan: RequestPlan, wire: OpenAIProvider, request: ModelRequest) -> Items:
        match plan.kind:
            case "native":
                return self._read_native(plan, wire)
            case "words":
                return wire.stream(plan.request)
            case "choice":
                return self._read_choice(plan, wire, request)
            case "call":
                return self._read_call(plan, wire, request)
            case "value":
                plans = [plan] if plan.then is None else [plan, plan.then]
                return first_accepted([wire.stream(each.request) for each in plans])

    async def _read_native(self, plan: RequestPlan, wire: OpenAIProvider) -> Items:
        """Hold back text while it may be a printed call; the end of the reply decides."""
        names = {tool.name for tool in plan.request.tools}
        pending: str | None = "" if names else None
        async with aclosing(wire.stream(plan.request)) as items:
            async for item in items:
                if isinstance(item, ModelReply):
                    for last in self._ended_native(item, pending or "", names, plan.request):
                        yield last
                elif pending is not None and isinstance(item, TextDelta):
                    pending += item.text
                    if classify_start(pending) == "prose":
                        yield TextDelta(pending)
                        pending = None
                else:
                    yield item

    def _ended_native(
        self, reply: ModelReply, pending: str, names: set[str], request: ModelRequest
    ) -> list[Delta | ModelReply]:
        printed = parse_printed_call(pending, names) if pending and not reply.message.calls else None
        if printed is None:
            return [TextDelta(pending), reply] if pending else [reply]
        builder = ReplyBuilder(self._name, reply_position(request))
        if reply.message.reasoning:
            builder.reasoning(reply.message.reasoning)
        delta = builder.call(0, name=printed.name, args=printed.args)
        return [delta, builder.finish(reply.stop_reason, reply.usage, reply.model)]

    async def _read_choice(self, plan: RequestPlan, wire: OpenAIProvider, request: ModelRequest) -> Items:
        """Yield text; if it starts a call, request the call again, constrained by the tools' schema."""
        pending: str | None = ""
        async with aclosing(wire.stream(plan.request)) as items:
            async for item in items:
                if pending is None or not isinstance(item, TextDelta):
                    if pending and isinstance(item, ModelReply):
                        yield TextDelta(pending)
                    yield item
                    continue
                pending += item.text
                verdict = classify_start(pending)
                if verdict == "call":
                    break
                if verdict == "prose":
                    yield TextDelta(pending)
                    pending = None
            else:
                return
        if plan.then:
            async with aclosing(self._read_call(plan.then, wire, request)) as items:
                async for item in items:
                    yield item

    async def _read_call(self, plan: RequestPlan, wire: OpenAIProvider, request: ModelRequest) -> Items:
        builder = ReplyBuilder(self._name, reply_position(request))
        written = CallParser(builder)
        async with aclosing(wire.stream(plan.request)) as items:
            async for item in items:
                if isinstance(item, TextDelta):
                    for delta in written.feed(item.text):
                        yield delta
                elif isinstance(item, ReasoningDelta):
                    yield builder.reasoning(item.text)
                elif isinstance(item, ModelReply):
                    for delta in written.finish():
                        yield delta
                    yield builder.finish(item.stop_reason, item.usage, item.model)
