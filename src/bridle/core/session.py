"""A session as a fold over its records: facts, messages and the state of the active run.

```
records ──apply──▶ Session
                   ├── facts       title, grants, queue, totals        (stored in a Checkpoint)
                   ├── transcript  the messages, results next to their calls
                   └── run         the state of the active run, None between runs
```

`fold` also accepts the tail of a long session: it takes messages from all of the tail, and facts from the
newest Checkpoint in it.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.context import ContextUsage, Counted
from bridle.core.errors import StoreCorrupt, UsageError
from bridle.core.facts import NO_MODEL, facts_after, pins_after
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, Usage
from bridle.core.permission import Mode
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    ChildEnded,
    Compacted,
    CompactionFailed,
    Event,
    FilesChanged,
    HookDenied,
    KernelSaved,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    OutputsCleared,
    Pinned,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ReplyLost,
    Rewound,
    RunEnded,
    RunOptions,
    RunResumed,
    RunStarted,
    SessionCreated,
    SessionFacts,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.protocol.unknown import Unknown
from bridle.core.revision import FileChange
from bridle.core.transcript import Transcript, drop_rewound, transcript_of

# ---------------------------------------------------------------------------- fork
# Forks: which messages, pins and kernel state a new session copies from its parent.


def fork_at(
    records: Iterable[Record], seq: int, child: SessionCreated, messages: int | None = None
) -> list[Event]:
    """Return the first events of a child session, with the parent's messages up to `seq`, or the first few.

    A message with a call whose result comes later is left out, so that the child can take a prompt at once.
    Raises UsageError if there are fewer messages.
    """
    before = [record for record in records if record.seq <= seq]
    past = drop_rewound(before)
    transcript = transcript_of(past)
    if messages is not None:
        seq = _seq_of_messages(past, messages)
        past = [record for record in past if record.seq <= seq]
        del transcript.messages[messages:]
    while transcript.messages and transcript.messages[-1].message.calls:
        transcript.messages.pop()
    snapshot = snapshot_at(past)
    kernel = [KernelSaved(snapshot)] if snapshot else []
    pins = [Pinned(text) for text in _pins_of(before)]
    return [replace(child, forked_at=seq), *_copies(transcript), *kernel, *pins]


def _seq_of_messages(past: Sequence[Record], count: int) -> int:
    """Return the last record before the message after the first `count`; raises UsageError."""
    transcript = Transcript()
    added: list[int] = []  # the record that added each message
    for record in past:
        transcript.apply(record.event)
        if isinstance(record.event, Compacted):
            kept = len(transcript.messages) - 1
            added = [record.seq, *added[max(0, len(added) - kept) :]]
        added += [record.seq] * (len(transcript.messages) - len(added))
    if not 0 <= count <= len(added):
        raise UsageError(f"the session has {len(added)} messages, not {count}")
    return added[count] - 1 if count < len(added) else past[-1].seq


def _copies(transcript: Transcript) -> Iterator[Event]:
    for item in transcript.messages:
        if item.kind == "summary" and transcript.compacted is not None:
            summary = replace(transcript.compacted, kept=0, messages_after=1, left_out=())
            yield replace(summary, model="", usage=Usage(), cost=None)
        else:
            yield MessageAdded(item.message, "steer" if item.kind == "correction" else "fork", item.tokens)


def _pins_of(records: Iterable[Record]) -> tuple[str, ...]:
    pins: tuple[str, ...] = ()
    for record in records:
        if isinstance(record.event, Pinned):
            pins = pins_after(pins, record.event)
    return pins


def snapshot_at(past: Sequence[Record]) -> str:
    """Return the digest of the kernel's last snapshot in these live records; empty for none."""
    found = (record.event.snapshot for record in reversed(past) if isinstance(record.event, KernelSaved))
    return next(found, "")


# ---------------------------------------------------------------------------- session


RUN_POINTS = ("run_started", "pre_llm_request", "post_llm_response", "turn_boundary", "run_completed")
"""Hook points at which a deny ends the run."""


