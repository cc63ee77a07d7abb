"""What happens to a call of a tool."""

from typing import Any

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolResult
from bridle.core.protocol.commands import Answer
from bridle.core.protocol.values import EventKind, Question, SeenFile, Todo
from bridle.core.revision import FileChange


class ApprovalRequested(EventKind, frozen=True):
    """A call waits for somebody to decide about it."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    why: str
    preview: str = ""
    suggestions: tuple[str, ...] = ()
    """The rules that the answers "session" and "always" would add; none when no general rule fits."""
    parent: CallId | None = None
    """The call whose code made this one."""
    child: SessionId | None = None
    """The sub-agent that asks; the answer goes on to it."""


class ApprovalDecided(EventKind, frozen=True):
    call_id: CallId
    answer: Answer
    reason: str = ""
    rules: tuple[str, ...] = ()
    """The rules that now hold for the rest of the session."""


class QuestionAsked(EventKind, frozen=True):
    """The model wants to know something from the user; the call rests until there is an answer."""

    call_id: CallId
    question: Question
    child: SessionId | None = None
    """The sub-agent that asks; the answer goes on to it."""


class QuestionAnswered(EventKind, frozen=True):
    call_id: CallId
    answers: tuple[str, ...] = ()


class ToolStarted(EventKind, frozen=True):
    """Durable before the tool acts."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    repeatable: bool = False
    """The tool only reads: if its end was never recorded it may simply run again."""
    parent: CallId | None = None
    """The call whose code made this one; the model does not know of it."""


class ToolFinished(EventKind, frozen=True):
    """Durable before anyone relies on the result."""

    result: ToolResult
    duration_ms: int = 0
    tokens: int = 0
    denied: bool = False
    """A rule, a mode or a person refused the call; it did not run."""
    diff: str = ""
    """What the call changed, for people to look at; the model does not get it."""
    parent: CallId | None = None
    """The call whose code made this one and has its result."""
    answer: str = ""
    """What the code of the call gave as the final answer: it ends the run."""


class FilesSeen(EventKind, frozen=True):
    """The model now knows these files as they are: it may edit them until they change."""

    files: tuple[SeenFile, ...]


class FilesChanged(EventKind, frozen=True):
    """What changed on disk through the session; recorded with the end of the call that did it."""

    changes: tuple[FileChange, ...]
    call_id: CallId | None = None
    """None for what was noticed later: a background job's work, or what a crash cut off."""
    rewind: bool = False
    """It was done by going back; the Rewound follows."""


class TodosChanged(EventKind, frozen=True):
    """The whole list as it now is."""

    todos: tuple[Todo, ...]


class KernelSaved(EventKind, frozen=True):
    """What the kernel of the session holds is kept: it can be brought back."""

    snapshot: str
    """Digest of the sealed snapshot among the blobs; empty when the kernel holds nothing."""
    dropped: tuple[str, ...] = ()
    """Names whose values could not be kept."""
