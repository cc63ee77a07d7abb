"""What one run works with: its model, rules, tools and limits, resolved when it starts."""

from collections.abc import Callable
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
from bridle.core.ports import Provider
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

    def fit(self, messages: list[Counted], first_of_run: int) -> Fitted:
        """Choose what the next turn sends; raises ProviderError when it cannot fit."""
        return fit(messages[:first_of_run], messages[first_of_run:], self.window)


class Setup(Struct, frozen=True):
    """A run's collaborators."""

    agent: Agent
    backends: tuple[Backend, ...]
    """The model of the run, then those to fall back on."""
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
    fixed = Window(
        tokens=0,
        system=estimate_tokens(agent.prompt),
        tools=estimate_tokens(encode(dispatcher.specs).decode()) if dispatcher.specs else 0,
        reserve=0,
    )
    refs = (options.model or session.known.model or agent.model, *agent.fallbacks)
    return Setup(
        agent=agent,
        backends=tuple([await _backend(engine, ref, fixed, most_output) for ref in refs]),
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


async def _backend(engine: Engine, ref: str, fixed: Window, most_output: int | None) -> Backend:
    provider, model = await engine.models.resolve(ref)
    if most_output is not None:
        model = replace(model, max_output_tokens=min(most_output, model.max_output_tokens))
    reserve = answer_reserve(model.window_tokens, model.max_output_tokens)
    return Backend(provider, model, replace(fixed, tokens=model.window_tokens, reserve=reserve))


def _rules(options: RunOptions) -> tuple[Rule, ...]:
    return (
        *(parse_rule("allow", text) for text in options.allow),
        *(parse_rule("ask", text) for text in options.ask),
        *(parse_rule("deny", text) for text in options.deny),
    )
