"""Translate a session's records and deltas to Meerkat's events, in the order that its clients expect.

```
run_started  [skills_resolved]
  turn_started  {reasoning_delta | text_delta}*  [reasoning_complete]  [text_complete]
    tool_call_requested*  tool_execution_started*  {tool_execution_completed  tool_result_received}*
  turn_completed                                            at the end of every turn
run_completed | run_failed                                  the last event of a run, always
```

Hooks, compactions, warnings and retries appear where they happen. What Meerkat has no event for (approvals,
sub-agents, files, queued prompts) is left out; each surface sends it as its own extension.
"""

import re

import msgspec

from bridle.core.budget import BudgetKind
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, StopReason, Text
from bridle.core.protocol import (
    Aborted,
    BudgetExhausted,
    BudgetWarned,
    Compacted,
    Delta,
    HookPublished,
    HookRewrote,
    Lagged,
    MessageAdded,
    ModelReplied,
    Outcome,
    Record,
    RunEnded,
    RunResumed,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from bridle.core.protocol import CompactionFailed as OurCompactionFailed
from bridle.core.protocol import CompactionStarted as OurCompactionStarted
from bridle.core.protocol import HookCompleted as OurHookCompleted
from bridle.core.protocol import HookDenied as OurHookDenied
from bridle.core.protocol import HookFailed as OurHookFailed
from bridle.core.protocol import HookStarted as OurHookStarted
from bridle.core.protocol import ReasoningDelta as OurReasoningDelta
from bridle.core.protocol import Retrying as OurRetrying
from bridle.core.protocol import RunStarted as OurRunStarted
from bridle.core.protocol import TextDelta as OurTextDelta
from bridle.core.protocol import TurnStarted as OurTurnStarted
from bridle.core.session import RUN_POINTS
from bridle.surfaces.meerkat.events import (
    AgentEvent,
    BudgetType,
    BudgetWarning,
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPatchPublished,
    HookRewriteApplied,
    HookStarted,
    ReasoningComplete,
    ReasoningDelta,
    Retrying,
    RunCompleted,
    RunFailed,
    RunStarted,
    SkillsResolved,
    StreamTruncated,
    TextComplete,
    TextDelta,
    ToolCallRequested,
    ToolExecutionCompleted,
    ToolExecutionStarted,
    ToolExecutionTimedOut,
    ToolResultReceived,
    TurnCompleted,
    TurnStarted,
    token_usage,
)
from bridle.system.dates import rfc3339

ERROR_CLASSES: dict[Outcome, str] = {
    "denied": "tool",
    "cancelled": "cancelled",
    "failed": "internal",
    "budget_exhausted": "budget",
    "limit": "max_turns",
}
BUDGET_TYPES: dict[BudgetKind, BudgetType] = {
    "tokens": "tokens",
    "duration": "time",
    "tool_calls": "tool_calls",
}
"""The budgets that Meerkat has; it has none for dollars or turns."""

_SECONDS = r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e\+0[0-9])?"  # as Bridle writes them; a tool may write anything
_LATE = re.compile(rf".* did not finish within ({_SECONDS}) s", re.DOTALL)
_SKILL = re.compile(r"\[Skill: ([^\]\n]{1,100})\]\n")


