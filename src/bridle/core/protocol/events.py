"""The union of all events that a session stores."""

from msgspec import Struct

from bridle.core.protocol.call_events import (
    ApprovalDecided,
    ApprovalRequested,
    FilesChanged,
    FilesSeen,
    KernelSaved,
    QuestionAnswered,
    QuestionAsked,
    TodosChanged,
    ToolFinished,
    ToolStarted,
)
from bridle.core.protocol.session_events import (
    Audited,
    BudgetExhausted,
    BudgetWarned,
    Checkpoint,
    ChildEnded,
    ChildStarted,
    Pinned,
    PromptQueued,
    QueueDropped,
    QueueEdited,
    Rewound,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionArchived,
    SessionConfigured,
    SessionCreated,
    SessionLabelled,
    SessionTitled,
)
from bridle.core.protocol.turn_events import (
    Compacted,
    CompactionFailed,
    CompactionStarted,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    OutputsCleared,
    ReplyLost,
    Retrying,
    TurnEnded,
    TurnStarted,
)

Event = (
    SessionCreated
    | SessionTitled
    | SessionConfigured
    | SessionLabelled
    | SessionArchived
    | PromptQueued
    | QueueEdited
    | QueueDropped
    | RunStarted
    | RunResumed
    | MessageAdded
    | TurnStarted
    | ModelReplied
    | ModelSampled
    | ReplyLost
    | Retrying
    | ModelSwitched
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAsked
    | QuestionAnswered
    | ToolStarted
    | ToolFinished
    | FilesSeen
    | FilesChanged
    | TodosChanged
    | KernelSaved
    | Rewound
    | TurnEnded
    | HookCompleted
    | HookFailed
    | HookDenied
    | HookRewrote
    | HookPublished
    | CompactionStarted
    | OutputsCleared
    | Compacted
    | CompactionFailed
    | Pinned
    | ChildStarted
    | ChildEnded
    | BudgetWarned
    | BudgetExhausted
    | Checkpoint
    | Audited
    | RunEnded
)
"""A stored fact of a session: something that happened."""


class Record(Struct, frozen=True):
    """An event as stored: numbered, dated and chained."""

    seq: int
    at: int
    """Milliseconds since 1970, by the clock of the process that appended it, or the date of an import."""
    event: Event
    """Or an `Unknown` event, if a newer Bridle stored it: readers ignore it."""
    hash: str
