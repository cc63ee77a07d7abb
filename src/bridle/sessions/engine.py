"""What every run is made of: the outside world behind its seams, and the settings of the machine."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.core.agent import Agent
from bridle.core.ids import RunId, SessionId, uuid7
from bridle.core.ports import Chance, Claims, Clock, Models, Store, Tool
from bridle.core.retry import RetryPolicy

LoadAgent = Callable[[str, str], Agent]
"""From an agent's name and a working directory to its profile; raises ConfigError."""


class Engine(Struct, frozen=True):
    """The collaborators of a session service."""

    store: Store
    claims: Claims
    models: Models
    load_agent: LoadAgent
    tools: Sequence[Tool]
    clock: Clock
    chance: Chance
    default_agent: str = "default"
    retry: RetryPolicy = RetryPolicy()
    tool_timeout_s: float = 600.0
    max_output_bytes: int = 64 * 1024
    max_parallel: int = 10

    def new_id(self) -> str:
        """Return a fresh time-ordered id."""
        return uuid7(self.clock.now_ms(), self.chance.entropy(10))

    def new_session_id(self) -> SessionId:
        """Return an id for a new session."""
        return SessionId(self.new_id())

    def new_run_id(self) -> RunId:
        """Return an id for a new run."""
        return RunId(self.new_id())
