"""The setup of a run: its model, rules, tools and limits, resolved when it starts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from bridle.config.system_prompt import insert_text
from bridle.core.agent import Agent
from bridle.core.budget import Budget, Limits
from bridle.core.codeact import PYTHON, as_text
from bridle.core.context import Counted, Fitted, Window, answer_reserve, estimate_tokens, fit
from bridle.core.deferred_tools import is_rarely_used, wrap_calls
from bridle.core.errors import ConfigError, UsageError
from bridle.core.ids import SessionId
from bridle.core.loop import LoopPolicy
from bridle.core.mcp_servers import MCP_PREFIX, ToolOffer
from bridle.core.messages import replace_media_with_text
from bridle.core.model import Effort, Model, ModelRequest, merge_params
from bridle.core.permission import Mode, Rule, parse_rule
from bridle.core.ports import (
    ConditionalTool,
    FileTracker,
    Hooks,
    Provider,
    TokenCounter,
    Tool,
    implements,
)
from bridle.core.protocol import RunOptions
from bridle.core.session import RunState, Session
from bridle.core.tenancy import Bounds
from bridle.core.tool import ToolSpec, is_among
from bridle.kernel.tool_functions import code_prompt
from bridle.sessions.dispatch import Dispatcher
from bridle.sessions.engine import Engine
from bridle.sessions.structured_output import Extraction
from bridle.tools.tool_search import MAX_LISTED, ToolCaller, ToolSearch
from bridle.tools.toolbox import Toolbox

# ---------------------------------------------------------------------------- toolset
# Chooses a run's tools, and which of them its requests show.
#
# ```
# named by the agent or the run   shown
# often needed                    shown while the window has room; the rest is found by name
# seldom needed                   found by name: `tool_call` lists them
# of MCP servers                  shown while they are few, otherwise found by `tool_search`
# ```
#
# What is shown depends on the settings, the model and the servers, never on what was said, done or allowed:
# so all requests of a session begin with the same bytes.


TOOL_SHARE = 4  # the tools of an agent that names none take at most 1/4 of the window
CALLER_SHARE = 2  # and the list of those not shown takes at most 1/2 of that


class ToolNeeds(Struct, frozen=True):
    """The inputs that decide a run's tools."""

    options: RunOptions
    chosen: tuple[str, ...] | None
    """The tools that the agent names."""
    cwd: str
    window_tokens: int
    max_server_tokens: int
    """How many tokens the servers' tools may take before they are found by search."""
    code: bool = False
    embedded: frozenset[str] = frozenset()
    """Names of tools of the embedding program."""

    def usable(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools that are useful in the run's folder."""
        return [tool for tool in tools if not implements(tool, ConditionalTool) or tool.is_useful(self.cwd)]

    def allows(self, tool: Tool) -> bool:
        """Return whether the run may use a tool that no client provides."""
        name, options = tool.spec.name, self.options
        is_on = options.builtins is None or is_among(name, options.builtins)
        is_on = is_on and not is_among(name, options.without_builtins)
        return (is_on or name in self.embedded) and self.allows_of_client(tool)

    def allows_of_client(self, tool: Tool) -> bool:
        """Return whether the run may use a tool of a client: the session's choice is about the others."""
        name, options = tool.spec.name, self.options
        is_wanted = options.tools is None or is_among(name, options.tools)
        return is_wanted and not is_among(name, options.without_tools)


class Toolset(Struct, frozen=True):
    """A run's tools, and the names of those that the model must find first."""

    tools: tuple[Tool, ...]
    deferred: frozenset[str]


def choose_tools(
    own: Sequence[Tool], client_tools: Sequence[Tool], server_tools: Sequence[Tool], wants: ToolNeeds
) -> Toolset:
    """Combine Bridle's own tools, most useful first, the client's tools and the servers' tools.

    Raises ConfigError when code mode has no Python tool.
    """
    client_tools = [tool for tool in wants.usable(client_tools) if wants.allows_of_client(tool)]
    replaced = {tool.spec.name for tool in client_tools}
    usable = [tool for tool in wants.usable(own) if wants.allows(tool) and tool.spec.name not in replaced]
    shown, found = _split_shown_and_found(usable, wants)
    server_tools = [tool for tool in server_tools if _is_chosen(tool, wants.chosen) and wants.allows(tool)]
    many = [tool.spec for tool in server_tools if tool.spec.name.startswith(MCP_PREFIX)]
    if _tokens(many) <= wants.max_server_tokens:
        many = []
    specs = [tool.spec for tool in found]
    return Toolset(
        (*shown, *found, *client_tools, *server_tools, *_finders(specs, many, code=wants.code)),
        frozenset(spec.name for spec in (*specs, *many)),
    )


def _finders(found: Sequence[ToolSpec], many: Sequence[ToolSpec], *, code: bool) -> list[Tool]:
    """Return the tools that find those not shown; in code mode Bridle's own are Python functions already."""
    needs_search = bool(many) or (len(found) > MAX_LISTED and not code)
    finders: list[Tool] = [ToolSearch([*found, *many])] if needs_search else []
    return [*finders, ToolCaller(found)] if needs_search or (found and not code) else []


def _split_shown_and_found(tools: Sequence[Tool], wants: ToolNeeds) -> tuple[list[Tool], list[Tool]]:
    """Return the tools that requests show, and those that the model must find."""
    needed = [tool for tool in tools if wants.code and tool.spec.name == PYTHON]
    if wants.code and not needed:
        raise ConfigError(f"code mode needs the tool {PYTHON}, which is not available")
    if wants.chosen is not None:
        return [tool for tool in tools if _is_chosen(tool, wants.chosen) or tool in needed], []
    named = (*(wants.options.tools or ()), *(wants.options.builtins or ()))
    first = [tool for tool in tools if not is_rarely_used(tool) or tool.spec.name in named]
    found = [tool for tool in tools if tool not in first]
    room = wants.window_tokens // TOOL_SHARE
    naming = _names(found)
    can_name = naming <= room // CALLER_SHARE
    left = room - naming if can_name else room
    shown: list[Tool] = []
    for tool in first:
        left -= _tokens([tool.spec])
        if left >= 0 or not shown or tool in needed:
            shown.append(tool)
    return shown, [tool for tool in tools if tool not in shown] if can_name else []


def _is_chosen(tool: Tool, chosen: tuple[str, ...] | None) -> bool:
    return chosen is None or is_among(tool.spec.name, chosen)


def _names(tools: Sequence[Tool]) -> int:
    """Return the tokens needed to list tools by name."""
    return _tokens([ToolCaller([tool.spec for tool in tools]).spec]) if tools else 0


def _tokens(specs: Iterable[ToolSpec]) -> int:
    return sum(estimate_tokens(encode(spec).decode()) for spec in specs)


# ---------------------------------------------------------------------------- setup


DEFAULT_MAX_TURNS = 100
PATIENCE_S = 1.0  # how long to wait before showing a notice


class Backend(Struct, frozen=True):
    """A model that a run can use, and how much fits into its window."""

    provider: Provider
    model: Model
    window: Window

    async def count(self, *texts: str) -> list[int]:
        """Return each text's token count, by the model's own tokenizer if it has one."""
        return await _count(self.provider, texts)

    def fit(self, messages: list[Counted], first_of_run: int) -> Fitted:
        """Choose the messages that the next turn sends; raises ProviderError if they cannot fit."""
        return fit(messages[:first_of_run], messages[first_of_run:], self.window)


class Setup(Struct, frozen=True):
    """Everything a run works with."""

    agent: Agent
    backend: Backend
    """The model the run starts with."""
    find_backend: Callable[[str], Awaitable[Backend]]
    """Resolves a fallback model when it is needed; raises BridleError."""
    mode: Mode
    rules: tuple[Rule, ...]
    limits: Limits
    policy: LoopPolicy
    dispatcher: Dispatcher
    params: dict[str, Any]
    effort: Effort | None
    """How much the model should reason, if the run or its session says so."""
    cwd: str
    keeper: FileTracker | None
    """Stores earlier versions of the session's files."""
    hooks: Hooks
    """The user's hooks."""
    code: bool = False
    """True if the model writes Python that calls the tools."""
    env: dict[str, str] = {}
    """Extra environment variables for programs."""
    extraction: Extraction | None = None
    """Extracts the structured value that the run ends with."""
    bounds: Bounds | None = None
    """The tenant's bounds, which a client's rules and grants cannot exceed."""
    notes: tuple[str, ...] = ()
    """Notices to show before the run starts."""

    def rules_with(self, granted: tuple[str, ...]) -> tuple[Rule, ...]:
        """Return the configured rules and those the user granted during the session."""
        if not granted:
            return self.rules
        return (*self.rules, *_within_bounds(self.bounds, (parse_rule("allow", text) for text in granted)))

    def budget_left(self, run: RunState, engine: Engine) -> Budget:
        """Return the remaining budget of a run; a resumed one has used some of it already."""
        elapsed_ms = engine.clock.now_ms() - run.started_at
        started_s = engine.clock.monotonic_s() - max(0, elapsed_ms) / 1000
        return Budget(self.limits, started_s, run.spent, warn_at=engine.settings.warn_at)

    def request(
        self, backend: Backend, fitted: Fitted, max_output_tokens: int, *, extracting: bool = False
    ) -> ModelRequest:
        """Build the request of one turn; `extracting` asks only for a value that fits the schema."""
        messages = as_text(fitted.messages) if self.code else fitted.messages
        if not backend.model.images:
            messages = replace_media_with_text(messages)
        request = ModelRequest(
            model=backend.model.name,
            system=self.agent.prompt,
            messages=wrap_calls(messages, self.dispatcher.deferred),
            tools=() if self.code else self.dispatcher.specs,
            max_output_tokens=max_output_tokens,
            params=merge_params(backend.model.params, self.params),
            effort=self._effort(backend.model),
        )
        if not extracting or self.extraction is None:
            return request
        params = {**request.params, **self.extraction.params}
        return replace(request, tools=(), params=params, output_schema=self.extraction.schema)

    def _effort(self, model: Model) -> Effort | None:
        return None if model.reasoning is False else self.effort or model.effort or self.agent.effort


def _ignore_notice(text: str) -> None:
    """Do nothing: the default for notices."""


async def set_up(
    engine: Engine,
    session_id: SessionId,
    session: Session,
    options: RunOptions,
    hooks: Hooks | None = None,
    tell: Callable[[str], None] = _ignore_notice,
    warn: Callable[[str], None] = _ignore_notice,
) -> Setup:
    """Resolve an agent, its models and its tools; raises ConfigError, UsageError or ProviderError.

    `hooks` are the parent run's hooks, for a sub-agent. `tell` is called with what the setup waits for,
    `warn` at once with settings of the agent that have no effect.
    """
    created = session.known.created
    cwd = options.cwd or created.cwd
    agent = engine.load_agent(options.agent or created.agent, cwd)
    for note in agent.notes:
        warn(note)
    limits = options.limits.over(agent.limits)
    limits.check()
    params = merge_params(agent.params, options.params)
    # Every wire format names it differently.
    most_output = _most_output(params.pop("max_tokens", engine.settings.max_output_tokens))
    ref = options.model or session.known.model or agent.model
    provider, model = await engine.models.resolve(ref)
    if options.effort and model.reasoning is False:
        warn(f"{model.ref} does not reason: the effort has no effect")
    code = agent.code if options.code is None else options.code
    bounds = None if engine.workplaces is None else await engine.workplaces.bounds(session_id)
    offer = await _offer(engine, session_id, cwd, tell)
    max_server_tokens = int(model.window_tokens * engine.settings.mcp.share)
    wants = ToolNeeds(
        options, agent.tools, cwd, model.window_tokens, max_server_tokens, code, engine.embedded
    )
    dispatcher = _dispatcher(engine, session_id, offer, wants)
    agent = replace(agent, prompt=_prompt(agent, options, offer, dispatcher if code else None))
    tools = encode(dispatcher.specs).decode() if dispatcher.specs and not code else ""

    async def find_backend(ref: str) -> Backend:
        return await _backend(*await engine.models.resolve(ref), (agent.prompt, tools), most_output)

    return Setup(
        agent=agent,
        backend=await _backend(provider, model, (agent.prompt, tools), most_output),
        find_backend=find_backend,
        mode=options.mode or agent.mode,
        rules=(*agent.rules, *_within_bounds(bounds, _rules(options))),
        bounds=bounds,
        limits=limits,
        policy=_policy(engine, agent, limits),
        dispatcher=dispatcher,
        params=params,
        effort=options.effort,
        cwd=cwd,
        keeper=None if engine.revisions is None else engine.revisions.keeper(session_id, created.cwd),
        hooks=engine.open_hooks(cwd, options.hooks) if hooks is None else hooks,
        code=code,
        env=options.env,
        extraction=_extraction(options, provider),
        notes=offer.notes,
    )


def _dispatcher(engine: Engine, session: SessionId, offer: ToolOffer, wants: ToolNeeds) -> Dispatcher:
    chosen = choose_tools(engine.tools, engine.client_tools.tools(session), offer.tools, wants)
    return Dispatcher(
        Toolbox(chosen.tools, chosen.deferred),
        timeout_s=engine.tool_timeout_s,
        max_output_bytes=engine.settings.tools.max_output_bytes,
        blobs=engine.blobs,
        mask=engine.mask,
        find_trap=engine.find_trap,
    )


def _prompt(agent: Agent, options: RunOptions, offer: ToolOffer, of_code: Dispatcher | None) -> str:
    """Return the system prompt, the agent's or the one given, with additions from servers and code mode."""
    prompt = agent.prompt if options.system is None else options.system
    if offer.instructions and options.system is None:
        prompt = insert_text(prompt, offer.instructions)
    if of_code is None:
        return prompt
    more = [spec for spec in of_code.functions if spec.name in of_code.deferred]
    return insert_text(prompt, code_prompt(of_code.specs, more))


def _policy(engine: Engine, agent: Agent, limits: Limits) -> LoopPolicy:
    turns = DEFAULT_MAX_TURNS if limits.turns is None else limits.turns
    return LoopPolicy(turns, engine.settings.tools.max_parallel, len(agent.fallbacks), engine.retry)


def _extraction(options: RunOptions, provider: Provider) -> Extraction | None:
    if options.output_schema is None:
        return None
    return Extraction(options.output_schema, options.output_retries, provider)


async def _offer(engine: Engine, session: SessionId, cwd: str, tell: Callable[[str], None]) -> ToolOffer:
    if engine.servers is None:
        return ToolOffer()
    patience = asyncio.get_running_loop().call_later(PATIENCE_S, tell, "waiting for MCP servers to start")
    try:
        return await engine.servers.offer(session, cwd)
    finally:
        patience.cancel()


def _most_output(given: object) -> int | None:
    """Return the maximum answer length that a run or an agent sets; raises UsageError."""
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise UsageError(f"max_tokens: {str(given)[:80]!r} is not a valid answer length")


async def _backend(
    provider: Provider, model: Model, fixed: tuple[str, str], most_output: int | None
) -> Backend:
    if most_output is not None:
        model = replace(model, max_output_tokens=min(most_output, model.max_output_tokens))
    reserve = answer_reserve(model.window_tokens, model.max_output_tokens)
    system, tools = await _count(provider, fixed)
    return Backend(provider, model, Window(model.window_tokens, system, tools, reserve))


async def _count(provider: Provider, texts: Sequence[str]) -> list[int]:
    if implements(provider, TokenCounter):
        return await provider.count_tokens(texts)
    return [estimate_tokens(text) for text in texts]


def _within_bounds(bounds: Bounds | None, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return only the rules that stay within the tenant's bounds."""
    return tuple(rule for rule in rules if bounds is None or bounds.hold(rule))


def _rules(options: RunOptions) -> tuple[Rule, ...]:
    return (
        *(parse_rule("allow", text) for text in options.allow),
        *(parse_rule("ask", text) for text in options.ask),
        *(parse_rule("deny", text) for text in options.deny),
    )
