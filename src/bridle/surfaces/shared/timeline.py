"""The timeline of a run: its activities over time, and what every turn sent and used.

```
turn        ├──────────────── 1 ────────────────┤├──── 2 ────┤
model       ├───────┤                            ├──────────┤
tool                 ├──── bash make test ──────┤
wait                 ├──┤                                        for a person
```

Times are milliseconds since the run began. Rewound records are included.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.errors import UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    HookCompleted,
    HookDenied,
    HookFailed,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    Outcome,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ReplyLost,
    Retrying,
    RunEnded,
    RunStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.queries import Records, Status
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.terminal import cut, one_line
from bridle.surfaces.shared.view_model.call_items import OPEN
from bridle.surfaces.shared.view_model.calls import RunCalls
from bridle.surfaces.shared.view_model.view_types import Call

SpanKind = Literal["turn", "model", "tool", "wait", "child", "hook", "compaction"]

MAX_SPANS = 5_000
MAX_TURNS = 2_000
MAX_RUNS = 500
NAME_CELLS = 120
PAGE = 1_000  # records that are read at once
NEWEST_RECORDS = 20_000  # that are searched, unless the run began before them


class Span(Struct, frozen=True, omit_defaults=True):
    """An activity with a start and an end."""

    key: str
    kind: SpanKind
    name: str
    start_ms: int
    end_ms: int | None = None
    """Null while it continues."""
    parent: str | None = None
    """The key of the enclosing span."""
    depth: int = 0
    """The nesting depth."""
    tokens: int = 0
    cost: float | None = None
    """In dollars; null when the price is unknown or there is none."""
    outcome: str = ""
    """How it ended, in one word: done, failed, denied, lost, or the answer to an approval."""


class TurnUse(Struct, frozen=True, omit_defaults=True):
    """What a turn sent and used."""

    turn: int
    start_ms: int
    context: ContextUsage = ContextUsage()
    usage: Usage = Usage()
    cost: float | None = None


class RunLine(Struct, frozen=True, omit_defaults=True):
    """One run of a session."""

    run_id: RunId
    began_at: int
    """In milliseconds since 1970."""
    ended_at: int | None = None
    outcome: Outcome | None = None
    """Null if the end of the run is not recorded."""
    model: str = ""
    brief: str = ""
    """The start of its prompt."""


class Timeline(Struct, frozen=True, omit_defaults=True):
    """The timeline of one run, and the list of the session's runs."""

    run_id: RunId | None
    """The run shown; null if there was none yet."""
    runs: tuple[RunLine, ...] = ()
    """Oldest first; only the newest runs of a long session."""
    spans: tuple[Span, ...] = ()
    """In the order of their records; a span recorded at its end (a hook) began before that."""
    left_out: int = 0
    """How many more spans there were."""
    turns: tuple[TurnUse, ...] = ()


async def timeline_of(api: SessionApi, session: SessionId, run: str = "") -> Timeline:
    """Return the timeline of a run, or of the last one.

    Raises SessionNotFound, and UsageError if there is no such run.
    """
    newest = (await api.ask(Status(session))).seq
    after = max(0, newest - NEWEST_RECORDS)
    found = await _trace(api, session, run, after)
    if found.run_id is None and after:
        found = await _trace(api, session, run, 0)
    if found.run_id is None and run:
        raise UsageError(f'session {session}: no run "{run}"')
    return found


async def _trace(api: SessionApi, session: SessionId, run: str, after: int) -> Timeline:
    tracing = TimelineBuilder(run)
    seq = after
    while page := await api.ask(Records(session, seq, PAGE)):
        tracing.add_all(page)
        seq = page[-1].seq
    return tracing.timeline


def timeline(records: Iterable[Record], run: str = "") -> Timeline:
    """Return the timeline of a run, or of the last one, from all records of a session."""
    tracing = TimelineBuilder(run)
    tracing.add_all(records)
    return tracing.timeline


class TimelineBuilder:
    """Collects the runs of a session, and the spans of one of them."""

    def __init__(self, wanted: str = "") -> None:
        self._wanted = wanted
        self._runs: dict[RunId, RunLine] = {}
        self._run: RunId | None = None
        """The active run."""
        self._traced: RunId | None = None
        self._trace = _Trace(0)

    def add_all(self, records: Iterable[Record]) -> None:
        """Apply the next records."""
        for record in records:
            self._add(record)

    def _add(self, record: Record) -> None:
        match record.event:
            case RunStarted() as event:
                self._run = event.run_id
                self._runs[event.run_id] = RunLine(event.run_id, record.at, model=event.model)
                if not self._wanted or event.run_id == self._wanted:
                    self._traced, self._trace = event.run_id, _Trace(record.at)
                if len(self._runs) > MAX_RUNS:
                    del self._runs[next(iter(self._runs))]
            case MessageAdded(source="prompt") as event if self._run in self._runs:
                line = self._runs[self._run]
                brief = line.brief or cut(one_line(event.message.text[: 4 * NAME_CELLS]), NAME_CELLS)
                self._runs[self._run] = replace(line, brief=brief)
            case RunEnded() as event:
                if (ended := self._runs.get(event.run_id)) is not None:
                    self._runs[event.run_id] = replace(ended, ended_at=record.at, outcome=event.outcome)
            case _:
                pass
        if self._run is not None and self._run == self._traced:
            self._trace.add(record)
        if isinstance(record.event, RunEnded):
            self._run = None

    @property
    def timeline(self) -> Timeline:
        """The timeline so far."""
        trace = self._trace
        return Timeline(
            self._traced,
            tuple(self._runs.values()),
            tuple(trace.spans.values()),
            trace.left_out,
            tuple(trace.turns.values()),
        )


