"""The machine-readable output: stream-json lines and the result envelope, with their published schema.

```
--output json          {"type":"result","version":1,…}                     one line, when the run has ended
--output stream-json   {"seq":1,"at":…,"event":{"type":…},"hash":…}        each stored record
                       {"type":"text_delta","text":…}                      each delta
                       {"type":"result","version":1,…}                     the last line, always
```
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.codec import stream_schema
from bridle.core.errors import ProviderErrorKind
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    Compacted,
    CompactionFailed,
    Delta,
    HookDenied,
    ModelReplied,
    ModelSampled,
    Outcome,
    Record,
    ReplyLost,
    RunEnded,
    RunStarted,
    SessionTitled,
    ToolFinished,
    ToolStarted,
)
from bridle.core.session import RUN_POINTS
from bridle.core.usage import UsageBreakdown, UsageCollector

VERSION = 1  # of the result envelope; new fields keep it, a change of meaning raises it

EXIT_CODES: dict[Outcome, int] = {
    "completed": 0,
    "failed": 1,
    "limit": 1,
    "budget_exhausted": 2,
    "denied": 77,
    "cancelled": 130,
}

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class DeniedCall(Struct, frozen=True):
    """A tool call that was not made because a rule, a mode or a person refused it."""

    call_id: CallId
    tool: str
    reason: str
    rules: tuple[str, ...]
    """The rules that `--allow` would need; empty when a rule or the mode forbids the call."""


class Result(Struct, frozen=True, tag="result"):
    """The result of a run."""

    version: int
    session_id: SessionId
    run_id: RunId
    outcome: Outcome
    text: str
    reason: str
    """Why, for every outcome except "completed"."""
    turns: int
    tool_calls: int
    usage: dict[str, int]
    """Tokens: input, output, cache_read, cache_write, reasoning."""
    cost: float | None
    """In dollars; null when a price is unknown."""
    denied: list[DeniedCall]
    blame: UsageBreakdown
    """Usage by source: the agent itself, its sub-agents, tools, hooks and compaction."""
    structured_output: Any = None
    """The value that matches the output schema, if one was requested and returned."""
    schema_warnings: list[str] = []
    """Parts of the schema that the vendor could not enforce; the value was checked against them."""
    error: ProviderErrorKind | None = None
    """How the model failed, if that ended the run."""
    refused_by_hook: bool = False
    """True if a hook ended the run."""

    @property
    def exit_code(self) -> int:
        """The exit status of the process."""
        return EXIT_CODES[self.outcome]

    @property
    def has_answer(self) -> bool:
        """True if the text is an answer, even a partial one."""
        return self.outcome in ("completed", "budget_exhausted", "limit")


class ResultBuilder:
    """Collects the result of a run from its stream."""

    def __init__(self, session: SessionId, run_id: RunId) -> None:
        self.session = session
        self.run_id = run_id
        self.result: Result | None = None
        self._requested: dict[CallId, ApprovalRequested] = {}
        self._denied: dict[CallId, DeniedCall] = {}
        self._started: set[CallId] = set()
        self._turns = 0
        self._usage = Usage()
        self._cost: float | None = 0.0
        self._account = UsageCollector()
        self._refused_by_hook = False

    def add(self, item: Record | Delta) -> None:
        """Apply the next item of the stream; `result` is set when the run has ended."""
        match item:
            case Record():
                self._add_event(item)
            case Aborted() if item.run_id == self.run_id:
                self.result = self._aborted(item)
            case _:
                pass

    def _add_event(self, record: Record) -> None:
        if isinstance(record.event, RunStarted) and record.event.run_id == self.run_id:
            self._account = UsageCollector()  # earlier records belong to another run
        if not isinstance(record.event, SessionTitled):
            self._account.add(record)
        match record.event:
            case ModelReplied() as event:
                self._turns += 1
                self._add_use(event)
            case Compacted() | CompactionFailed() | ChildEnded() | ModelSampled() | ReplyLost() as event:
                self._add_use(event)
            case ApprovalRequested() as event:
                self._requested[event.call_id] = event
            case ApprovalDecided(answer="deny" | "stop") as event:
                self._add_denied(event)
            case ToolStarted() as event:
                self._started.add(event.call_id)
            case ToolFinished() as event:
                self._add_refused(event)
            case HookDenied() as event if event.point in RUN_POINTS:
                self._refused_by_hook = True
            case RunEnded() as event if event.run_id == self.run_id:
                self.result = self._ended(event)
            case _:
                pass

    def _add_use(
        self, event: ModelReplied | Compacted | CompactionFailed | ChildEnded | ModelSampled | ReplyLost
    ) -> None:
        self._usage += event.usage
        known = self._cost is not None and (event.cost is not None or event.usage == Usage())
        self._cost = (self._cost or 0.0) + (event.cost or 0.0) if known else None

    def _add_denied(self, event: ApprovalDecided) -> None:
        asked = self._requested.get(event.call_id)
        if asked is not None:
            reason = event.reason or "the user said no"
            self._denied[event.call_id] = DeniedCall(event.call_id, asked.tool, reason, asked.suggestions)

    def _add_refused(self, event: ToolFinished) -> None:
        result = event.result
        if event.denied and result.call_id not in self._denied:
            self._denied[result.call_id] = DeniedCall(result.call_id, result.name, result.output, ())

    def _ended(self, event: RunEnded) -> Result:
        return Result(
            version=VERSION,
            session_id=self.session,
            run_id=event.run_id,
            outcome=event.outcome,
            text=event.text,
            reason=event.reason,
            turns=event.turns,
            tool_calls=event.tool_calls,
            usage=_counts(event.usage),
            cost=event.cost,
            denied=list(self._denied.values()),
            blame=self._account.blame,
            structured_output=event.structured,
            schema_warnings=list(event.schema_warnings),
            error=event.error,
            refused_by_hook=self._refused_by_hook,
        )

    def _aborted(self, event: Aborted) -> Result:
        return Result(
            version=VERSION,
            session_id=self.session,
            run_id=event.run_id,
            outcome="failed",
            text="",
            reason=event.reason,
            turns=self._turns,
            tool_calls=len(self._started),
            usage=_counts(self._usage),
            cost=self._cost,
            denied=list(self._denied.values()),
            blame=self._account.blame,
        )


def _counts(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in usage.__struct_fields__}


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of the result envelope."""
    return {"$schema": SCHEMA_DIALECT, **msgspec.json.schema(Result)}


def line_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of stream-json: a record, a delta or the result."""
    schema = stream_schema()
    (result,), components = msgspec.json.schema_components([Result], ref_template="#/$defs/{name}")
    schema["anyOf"] = [*schema["anyOf"], result]
    schema["$defs"] = {**schema["$defs"], **components}
    return schema
