"""MCP servers, language servers, their prompts, and peers, as people see them."""

from typing import Any, Literal

from msgspec import Struct

ServerState = Literal["off", "untrusted", "starting", "ready", "waiting", "login", "failed", "idle"]
"""`waiting`: for the next attempt after a failure; `login`: for the user; `idle`: for the first use."""


class ServerView(Struct, frozen=True, omit_defaults=True):
    """The state of one server, as shown to people."""

    kind: Literal["mcp", "lsp"]
    name: str
    state: ServerState
    detail: str = ""
    """The reason for the state, what to do about it, or the server's description of itself."""
    cwd: str = ""
    """The folder that it serves; empty for all folders."""
    tools: int = 0
    prompts: int = 0
    resources: int = 0
    pid: int = 0


class PromptView(Struct, frozen=True, omit_defaults=True):
    """A prompt of an MCP server, called as `/name`."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    """The names of its arguments, in order; an optional one ends in `?`."""


class PeerView(Struct, frozen=True, omit_defaults=True):
    """An agent in another process that messages can be sent to."""

    name: str
    address: str
    peer_id: str = ""
    """Empty for a peer in this process."""


class PeerMessage(Struct, frozen=True, omit_defaults=True):
    """A message to a peer."""

    to: str
    kind: Literal["message", "request", "response"] = "message"
    text: str = ""
    """The text of a message, or what a request is for."""
    value: Any = None
    """The parameters of a request, or the result in a response."""
    in_reply_to: str = ""
    """The id of the request that a response answers."""
    status: Literal["accepted", "completed", "failed"] = "completed"
    """Of a response."""
