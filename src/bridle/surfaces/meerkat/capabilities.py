"""The Meerkat capabilities offered here, as its `capabilities/get` lists them."""

from typing import Any

from msgspec import Struct

from bridle.surfaces.meerkat.contract import Contract


class Capability(Struct, frozen=True):
    """A capability that is available or missing."""

    id: str
    description: str
    status: str | dict[str, Any] = "Available"


class Capabilities(Struct, frozen=True):
    """The result of `capabilities/get`."""

    contract_version: Contract
    capabilities: list[Capability]


AVAILABLE = {
    "sessions": "durable conversations: create, run, interrupt, list, read, archive",
    "streaming": "events while a run goes on",
    "structured_output": "answers that fit a JSON Schema",
    "hooks": "your own code at eight points of a run",
    "builtins": "tools for files, code, the web and tasks",
    "shell": "commands, in a sandbox and by rules",
    "sub_agents": "runs that start other runs",
    "memory_store": "recall over earlier sessions of a project",
    "session_store": "sessions survive the process",
    "session_compaction": "a summary takes the place of what was said long ago",
    "skills": "reusable prompts in files",
}
UNAVAILABLE = {
    "comms": ("messages between agents", "set [comms] in the settings, not by request"),
    "mcp_live": ("tool servers of one session", "name tool servers in the settings"),
}


def build_capabilities(contract: Contract) -> Capabilities:
    """List the available and the missing capabilities."""
    offered = [Capability(name, text) for name, text in AVAILABLE.items()]
    missing = [
        Capability(name, text, {"NotSupportedByProtocol": {"reason": reason}})
        for name, (text, reason) in UNAVAILABLE.items()
    ]
    return Capabilities(contract, [*offered, *missing])
