"""What several events are made of."""

from typing import Literal

from msgspec import Struct

from bridle.core.protocol.names import snake

Outcome = Literal["completed", "denied", "cancelled", "failed", "budget_exhausted", "limit"]


MessageSource = Literal["prompt", "steer", "fork", "import", "child", "peer", "check", "extract"]
"""Of the last four: a sub-agent's result, a message of another agent, what a failed `until` command printed,
and the request for a value that fits the output schema."""


AuditOutcome = Literal["done", "refused", "failed"]


CompactionTrigger = Literal["automatic", "manual", "overflow"]


class EventKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """A fact that is stored."""


class SeenFile(Struct, frozen=True, omit_defaults=True):
    """A file as the model last saw it."""

    path: str
    digest: str
    """SHA-256 of its bytes."""


class Todo(Struct, frozen=True, omit_defaults=True):
    """One thing to do."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class Question(Struct, frozen=True, omit_defaults=True):
    """What the model asks the user."""

    text: str
    choices: tuple[str, ...] = ()
    """Suggested answers; the user may always write another one."""
    several: bool = False
    """More than one choice may be taken."""


class PromptKey(Struct, frozen=True):
    """By what a client knows a prompt of its own again, should it have to send it twice."""

    name: str
    digest: str
    """Of the prompt."""
