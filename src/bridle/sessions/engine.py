"""What every run is made of: the outside world behind its seams, and the settings of the machine."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.core.agent import Agent
from bridle.core.ids import RunId, SessionId, uuid7
from bridle.core.ports import Blobs, Chance, Claims, Clock, Models, Revisions, SessionTool, Store, Tool
from bridle.core.retry import RetryPolicy

LoadAgent = Callable[[str, str], Agent]
"""From an agent's name and a working directory to its profile; raises ConfigError."""


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
    default_agent: str = "default"
    retry: RetryPolicy = RetryPolicy()
    tool_timeout_s: float = 600.0
    max_output_bytes: int = 64 * 1024
    max_parallel: int = 10

    def is_at_rest(self, session: SessionId) -> bool:
        """Tell whether nothing of a session runs that might change files."""
        return not any(tool.is_busy(session) for tool in self.tools if isinstance(tool, SessionTool))

    def new_id(self) -> str:
        """Return a fresh time-ordered id."""
        return uuid7(self.clock.now_ms(), self.chance.entropy(10))

    def new_session_id(self) -> SessionId:
        """Return an id for a new session."""
        return SessionId(self.new_id())

    def new_run_id(self) -> RunId:
        """Return an id for a new run."""
        return RunId(self.new_id())