class RunState(Struct):
    """The state of the active run, from its records."""

    run_id: RunId
    model: str
    mode: Mode
    limits: Limits
    started_at: int
    """When the run began, moved forward by the time in which no process ran it."""
    first_message: int
    """Index of the run's prompt among the messages."""
    options: RunOptions = RunOptions()
    turn: int = 0
    replied: ModelReplied | None = None
    """The reply of the current turn."""
    turn_ended: bool = False
    usage: Usage = Usage()
    spent: Spend = Spend()
    priced: bool = True
    requested: dict[CallId, ApprovalRequested] = {}
    decided: dict[CallId, ApprovalDecided] = {}
    questions: dict[CallId, QuestionAsked] = {}
    """Open questions of the model to the user."""
    started: dict[CallId, ToolStarted] = {}
    finished: dict[CallId, ToolFinished] = {}
    """Results of the reply's calls; calls made by code are dropped once they end."""
    answer: str = ""
    """The final answer, if code gave one."""
    prompt: Message | None = None
    """The run's prompt, kept here because a compaction may remove it from the messages."""
    compaction_failed: bool = False
    """True if the run's last compaction failed."""
    extracting: bool = False
    """True while the model is asked only for a value that fits the output schema."""
    extractions: int = 0
    """How often the model was asked for such a value."""
    denied: HookDenied | None = None
    """The hook's deny that ends the run."""

    @property
    def pending(self) -> list[ApprovalRequested]:
        """Approvals without an answer, in order."""
        return [ask for call_id, ask in self.requested.items() if call_id not in self.decided]

    @property
    def interrupted(self) -> list[ToolStarted]:
        """Calls that started and whose end is not recorded."""
        return [start for call_id, start in self.started.items() if call_id not in self.finished]

    @property
    def has_denial(self) -> bool:
        """True if an approval of this turn was denied; those of sub-agents do not count."""
        asked = self.requested
        return any(
            decided.answer == "deny" and (call_id not in asked or asked[call_id].child is None)
            for call_id, decided in self.decided.items()
        )

    @property
    def cost(self) -> float | None:
        """Dollars spent, or None if a price is unknown."""
        return self.spent.cost if self.priced else None

    def apply(self, event: Event, idle_ms: int) -> None:
        """Apply the next event; `idle_ms` is the time since the record before it."""
        match event:
            case RunResumed():
                self.started_at += max(0, idle_ms)
            case ModelSwitched():
                self.model = event.model
            case TurnStarted():
                self._begin_turn(event.turn)
            case MessageAdded():
                self.prompt = self.prompt or event.message
                self.extracting = event.source == "extract"
                self.extractions += self.extracting
            case ModelReplied():
                self.replied = event
                self.priced = self.priced and event.cost is not None
                self._pay(event.usage, event.cost, turns=1)
            case ApprovalRequested():
                self.requested[event.call_id] = event
                self.decided.pop(event.call_id, None)  # an answer counts for one request only
            case ApprovalDecided():
                self.decided[event.call_id] = event
            case QuestionAsked():
                self.questions[event.call_id] = event
            case QuestionAnswered():
                self.questions.pop(event.call_id, None)
            case ToolStarted():
                self.started[event.call_id] = event
                self.spent += Spend(tool_calls=1)
            case ToolFinished():
                self._finish_call(event)
            case TurnEnded():
                self.turn_ended = True
            case HookDenied() if event.point in RUN_POINTS:
                self.denied = event
            case Compacted() | CompactionFailed():
                self.compaction_failed = isinstance(event, CompactionFailed)
                self._pay(event.usage, event.cost)
            case ModelSampled() | ReplyLost():
                self._pay(event.usage, event.cost)
            case ChildEnded():
                self._pay(event.usage, event.cost, tool_calls=event.tool_calls)
            case _:
                pass

    def _begin_turn(self, turn: int) -> None:
        """Drop the calls of the last turn; requests of sub-agents stay open."""
        self.turn, self.replied, self.turn_ended = turn, None, False
        self.requested = {asked.call_id: asked for asked in self.pending if asked.child}
        self.questions = {key: asked for key, asked in self.questions.items() if asked.child}
        self.decided, self.started, self.finished = {}, {}, {}
        self.answer = ""

    def _pay(self, usage: Usage, cost: float | None, *, tool_calls: int = 0, turns: int = 0) -> None:
        self.usage += usage
        self.spent += Spend(usage.context, tool_calls, cost or 0.0, turns)
        self.priced = self.priced and (cost is not None or usage == Usage())

    def _finish_call(self, event: ToolFinished) -> None:
        call_id = event.result.call_id
        self.questions.pop(call_id, None)
        if event.parent is None:
            self.finished[call_id] = event
            self.answer = event.answer or self.answer
            for asked in [asked.call_id for asked in self.pending if asked.parent == call_id]:
                del self.requested[asked]  # the code that made this call has ended: nothing awaits the answer
        else:
            for known in (self.requested, self.decided, self.started):
                known.pop(call_id, None)


