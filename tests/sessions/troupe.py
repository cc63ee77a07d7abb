"""A setup for plays with several agents: the scripted model answers by prompt."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.ids import CallId, RunId, SessionId, uuid7
from bridle.core.messages import ToolCall, user_message
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.core.permission import Rule
from bridle.core.ports import Claims, Provider, Tool
from bridle.core.protocol import ChildEnded, Delta, Event, Prompt, Record, RunEnded, RunOptions, ToolFinished
from bridle.core.queries import Records
from bridle.core.sub_agent import child_session_id
from bridle.sessions.agent_tree import ChildPolicy
from bridle.sessions.engine import Engine
from bridle.sessions.service import SessionService
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.tools.agents import agent_tools
from tests.sessions.stage import NO_WAIT, CountingChance, FixedClock

Line = ModelReply | Callable[[], Awaitable[ModelReply]]


class Parts:
    """A provider with a part for each prompt: the newest known prompt of a request says whose turn it is."""

    def __init__(self, parts: Mapping[str, Sequence[Line]]) -> None:
        self._parts = parts
        self.requests: dict[str, list[ModelRequest]] = {prompt: [] for prompt in parts}
        self._came = asyncio.Condition()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        prompts = [place for place, one in enumerate(request.messages) if one.text in self._parts]
        prompt = request.messages[prompts[-1]].text
        async with self._came:
            self.requests[prompt].append(request)
            self._came.notify_all()
        said = sum(message.role == "assistant" for message in request.messages[prompts[-1] :])
        line = self._parts[prompt][said]
        yield line if isinstance(line, ModelReply) else await line()

    async def heard(self, prompt: str, count: int) -> None:
        """Wait until so many requests for a prompt have come."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.requests[prompt]) >= count)

    async def aclose(self) -> None:
        pass


class OneModel:
    """Resolves every name to one provider, and remembers the names."""

    def __init__(self, provider: Provider, price: Price | None = None) -> None:
        self._provider = provider
        self._price = price
        self.asked: list[str] = []

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        self.asked.append(ref)
        vendor, _, name = ref.partition("/")
        return self._provider, Model(vendor, name, 100_000, max_output_tokens=100, price=self._price)

    async def aclose(self) -> None:
        pass


class Troupe:
    """One service, whose main session is called `main`, with the tools of sub-agents."""

    def __init__(
        self,
        parts: Mapping[str, Sequence[Line]],
        *,
        tools: Sequence[Tool] = (),
        policy: ChildPolicy | None = None,
        agents: Sequence[Agent] = (),
        rules: Sequence[Rule] = (),
        cwd: str = "/",
        price: Price | None = None,
        store: EphemeralStore | None = None,
        claims: Claims | None = None,
        chance: int = 0,
        load_agent: Callable[[str, str], Agent] | None = None,
        **engine: Any,
    ) -> None:
        self.clock = FixedClock()
        self.store = store or EphemeralStore(self.clock)
        self.model = Parts(parts)
        self.models = OneModel(self.model, price)
        usual = Agent("default", "You are a play.", "scripted/play", rules=tuple(rules))
        known = {agent.name: agent for agent in (usual, *agents)}
        self.service = SessionService(
            Engine(
                store=self.store,
                claims=claims or LocalClaims(),
                models=self.models,
                load_agent=load_agent or (lambda name, cwd: known[name]),
                tools=(*tools, *agent_tools()),
                clock=self.clock,
                chance=CountingChance(chance),
                retry=NO_WAIT,
                children=policy or ChildPolicy(),
                **engine,
            )
        )
        self.main = SessionId("main")
        self._cwd = cwd

    async def __aenter__(self) -> "Troupe":
        if not await self.store.read(self.main, limit=1):
            await self.service.create(cwd=self._cwd, session_id=self.main)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.service.aclose()

    async def prompt(self, text: str, **options: Any) -> RunId:
        """Start a run of the main session."""
        command = Prompt(user_message(text), RunOptions(**options))
        receipt = await self.service.submit(self.main, command)
        assert receipt.run_id is not None
        return receipt.run_id

    async def run(self, text: str, **options: Any) -> RunEnded:
        """Start a run of the main session and wait for its end."""
        return await self.service.wait(self.main, await self.prompt(text, **options))

    async def log(self, session: SessionId | None = None) -> list[Event]:
        """Return the events of a session without its creation, durations set to 0."""
        records = await self.service.ask(Records(session or self.main))
        return [_timeless(record.event) for record in records][1:]

    async def kinds(self, session: SessionId | None = None) -> list[str]:
        """Return the types of the events of a session."""
        return [type(event).__name__ for event in await self.log(session)]

    async def all_of(self, kind: type[Event], session: SessionId | None = None) -> list[Any]:
        """Return the events of one type."""
        return [event for event in await self.log(session) if isinstance(event, kind)]

    async def until(self, kind: type[Event], count: int = 1, session: SessionId | None = None) -> Any:
        """Wait until a log holds so many events of a type; return the last of them."""
        async for item in self.service.watch(session or self.main):
            if isinstance(item, Record) and isinstance(item.event, kind):
                count -= 1
                if not count:
                    return item.event
        raise AssertionError("the watch ended")

    async def outputs(self, session: SessionId | None = None) -> list[str]:
        """Return the results of a session's calls."""
        return [event.result.output for event in await self.all_of(ToolFinished, session)]


def _timeless(event: Event) -> Event:
    return replace(event, duration_ms=0) if isinstance(event, ChildEnded | ToolFinished) else event


class Gate:
    """Counts who waits at it, and lets all continue at once."""

    def __init__(self) -> None:
        self.there = 0
        self.most = 0
        self._open = asyncio.Event()
        self._came = asyncio.Condition()

    async def passing(self) -> None:
        """Wait until it opens."""
        self.there += 1
        self.most = max(self.most, self.there)
        async with self._came:
            self._came.notify_all()
        try:
            await self._open.wait()
        finally:
            self.there -= 1

    async def crowd(self, count: int) -> None:
        """Wait until so many wait."""
        async with self._came:
            await self._came.wait_for(lambda: self.there >= count)

    def open(self) -> None:
        self._open.set()


def child_of(call_id: str, *, run: int = 1) -> SessionId:
    """Return the session of the child that a call of the main session starts in a run, counted from 1."""
    run_id = RunId(uuid7(1_000, CountingChance(run - 1).entropy(10)))
    return child_session_id(SessionId("main"), 1_000, run_id, CallId(call_id), 0)


def behind(gate: Gate, reply: ModelReply) -> Line:
    """Make a reply that comes when a gate opens."""

    async def answer() -> ModelReply:
        await gate.passing()
        return reply

    return answer


def spawn(call_id: str, prompt: str, **args: Any) -> ToolCall:
    """Make a call of agent_spawn."""
    return ToolCall(CallId(call_id), "agent_spawn", {"prompt": prompt, **args})


def fork(call_id: str, prompt: str, **args: Any) -> ToolCall:
    """Make a call of agent_fork."""
    return ToolCall(CallId(call_id), "agent_fork", {"prompt": prompt, **args})


def use(call_id: str, tool: str, **args: Any) -> ToolCall:
    """Make a call of any tool."""
    return ToolCall(CallId(call_id), tool, args)
