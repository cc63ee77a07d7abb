"""A session as a fold over its records: facts, messages and the state of the active run.

```
records ──apply──▶ Session
                   ├── facts       title, grants, queue, totals        (what a Checkpoint carries)
                   ├── transcript  the messages, results beside their calls
                   └── run         what the active run has done so far, None between runs
```

`fold` also accepts the tail of a long session: messages are taken from all of it, facts from the
newest Checkpoint in it.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.context import ContextUsage, Counted
from bridle.core.errors import StoreCorrupt
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
    FilesSeen,
    HookDenied,
    KernelSaved,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    OutputsCleared,
    Pinned,
    PromptKey,
    PromptQueued,
    QuestionAnswered,
    QuestionAsked,
    QueuedPrompt,
    QueueDropped,
    QueueEdited,
    Record,
    ReplyLost,
    Rewound,
    RunEnded,
    RunOptions,
    RunResumed,
    RunStarted,
    SessionArchived,
    SessionCreated,
    SessionFacts,
    SessionTitled,
    TakenPrompt,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.protocol.unknown import Unknown
from bridle.core.revision import FileChange
from bridle.core.summary import title_from
from bridle.core.transcript import Transcript, live, transcript_of

NO_MODEL = "direct/"  # a person used a tool: that is not the model to go on with
MAX_SEEN = 500  # files whose digests are remembered
MAX_TAKEN = 100  # prompts that are known again by their keys
RUN_POINTS = ("run_started", "pre_llm_request", "post_llm_response", "turn_boundary", "run_completed")
"""Where the refusal of a hook ends the run."""


class RunState(Struct):
    """What the active run has done so far, as recorded."""

    run_id: RunId
    model: str
    mode: Mode
    limits: Limits
    started_at: int
    """When it began, moved forward by the time that nobody drove it."""
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
    """What the model has asked the user and not heard about yet."""
    started: dict[CallId, ToolStarted] = {}
    finished: dict[CallId, ToolFinished] = {}
    """Of the reply's calls; those that code has made are forgotten once they are over."""
    answer: str = ""
    """What code has given as the final answer."""
    prompt: Message | None = None
    """What the run is to do; a compaction may have taken it from the messages."""
    compaction_failed: bool = False
    """The last compaction of the run did."""
    extracting: bool = False
    """The model is asked for a value that fits the output schema, and for nothing else."""
    extractions: int = 0
    """How often it was."""
    denied: HookDenied | None = None
    """What a hook has ended the run with."""

    @property
    def pending(self) -> list[ApprovalRequested]:
        """Return the approvals nobody has answered, in order."""
        return [ask for call_id, ask in self.requested.items() if call_id not in self.decided]

    @property
    def interrupted(self) -> list[ToolStarted]:
        """Return the calls that began and whose end is not recorded."""
        return [start for call_id, start in self.started.items() if call_id not in self.finished]

    @property
    def cost(self) -> float | None:
        """Return the dollars spent, or None when a turn's price is unknown."""
        return self.spent.cost if self.priced else None


