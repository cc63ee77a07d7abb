"""What every run is made of: the outside world behind its seams, and the settings of the machine."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from bridle.core.agent import Agent
from bridle.core.budget import WARN_AT
from bridle.core.compaction import CompactionPolicy
from bridle.core.hook import HookInvocation, HookOverride, HookPoint
from bridle.core.ids import RunId, SessionId, uuid7
from bridle.core.languages import Languages
from bridle.core.ports import (
    Blobs,
    Chance,
    Claims,
    Clock,
    HookEvent,
    HookRound,
    Hooks,
    Memory,
    Models,
    Observer,
    Purse,
    Revisions,
    SessionTool,
    Steps,
    Store,
    Tool,
    Workplaces,
    offers,
)
from bridle.core.protocol import HookStarted
from bridle.core.retry import RetryPolicy
from bridle.core.servers import ToolServers
from bridle.core.traps import no_trap
from bridle.sessions.family import ChildPolicy
from bridle.sessions.loans import Loans

LoadAgent = Callable[[str, str], Agent]
"""From an agent's name and a working directory to its profile; raises ConfigError."""


OpenHooks = Callable[[str, HookOverride], Hooks]
"""From a working directory and what one run does differently to its hooks; raises ConfigError."""


class NoHooks:
    """Nobody listens."""

    points: frozenset[HookPoint] = frozenset()
    judged: frozenset[HookPoint] = frozenset()

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        """Say nothing."""
        return HookRound()

    def for_child(self) -> Hooks:
        """Return nobody."""
        return self

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Leave nothing."""
        return ()


def _no_hooks(cwd: str, override: HookOverride) -> Hooks:
    return NoHooks()


def _forget(rules: Sequence[str]) -> None:
    """Serve where there are no settings to write to."""


class Engine(Struct, frozen=True):
    """The collaborators of a session service."""

    store: Store
    claims: Claims
    models: Models
    load_agent: LoadAgent
    tools: Sequence[Tool]
    clock: Clock
    chance: Chance
    blobs: Blobs | None = None
    """Takes what is too long for a result."""
    revisions: Revisions | None = None
    """Remembers what files were; without it nothing can be undone."""
    remember: Callable[[Sequence[str]], None] = _forget
    """Write allow rules into the user's settings; blocking, raises BridleError."""
    mask: Callable[[str], str] = str
    """Take secrets out of a text that is about to be recorded."""
    find_trap: Callable[[str, str], str] = no_trap
    """Return the place around a path in a folder whose files a program of the user runs; empty for none."""
    open_hooks: OpenHooks = _no_hooks
    memory: Memory | None = None
    """Recalls what was said; told when there is more of it."""
    servers: ToolServers | None = None
    """Lend runs more tools."""
    languages: Languages | None = None
    """See code as a compiler does."""
    lent_share: float = 0.05
    """When lent tools would take more than this part of the window, the model finds them by search."""
    compaction: CompactionPolicy = CompactionPolicy()
    warn_at: float = WARN_AT
    """The part of a limit at which there is a warning."""
    children: ChildPolicy = ChildPolicy()
    """What runs may have in the way of sub-agents."""
    loans: Loans = field(default_factory=Loans)
    """What clients lend to single sessions."""
    purse: Purse | None = None
    """What tenants have left; None where nobody counts."""
    workplaces: Workplaces | None = None
    """Holds runs to the folders of their tenant; nobody need where all folders are the user's."""
    steps: Steps | None = None
    """Keeps track of the work of every run; nobody need on one machine."""
    observer: Observer | None = None
    """Follows every run, where traces are wanted."""
    environ: Mapping[str, str] = {}
    """What programs of the user's own see: no keys."""
    default_agent: str = "default"
    retry: RetryPolicy = RetryPolicy()
    tool_timeout_s: float = 600.0
    max_output_bytes: int = 64 * 1024
    max_parallel: int = 32
    max_live: int = 200
    """Sessions in memory; of more, those that rest longest are put away."""

    def is_at_rest(self, session: SessionId) -> bool:
        """Tell whether nothing of a session runs that might change files."""
        return not any(tool.is_busy(session) for tool in self.tools if offers(tool, SessionTool))

    def new_id(self) -> str:
        """Return a fresh time-ordered id."""
        return uuid7(self.clock.now_ms(), self.chance.entropy(10))

    def new_session_id(self) -> SessionId:
        """Return an id for a new session."""
        return SessionId(self.new_id())

    def new_run_id(self) -> RunId:
        """Return an id for a new run."""
        return RunId(self.new_id())
