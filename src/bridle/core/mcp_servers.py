"""MCP servers: their tools, prompts and states, and the interface that sessions use."""

from typing import Protocol

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.messages import Media, Text
from bridle.core.ports import Tool
from bridle.core.server_views import PromptView, ServerView

MCP_PREFIX = "mcp__"
"""Prefix of every MCP tool and prompt name: `mcp__server__name`."""


class ToolOffer(Struct, frozen=True):
    """The MCP tools for one run."""

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes for the user: which servers are late, which have failed, and what to do."""
    instructions: str = ""
    """The servers' instructions for the model; untrusted text, marked as such and kept short."""


class ToolServers(Protocol):
    """The MCP servers of all folders."""

    async def offer(self, session: SessionId, cwd: str) -> ToolOffer:
        """Return the tools of a folder's servers for a run; waits only briefly for servers that are starting.

        A server that fails raises nothing: it is left out, and a note says so. Raises ConfigError.
        """
        ...

    async def expand(self, session: SessionId, cwd: str, text: str) -> tuple[Text | Media, ...] | None:
        """Expand an MCP prompt such as `/mcp__server__name argument`.

        None if the text does not call an MCP prompt; raises UsageError if the prompt does not exist.
        """
        ...

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Return the status of a folder's servers, without starting any."""
        ...

    async def prompts(self, cwd: str) -> tuple[PromptView, ...]:
        """Return the prompts of all servers that are ready."""
        ...

    async def end_session(self, session: SessionId) -> None:
        """Stop the servers that run for this session only."""
        ...

    async def aclose(self) -> None:
        """Stop every server and all processes it started."""
        ...
