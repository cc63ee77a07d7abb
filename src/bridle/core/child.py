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
from bridle.core.messages import Usage
from bridle.core.tenancy import session_in, tenant_of

SPREAD_MS = 1 << 20  # ids are told apart by their first part, which is a time: some minutes are room enough

Inherited = Literal["nothing", "full_history", "last_turns", "summary"]
ChildStage = Literal["running", "waiting", "completed", "failed", "cancelled"]
"""Waiting is for the answer of a person."""


class ChildOrder(Struct, frozen=True):
    """A task for a child."""

    prompt: str
    inherited: Inherited = "nothing"
    amount: int = 0
    """Turns of `last_turns`, tokens of `summary`."""
    agent: str = ""
    """Empty for the parent's own."""
    model: str = ""
    """Empty for the agent's own, or the parent's."""
    system: str = ""
    """Instead of the agent's instructions."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use, of those its parent has; None for all of them."""
    without_tools: tuple[str, ...] = ()
    share: Share = Share()
    background: bool = False
    """Its result comes at a turn boundary, as a message."""
    worktree: bool = False
    """It works in a git worktree of its own."""
    call_id: CallId | None = None


class ChildView(Struct, frozen=True, omit_defaults=True):
    """What is known of a child."""

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
    """Where it works, if apart; kept at its end only when it has changed something."""


class Children(Protocol):
    """The sub-agents of one run."""

    async def start(self, order: ChildOrder) -> ChildView:
        """Begin a child; raises ToolError when a limit of depth, number or budget stands in the way."""
        ...

    async def wait(self, child: SessionId) -> ChildView:
        """Wait for its end; who is cancelled while waiting cancels the child."""
        ...

    def views(self) -> tuple[ChildView, ...]:
        """Return every child of the run, the first first."""
        ...

    async def cancel(self, child: SessionId, reason: str = "") -> ChildView:
        """Stop a child and all below it, and wait for that; raises ToolError for an unknown one."""
        ...

    async def send(self, to: str, text: str) -> str:
        """Give an agent of the same tree a message for its next turn; says who got it, raises ToolError."""
        ...


def child_session(
    parent: SessionId, created_at: int, run_id: RunId, call_id: CallId, place: int
) -> SessionId:
    """Name the session of the child that a call starts, `place` being how many it has started before.

    A call that runs again after a crash finds the session that it had made, also when nobody knew of it yet.
    """
    named = "\0".join((parent, run_id, call_id, str(place)))
    entropy = hashlib.sha256(named.encode(errors="surrogatepass")).digest()
    moment = created_at + int.from_bytes(entropy[10:], "big") % SPREAD_MS
    return session_in(tenant_of(parent), uuid7(moment, entropy))