def settled_call(event: Event) -> CallId | None:
    """Return the call whose approval or question an event settles; None if it settles none."""
    match event:
        case ApprovalDecided() | QuestionAnswered():
            return event.call_id
        case ToolFinished():
            return event.result.call_id
        case _:
            return None


class Session:
    """The state of one session, built from its records with `apply` and nothing else."""

    def __init__(self) -> None:
        self.facts: SessionFacts | None = None
        self.transcript = Transcript()
        self.run: RunState | None = None
        self.last: RunEnded | None = None
        self.context: ContextUsage | None = None
        self.input_tokens = 0
        """Size of the last request, counted by the vendor; 0 once its messages were replaced."""
        self.changes: tuple[FileChange, ...] = ()
        """The file changes recorded last."""
        self.seq = 0
        self._newest: type | None = None
        self.updated_at = 0

    @property
    def known(self) -> SessionFacts:
        """The facts; raises StoreCorrupt if the records lack the session's creation."""
        if self.facts is None:
            raise StoreCorrupt("the session's first record is not its creation")
        return self.facts

    @property
    def messages(self) -> list[Counted]:
        """The messages so far, oldest first."""
        return self.transcript.messages

    def apply(self, record: Record) -> None:
        """Apply the next record.

        After a Rewound the messages are wrong: only a new `fold` over all records restores them.
        """
        if isinstance(record.event, Unknown):
            self.seq, self.updated_at = record.seq, record.at
            return
        if isinstance(record.event, FilesChanged):
            follows = self._newest is FilesChanged
            self.changes = (*(self.changes if follows else ()), *record.event.changes)
        self._newest = type(record.event)
        idle_ms = record.at - self.updated_at
        self.seq, self.updated_at = record.seq, record.at
        if isinstance(record.event, Compacted):
            self.transcript.close_turn()
        before = len(self.messages)
        self.transcript.apply(record.event)
        if isinstance(record.event, Compacted):
            self._move_run(before)
            before = len(self.messages)  # the summary does not count in the totals
        self.input_tokens = _input_after(self.input_tokens, record.event)
        self.facts = facts_after(self.facts, record)
        if added := len(self.messages) - before:
            totals = self.known.totals
            self.facts = replace(self.known, totals=replace(totals, messages=totals.messages + added))
        self._apply_to_run(record, idle_ms)

    def _move_run(self, before: int) -> None:
        """Move the run's first message after a compaction; the summary may have replaced its prompt."""
        if self.run is not None:
            of_run = before - self.run.first_message
            self.run.first_message = max(0, len(self.messages) - of_run)

    def _apply_to_run(self, record: Record, idle_ms: int) -> None:
        event = record.event
        match event:
            case RunStarted():
                self.run = RunState(
                    run_id=event.run_id,
                    model=event.model,
                    mode=event.mode,
                    limits=event.limits,
                    started_at=record.at,
                    first_message=len(self.messages),
                    options=event.options,
                )
            case RunEnded():  # a tail may contain the end of a run without its start
                self.run, self.last = None, event
            case Rewound():
                self.run = None
            case _:
                if self.run is not None:
                    self.run.apply(event, idle_ms)
                    if isinstance(event, TurnEnded) and not self.run.model.startswith(NO_MODEL):
                        self.context = event.context


def _input_after(tokens: int, event: Event) -> int:
    match event:
        case ModelReplied():
            return event.usage.context - event.usage.output
        case Compacted() | OutputsCleared() | Rewound():
            return 0
        case _:
            return tokens


def fold(records: Sequence[Record]) -> Session:
    """Build a session from all of its records, or from a tail that contains a Checkpoint."""
    session = Session()
    whole = bool(records) and records[0].seq == 1
    start = 0 if whole else max(0, _last(records, Checkpoint))
    rewound = _last(records, Rewound)
    for index, record in enumerate(records):
        if index >= start:
            session.apply(record)
        else:
            session.transcript.apply(record.event)
            session.input_tokens = _input_after(session.input_tokens, record.event)
            if isinstance(record.event, TurnEnded):
                session.context = record.event.context
        if index == rewound:  # a later run needs its index among the messages that are left
            session.transcript = transcript_of(drop_rewound(records[: index + 1]))
    return session


def _last(records: Sequence[Record], kind: type[Event]) -> int:
    """Return the index of the newest event of a kind, or -1."""
    return next((i for i in range(len(records) - 1, -1, -1) if isinstance(records[i].event, kind)), -1)