class EventTranslator:
    """Translates the items of one session; feed it items in order of arrival."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._awaits_prompt = False
        self._stop_reason: StopReason | None = None
        self._denied_by_hook = False
        self._not_started: set[CallId] = set()
        """Calls of the model that have not begun; one that is refused begins and ends at once."""

    def add(self, item: Record | Delta) -> list[AgentEvent]:
        """Return the events for one record or delta; most give none or one."""
        match item:
            case OurTextDelta():
                return [TextDelta(item.text)]
            case OurReasoningDelta():
                return [ReasoningDelta(item.text)]
            case Record():
                return self._add_record(item)
            case OurHookStarted():
                return [HookStarted(item.hook_id, item.point)]
            case Aborted() if item.run_id:
                return [RunFailed(self._session, item.reason, "store")]
            case Lagged():
                return [StreamTruncated(item.dropped)]
            case _:
                return []

    # ------------------------------------------------------------------ runs and turns

    def _add_record(self, record: Record) -> list[AgentEvent]:
        match record.event:
            case OurRunStarted():
                self._awaits_prompt, self._stop_reason, self._denied_by_hook = True, None, False
                return []
            case MessageAdded() as event if self._awaits_prompt:
                return self._begin(event.message)
            case RunResumed():
                return [RunStarted(self._session, "")]
            case OurTurnStarted() as event:
                self._stop_reason = None
                return [TurnStarted(max(0, event.turn - 1))]
            case ModelReplied() as event:
                return self._reply(event)
            case TurnEnded() as event if self._stop_reason is not None:
                stopped, self._stop_reason = self._stop_reason, None
                return [TurnCompleted(stopped, token_usage(event.usage))]
            case RunEnded() as event:
                return self._end(event)
            case _:
                return self._add_work(record)

    def _begin(self, prompt: Message) -> list[AgentEvent]:
        self._awaits_prompt = False
        begun: list[AgentEvent] = [RunStarted(self._session, prompt.text)]
        texts = [part.text for part in prompt.parts if isinstance(part, Text)]
        skills = {text: found[1] for text in texts if (found := _SKILL.match(text))}
        if skills:
            size = sum(len(text.encode("utf-8", "replace")) for text in skills)
            begun.append(SkillsResolved(tuple(skills.values()), size))
        return begun

    def _reply(self, event: ModelReplied) -> list[AgentEvent]:
        self._stop_reason = event.stop_reason
        message, events = event.message, list[AgentEvent]()
        self._not_started = {call.id for call in message.calls}
        if reasoning := message.reasoning:
            events.append(ReasoningComplete(reasoning))
        if text := message.text:
            events.append(TextComplete(text))
        return [*events, *(ToolCallRequested(call.id, call.name, call.args) for call in message.calls)]

    def _end(self, event: RunEnded) -> list[AgentEvent]:
        begun = self._begin(Message("user", ())) if self._awaits_prompt else []
        if event.outcome == "completed":
            return [*begun, RunCompleted(self._session, event.text, token_usage(event.usage))]
        kind = "llm" if event.error is not None else ERROR_CLASSES[event.outcome]
        kind = "hook" if self._denied_by_hook else kind
        return [*begun, RunFailed(self._session, event.reason or event.outcome, kind)]

    # ------------------------------------------------------------------ within a turn

    def _add_work(self, record: Record) -> list[AgentEvent]:
        match record.event:
            case ToolStarted() as event:
                self._not_started.discard(event.call_id)
                started = ToolExecutionStarted(event.call_id, event.tool)
                if event.parent is None:
                    return [started]
                return [ToolCallRequested(event.call_id, event.tool, event.args), started]
            case ToolFinished() as event:
                return self._finish(event)
            case OurCompactionStarted() as event:
                return [CompactionStarted(event.input_tokens, event.history_tokens, event.messages)]
            case Compacted() as event:
                return [CompactionCompleted(event.tokens, event.messages_before, event.messages_after)]
            case OurCompactionFailed() as event:
                return [CompactionFailed(event.error)]
            case BudgetWarned() | BudgetExhausted() as event:
                return _warning(event)
            case OurRetrying() as event:
                return [Retrying(event.attempt, event.max_attempts, event.message, event.delay_ms)]
            case _:
                return self._add_hook(record)

    def _finish(self, event: ToolFinished) -> list[AgentEvent]:
        call_id, name = event.result.call_id, event.result.name
        is_refused = call_id in self._not_started
        self._not_started.discard(call_id)
        return [*([ToolExecutionStarted(call_id, name)] if is_refused else []), *_finished(event)]

    def _add_hook(self, record: Record) -> list[AgentEvent]:
        match record.event:
            case OurHookCompleted() as event:
                return [HookCompleted(event.hook_id, event.point, event.duration_ms)]
            case OurHookFailed() as event:
                return [HookFailed(event.hook_id, event.point, event.error)]
            case OurHookDenied() as event:
                self._denied_by_hook = self._denied_by_hook or event.point in RUN_POINTS
                return [
                    HookDenied(event.hook_id, event.point, event.reason_code, event.message, event.payload)
                ]
            case HookRewrote() as event:
                return [HookRewriteApplied(event.hook_id, event.point, msgspec.to_builtins(event.patch))]
            case HookPublished() as event:
                return [HookPatchPublished(event.hook_id, event.point, _published(event, record.at))]
            case _:
                return []


def _finished(event: ToolFinished) -> list[AgentEvent]:
    result = event.result
    events: list[AgentEvent] = []
    late = _LATE.fullmatch(result.output) if result.is_error else None
    if late is not None:
        events.append(ToolExecutionTimedOut(result.call_id, result.name, int(float(late[1]) * 1000)))
    events.append(
        ToolExecutionCompleted(result.call_id, result.name, result.output, result.is_error, event.duration_ms)
    )
    if event.parent is None:  # the model does not get the results of nested calls
        events.append(ToolResultReceived(result.call_id, result.name, result.is_error, result.output))
    return events


def _warning(event: BudgetWarned | BudgetExhausted) -> list[AgentEvent]:
    kind = BUDGET_TYPES.get(event.kind)
    if kind is None:
        return []
    percent = 1.0 if isinstance(event, BudgetExhausted) or event.limit <= 0 else event.used / event.limit
    return [BudgetWarning(kind, int(event.used), int(event.limit), min(1.0, percent))]


def _published(event: HookPublished, at: int) -> dict[str, object]:
    return {
        "revision": event.revision,
        "hook_id": event.hook_id,
        "point": event.point,
        "patch": msgspec.to_builtins(event.patch),
        "published_at": rfc3339(at),
    }
