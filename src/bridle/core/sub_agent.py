"""Sub-agents: what may be asked of a run's helpers, and what is known of them.

A child is a session of its own, driven through the same service. `spawn` begins one without messages, `fork`
with some of its parent's. It works under its parent's rules and out of its parent's budget, and it never
outlives the run that started it.
"""

import hashlib
from typing import Literal, Protocol

from msgspec import Struct

from bridle.core.budget import Share
from bridle.core.ids import CallId, RunId, SessionId, uuid7
from bridle.core.messages import Message, Usage
from bridle.core.tenancy import qualify_session, tenant_of

SPREAD_MS = 1 << 20  # ids differ in their first part, a time; about 17 minutes keep them apart

Inherited = Literal["nothing", "full_history", "last_turns", "summary", "custom"]
ChildStage = Literal["running", "waiting", "completed", "failed", "cancelled"]
"""`waiting`: for a person's answer."""


class ChildRequest(Struct, frozen=True):
    """A task for a child."""

    prompt: str
    inherited: Inherited = "nothing"
    amount: int = 0
    """How many turns for `last_turns`, how many tokens for `summary`."""
    messages: tuple[Message, ...] = ()
    """The messages for `custom`."""
    agent: str = ""
    """Empty for the parent's agent."""
    model: str = ""
    """Empty for the agent's model, or the parent's."""
    system: str = ""
    """Replaces the agent's instructions."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use, out of its parent's; None for all of them."""
    without_tools: tuple[str, ...] = ()
    share: Share = Share()
    background: bool = False
    """True delivers its result as a message, at a turn boundary of the parent."""
    worktree: bool = False
    """True gives it a separate git worktree."""
    call_id: CallId | None = None


class ChildStatus(Struct, frozen=True, omit_defaults=True):
    """The status of a child."""

    id: SessionId
    name: str
    stage: ChildStage
    depth: int
    agent: str = ""
    model: str = ""
    text: str = ""
    """Its answer, once it has one."""
    error: str = ""
    running_ms: int = 0
    turns: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    inherited: int = 0
    """How many messages it began with."""
    worktree: str = ""
    """Its separate git worktree, if it has one; kept after its end only if it changed something."""


class Children(Protocol):
    """The sub-agents of one run."""

    async def start(self, order: ChildRequest) -> ChildStatus:
        """Start a child; raises ToolError if a limit of depth, number or budget forbids it."""
        ...

    async def wait(self, child: SessionId) -> ChildStatus:
        """Wait for the child's end; cancelling this wait cancels the child."""
        ...

    def views(self) -> tuple[ChildStatus, ...]:
        """Return every child of the run, in the order they were started."""
        ...

    async def cancel(self, child: SessionId, reason: str = "") -> ChildStatus:
        """Stop a child and all below it, and wait until they end; raises ToolError for an unknown child."""
        ...

    async def send(self, to: str, text: str) -> str:
        """Send an agent of the same tree a message for its next turn; return its name. Raises ToolError."""
        ...


def child_session_id(
    parent: SessionId, created_at: int, run_id: RunId, call_id: CallId, place: int
) -> SessionId:
    """Return the id of the session for a child that a call starts; `place` counts the call's children from 0.

    The id follows from the arguments: a call that runs again after a crash finds the session it had created,
    even if nothing had recorded that session yet.
    """
    named = "\0".join((parent, run_id, call_id, str(place)))
    entropy = hashlib.sha256(named.encode(errors="surrogatepass")).digest()
    moment = created_at + int.from_bytes(entropy[10:], "big") % SPREAD_MS
    return qualify_session(tenant_of(parent), uuid7(moment, entropy))
