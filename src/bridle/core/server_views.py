"""What people see of MCP servers and language servers: their state, and the prompts they offer."""

from typing import Literal

from msgspec import Struct

ServerState = Literal["off", "untrusted", "starting", "ready", "waiting", "login", "failed", "idle"]
"""`waiting` is for the next attempt after a failure, `login` for the user, `idle` for the first use."""


class ServerView(Struct, frozen=True, omit_defaults=True):
    """How one server is, for people."""

    kind: Literal["mcp", "lsp"]
    name: str
    state: ServerState
    detail: str = ""
    """Why it is so, what to do, or what it says of itself."""
    cwd: str = ""
    """The folder that it works for; empty for all."""
    tools: int = 0
    prompts: int = 0
    resources: int = 0
    pid: int = 0


class PromptView(Struct, frozen=True, omit_defaults=True):
    """A prompt that a server offers, called as `/name`."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    """The names of what it takes, in order; one that may be left out ends in `?`."""
