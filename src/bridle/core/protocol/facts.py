"""The facts of a session, all but its messages, and the checkpoint event that stores them."""

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
    """The run or queue item of a prompt that came with a key."""

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
    """Everything about a session except its messages: the content of a checkpoint."""

    created: SessionCreated
    created_at: int = 0
    title: str = ""
    model: str = ""
    """The model of the last run; the next run uses it too."""
    archived: bool = False
    granted: tuple[str, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    totals: Totals = Totals()
    todos: tuple[Todo, ...] = ()
    snapshot: str = ""
    """Digest of the kernel's snapshot."""
    rewinds: int = 0
    """How often the conversation was rewound; each rewind restores the kernel too."""
    seen: dict[str, str] = {}
    """Digests of the files that the model has seen, by path; the newest few hundred."""
    pins: tuple[str, ...] = ()
    """Texts that every compaction keeps word for word."""
    taken: dict[str, TakenPrompt] = {}
    """The newest prompts that came with a key."""


class Checkpoint(EventKind, frozen=True):
    """The current facts, stored so that opening a session need not read all its records."""

    facts: SessionFacts
