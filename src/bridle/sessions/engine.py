"""The engine: the ports and machine-wide settings that every run uses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from bridle.config.keys import ConfigFile
from bridle.core.agent import Agent
from bridle.core.hook import HookInvocation, HookOverride, HookPoint
from bridle.core.ids import RunId, SessionId, uuid7
from bridle.core.language_servers import LanguageServers
from bridle.core.mcp_servers import ToolServers
from bridle.core.ports import (
    Blobs,
    Claims,
    Clock,
    Compactor,
    DurableSteps,
    FolderPolicy,
    HookEvent,
    HookRound,
    Hooks,
    Memory,
    Models,
    Observer,
    PeerMessages,
    Randomness,
    Revisions,
    SessionTool,
    Store,
    TenantBudget,
    Tool,
    ToolDispatcher,
    implements,
)
from bridle.core.protocol import HookStarted
from bridle.core.retry import RetryPolicy
from bridle.core.traps import no_trap
from bridle.sessions.agent_tree import ChildPolicy
from bridle.tools.toolbox import make_client_tools

# ---------------------------------------------------------------------------- client tools
# Client tools: tools that clients provide to single sessions.


class ClientTools:
    """Keeps the client tools of each session."""

    def __init__(self) -> None:
        self._tools: dict[SessionId, list[list[Tool]]] = {}

    def tools(self, session: SessionId) -> list[Tool]:
        """Return a session's client tools; of several with one name, the newest."""
        newest = {tool.spec.name: tool for tools in self._tools.get(session, ()) for tool in tools}
        return list(newest.values())

    @contextmanager
    def provide(self, session: SessionId, dispatcher: ToolDispatcher) -> Iterator[None]:
        """Add a dispatcher's tools to a session until the context exits; raises UsageError."""
        tools: list[Tool] = [*make_client_tools(dispatcher)]
        self._tools.setdefault(session, []).append(tools)
        try:
            yield
        finally:
            others = [other for other in self._tools.pop(session) if other is not tools]
            if others:
                self._tools[session] = others


# ---------------------------------------------------------------------------- engine


LoadAgent = Callable[[str, str], Agent]
"""Maps an agent's name and a working directory to its profile; raises ConfigError."""


OpenHooks = Callable[[str, HookOverride], Hooks]
"""Maps a working directory and a run's hook overrides to its hooks; raises ConfigError."""


class NoHooks:
    """The absence of hooks."""

    points: frozenset[HookPoint] = frozenset()
    judged: frozenset[HookPoint] = frozenset()

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        """Return an empty round."""
        return HookRound()

    def for_child(self) -> Hooks:
        """Return no hooks."""
        return self

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Return no events."""
        return ()


def _no_hooks(cwd: str, override: HookOverride) -> Hooks:
    return NoHooks()


def _ignore_rules(rules: Sequence[str]) -> None:
    """Do nothing: the default where there are no settings to write to."""


class Engine(Struct, frozen=True):
    """The ports and settings that a session service works with."""

    store: Store
    claims: Claims
    models: Models
    load_agent: LoadAgent
    tools: Sequence[Tool]
    clock: Clock
    chance: Randomness
    blobs: Blobs | None = None
    """Stores output that is too long for a result."""
    revisions: Revisions | None = None
    """Stores the earlier versions of files; without it no file change can be undone."""
    remember: Callable[[Sequence[str]], None] = _ignore_rules
    """Writes allow rules to the user's settings; blocking, raises BridleError."""
    mask: Callable[[str], str] = str
    """Masks secrets in a text before it is recorded."""
    find_trap: Callable[[str, str], str] = no_trap
    """Returns the folder around a path whose files one of the user's programs executes; empty for none."""
    open_hooks: OpenHooks = _no_hooks
    compactor: Compactor | None = None
    """Writes summaries instead of a model."""
    memory: Memory | None = None
    """Recalls what was said; notified when there is more to index."""
    servers: ToolServers | None = None
    """The MCP servers, whose tools runs can use."""
    languages: LanguageServers | None = None
    """The language servers."""
    peers: PeerMessages | None = None
    """Messages from agents of other processes; None if they are off."""
    settings: ConfigFile = ConfigFile()
    children: ChildPolicy = ChildPolicy()
    """The limits on sub-agents."""
    embedded: frozenset[str] = frozenset()
    """Names of the tools of the embedding program, which sessions do not turn off with the built-in ones."""
    client_tools: ClientTools = field(default_factory=ClientTools)
    """The client tools of each session."""
    tenant_budget: TenantBudget | None = None
    """The budgets of tenants; None without tenant budgets."""
    workplaces: FolderPolicy | None = None
    """Restricts runs to their tenant's folders; None if every folder is the user's."""
    steps: DurableSteps | None = None
    """Tracks the work of every run for the durable engine; None on a single machine."""
    observer: Observer | None = None
    """Traces every run; None without tracing."""
    environ: Mapping[str, str] = {}
    """The environment of the user's programs; it holds no keys."""
    retry: RetryPolicy = RetryPolicy()
    tool_timeout_s: float = 600.0

    def is_at_rest(self, session: SessionId) -> bool:
        """Return whether no tool of a session is running that might change files."""
        return not any(tool.is_busy(session) for tool in self.tools if implements(tool, SessionTool))

    def new_id(self) -> str:
        """Return a fresh time-ordered id."""
        return uuid7(self.clock.now_ms(), self.chance.entropy(10))

    def new_session_id(self) -> SessionId:
        """Return an id for a new session."""
        return SessionId(self.new_id())

    def new_run_id(self) -> RunId:
        """Return an id for a new run."""
        return RunId(self.new_id())
