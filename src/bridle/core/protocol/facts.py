"""What is known of a session as a whole, and where that is stored."""

from msgspec import Struct

from bridle.core.ids import RunId
from bridle.core.messages import Message, Usage
from bridle.core.protocol.commands import Delivery, RunOptions
from bridle.core.protocol.session_events import SessionCreated
from bridle.core.protocol.values import EventKind, MessageSource, PromptKey, Todo


class QueuedPrompt(Struct, frozen=True, omit_defaults=True):
    """A prompt that waits for the next turn (steer) or for the run to end (queue)."""

    item_id: str
    message: Message
    options: RunOptions = RunOptions()
    delivery: Delivery = "queue"
    source: MessageSource | None = None
    key: PromptKey | None = None


class TakenPrompt(Struct, frozen=True, omit_defaults=True):
    """What became of a prompt that came with a key."""

    digest: str
    run_id: RunId | None = None
    item_id: str | None = None


class Totals(Struct, frozen=True, omit_defaults=True):
    """What a session has used so far."""

    messages: int = 0
    runs: int = 0
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    unpriced_turns: int = 0
    """Turns whose price is unknown and therefore missing from `cost`."""


class SessionFacts(Struct, frozen=True, omit_defaults=True):
    """All of a session but its messages: what a checkpoint carries forward."""

    created: SessionCreated
    created_at: int = 0
    title: str = ""
    model: str = ""
    """The model of the last run; the next one goes on with it."""
    archived: bool = False
    granted: tuple[str, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    totals: Totals = Totals()
    todos: tuple[Todo, ...] = ()
    snapshot: str = ""
    """Digest of what the kernel holds."""
    rewinds: int = 0
    """How often the conversation went back; after each the kernel is brought back too."""
    seen: dict[str, str] = {}
    """Digests of the files the model knows, by path; the newest few hundred."""
    pins: tuple[str, ...] = ()
    """What every compaction keeps word for word."""
    taken: dict[str, TakenPrompt] = {}
    """The newest prompts that came with a key."""


class Checkpoint(EventKind, frozen=True):
    """The facts as they stand, so that opening a session need not read all of it."""

    facts: SessionFacts
