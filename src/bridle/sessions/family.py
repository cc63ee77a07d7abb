"""The agents that live in this process: who is whose sub-agent, and what the whole tree of them shares.

```
Family ── Tree ──┬─ Member main        the run that a person has started
                 ├─ Member agent-1     its sub-agents
                 └─ Member agent-1.1   and theirs
```
"""

import asyncio
import re
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
from bridle.sessions.heirs import Heir
from bridle.sessions.journal import Journal

MAIN = "main"
PARENT = "parent"
MAX_MESSAGES = 200  # in one tree, so that agents which answer each other come to an end
MAX_UNREAD = 32  # of one agent

_HEADER = re.compile(r"\s*\[(message from|result of) ", re.IGNORECASE)


class ChildPolicy(Struct, frozen=True):
    """What runs may have in the way of sub-agents."""

    max_depth: int = 3
    """How far below the first run they may be; 0 for none."""
    max_running: int = 32
    """At the same time, in one tree; others wait for their turn."""
    max_children: int = 100
    """Of one run, in all."""
    max_tokens: int | None = None
    """What one may use where its order does not say."""
    without_tools: tuple[str, ...] = ()
    """Tools that none of them gets."""
    models: tuple[str, ...] = ()
    """The only models it may be given by name; none for any."""
    worktrees: str = ""
    """The folder for git worktrees of their own; empty where there can be none."""
    writable: tuple[str, ...] = ()
    """Folders that programs may change beside the working directory."""


class Sessions(Protocol):
    """What sub-agents need of the session service."""

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        ...

    def watch(self, session: SessionId, after: int = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between."""
        ...

    async def interrupt(self, session: SessionId, reason: str = "") -> None:
        """Cancel the active run and wait for its end; an idle session is left as it is."""
        ...

    def rests(self, session: SessionId) -> bool:
        """Tell whether a run is active here that can do nothing before a person has answered."""
        ...

    async def let_go(self, session: SessionId, *, aside: bool = False) -> None:
        """Close a session in this process: what it holds ends, a run that is active too.

        With `aside` the run is left as it is recorded: it can be resumed.
        """
        ...


class Member:
    """One agent of a tree, and its place in it."""

    def __init__(self, tree: "Tree", session: SessionId, name: str, parent: "Member | None" = None) -> None:
        self.tree = tree
        self.id = session
        self.name = name
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.budget: Budget | None = None
        """What its parent has set aside for it."""
        self.hooks: Hooks | None = None
        """Those of its parent, wherever it works."""
        self.journal: Journal | None = None
        """There as soon as it runs."""
        self.heirs: tuple[Heir, ...] | None = None
        """What its run has left of its own children; None when nobody has looked."""
        self.has_ended = False
        self._holds_slot = False
        self._rests = 0
        self._returning = asyncio.Lock()  # invariant: it holds one slot at most

    async def take_slot(self) -> None:
        """Wait for a place among those that run, in order."""
        await self.tree.slots.acquire()
        self._holds_slot = True

    def give_slot(self) -> None:
        """Let another agent run."""
        if self._holds_slot:
            self._holds_slot = False
            self.tree.slots.release()

    @asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        """Let others run while this one only waits for them: else a deep tree would wait for itself."""
        self._rests += 1
        self.give_slot()
        try:
            yield
        finally:
            self._rests -= 1
        async with self._returning:
            if self.parent is not None and not self._rests and not self._holds_slot:
                await self.take_slot()


class Tree:
    """What a run and all agents below it share."""

    def __init__(self, max_running: int) -> None:
        self.slots = asyncio.Semaphore(max_running)
        self.members: dict[SessionId, Member] = {}
        self.is_parked = False
        """Nothing is recorded any more: the runs are left as they are, to be resumed."""
        self._sent = 0

    def add(self, session: SessionId, name: str, parent: Member | None = None) -> Member:
        """Take in an agent."""
        member = self.members[session] = Member(self, session, name, parent)
        return member

    def find(self, name: str, sender: Member) -> Member:
        """Return the agent of a name or id; raises ToolError with those there are."""
        if name == PARENT and sender.parent is not None:
            return sender.parent
        found = next((one for one in self.members.values() if name in (one.id, one.name)), None)
        if found is None or found is sender:
            others = [one.name for one in self.members.values() if one is not sender and not one.has_ended]
            there = f"the others are {', '.join(others[:MAX_UNREAD])}" if others else "there are no others"
            what = "a message to itself" if found is sender else f"no agent is named {name[:80]!r}"
            raise ToolError(what, hint=there)
        return found

    def count_message(self, receiver: Member) -> Journal:
        """Let one more message through and return where it goes; raises ToolError when it cannot be read."""
        journal = receiver.journal
        if receiver.has_ended or (journal is not None and journal.session.run is None):
            raise ToolError(f"{receiver.name} has ended and reads no more messages")
        if journal is None:
            raise ToolError(f"{receiver.name} has not begun yet", hint="send the message again later")
        unread = sum(item.source == "peer" for item in journal.session.known.queue)
        if unread >= MAX_UNREAD:
            raise ToolError(f"{receiver.name} has {unread} messages that it has not read yet")
        if self._sent >= MAX_MESSAGES:
            raise ToolError(f"the agents have sent each other {self._sent} messages, which is all they may")
        self._sent += 1
        return journal


def quoted(text: str) -> str:
    """Mark the lines of an agent's text that read as if they were the beginning of another's."""
    lines = text.splitlines(keepends=True)
    return "".join(f"> {line}" if _HEADER.match(line) else line for line in lines)
