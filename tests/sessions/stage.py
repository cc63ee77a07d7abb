"""A setup for plays: a service with a scripted model, small tools and a readable clock."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from bridle.config.keys import ConfigFile
from bridle.core.agent import Agent
from bridle.core.context import CompactionPolicy
from bridle.core.errors import ProviderError, ToolError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Part, Text, ToolCall, Usage, user_message
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.permission import Rule
from bridle.core.ports import Blobs, Claims, Models, Provider, Revisions, Store, Tool, ToolContext, ToolOutput
from bridle.core.protocol import (
    Command,
    Decide,
    Delta,
    Event,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    TextDelta,
)
from bridle.core.queries import Records
from bridle.core.retry import RetryPolicy
from bridle.core.tool import Access, AccessClass, Subject, ToolSpec
from bridle.sessions.engine import Engine
from bridle.sessions.service import SessionService
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore

USAGE = Usage(input=10, output=5)
DEFAULTS = ConfigFile()
NO_WAIT = RetryPolicy(max_retries=2, initial_s=0.0, max_s=0.0)


class FixedClock:
    """Stands still, so that whole logs can be compared."""

    def __init__(self, now_ms: int = 1_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


class CountingChance:
    """Hands out 1, 2, 3… so that ids are known beforehand."""

    def __init__(self, start: int = 0) -> None:
        self._count = start

    def entropy(self, size: int) -> bytes:
        self._count += 1
        return self._count.to_bytes(size, "big")

    def jitter(self) -> float:
        return 1.0


class SmallTool:
    """A tool with one text argument, whose work is a function given by the test."""

    def __init__(
        self,
        name: str,
        work: Callable[[str], Any],
        *,
        access: AccessClass = "read",
    ) -> None:
        self.calls: list[str] = []
        self._access: AccessClass = access
        self._work = work
        self.spec = ToolSpec(
            name,
            f"The {name} tool.",
            {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"]},
        )

    @property
    def parallel(self) -> bool:
        return self._access == "read"

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        return Access(self.spec.name, self._access, (Subject("path", args["on"]),))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        return f"would {self.spec.name} {args['on']}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        self.calls.append(args["on"])
        result = self._work(args["on"])
        if asyncio.iscoroutine(result):
            result = await result
        if isinstance(result, Exception):
            raise ToolError(str(result))
        return ToolOutput(result)


class Cast:
    """Resolves `scripted/play` to the first provider, `scripted/understudy` to the second."""

    def __init__(self, *providers: Provider, window_tokens: int, **facts: Any) -> None:
        self.providers = dict(zip(("play", "understudy"), providers, strict=False))
        self._facts = {"window_tokens": window_tokens, "max_output_tokens": 100, **facts}

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        name = ref.removeprefix("scripted/")
        return self.providers[name], Model("scripted", name, **self._facts)

    async def aclose(self) -> None:
        for provider in self.providers.values():
            await provider.aclose()


class Stage:
    """One service with one session, and shorthands to drive it."""

    def __init__(
        self,
        provider: Provider,
        *,
        understudy: Provider | None = None,
        titles_by: Literal["", "scripted/understudy"] = "",
        tools: Sequence[Tool] = (),
        store: Store | None = None,
        claims: Claims | None = None,
        rules: Sequence[Rule] = (),
        notes: tuple[str, ...] = (),
        window_tokens: int = 10_000,
        facts: dict[str, Any] = {},  # noqa: B006  nothing changes it
        retry: RetryPolicy = NO_WAIT,
        clock: FixedClock | None = None,
        models: Models | None = None,
        cwd: str = "/",
        revisions: Revisions | None = None,
        blobs: Blobs | None = None,
        remember: Callable[[Sequence[str]], None] = lambda rules: None,
        mask: Callable[[str], str] = str,
        tool_timeout_s: float = 600.0,
        compaction: CompactionPolicy = DEFAULTS.compaction,
        settings: ConfigFile = DEFAULTS,
        **engine: Any,
    ) -> None:
        self.clock = clock or FixedClock()
        self.store = store or EphemeralStore(self.clock)
        providers = (provider, understudy) if understudy is not None else (provider,)
        agent = Agent(
            "default",
            "You are a play.",
            "scripted/play",
            small_model=titles_by,
            fallbacks=("scripted/understudy",) if understudy is not None and not titles_by else (),
            rules=tuple(rules),
            notes=notes,
        )
        self.service = SessionService(
            Engine(
                store=self.store,
                claims=claims or LocalClaims(),
                models=models or Cast(*providers, window_tokens=window_tokens, **facts),
                load_agent=lambda name, cwd: agent,
                tools=tools,
                clock=self.clock,
                chance=CountingChance(0 if store is None else 1_000),
                retry=retry,
                revisions=revisions,
                blobs=blobs,
                remember=remember,
                mask=mask,
                tool_timeout_s=tool_timeout_s,
                settings=replace(settings, compaction=compaction),
                **engine,
            )
        )
        self.session = SessionId("play")
        self._cwd = cwd

    async def __aenter__(self) -> "Stage":
        if not await self.store.read(self.session, limit=1):
            await self.service.create(cwd=self._cwd, session_id=self.session)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.service.aclose()

    async def prompt(self, text: str, **options: Any) -> RunId:
        """Start a run."""
        return await self.submit_run(Prompt(user_message(text), RunOptions(**options)))

    async def submit_run(self, command: Command) -> RunId:
        receipt = await self.service.submit(self.session, command)
        assert receipt.run_id is not None
        return receipt.run_id

    async def run(self, text: str, **options: Any) -> RunEnded:
        """Start a run and wait for its end."""
        return await self.service.wait(self.session, await self.prompt(text, **options))

    async def decide(self, call_id: str, answer: Any, reason: str = "") -> None:
        await self.service.submit(self.session, Decide(CallId(call_id), answer, reason))

    async def until(self, kind: type[Event], count: int = 1) -> Any:
        """Wait until the log holds `count` events of a kind; return the last of them."""
        async for item in self.service.watch(self.session):
            if isinstance(item, Record) and isinstance(item.event, kind):
                count -= 1
                if not count:
                    return item.event
        raise AssertionError("the watch ended")

    async def log(self) -> list[Event]:
        """Return the stored events after the session's creation."""
        return [record.event for record in await self.service.ask(Records(self.session))][1:]

    async def kinds(self) -> list[str]:
        """Return the types of the stored events after the session's creation."""
        return [type(event).__name__ for event in await self.log()]


