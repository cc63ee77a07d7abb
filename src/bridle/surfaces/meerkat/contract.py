"""Versions of Meerkat's contract, and the capabilities that are offered here."""

import re
from typing import Any

from msgspec import Struct

from bridle.core.errors import UsageError

DEFAULT_CONTRACT = "0.5.2"

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


class Contract(Struct, frozen=True):
    """A version that compares with others: `contract.since(0, 8, 1)`."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def since(self, major: int, minor: int, patch: int = 0) -> bool:
        """Return True if this is the given version or a later one."""
        return (self.major, self.minor, self.patch) >= (major, minor, patch)

    @property
    def enveloped(self) -> bool:
        """True if a session's events come in envelopes."""
        return self.since(0, 8, 1)

    @property
    def max_line_bytes(self) -> int:
        """The longest line that clients read; those before 0.6 hang at 64 KiB."""
        return 16 * 1024 * 1024 if self.since(0, 6) else 60_000


def parse_contract(text: str) -> Contract:
    """Parse a version such as `0.5.2`; raises UsageError."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise UsageError(f'"{text[:40]}" is not a version of the contract', hint=f"write {DEFAULT_CONTRACT}")
    return Contract(*map(int, found.groups()))


# ---------------------------------------------------------------------------- capabilities
# The Meerkat capabilities offered here, as its `capabilities/get` lists them.


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
    "comms": ("messages between agents", "set comms.mode in the settings, not by request"),
    "mcp_live": ("tool servers of one session", "name tool servers in the settings"),
}


def build_capabilities(contract: Contract, *, has_comms: bool = False) -> Capabilities:
    """List the available and the missing capabilities."""
    offered = [Capability(name, text) for name, text in AVAILABLE.items()]
    if has_comms:
        offered.append(Capability("comms", UNAVAILABLE["comms"][0]))
    missing = [
        Capability(name, text, {"NotSupportedByProtocol": {"reason": reason}})
        for name, (text, reason) in UNAVAILABLE.items()
        if not (name == "comms" and has_comms)
    ]
    return Capabilities(contract, [*offered, *missing])
