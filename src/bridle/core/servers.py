"""Servers that lend a run tools: what they offer, how they are, and the seam to whoever keeps them."""

from typing import Protocol

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.messages import Media, Text
from bridle.core.ports import Tool
from bridle.core.server_views import PromptView, ServerView

LENT_PREFIX = "mcp__"
"""Begins the name of every tool of a server, and of every prompt: `mcp__server__name`."""


class ToolOffer(Struct, frozen=True):
    """What servers lend one run."""

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()
    """What the user should hear: who is late, who has failed and what to do."""
    instructions: str = ""
    """What servers say of their tools, for the model; words of strangers, marked as such and kept short."""


class ToolServers(Protocol):
    """Keeps the tool servers of every folder."""

    async def offer(self, session: SessionId, cwd: str) -> ToolOffer:
        """Return what the servers of a folder lend a run; waits for those that start, but not for long.

        Never raises for a server's sake: one that fails is left out, and a note says so. Raises ConfigError.
        """
        ...

    async def expand(self, session: SessionId, cwd: str, text: str) -> tuple[Text | Media, ...] | None:
        """Return what a prompt such as `/mcp__server__name argument` stands for.

        None if the text calls no prompt of a server; raises UsageError when what it calls is not there.
        """
        ...

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Say how the servers of a folder are, without starting one."""
        ...

    async def prompts(self, cwd: str) -> tuple[PromptView, ...]:
        """Return what the servers that are ready offer to be called as `/name`."""
        ...

    async def end_session(self, session: SessionId) -> None:
        """End what runs for this session alone."""
        ...

    async def aclose(self) -> None:
        """End every server and all that it has started."""
        ...
