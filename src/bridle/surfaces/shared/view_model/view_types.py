"""The data types of a session view: conversation items, the head, and patches that change both.

```
Record, Delta ──▶ ViewModel ──▶ patches ──▶ a screen, a page
                    │
                    ├── head    title, state, approvals, queue, to-do list, context, totals
                    └── items   said · answer · thought · call · note, oldest first
```

A screen stores items by key and applies patches; it folds nothing itself.
"""

from typing import Any, Literal

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.permission import Mode
from bridle.core.protocol import (
    ApprovalRequested,
    MessageSource,
    Outcome,
    QuestionAsked,
    QueuedPrompt,
    Todo,
    Totals,
)
from bridle.core.protocol.values import snake

State = Literal["idle", "running", "waiting", "cut_off"]
"""Waiting: for a person. Cut off: the run has no end and no process drives it; it can be resumed."""
CallState = Literal["writing", "waiting", "running", "done", "failed", "denied", "lost"]
"""Writing: the model still writes the arguments. Waiting: for a person. Lost: its end is not recorded.

A running call that has not started yet (`started_at` is 0) waits for its turn.
"""
Weight = Literal["detail", "done", "warning", "failed"]
"""The importance of a note; it also selects the color."""


class ItemKind(Struct, frozen=True, tag=snake, omit_defaults=True, kw_only=True):
    """One item of the conversation."""

    key: str
    """Stays the same while the item changes."""
    seq: int
    """The record it began with; for a live item, the newest record before it."""
    at: int
    """The time in milliseconds since 1970; 0 while it is live."""


class Attached(Struct, frozen=True, omit_defaults=True):
    """An image or a file attached to a message."""

    mime: str
    name: str = ""
    data: str = ""
    """Base64; images only."""


class Said(ItemKind, frozen=True):
    """A message to the model from a person, another agent or Bridle."""

    text: str
    source: MessageSource = "prompt"
    attached: tuple[Attached, ...] = ()


class Answer(ItemKind, frozen=True):
    """Text from the model, as Markdown."""

    text: str
    is_live: bool = False
    """True while more may come."""


class Thought(ItemKind, frozen=True):
    """Reasoning of the model."""

    text: str
    is_live: bool = False


class Call(ItemKind, frozen=True):
    """A tool call, from its first character to its result.

    The key is the call's id, with a prefix if an earlier call had the same id.
    """

    call_id: CallId
    tool: str
    state: CallState
    args: dict[str, Any] = {}
    brief: str = ""
    """A one-line summary of the arguments."""
    code: str = ""
    """The Python code that it runs."""
    written: str = ""
    """The argument text so far, while it is being written."""
    why: str = ""
    """Why approval is needed, or why the call was refused."""
    preview: str = ""
    """What the call would do, while approval is pending; often a diff."""
    output: str = ""
    """The result, or the output so far."""
    diff: str = ""
    """The diff of its changes."""
    changed: str = ""
    """The files it has changed, on one line."""
    attached: tuple[Attached, ...] = ()
    duration_ms: int = 0
    started_at: int = 0
    parent: CallId | None = None
    """The call whose code made this one."""
    child: SessionId | None = None
    """The sub-agent that it started."""
    answer: str = ""
    """The final answer of the run, if its code gave one."""


class Note(ItemKind, frozen=True):
    """An event other than a message or call, on one line."""

    text: str
    weight: Weight = "detail"
    run_id: RunId | None = None
    """The run that this note ends."""
    outcome: Outcome | None = None


Item = Said | Answer | Thought | Call | Note


class RunHead(Struct, frozen=True, omit_defaults=True):
    """The latest run, if its end is not recorded."""

    run_id: RunId
    model: str
    mode: Mode
    started_at: int
    turn: int = 0
    tokens: int = 0
    cost: float | None = None
    """In dollars; null when a price is unknown."""
    running: tuple[CallId, ...] = ()
    """The calls in progress."""
    doing: str = ""
    """The current activity, on one line."""


class Head(Struct, frozen=True, omit_defaults=True):
    """Everything of a session except the conversation."""

    session: SessionId
    seq: int
    """The newest record included."""
    title: str
    cwd: str
    agent: str
    state: State = "idle"
    model: str = ""
    """The model of the last run; empty before the first."""
    mode: Mode = "ask"
    parent: SessionId | None = None
    is_sub_agent: bool = False
    archived: bool = False
    created_at: int = 0
    updated_at: int = 0
    run: RunHead | None = None
    outcome: Outcome | None = None
    """The outcome of the last run; null if another has started since."""
    reason: str = ""
    approvals: tuple[ApprovalRequested, ...] = ()
    questions: tuple[QuestionAsked, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    todos: tuple[Todo, ...] = ()
    pins: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    """Rules granted for the rest of the session."""
    context: ContextUsage = ContextUsage()
    totals: Totals = Totals()
    files_seq: int = 0
    """The newest record known to concern changed files: reload the list of files when it changes."""
    children_seq: int = 0
    """The same for sub-agents."""


class PatchKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """One change to the view."""


class Put(PatchKind, frozen=True):
    """Adds an item, or replaces the one with its key."""

    item: Item
    before: str = ""
    """A new item goes right before the item with this key; at the end if there is no such item."""


class Grow(PatchKind, frozen=True):
    """Appends text to a live item: to its text, or to a call's output or written arguments."""

    key: str
    text: str
    field: Literal["text", "output", "written"] = "text"


class Drop(PatchKind, frozen=True):
    """Removes an item, if it exists."""

    key: str


class HeadChanged(PatchKind, frozen=True):
    """Replaces the head."""

    head: Head


class Flash(PatchKind, frozen=True):
    """A message to show once and not to keep."""

    text: str
    weight: Weight = "detail"


class Reset(PatchKind, frozen=True):
    """The view is no longer valid: reload everything."""


Patch = Put | Grow | Drop | HeadChanged | Flash | Reset


class ViewPage(Struct, frozen=True):
    """A part of a conversation, oldest first."""

    items: tuple[Item, ...]
    before: int | None
    """The argument that loads the previous page; null if this is the first."""


class ViewSnapshot(Struct, frozen=True):
    """A session after a record: its head and its newest items."""

    head: Head
    items: tuple[Item, ...]
    before: int | None