class _Trace:
    """The spans of one run."""

    def __init__(self, began_at: int) -> None:
        self.spans: dict[str, Span] = {}
        self.turns: dict[int, TurnUse] = {}
        self.left_out = 0
        self._began_at = began_at
        self._calls = RunCalls()
        self._open: dict[str, str] = {}
        """The keys of open spans, by the name of their end."""

    def add(self, record: Record) -> None:
        """Apply the next record of the run."""
        for call in self._calls.add(record):
            self._add_call(record, call)
        match record.event:
            case (
                TurnStarted()
                | TurnEnded()
                | ModelReplied()
                | ReplyLost()
                | Retrying()
                | ModelSwitched() as event
            ):
                self._add_turn(record, event)
            case ApprovalRequested() as event:
                self._begin(record, "wait", f"approval of {event.tool}", f"ask {event.call_id}")
            case QuestionAsked() as event:
                self._begin(record, "wait", event.question.text, f"question {event.call_id}")
            case ApprovalDecided() as event:
                self._end(record, f"ask {event.call_id}", event.answer)
            case QuestionAnswered() as event:
                self._end(record, f"question {event.call_id}", "answered")
            case ChildStarted() as event:
                above = None if event.call_id is None else self._open.get(_tool(event.call_id))
                self._begin(record, "child", event.name, f"child {event.child}", above)
            case ChildEnded() as event:
                outcome = "done" if event.outcome == "completed" else event.outcome
                self._end(record, f"child {event.child}", outcome, event.usage.context, event.cost)
            case HookCompleted() | HookFailed() as event:
                failed = isinstance(event, HookFailed)
                self._add_hook(record, event.hook_id, event.duration_ms, "failed" if failed else "done")
            case HookDenied() as event:
                self._add_hook(record, event.hook_id, 0, "denied")
            case CompactionStarted():
                self._begin(record, "compaction", "compaction", "compaction")
            case Compacted() as event:
                self._end(record, "compaction", "done", event.usage.context, event.cost)
            case CompactionFailed() as event:
                self._end(record, "compaction", "failed", event.usage.context, event.cost)
            case RunEnded():
                for ending in list(self._open):
                    self._end(record, ending, "" if ending == "turn" else "lost")
            case _:
                pass

    def _add_turn(
        self,
        record: Record,
        event: TurnStarted | TurnEnded | ModelReplied | ReplyLost | Retrying | ModelSwitched,
    ) -> None:
        match event:
            case TurnStarted():
                for ending in ("model", "turn"):
                    self._end(record, ending, "lost")
                self._begin(record, "turn", f"turn {event.turn}", "turn")
                self._begin(record, "model", "model", "model")
                if len(self.turns) < MAX_TURNS:
                    self.turns[event.turn] = TurnUse(event.turn, max(0, record.at - self._began_at))
            case ModelReplied():
                self._end(record, "model", "done", event.usage.context, event.cost)
                if (use := self.turns.get(event.turn)) is not None:
                    used = replace(use, usage=event.usage, cost=event.cost, context=event.context)
                    self.turns[event.turn] = used
            case ReplyLost():
                self._end(record, "model", "failed", event.usage.context, event.cost)
            case Retrying():
                self._end(record, "model", "failed")
                self._begin(record, "model", "model", "model", delay_ms=event.delay_ms)
            case ModelSwitched():
                self._end(record, "model", "failed")
                self._begin(record, "model", event.model, "model")
            case TurnEnded():
                self._end(record, "turn", "done")
                use = self.turns.get(event.turn)
                if use is not None and event.context != ContextUsage():
                    self.turns[event.turn] = replace(use, context=event.context)

    def _add_call(self, record: Record, call: Call) -> None:
        if call.state not in OPEN:
            self._end(record, _tool(call.call_id), call.state)
        elif call.state == "running" and call.started_at:
            above = "turn" if call.parent is None else _tool(call.parent)
            name = f"{call.tool} {call.brief}"
            self._begin(record, "tool", name, _tool(call.call_id), self._open.get(above))

    def _add_hook(self, record: Record, name: str, duration_ms: int, outcome: str) -> None:
        self._begin(record, "hook", name, "hook", delay_ms=-duration_ms)
        self._end(record, "hook", outcome)

    def _begin(
        self,
        record: Record,
        kind: SpanKind,
        name: str,
        ending: str,
        above: str | None = None,
        *,
        delay_ms: int = 0,
    ) -> None:
        self._open.pop(ending, None)
        if len(self.spans) >= MAX_SPANS:
            self.left_out += 1
            return
        key = f"{kind}{record.seq}"
        parent = above or (None if kind == "turn" else self._open.get("turn"))
        depth = 0 if parent is None else self.spans[parent].depth + 1
        start_ms = max(0, record.at + delay_ms - self._began_at)
        words = cut(one_line(name[: 4 * NAME_CELLS]), NAME_CELLS)
        self.spans[key] = Span(key, kind, words, start_ms, parent=parent, depth=depth)
        self._open[ending] = key

    def _end(
        self, record: Record, ending: str, outcome: str, tokens: int = 0, cost: float | None = None
    ) -> None:
        if (key := self._open.pop(ending, None)) is not None:
            span = self.spans[key]
            end_ms = max(span.start_ms, record.at - self._began_at)
            self.spans[key] = replace(span, end_ms=end_ms, outcome=outcome, tokens=tokens, cost=cost)


def _tool(call_id: CallId) -> str:
    return f"tool {call_id}"
