"""Values that several events share."""

from typing import Literal

from msgspec import Struct

# ---------------------------------------------------------------------------- names
# The names of commands, events and deltas in stored and sent JSON.


def snake(name: str) -> str:
    """Convert a class name to its stored form: `RunStarted` becomes `run_started`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


# ---------------------------------------------------------------------------- values


Outcome = Literal["completed", "denied", "cancelled", "failed", "budget_exhausted", "limit"]


MessageSource = Literal["prompt", "steer", "fork", "import", "child", "peer", "check", "extract"]
"""The last four: a sub-agent's result, a message from another agent, the output of a failed `until` command,
and the request for a value that fits the output schema."""


AuditOutcome = Literal["done", "refused", "failed"]


CompactionTrigger = Literal["automatic", "manual", "overflow"]


class EventKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """The base of all stored events."""


class SeenFile(Struct, frozen=True, omit_defaults=True):
    """A file as the model last saw it."""

    path: str
    digest: str
    """SHA-256 of its bytes."""


class Todo(Struct, frozen=True, omit_defaults=True):
    """One item of the to-do list."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class Question(Struct, frozen=True, omit_defaults=True):
    """A question of the model to the user."""

    text: str
    choices: tuple[str, ...] = ()
    """Suggested answers; the user may always write another one."""
    several: bool = False
    """True if the user may pick more than one choice."""


class PromptKey(Struct, frozen=True):
    """A client's idempotency key for a prompt that it may have to send twice."""

    name: str
    digest: str
    """Digest of the prompt."""
