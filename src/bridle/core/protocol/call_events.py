"""Events of a tool call."""

from typing import Any

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolResult
from bridle.core.protocol.commands import Answer
from bridle.core.protocol.values import EventKind, Question, SeenFile, Todo
from bridle.core.revision import FileChange


class ApprovalRequested(EventKind, frozen=True):
    """A call waits for an approval."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    why: str
    preview: str = ""
    suggestions: tuple[str, ...] = ()
    """The rules that the answers "session" and "always" would add; empty if no general rule fits."""
    parent: CallId | None = None
    """The call whose code made this one."""
    child: SessionId | None = None
    """The sub-agent that asks; the answer is passed on to it."""


class ApprovalDecided(EventKind, frozen=True):
    call_id: CallId
    answer: Answer
    reason: str = ""
    rules: tuple[str, ...] = ()
    """The rules that apply for the rest of the session."""


class QuestionAsked(EventKind, frozen=True):
    """The model asks the user a question; the call waits for the answer."""

    call_id: CallId
    question: Question
    child: SessionId | None = None
    """The sub-agent that asks; the answer is passed on to it."""


class QuestionAnswered(EventKind, frozen=True):
    call_id: CallId
    answers: tuple[str, ...] = ()


class ToolStarted(EventKind, frozen=True):
    """A call starts; stored before the tool acts."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    repeatable: bool = False
    """True if the tool only reads: if its end was never recorded, it may run again."""
    parent: CallId | None = None
    """The call whose code made this one; the model does not see such a call."""


class ToolFinished(EventKind, frozen=True):
    """A call has its result; stored before anything uses the result."""

    result: ToolResult
    duration_ms: int = 0
    tokens: int = 0
    denied: bool = False
    """True if a rule, a mode or a person refused the call; it did not run."""
    diff: str = ""
    """What the call changed, for people; the model does not get it."""
    parent: CallId | None = None
    """The call whose code made this one and got its result."""
    answer: str = ""
    """The final answer that the call's code gave; it ends the run."""


class FilesSeen(EventKind, frozen=True):
    """The model has seen the current content of these files: it may edit them until they change."""

    files: tuple[SeenFile, ...]


class FilesChanged(EventKind, frozen=True):
    """The session changed files on disk; recorded with the end of the call that did it."""

    changes: tuple[FileChange, ...]
    call_id: CallId | None = None
    """None for changes noticed later: those of a background job, or of a call that a crash interrupted."""
    rewind: bool = False
    """True if a rewind made the changes; its Rewound event follows."""


class TodosChanged(EventKind, frozen=True):
    """The to-do list changed; contains the whole new list."""

    todos: tuple[Todo, ...]


class KernelSaved(EventKind, frozen=True):
    """A snapshot of the session's kernel was saved and can be restored."""

    snapshot: str
    """Digest of the sealed snapshot among the blobs; empty if the kernel has no values."""
    dropped: tuple[str, ...] = ()
    """Names whose values could not be saved."""
