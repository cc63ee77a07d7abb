"""What may enter a session."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bridle.core.budget import Limits
from bridle.core.hook import HookOverride
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message
from bridle.core.permission import Mode
from bridle.core.protocol.names import snake

Answer = Literal["once", "session", "always", "deny", "stop"]
"""What becomes of a call: allowed once, for the session or always; denied, or denied and the run stopped."""
Delivery = Literal["steer", "queue"]
RewindScope = Literal["all", "files", "conversation"]

LENT_VARIABLES = """
PATH VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_VERSION PYTHONPATH NODE_PATH JAVA_HOME LANG LC_ALL TZ
""".split()
MAX_VARIABLE_CHARS = 32 * 1024

MAX_KEY_CHARS = 255
MAX_TRACE_CHARS = 256  # one of today has 55; later versions may say more
MAX_PROMPT_BYTES = 4 * 1024 * 1024  # some million tokens: more than any window holds


class RunOptions(Struct, frozen=True, omit_defaults=True):
    """What one run does differently from its session's agent; None and () mean no difference."""

    model: str | None = None
    mode: Mode | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    limits: Limits = Limits()
    params: dict[str, Any] = {}
    code: bool | None = None
    """The model writes Python that calls the tools, instead of calling them one by one."""
    approve_each: bool = False
    """Every call is asked about, whatever rules allow, and a turn in which one was denied ends the run."""
    agent: str | None = None
    cwd: str | None = None
    """Where the tools work, by absolute path."""
    env: dict[str, str] = {}
    """Variables that programs get as whoever asks has them, of those in LENT_VARIABLES; never recorded."""
    system: str | None = None
    """Instead of the agent's own instructions."""
    tools: tuple[str, ...] | None = None
    """The only tools the run may use, of those its agent has."""
    without_tools: tuple[str, ...] = ()
    """Tools it may not use."""
    hooks: HookOverride = HookOverride()
    output_schema: dict[str, Any] | None = None
    """A JSON Schema: the run ends with a value that fits it."""
    output_retries: int = 2
    """How often the model may try again when its value does not fit."""
    until: str = ""
    """A shell command: the run goes on until it exits with 0."""
    trace: Annotated[str, Meta(max_length=MAX_TRACE_CHARS)] = ""
    """What the run is a part of, as a W3C traceparent; one that is none is not looked at."""


class CommandKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """A request that may enter a session."""


class Prompt(CommandKind, frozen=True):
    """Start a run, or wait in the queue while one is active."""

    message: Message
    options: RunOptions = RunOptions()
    if_busy: Literal["queue", "reject"] = "queue"
    key: str = ""
    """A name for this prompt: sent again under it, also after a crash, it is not taken a second time."""


class Steer(CommandKind, frozen=True):
    """Add a message to the active run at its next turn."""

    message: Message
    key: str = ""
    """As that of a prompt."""


class Resume(CommandKind, frozen=True):
    """Go on with a run that was cut off, from its last stored event."""

    options: RunOptions = RunOptions()


class Decide(CommandKind, frozen=True):
    """Answer a pending approval; the first answer counts, later ones are ignored."""

    call_id: CallId
    answer: Answer
    reason: str = ""
    rules: tuple[str, ...] = ()
    """What "session" and "always" let through from now on, instead of what was suggested."""


class Reply(CommandKind, frozen=True):
    """Answer a pending question of the model; the first answer counts, later ones are ignored."""

    call_id: CallId
    answers: tuple[str, ...] = ()
    """What was chosen or written; none means that nobody wants to answer."""


class Cancel(CommandKind, frozen=True):
    """Stop the active run."""

    reason: str = ""


class EditQueued(CommandKind, frozen=True):
    """Replace the message of a queued prompt, or change when it is delivered."""

    item_id: str
    message: Message
    delivery: Delivery | None = None
    """None leaves it as it is; "steer" lets it join the active run at its next turn."""


class DropQueued(CommandKind, frozen=True):
    """Take a prompt out of the queue."""

    item_id: str


class Rewind(CommandKind, frozen=True):
    """Go back to how things were after an event; can itself be undone by going back to before it."""

    to_seq: int
    scope: RewindScope = "all"
    force: bool = False
    """Also overwrite files that somebody else has changed since."""


class Compact(CommandKind, frozen=True):
    """Put a summary in the place of what was said, now or before the next turn of the active run."""

    keep: str = ""
    """What the summary must not leave out, in the user's words."""


class Pin(CommandKind, frozen=True):
    """Keep a text word for word through every compaction, or no longer."""

    text: str
    pinned: bool = True


class Rename(CommandKind, frozen=True):
    """Give the session a title."""

    title: str


class Archive(CommandKind, frozen=True):
    """Put the session away, or bring it back."""

    archived: bool = True


class Fork(CommandKind, frozen=True):
    """Begin a child session with the messages up to a record."""

    at: int | None = None
    """The sequence number of the last record to take; None for all."""
    session_id: SessionId | None = None
    """The name of the child."""


class Delete(CommandKind, frozen=True):
    """Remove the session for good; refused while it runs."""


Command = (
    Prompt
    | Steer
    | Resume
    | Decide
    | Reply
    | Cancel
    | EditQueued
    | DropQueued
    | Rewind
    | Compact
    | Pin
    | Rename
    | Archive
)
"""What a live session takes."""

AnyCommand = Command | Fork | Delete
"""What the session API takes: the commands of a live session, and those about the session as a whole."""