class Session:
    """The state of one session; grows by `apply` and never looks outside."""

    def __init__(self) -> None:
        self.facts: SessionFacts | None = None
        self.transcript = Transcript()
        self.run: RunState | None = None
        self.last: RunEnded | None = None
        self.context: ContextUsage | None = None
        self.input_tokens = 0
        """What the last request was, as its vendor counts; 0 when the messages are no longer those."""
        self.changes: tuple[FileChange, ...] = ()
        """What was last recorded to have changed on disk."""
        self.seq = 0
        self._newest: type | None = None
        self.updated_at = 0

    @property
    def known(self) -> SessionFacts:
        """Return the facts; raises StoreCorrupt when the records lack the session's creation."""
        if self.facts is None:
            raise StoreCorrupt("the session's records do not begin with its creation")
        return self.facts

    @property
    def messages(self) -> list[Counted]:
        """Return the messages known so far, oldest first."""
        return self.transcript.messages

    def apply(self, record: Record) -> None:
        """Take in the next record.

        After a Rewound the messages are no longer right: they can only be had by folding all records anew.
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
            before = len(self.messages)  # a summary is nobody's message
        self.input_tokens = _input_after(self.input_tokens, record.event)
        self.facts = facts_after(self.facts, record)
        if added := len(self.messages) - before:
            totals = self.known.totals
            self.facts = replace(self.known, totals=replace(totals, messages=totals.messages + added))
        self._apply_to_run(record, idle_ms)

    def _move_run(self, before: int) -> None:
        """Find the run's messages again, now that others are gone; its prompt may be part of the summary."""
        if self.run is not None:
            of_run = before - self.run.first_message
            self.run.first_message = max(0, len(self.messages) - of_run)

    def _apply_to_run(self, record: Record, idle_ms: int) -> None:
        event, run = record.event, self.run
        if isinstance(event, RunStarted):
            self.run = RunState(
                run_id=event.run_id,
                model=event.model,
                mode=event.mode,
                limits=event.limits,
                started_at=record.at,
                first_message=len(self.messages),
                options=event.options,
            )
        if isinstance(event, RunEnded):  # a tail may hold the end of a run and not its start
            self.run, self.last = None, event
        if isinstance(event, Rewound):
            self.run = run = None
        if run is None:
            return
        match event:
            case RunResumed():
                run.started_at += max(0, idle_ms)
            case ModelSwitched():
                run.model = event.model
            case TurnStarted():
                run.turn, run.replied, run.turn_ended = event.turn, None, False
                run.requested = {asked.call_id: asked for asked in run.pending if asked.child}
                run.questions = {key: asked for key, asked in run.questions.items() if asked.child}
                run.decided, run.started, run.finished = {}, {}, {}
                run.answer = ""
            case MessageAdded():
                run.prompt = run.prompt or event.message
                run.extracting = event.source == "extract"
                run.extractions += run.extracting
            case ModelReplied():
                run.replied = event
                run.usage += event.usage
                run.spent += Spend(tokens=event.usage.context, cost=event.cost or 0.0, turns=1)
                run.priced = run.priced and event.cost is not None
            case ApprovalRequested():
                run.requested[event.call_id] = event
                run.decided.pop(event.call_id, None)  # an answer is to one question
            case ApprovalDecided():
                run.decided[event.call_id] = event
            case QuestionAsked():
                run.questions[event.call_id] = event
            case QuestionAnswered():
                run.questions.pop(event.call_id, None)
            case ToolStarted():
                run.started[event.call_id] = event
                run.spent += Spend(tool_calls=1)
            case ToolFinished():
                _finish_call(run, event)
            case TurnEnded():
                run.turn_ended = True
                if not run.model.startswith(NO_MODEL):
                    self.context = event.context
            case HookDenied() if event.point in RUN_POINTS:
                run.denied = event
            case Compacted() | CompactionFailed() | ModelSampled() | ReplyLost():
                run.usage += event.usage
                run.spent += Spend(tokens=event.usage.context, cost=event.cost or 0.0)
                run.priced = run.priced and (event.cost is not None or event.usage == Usage())
                if not isinstance(event, ModelSampled | ReplyLost):
                    run.compaction_failed = isinstance(event, CompactionFailed)
            case ChildEnded():
                run.usage += event.usage
                run.spent += Spend(event.usage.context, event.tool_calls, event.cost or 0.0)
                run.priced = run.priced and (event.cost is not None or event.usage == Usage())
            case _:
                pass


def _finish_call(run: RunState, event: ToolFinished) -> None:
    call_id = event.result.call_id
    run.questions.pop(call_id, None)
    if event.parent is None:
        run.finished[call_id] = event
        run.answer = event.answer or run.answer
        for asked in [asked.call_id for asked in run.pending if asked.parent == call_id]:
            del run.requested[asked]  # the code that asked was cut off: nobody waits for an answer
    else:
        for known in (run.requested, run.decided, run.started):
            known.pop(call_id, None)


def _input_after(tokens: int, event: Event) -> int:
    match event:
        case ModelReplied():
            return event.usage.context - event.usage.output
        case Compacted() | OutputsCleared() | Rewound():
            return 0
        case _:
            return tokens


def facts_after(facts: SessionFacts | None, record: Record) -> SessionFacts:
    """Return the facts as they stand after one more record."""
    event = record.event
    if isinstance(event, SessionCreated):
        return SessionFacts(event, record.at, event.title)
    if isinstance(event, Checkpoint):
        return event.facts
    if facts is None:
        raise StoreCorrupt("the session's records do not begin with its creation")
    totals = facts.totals
    match event:
        case SessionTitled():
            cost = totals.cost + (event.cost or 0.0)
            spent = replace(totals, usage=totals.usage + event.usage, cost=cost)
            return replace(facts, title=event.title, totals=spent)
        case SessionArchived():
            return replace(facts, archived=event.archived)
        case MessageAdded():
            title = facts.title or (title_from(event.message.text) if event.message.role == "user" else "")
            return replace(facts, title=title, queue=_without(facts.queue, event.item_id))
        case PromptQueued():
            item = QueuedPrompt(
                event.item_id, event.message, event.options, event.delivery, event.source, event.key
            )
            taken = _taken_after(facts.taken, event.key, item_id=event.item_id)
            return replace(facts, queue=(*facts.queue, item), taken=taken)
        case QueueEdited():
            return replace(facts, queue=tuple(_edited(item, event) for item in facts.queue))
        case QueueDropped():
            return replace(facts, queue=_without(facts.queue, event.item_id))
        case RunStarted():
            model = facts.model if event.model.startswith(NO_MODEL) else event.model
            taken = _taken_after(facts.taken, event.key, run_id=event.run_id)
            return replace(facts, model=model, totals=replace(totals, runs=totals.runs + 1), taken=taken)
        case ApprovalDecided() if event.rules:
            return replace(facts, granted=tuple(dict.fromkeys((*facts.granted, *event.rules))))
        case FilesSeen():
            return replace(facts, seen=_seen_after(facts.seen, event))
        case TodosChanged():
            return replace(facts, todos=event.todos)
        case Pinned():
            return replace(facts, pins=_pinned(facts.pins, event))
        case Compacted() | CompactionFailed() | ChildEnded() | ModelSampled() | ReplyLost():
            cost = totals.cost + (event.cost or 0.0)
            return replace(facts, totals=replace(totals, usage=totals.usage + event.usage, cost=cost))
        case KernelSaved():
            return replace(facts, snapshot=event.snapshot)
        case Rewound(scope="files"):
            return replace(facts, seen={})
        case Rewound():
            rewinds = facts.rewinds + 1
            return replace(facts, seen={}, todos=event.todos, snapshot=event.snapshot, rewinds=rewinds)
        case ModelReplied():
            grown = replace(
                totals,
                turns=totals.turns + 1,
                usage=totals.usage + event.usage,
                cost=totals.cost + (event.cost or 0.0),
                unpriced_turns=totals.unpriced_turns + (event.cost is None),
            )
            return replace(facts, totals=grown)
        case ToolStarted():
            return replace(facts, totals=replace(totals, tool_calls=totals.tool_calls + 1))
        case _:
            return facts


