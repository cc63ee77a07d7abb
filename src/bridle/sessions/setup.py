"""What one run works with: its model, rules, tools and limits, resolved when it starts."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.budget import Limits
from bridle.core.context import Counted, Fitted, Window, answer_reserve, estimate_tokens, fit
from bridle.core.ids import CallId, SessionId
from bridle.core.loop import LoopPolicy
from bridle.core.model import Model, ModelRequest
from bridle.core.permission import Mode, Rule, parse_rule
from bridle.core.ports import Provider, TokenCounter
from bridle.core.protocol import RunOptions
from bridle.core.session import Session
from bridle.sessions.dispatch import Dispatcher
from bridle.sessions.engine import Engine
from bridle.tools.toolbox import Toolbox

DEFAULT_MAX_TURNS = 100


class Backend(Struct, frozen=True):
    """One model a run can use, and how much fits into it."""

    provider: Provider
    model: Model
    window: Window

    async def count(self, *texts: str) -> list[int]:
        """Return the tokens of each text, by the model's own tokenizer where there is one."""
        return await _count(self.provider, texts)

    def fit(self, messages: list[Counted], first_of_run: int) -> Fitted:
        """Choose what the next turn sends; raises ProviderError when it cannot fit."""
        return fit(messages[:first_of_run], messages[first_of_run:], self.window)


class Setup(Struct, frozen=True):
    """A run's collaborators."""

    agent: Agent
    backend: Backend
    """The model the run begins with."""
    find_backend: Callable[[str], Awaitable[Backend]]
    """Resolves one of the agent's fallbacks when it is needed; raises BridleError."""
    mode: Mode
    rules: tuple[Rule, ...]
    limits: Limits
    policy: LoopPolicy
    dispatcher: Dispatcher
    params: dict[str, Any]

    def rules_with(self, granted: tuple[str, ...]) -> tuple[Rule, ...]:
        """Return the standing rules and those the user granted during the session."""
        return (*self.rules, *(parse_rule("allow", text) for text in granted))

    def request(self, backend: Backend, fitted: Fitted, max_output_tokens: int) -> ModelRequest:
        """Build the request of one turn."""
        return ModelRequest(
            model=backend.model.name,
            system=self.agent.prompt,
            messages=fitted.messages,
            tools=self.dispatcher.specs,
            max_output_tokens=max_output_tokens,
            params=self.params,
        )


async def set_up(
    engine: Engine,
    session_id: SessionId,
    session: Session,
    options: RunOptions,
    show: Callable[[CallId, str], None],
) -> Setup:
    """Resolve an agent, its models and its tools; raises ConfigError or ProviderError."""
    created = session.known.created
    agent = engine.load_agent(created.agent, created.cwd)
    limits = options.limits.over(agent.limits)
    params = {**agent.params, **options.params}
    most_output = params.pop("max_tokens", None)  # every wire has its own word for it
    dispatcher = Dispatcher(
        Toolbox([tool for tool in engine.tools if agent.tools is None or tool.spec.name in agent.tools]),
        session=session_id,
        cwd=created.cwd,
        timeout_s=engine.tool_timeout_s,
        max_output_bytes=engine.max_output_bytes,
        show_output=show,
    )
    tools = encode(dispatcher.specs).decode() if dispatcher.specs else ""

    async def find_backend(ref: str) -> Backend:
        return await _backend(engine, ref, (agent.prompt, tools), most_output)

    return Setup(
        agent=agent,
        backend=await find_backend(options.model or session.known.model or agent.model),
        find_backend=find_backend,
        mode=options.mode or agent.mode,
        rules=(*agent.rules, *_rules(options)),
        limits=limits,
        policy=LoopPolicy(
            DEFAULT_MAX_TURNS if limits.turns is None else limits.turns,
            engine.max_parallel,
            len(agent.fallbacks),
            engine.retry,
        ),
        dispatcher=dispatcher,
        params=params,
    )


async def _backend(engine: Engine, ref: str, fixed: tuple[str, str], most_output: int | None) -> Backend:
    provider, model = await engine.models.resolve(ref)
    if most_output is not None:
        model = replace(model, max_output_tokens=min(most_output, model.max_output_tokens))
    reserve = answer_reserve(model.window_tokens, model.max_output_tokens)
    system, tools = await _count(provider, fixed)
    return Backend(provider, model, Window(model.window_tokens, system, tools, reserve))


async def _count(provider: Provider, texts: Sequence[str]) -> list[int]:
    if isinstance(provider, TokenCounter):
        return await provider.count_tokens(texts)
    return [estimate_tokens(text) for text in texts]


def _rules(options: RunOptions) -> tuple[Rule, ...]:
    return (
        *(parse_rule("allow", text) for text in options.allow),
        *(parse_rule("ask", text) for text in options.ask),
        *(parse_rule("deny", text) for text in options.deny),
    )
