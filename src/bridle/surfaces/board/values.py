"""What a person sees of a session: the items of the conversation, its head, and how both change.

```
Record, Delta ──▶ Board ──▶ patches ──▶ a screen, a page
                    │
                    ├── head    title, state, approvals, queue, to-do list, context, totals
                    └── items   said · answer · thought · call · note, oldest first
```

A screen holds items by their key and does what patches say; it folds nothing itself.
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
from bridle.core.protocol.names import snake

State = Literal["idle", "running", "waiting", "cut_off"]
"""Waiting is for a person; cut off is a run without an end that nobody drives: it can be resumed."""
CallState = Literal["writing", "waiting", "running", "done", "failed", "denied", "lost"]
"""Writing: the model still writes the arguments. Waiting: a person is asked. Lost: its end is not recorded.
A call that runs and has not started yet (`started_at` is 0) waits for its turn."""
Weight = Literal["detail", "done", "warning", "failed"]
"""How much a note matters; it is also its colour."""


class ItemKind(Struct, frozen=True, tag=snake, omit_defaults=True, kw_only=True):
    """One thing in the conversation."""

    key: str
    """Stays the same while the item changes."""
    seq: int
    """The record that it began with; of what is live, the newest record before it."""
    at: int
    """When, in milliseconds since 1970; 0 while it is live."""


class Attached(Struct, frozen=True, omit_defaults=True):
    """A picture or a file beside words."""

    mime: str
    name: str = ""
    data: str = ""
    """Base64, of pictures only."""


class Said(ItemKind, frozen=True):
    """What a person, another agent or Bridle itself told the model."""

    text: str
    source: MessageSource = "prompt"
    attached: tuple[Attached, ...] = ()


class Answer(ItemKind, frozen=True):
    """What the model said, as Markdown."""

    text: str
    is_live: bool = False
    """More of it may come."""


class Thought(ItemKind, frozen=True):
    """What the model thought."""

    text: str
    is_live: bool = False


class Call(ItemKind, frozen=True):
    """A call of a tool, from its first letter to its result.

    Its key is the call's id, or more than that when an earlier call has had the same one.
    """

    call_id: CallId
    tool: str
    state: CallState
    args: dict[str, Any] = {}
    brief: str = ""
    """What it is about, on one line."""
    code: str = ""
    """The Python that it runs."""
    written: str = ""
    """The argument text so far, while it is being written."""
    why: str = ""
    """Why somebody is asked, or why it was refused."""
    preview: str = ""
    """What it would do, while somebody is asked; often a diff."""
    output: str = ""
    """What it has given back, or has printed so far."""
    diff: str = ""
    """What it has changed."""
    changed: str = ""
    """Which files it has changed, on one line."""
    attached: tuple[Attached, ...] = ()
    duration_ms: int = 0
    started_at: int = 0
    parent: CallId | None = None
    """The call whose code made this one."""
    child: SessionId | None = None
    """The sub-agent that it has started."""
    answer: str = ""
    """What its code gave as the final answer of the run."""


class Note(ItemKind, frozen=True):
    """What happened beside words and calls, on one line."""

    text: str
    weight: Weight = "detail"
    run_id: RunId | None = None
    """The run that it is the end of."""
    outcome: Outcome | None = None


Item = Said | Answer | Thought | Call | Note


class RunHead(Struct, frozen=True, omit_defaults=True):
    """The run that was begun last and whose end is not recorded."""

    run_id: RunId
    model: str
    mode: Mode
    started_at: int
    turn: int = 0
    tokens: int = 0
    cost: float | None = None
    """Dollars, or null when a price is unknown."""
    running: tuple[CallId, ...] = ()
    """The calls at work."""
    doing: str = ""
    """What it does now, on one line."""


class Head(Struct, frozen=True, omit_defaults=True):
    """All of a session but the conversation."""

    session: SessionId
    seq: int
    """The newest record that is told of."""
    title: str
    cwd: str
    agent: str
    state: State = "idle"
    model: str = ""
    """Of the last run; empty before the first."""
    mode: Mode = "ask"
    parent: SessionId | None = None
    is_sub_agent: bool = False
    archived: bool = False
    created_at: int = 0
    updated_at: int = 0
    run: RunHead | None = None
    outcome: Outcome | None = None
    """How the last run ended, when none was begun since."""
    reason: str = ""
    approvals: tuple[ApprovalRequested, ...] = ()
    questions: tuple[QuestionAsked, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    todos: tuple[Todo, ...] = ()
    pins: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    """Rules that hold for the rest of the session."""
    context: ContextUsage = ContextUsage()
    totals: Totals = Totals()
    files_seq: int = 0
    """The newest record known to be about changed files: the list of them is asked for anew when it moves."""
    children_seq: int = 0
    """The same of sub-agents."""


class PatchKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """One change of what a person sees."""


class Put(PatchKind, frozen=True):
    """An item is there: in the place of the one with its key, or else as a new one."""

    item: Item
    before: str = ""
    """A new one comes right before the item with this key; at the end if there is no such item."""


class Grow(PatchKind, frozen=True):
    """Text is added to a live item: to its text; of a call to its output, or to what is written of it."""

    key: str
    text: str
    field: Literal["text", "output", "written"] = "text"


class Drop(PatchKind, frozen=True):
    """An item is no longer there, if it was."""

    key: str


class HeadChanged(PatchKind, frozen=True):
    """The head is now this."""

    head: Head


class Flash(PatchKind, frozen=True):
    """Something to be told once and not kept."""

    text: str
    weight: Weight = "detail"


class Reset(PatchKind, frozen=True):
    """What is shown is no longer right: everything is to be loaded anew."""


Patch = Put | Grow | Drop | HeadChanged | Flash | Reset


class BoardPage(Struct, frozen=True):
    """Some of a conversation, oldest first."""

    items: tuple[Item, ...]
    before: int | None
    """What to ask for the page before it with; null when this is the first one."""


class BoardView(Struct, frozen=True):
    """A session as it is after a record: its head, and the newest of its items."""

    head: Head
    items: tuple[Item, ...]
    before: int | None