class Play:
    """A provider that answers with given replies; the n-th answers a request with n assistant messages.

    A list stands for several tries of one reply; an error in it fails that try, after half a sentence
    unless the model is `mute`. `hold` makes every stream wait, after its text, until the test sets `go`.
    """

    def __init__(
        self, *replies: ModelReply | list[ModelReply | ProviderError], hold: bool = False, mute: bool = False
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.streaming = asyncio.Event()
        self.go = asyncio.Event()
        self._hold = hold
        self._mute = mute
        self._replies = [reply if isinstance(reply, list) else [reply] for reply in replies]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        self.requests.append(request)
        tries = self._replies[sum(message.role == "assistant" for message in request.messages)]
        reply = tries.pop(0) if len(tries) > 1 else tries[0]
        if isinstance(reply, ProviderError):
            if not self._mute:
                yield TextDelta("half of ")
            raise reply
        if reply.message.text:
            yield TextDelta(reply.message.text)
        self.streaming.set()
        if self._hold:
            await self.go.wait()
        yield reply

    async def aclose(self) -> None:
        pass


def says(text: str, *calls: ToolCall, usage: Usage = USAGE) -> ModelReply:
    """Make a reply of words and calls."""
    parts: tuple[Part, ...] = (*((Text(text),) if text else ()), *calls)
    return ModelReply(Message("assistant", parts), "tool_use" if calls else "end_turn", usage)


def call(call_id: str, name: str, on: str = "a") -> ToolCall:
    """Make a call of a SmallTool."""
    return ToolCall(CallId(call_id), name, {"on": on})