def _seen_after(seen: dict[str, str], event: FilesSeen) -> dict[str, str]:
    new = {file.path: file.digest for file in event.files}
    kept = {path: digest for path, digest in seen.items() if path not in new} | new
    return dict(list(kept.items())[-MAX_SEEN:])


def _taken_after(
    taken: dict[str, TakenPrompt],
    key: PromptKey | None,
    *,
    run_id: RunId | None = None,
    item_id: str | None = None,
) -> dict[str, TakenPrompt]:
    if key is None:
        return taken
    others = {name: prompt for name, prompt in taken.items() if name != key.name}
    return dict([*others.items(), (key.name, TakenPrompt(key.digest, run_id, item_id))][-MAX_TAKEN:])


def _edited(item: QueuedPrompt, edit: QueueEdited) -> QueuedPrompt:
    if item.item_id != edit.item_id:
        return item
    return replace(item, message=edit.message, delivery=edit.delivery or item.delivery)


def _without(queue: tuple[QueuedPrompt, ...], item_id: str | None) -> tuple[QueuedPrompt, ...]:
    return tuple(item for item in queue if item.item_id != item_id)


def fold(records: Sequence[Record]) -> Session:
    """Build a session from all of its records, or from a tail that holds a Checkpoint."""
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
        if index == rewound:  # a run that begins after it finds its place among what is left
            session.transcript = transcript_of(live(records[: index + 1]).records)
    return session


def _last(records: Sequence[Record], kind: type[Event]) -> int:
    """Return the place of the newest event of a kind, or -1."""
    return next((i for i in range(len(records) - 1, -1, -1) if isinstance(records[i].event, kind)), -1)


def fork_at(records: Iterable[Record], seq: int, child: SessionCreated) -> list[Event]:
    """Return the events that begin a child session with the messages up to `seq`.

    A call whose result lies beyond `seq` is left out together with its message, so that the child
    can go on at once.
    """
    before = [record for record in records if record.seq <= seq]
    past = live(before).records
    transcript = transcript_of(past)
    while transcript.messages and transcript.messages[-1].message.calls:
        transcript.messages.pop()
    snapshot = snapshot_at(past)
    kernel = [KernelSaved(snapshot)] if snapshot else []
    pins = [Pinned(text) for text in _pins_after(before)]
    return [replace(child, forked_at=seq), *_copies(transcript), *kernel, *pins]


def _copies(transcript: Transcript) -> Iterator[Event]:
    for item in transcript.messages:
        if item.kind == "summary" and transcript.compacted is not None:
            summary = replace(transcript.compacted, kept=0, messages_after=1, left_out=())
            yield replace(summary, model="", usage=Usage(), cost=None)
        else:
            yield MessageAdded(item.message, "steer" if item.kind == "correction" else "fork", item.tokens)


def _pins_after(records: Iterable[Record]) -> tuple[str, ...]:
    pins: tuple[str, ...] = ()
    for record in records:
        if isinstance(record.event, Pinned):
            pins = _pinned(pins, record.event)
    return pins


def _pinned(pins: tuple[str, ...], event: Pinned) -> tuple[str, ...]:
    others = tuple(text for text in pins if text != event.text)
    return (*others, event.text) if event.pinned else others


def snapshot_at(past: Sequence[Record]) -> str:
    """Return what the kernel held after these live records."""
    found = (record.event.snapshot for record in reversed(past) if isinstance(record.event, KernelSaved))
    return next(found, "")
