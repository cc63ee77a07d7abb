"""The tree of agents in this process: each sub-agent's parent, and what the whole tree shares.

```
Family ── Tree ──┬─ Member main        the run that a person started
                 ├─ Member agent-1     its sub-agents
                 └─ Member agent-1.1   and theirs
```
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from msgspec import Struct

from bridle.core.budget import Budget
from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Hooks
from bridle.core.protocol import Command, Delta, Record
from bridle.core.session_api import Receipt
from bridle.sessions.journal import Journal
from bridle.sessions.resumed_children import ResumedChild

MAIN = "main"
PARENT = "parent"
MAX_MESSAGES = 200  # in one tree, so that agents which answer each other stop at some point
MAX_UNREAD = 32  # of one agent


class ChildPolicy(Struct, frozen=True):
    """The limits on sub-agents."""

    max_depth: int = 3
    """The deepest level below the root run; 0 for no sub-agents."""
    max_running: int = 32
    """How many run at the same time in one tree; the others wait."""
    max_children: int = 100
    """How many one run may start in total."""
    max_tokens: int | None = None
    """The token limit of a sub-agent whose order sets none."""
    without_tools: tuple[str, ...] = ()
    """Tools that no sub-agent gets."""
    models: tuple[str, ...] = ()
    """The models that an order may name; empty for any."""
    worktrees: str = ""
    """The folder for the sub-agents' git worktrees; empty if worktrees are not available."""
    writable: tuple[str, ...] = ()
    """Folders that programs may change besides the working directory."""


class Sessions(Protocol):
    """The part of the session service that sub-agents use."""

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Submit a command to a session; raises SessionError if it is refused."""
        ...

    def watch(self, session: SessionId, after: int = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between."""
        ...

    async def interrupt(self, session: SessionId, reason: str = "") -> None:
        """Cancel the active run and wait for its end; do nothing to an idle session."""
        ...

    def rests(self, session: SessionId) -> bool:
        """Return whether the session has an active run that waits for a person."""
        ...

    async def let_go(self, session: SessionId, *, resumable: bool = False) -> None:
        """Close a session in this process, with everything it holds and its active run.

        With `resumable`, record no end for the run, so that it can be resumed.
        """
        ...


class AgentNode:
    """One agent and its place in the tree."""

    def __init__(
        self, tree: "AgentTree", session: SessionId, name: str, parent: "AgentNode | None" = None
    ) -> None:
        self.tree = tree
        self.id = session
        self.name = name
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.budget: Budget | None = None
        """The budget its parent reserved for it."""
        self.hooks: Hooks | None = None
        """Its parent's hooks, whatever folder it works in."""
        self.journal: Journal | None = None
        """Set once it runs."""
        self.resumed_children: tuple[ResumedChild, ...] | None = None
        """The interrupted sub-agents of this agent's run; None if not looked up."""
        self.has_ended = False
        self._holds_slot = False
        self._rests = 0
        self._returning = asyncio.Lock()  # invariant: it holds at most one slot

    async def take_slot(self) -> None:
        """Wait in order for a slot to run."""
        await self.tree.slots.acquire()
        self._holds_slot = True

    def release_slot(self) -> None:
        """Release the slot, if held."""
        if self._holds_slot:
            self._holds_slot = False
            self.tree.slots.release()

    @asynccontextmanager
    async def without_slot(self) -> AsyncIterator[None]:
        """Release the slot while this agent only waits for others: else a deep tree would deadlock."""
        self._rests += 1
        self.release_slot()
        try:
            yield
        finally:
            self._rests -= 1
        async with self._returning:
            if self.parent is not None and not self._rests and not self._holds_slot:
                await self.take_slot()


class AgentTree:
    """The state that a run and all agents below it share."""

    def __init__(self, max_running: int) -> None:
        self.slots = asyncio.Semaphore(max_running)
        self.members: dict[SessionId, AgentNode] = {}
        self.is_parked = False
        """True once nothing more is recorded: the runs are left unfinished, to be resumed."""
        self._sent = 0

    def add(self, session: SessionId, name: str, parent: AgentNode | None = None) -> AgentNode:
        """Add an agent."""
        member = self.members[session] = AgentNode(self, session, name, parent)
        return member

    def find(self, name: str, sender: AgentNode) -> AgentNode:
        """Return the agent with a name or id; raises ToolError that lists the agents there are."""
        if name == PARENT and sender.parent is not None:
            return sender.parent
        found = next((one for one in self.members.values() if name in (one.id, one.name)), None)
        if found is None or found is sender:
            others = [one.name for one in self.members.values() if one is not sender and not one.has_ended]
            there = (
                f"the others are {', '.join(others[:MAX_UNREAD])}" if others else "there are no other agents"
            )
            what = "a message to itself" if found is sender else f"no agent is named {name[:80]!r}"
            raise ToolError(what, hint=there)
        return found

    def count_message(self, receiver: AgentNode) -> Journal:
        """Count a message and return its receiver's journal; raises ToolError if it cannot be delivered."""
        journal = receiver.journal
        if receiver.has_ended or (journal is not None and journal.session.run is None):
            raise ToolError(f"{receiver.name} has ended and reads no messages")
        if journal is None:
            raise ToolError(f"{receiver.name} has not started yet", hint="send the message again later")
        unread = sum(item.source == "peer" for item in journal.session.known.queue)
        if unread >= MAX_UNREAD:
            raise ToolError(f"{receiver.name} has {unread} unread messages")
        if self._sent >= MAX_MESSAGES:
            raise ToolError(f"the agents have sent each other {self._sent} messages, the maximum")
        self._sent += 1
        return journal
