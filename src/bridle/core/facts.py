"""The facts of a session as a fold over its records: title, queue, grants, pins, totals."""

from msgspec.structs import replace

from bridle.core.errors import StoreCorrupt
from bridle.core.ids import RunId
from bridle.core.protocol import (
    ApprovalDecided,
    Checkpoint,
    ChildEnded,
    Compacted,
    CompactionFailed,
    Event,
    FilesSeen,
    KernelSaved,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    Pinned,
    PromptKey,
    PromptQueued,
    QueuedPrompt,
    QueueDropped,
    QueueEdited,
    Record,
    ReplyLost,
    Rewound,
    RunStarted,
    SessionArchived,
    SessionConfigured,
    SessionCreated,
    SessionFacts,
    SessionLabelled,
    SessionOptions,
    SessionTitled,
    TakenPrompt,
    TodosChanged,
    ToolStarted,
    Totals,
)
from bridle.core.summary import title_from

NO_MODEL = "direct/"  # prefix of the model when a person ran a tool directly: the next run must not use it
MAX_SEEN = 500  # files whose digests are kept
MAX_TAKEN = 100  # prompts that are recognized by their keys


def facts_after(facts: SessionFacts | None, record: Record) -> SessionFacts:
    """Return the facts after one more record."""
    event = record.event
    if isinstance(event, SessionCreated):
        return _configured(SessionFacts(event, record.at, event.title, labels=event.labels), event.options)
    if isinstance(event, Checkpoint):
        return event.facts
    if facts is None:
        raise StoreCorrupt("the session's first record is not its creation")
    match event:
        case (
            ToolStarted()
            | ModelReplied()
            | ModelSampled()
            | ReplyLost()
            | Compacted()
            | CompactionFailed()
            | ChildEnded()
        ):
            return replace(facts, totals=_totals_after(facts.totals, event))
        case SessionTitled():
            return replace(facts, title=event.title, totals=_totals_after(facts.totals, event))
        case SessionArchived():
            return replace(facts, archived=event.archived)
        case SessionConfigured():
            return _configured(facts, event.options)
        case SessionLabelled():
            return replace(facts, labels=event.labels)
        case MessageAdded():
            title = facts.title or (title_from(event.message.text) if event.message.role == "user" else "")
            return replace(facts, title=title, queue=_without(facts.queue, event.item_id))
        case PromptQueued():
            taken = _taken_after(facts.taken, event.key, item_id=event.item_id)
            return replace(facts, queue=(*facts.queue, _queued(event)), taken=taken)
        case QueueEdited():
            return replace(facts, queue=tuple(_edited(item, event) for item in facts.queue))
        case QueueDropped():
            return replace(facts, queue=_without(facts.queue, event.item_id))
        case RunStarted():
            model = facts.model if event.model.startswith(NO_MODEL) else event.model
            taken = _taken_after(facts.taken, event.key, run_id=event.run_id)
            return replace(facts, model=model, totals=_totals_after(facts.totals, event), taken=taken)
        case ApprovalDecided() if event.rules:
            return replace(facts, granted=tuple(dict.fromkeys((*facts.granted, *event.rules))))
        case FilesSeen():
            return replace(facts, seen=_seen_after(facts.seen, event))
        case TodosChanged():
            return replace(facts, todos=event.todos)
        case Pinned():
            return replace(facts, pins=pins_after(facts.pins, event))
        case KernelSaved():
            return replace(facts, snapshot=event.snapshot)
        case Rewound(scope="files"):
            return replace(facts, seen={})
        case Rewound():
            rewinds = facts.rewinds + 1
            return replace(facts, seen={}, todos=event.todos, snapshot=event.snapshot, rewinds=rewinds)
        case _:
            return facts


def _configured(facts: SessionFacts, options: SessionOptions) -> SessionFacts:
    return replace(facts, model=options.model or "", options=replace(options, model=None))


def _totals_after(totals: Totals, event: Event) -> Totals:
    match event:
        case RunStarted():
            return replace(totals, runs=totals.runs + 1)
        case ToolStarted():
            return replace(totals, tool_calls=totals.tool_calls + 1)
        case ModelReplied():
            return replace(
                totals,
                turns=totals.turns + 1,
                usage=totals.usage + event.usage,
                cost=totals.cost + (event.cost or 0.0),
                unpriced_turns=totals.unpriced_turns + (event.cost is None),
            )
        case SessionTitled() | Compacted() | CompactionFailed() | ChildEnded() | ModelSampled() | ReplyLost():
            return replace(totals, usage=totals.usage + event.usage, cost=totals.cost + (event.cost or 0.0))
        case _:
            return totals


def pins_after(pins: tuple[str, ...], event: Pinned) -> tuple[str, ...]:
    """Return the pinned texts after one more `Pinned` event, which pins or unpins a text."""
    others = tuple(text for text in pins if text != event.text)
    return (*others, event.text) if event.pinned else others


def _queued(event: PromptQueued) -> QueuedPrompt:
    return QueuedPrompt(event.item_id, event.message, event.options, event.delivery, event.source, event.key)


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
