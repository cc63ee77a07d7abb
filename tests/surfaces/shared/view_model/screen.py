"""A screen that only applies patches; sample sessions; and a store that counts its calls."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Checkpoint,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    RunEnded,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.session import Session
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.view_model.view_types import (
    Drop,
    Flash,
    Grow,
    Head,
    HeadChanged,
    Item,
    Patch,
    Put,
    Reset,
    ViewPage,
    ViewSnapshot,
)
from tests.sessions.stage import Play, Stage
from tests.stores.sample import CountingClock

S = SessionId("play")
RUN = RunId("run-1")
USAGE = Usage(input=10, output=5)


class DictScreen:
    """Holds items by their key, in order."""

    def __init__(self, view: ViewSnapshot) -> None:
        self.head: Head = view.head
        self.items: list[Item] = list(view.items)
        self.before = view.before
        self.flashes: list[Flash] = []

    def apply(self, patches: Iterable[Patch]) -> bool:
        """Apply patches; return whether everything must be reloaded."""
        for patch in patches:
            match patch:
                case Put():
                    self._put(patch)
                case Grow():
                    place = self._place(patch.key)
                    item: Any = self.items[place]
                    grown = getattr(item, patch.field) + patch.text
                    self.items[place] = replace(item, **{patch.field: grown})
                case Drop():
                    self.items = [item for item in self.items if item.key != patch.key]
                case HeadChanged():
                    self.head = patch.head
                case Flash():
                    self.flashes.append(patch)
                case Reset():
                    return True
        return False

    def _place(self, key: str) -> int:
        return [item.key for item in self.items].index(key)

    def _put(self, patch: Put) -> None:
        keys = [item.key for item in self.items]
        if patch.item.key in keys:
            self.items[keys.index(patch.item.key)] = patch.item
        elif patch.before in keys:
            self.items.insert(keys.index(patch.before), patch.item)
        else:
            self.items.append(patch.item)

    def prepend(self, page: ViewPage) -> None:
        self.items = [*page.items, *self.items]
        self.before = page.before


class CountingStore(EphemeralStore):
    """Counts its reads."""

    def __init__(self) -> None:
        super().__init__(CountingClock())
        self.was_read = 0
        self.reads = 0

    async def read(self, session: SessionId, **options: Any) -> list[Record]:
        records = await super().read(session, **options)
        self.was_read += len(records)
        self.reads += 1
        return records


async def stage_of(events: Sequence[Event]) -> Stage:
    """Return a stage whose session consists of these events."""
    store = CountingStore()
    await store.append(S, 0, events)
    store.was_read = store.reads = 0
    return Stage(Play(), store=store)


# ---------------------------------------------------------------------------- events


def created() -> SessionCreated:
    return SessionCreated(S, "/home/me/project")


def said(text: str, **fields: Any) -> MessageAdded:
    return MessageAdded(user_message(text), **fields)


def call(call_id: str, name: str = "read_file", **args: Any) -> ToolCall:
    return ToolCall(CallId(call_id), name, args or {"path": "a.py"})


def replied(
    *parts: str | Part, run: RunId = RUN, turn: int = 1, thought: str = "", cost: float | None = 0.5
) -> ModelReplied:
    thoughts = (Reasoning(thought),) if thought else ()
    told = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return ModelReplied(run, turn, Message("assistant", (*thoughts, *told)), "end_turn", USAGE, cost)


def started(call_id: str, name: str = "read_file", parent: str | None = None, **args: Any) -> ToolStarted:
    return ToolStarted(
        CallId(call_id), name, args or {"path": "a.py"}, parent=None if parent is None else CallId(parent)
    )


def finished(
    call_id: str, output: str = "out", name: str = "read_file", parent: str | None = None, **fields: Any
) -> ToolFinished:
    result = ToolResult(CallId(call_id), name, output, fields.pop("is_error", False))
    return ToolFinished(result, 12, parent=None if parent is None else CallId(parent), **fields)


def turn_ended(run: RunId = RUN, turn: int = 1) -> TurnEnded:
    return TurnEnded(run, turn, USAGE, ContextUsage(1000, run=5 * turn))


def run_ended(run: RunId = RUN, **fields: Any) -> RunEnded:
    return RunEnded(run, **{"outcome": "completed", "turns": 1, "usage": USAGE, "cost": 0.5, **fields})


def turns(count: int, *, runs: int = 1) -> list[Event]:
    """Return a session of many turns, each with a call, in some runs."""
    log = Log()
    for number in range(runs):
        run = RunId(f"run-{number}")
        log.add(RunStarted(run, "scripted/x"), said(f"do {number}"))
        for turn in range(1, count + 1):
            name = f"c{number}_{turn}"
            log.add(TurnStarted(run, turn), replied("look", call(name), run=run, turn=turn))
            log.add(started(name), finished(name), turn_ended(run, turn))
        log.end(run, count)
    return log.events


class Log:
    """Events as a session records them, with checkpoints."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._session = Session()
        self.add(created())

    def add(self, *events: Event) -> None:
        for event in events:
            self.events.append(event)
            seq = len(self.events)
            self._session.apply(Record(seq, seq, event, ""))
            self._session.messages.clear()

    def end(self, run: RunId, count: int) -> None:
        self.add(Checkpoint(self._session.known), run_ended(run, turns=count))
