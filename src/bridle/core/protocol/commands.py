"""The commands that a session accepts."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from bridle.core.budget import Limits
from bridle.core.hook import HookOverride
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.protocol.values import snake

Answer = Literal["once", "session", "always", "deny", "stop"]
"""Allow a call once, for the session or always; deny it, or deny it and stop the run."""
Delivery = Literal["steer", "queue"]
RewindScope = Literal["all", "files", "conversation"]

CLIENT_VARIABLES = """
PATH VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_VERSION PYTHONPATH NODE_PATH JAVA_HOME LANG LC_ALL TZ
""".split()
MAX_VARIABLE_CHARS = 32 * 1024

MAX_KEY_CHARS = 255
MAX_TRACE_CHARS = 256  # version 00 has 55; later versions may be longer
MAX_PROMPT_BYTES = 4 * 1024 * 1024  # about a million tokens, more than any window


class SessionOptions(Struct, frozen=True, omit_defaults=True):
    """How a session differs from its agent, for all of its runs; None and () mean no difference."""

    model: str | None = None
    mode: Mode | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    limits: Limits = Limits()
    """Limits of each run."""
    params: dict[str, Any] = {}
    code: bool | None = None
    """True if the model writes Python that calls the tools, instead of calling them one by one."""
    system: str | None = None
    """Replaces the agent's instructions."""
    builtins: tuple[str, ...] | None = None
    """The only tools besides those of clients and of an embedding program, out of the agent's."""
    without_builtins: tuple[str, ...] = ()
    """Tools that are turned off; a client may provide its own of the same name."""
    hooks: HookOverride = HookOverride()
    effort: Effort | None = None


LIKE_AGENT = SessionOptions()
"""No difference from the agent."""


class RunOptions(SessionOptions, frozen=True, omit_defaults=True):
    """How one run differs from its session, which keeps what it turned off."""

    approve_each: bool = False
    """True if every call needs an approval, whatever rules allow, and a denied call ends the run.

    Calls of INSTRUCTION_TOOLS need none, and a call whose preview fails is refused without one.
    """
    agent: str | None = None
    cwd: str | None = None
    """Absolute path of the folder in which the tools work."""
    env: dict[str, str] = {}
    """The client's environment variables for programs, limited to LENT_VARIABLES; never recorded."""
    tools: tuple[str, ...] | None = None
    """The only tools the run may use, out of its agent's."""
    without_tools: tuple[str, ...] = ()
    """Tools that the run may not use."""
    output_schema: dict[str, Any] | None = None
    """A JSON Schema: the run ends with a value that fits it."""
    output_retries: int = 2
    """How often the model may try again if its value does not fit."""
    until: str = ""
    """A shell command: the run continues until it exits with 0."""
    trace: Annotated[str, Meta(max_length=MAX_TRACE_CHARS)] = ""
    """The trace that the run belongs to, as a W3C traceparent; an invalid one is ignored."""

    @property
    def of_session(self) -> SessionOptions:
        """The options that a new session keeps, if this is its first run."""
        return SessionOptions(**{name: getattr(self, name) for name in SessionOptions.__struct_fields__})

    @property
    def of_personal_session(self) -> SessionOptions:
        """The options that a new session of a person keeps: mode, limits and allow rules are for one run."""
        return replace(self.of_session, mode=None, limits=Limits(), allow=())

    @property
    def of_run(self) -> "RunOptions":
        """The options that only this run has."""
        kept = SessionOptions.__struct_fields__
        return RunOptions(
            **{name: getattr(self, name) for name in self.__struct_fields__ if name not in kept}
        )


class CommandKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """The base of all commands."""


class Prompt(CommandKind, frozen=True):
    """Start a run, or queue the prompt while one is active."""

    message: Message
    options: RunOptions = RunOptions()
    if_busy: Literal["queue", "reject"] = "queue"
    key: str = ""
    """An idempotency key: a prompt sent again with the same key, even after a crash, counts once."""


class Steer(CommandKind, frozen=True):
    """Add a message to the active run at its next turn."""

    message: Message
    key: str = ""
    """An idempotency key, like that of a prompt."""


class Resume(CommandKind, frozen=True):
    """Resume an interrupted run after its last stored event."""

    options: RunOptions = RunOptions()


class Decide(CommandKind, frozen=True):
    """Answer a pending approval; the first answer counts, later ones are ignored."""

    call_id: CallId
    answer: Answer
    reason: str = ""
    rules: tuple[str, ...] = ()
    """For "session" and "always": the rules to add instead of the suggested ones."""


class Reply(CommandKind, frozen=True):
    """Answer a pending question of the model; the first answer counts, later ones are ignored."""

    call_id: CallId
    answers: tuple[str, ...] = ()
    """The chosen or written answers; empty means that the user declines to answer."""


class Cancel(CommandKind, frozen=True):
    """Stop the active run."""

    reason: str = ""


class EditQueued(CommandKind, frozen=True):
    """Replace the message of a queued prompt, or change when it is delivered."""

    item_id: str
    message: Message
    delivery: Delivery | None = None
    """None for no change; "steer" adds it to the active run at its next turn."""


class DropQueued(CommandKind, frozen=True):
    """Remove a prompt from the queue."""

    item_id: str


class Rewind(CommandKind, frozen=True):
    """Restore the state after an event; to undo a rewind, rewind to before it."""

    to_seq: int
    scope: RewindScope = "all"
    force: bool = False
    """True also overwrites files that have changed outside the session since."""


class Compact(CommandKind, frozen=True):
    """Replace old messages with a summary, now or before the next turn of the active run."""

    keep: str = ""
    """What the summary must include, in the user's words."""


class Pin(CommandKind, frozen=True):
    """Keep a text word for word through every compaction, or stop keeping it."""

    text: str
    pinned: bool = True


class Push(CommandKind, frozen=True):
    """Add messages to the session without a run, in the order given; refused while a run is active."""

    messages: tuple[Message, ...]
    """Text and media of the user and the assistant."""


class Rename(CommandKind, frozen=True):
    """Give the session a title."""

    title: str


class Configure(CommandKind, frozen=True):
    """Change the options of the session, for runs that start afterwards."""

    options: SessionOptions = SessionOptions()
    """Each one given replaces the session's."""
    reset: tuple[str, ...] = ()
    """Names of options that the agent decides again."""


class Label(CommandKind, frozen=True):
    """Set labels of the session, which lists can filter by; null removes one."""

    labels: dict[str, str | None]


class Archive(CommandKind, frozen=True):
    """Archive the session, or restore it from the archive."""

    archived: bool = True


class Fork(CommandKind, frozen=True):
    """Begin a child session with the messages up to a record."""

    at: int | None = None
    """The sequence number of the last record to take; None for all."""
    session_id: SessionId | None = None
    """The name of the child."""
    messages: int | None = None
    """How many of the messages up to there to take, the oldest first; None for all."""


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
    | Push
    | Rename
    | Configure
    | Label
    | Archive
)
"""What a live session takes."""

AnyCommand = Command | Fork | Delete
"""What the session API takes: the commands of a live session, and those about the session as a whole."""
