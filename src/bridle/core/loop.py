"""The loop: a pure state machine that decides what a run does next; the driver performs it.

```
            ┌──────────────── Drained(more) ────────────────┐
            ▼                                               │
      calling_llm ──Replied(calls)──▶ waiting_for_ops ──▶ draining_events ──▶ completed
        │  ▲  └──────Replied(no calls)───────────────────────▲                  ▲
  failed│  │waited                                                              │
        ▼  │                        any ──CancelRequested──▶ cancelling ──Settled┘
      error_recovery ── not retryable, or no retries left ──▶ completed
```

Six states and exactly the 14 moves of `TRANSITIONS`. `feed(input) -> actions`: an input says what
happened, an action says what to do. Calls are prepared in order. Parallel calls run together; any other
call waits for all calls before it and blocks all calls after it. So a turn has the same effect as running
its calls one by one. The code of a running call may make further calls: they follow the same rules, in the
order they are made, and the turn waits only for the calls of the reply.
"""

import hashlib
from collections import deque
from typing import Literal, get_args

from msgspec import Struct
from msgspec.json import encode

from bridle.core.errors import FALLBACK_KINDS, RETRYABLE_KINDS, IllegalTransition, ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult
from bridle.core.protocol import Answer, Outcome
from bridle.core.retry import RetryPolicy

LoopState = Literal[
    "calling_llm", "waiting_for_ops", "draining_events", "error_recovery", "cancelling", "completed"
]
STATES: tuple[LoopState, ...] = get_args(LoopState)

TRANSITIONS: dict[LoopState, frozenset[LoopState]] = {
    "calling_llm": frozenset(
        {"waiting_for_ops", "draining_events", "completed", "error_recovery", "cancelling"}
    ),
    "waiting_for_ops": frozenset({"draining_events", "cancelling"}),
    "draining_events": frozenset({"calling_llm", "completed", "cancelling"}),
    "error_recovery": frozenset({"calling_llm", "completed", "cancelling"}),
    "cancelling": frozenset({"completed"}),
    "completed": frozenset(),
}

REPEAT_WINDOW = 10  # last turns searched for the same calls with the same results
REPEAT_LIMIT = 5
FAILED_TURNS_LIMIT = 8  # turns in a row in which every call failed


class LoopPolicy(Struct, frozen=True):
    """The limits of a loop."""

    max_turns: int = 100
    max_parallel: int = 10
    fallbacks: int = 0
    """How many fallback models there are."""
    retry: RetryPolicy = RetryPolicy()


# ---------------------------------------------------------------------------- inputs


class Begin(Struct, frozen=True):
    """The run starts, or resumes after an interruption."""

    reply: Message | None = None
    """The model's reply from before the interruption; the turn limit does not apply to it."""


class Refused(Struct, frozen=True):
    """The model call cannot be made."""

    outcome: Outcome
    reason: str


class Replied(Struct, frozen=True):
    """The model's whole reply."""

    message: Message


class ModelFailed(Struct, frozen=True):
    """The model call failed."""

    kind: ProviderErrorKind
    message: str
    jitter: float = 1.0
    retry_after_s: float | None = None


class BackoffEnded(Struct, frozen=True):
    """The wait before a retry is over, or another model is ready."""


class Called(Struct, frozen=True):
    """The code of a running call makes another call."""

    call: ToolCall
    parent: CallId


class Prepared(Struct, frozen=True):
    """A call was validated and judged by the rules."""

    call_id: CallId
    action: Literal["allow", "ask"]
    parallel: bool = False


class Decided(Struct, frozen=True):
    """An approval was answered."""

    call_id: CallId
    answer: Answer
    reason: str = ""


class Returned(Struct, frozen=True):
    """A call has its result: it ran, a rule refused it, or it was malformed."""

    result: ToolResult


class Drained(Struct, frozen=True):
    """The turn boundary is done."""

    more: bool = False
    """True if something arrived that the model must see, even though it made no calls."""
    stop: Refused | None = None
    """Why the run ends here: the budget is used up, or code gave the final answer."""


class CancelRequested(Struct, frozen=True):
    """The run must stop now."""

    outcome: Outcome = "cancelled"
    reason: str = ""


class Settled(Struct, frozen=True):
    """Everything in flight has stopped."""


Input = (
    Begin
    | Refused
    | Replied
    | ModelFailed
    | BackoffEnded
    | Called
    | Prepared
    | Decided
    | Returned
    | Drained
    | CancelRequested
    | Settled
)


# ---------------------------------------------------------------------------- actions


class CallModel(Struct, frozen=True):
    """Send the context and stream the reply."""

    turn: int


class SwitchModel(Struct, frozen=True):
    """Resolve fallback number `model` (from 1), then feed BackoffEnded, or ModelFailed again."""

    model: int
    failure: ModelFailed


class Backoff(Struct, frozen=True):
    """Wait, then feed BackoffEnded."""

    attempt: int
    delay_s: float
    failure: ModelFailed


class Prepare(Struct, frozen=True):
    """Validate the arguments, judge the call by the rules, make a preview."""

    call: ToolCall


class Execute(Struct, frozen=True):
    """Run the tool."""

    call: ToolCall


class Refuse(Struct, frozen=True):
    """Record a result for a call that will not run."""

    call: ToolCall
    reason: str


class DrainTurn(Struct, frozen=True):
    """Perform the turn boundary, in its fixed order."""

    turn: int


class StopWork(Struct, frozen=True):
    """Cancel and await everything in flight, then feed Settled."""


class EndRun(Struct, frozen=True):
    """The run is over."""

    outcome: Outcome
    reason: str = ""
    error: ProviderErrorKind | None = None
    """How the model failed, if that ended the run."""


Action = CallModel | SwitchModel | Backoff | Prepare | Execute | Refuse | DrainTurn | StopWork | EndRun


# ---------------------------------------------------------------------------- machine


class _Call(Struct):
    """A call of the current turn and its progress."""

    call: ToolCall
    parent: CallId | None = None
    """The call whose code made it; None for a call of the reply."""
    stage: Literal["preparing", "asking", "ready", "running", "done"] = "preparing"
    parallel: bool = False
    result: ToolResult | None = None


class Loop:
    """The state machine of one run; a new run gets a new loop."""

    def __init__(self, policy: LoopPolicy, turn: int = 0) -> None:
        self.state: LoopState = "calling_llm"
        self.turn = turn
        self._policy = policy
        self._begun = False
        self._attempt = 0
        self._model = 0
        self._is_switching = False
        self._calls: dict[CallId, _Call] = {}
        self._ending: EndRun | None = None
        self._recent: deque[bytes] = deque(maxlen=REPEAT_WINDOW)
        self._failed_turns = 0

    def move(self, state: LoopState) -> None:
        """Change state; for a move that is not in the table, raise IllegalTransition and stay."""
        if state not in TRANSITIONS[self.state]:
            raise IllegalTransition(f"invalid state transition: {self.state} -> {state}")
        self.state = state

    def feed(self, event: Input) -> list[Action]:
        """Take one input and return what to do next; an input that comes too late has no effect."""
        match event:
            case Begin() if self.state == "calling_llm" and not self._begun:
                self._begun = True
                return self._call_model() if event.reply is None else self._replay(event.reply)
            case CancelRequested():
                return self._cancel(event)
            case Settled() if self.state == "cancelling":
                self.move("completed")
                return [self._ending or EndRun("cancelled")]
            case Refused() | Replied() | ModelFailed() if self.state == "calling_llm":
                return self._after_model(event)
            case ModelFailed() if self._is_switching and self.state == "error_recovery":
                return self._recover(event)
            case BackoffEnded() if self.state == "error_recovery":
                self._is_switching = False
                self.move("calling_llm")
                return [CallModel(self.turn)]
            case Called() if self.state == "waiting_for_ops":
                return self._take_call(event)
            case Prepared() | Decided() | Returned() if self.state == "waiting_for_ops":
                return self._after_call(event)
            case Drained() if self.state == "draining_events":
                return self._after_boundary(event)
            case _:
                return []

    def _call_model(self) -> list[Action]:
        if self.turn >= self._policy.max_turns:
            return self._end("limit", f"the limit of {self._policy.max_turns} turns was reached")
        self.turn += 1
        self._attempt = 0
        self._calls = {}
        return [CallModel(self.turn)]

    def _replay(self, reply: Message) -> list[Action]:
        self.turn += 1
        return self._after_model(Replied(reply))

    def _after_model(self, event: Refused | Replied | ModelFailed) -> list[Action]:
        match event:
            case Refused():
                return self._end(event.outcome, event.reason)
            case Replied():
                calls = event.message.calls
                self._calls = {call.id: _Call(call) for call in calls}
                if not calls:
                    return self._drain()
                self.move("waiting_for_ops")
                return [Prepare(call) for call in calls]
            case ModelFailed():
                self.move("error_recovery")
                return self._recover(event)

    def _recover(self, failure: ModelFailed) -> list[Action]:
        retry = self._policy.retry
        if failure.kind in RETRYABLE_KINDS and retry.allows(self._attempt, failure.retry_after_s):
            delay_s = retry.delay_s(self._attempt, failure.jitter, failure.retry_after_s)
            self._attempt += 1
            return [Backoff(self._attempt, delay_s, failure)]
        if failure.kind in FALLBACK_KINDS and self._model < self._policy.fallbacks:
            self._model += 1
            self._is_switching = True
            self._attempt = 0
            return [SwitchModel(self._model, failure)]
        self.move("completed")
        return [EndRun("failed", failure.message, failure.kind)]

    def _take_call(self, event: Called) -> list[Action]:
        parent = self._calls.get(event.parent)
        if parent is None or parent.stage != "running" or event.call.id in self._calls:
            return []
        self._calls[event.call.id] = _Call(event.call, event.parent)
        return [Prepare(event.call)]

    def _after_call(self, event: Prepared | Decided | Returned) -> list[Action]:
        call_id = event.result.call_id if isinstance(event, Returned) else event.call_id
        entry = self._calls.get(call_id)
        if entry is None or entry.stage == "done":
            return []
        match event:
            case Prepared() if entry.stage != "preparing":
                return []
            case Prepared():
                entry.stage = "asking" if event.action == "ask" else "ready"
                entry.parallel = event.parallel
            case Decided() if entry.stage != "asking":
                return []
            case Decided(answer="stop"):
                return self._cancel(
                    CancelRequested("denied", event.reason or f"{entry.call.name} was denied")
                )
            case Decided(answer="deny"):
                entry.stage = "running"
                return [Refuse(entry.call, f"denied: {event.reason or 'user denied'}")]
            case Decided():
                entry.stage = "ready"
            case Returned():
                entry.stage, entry.result = "done", event.result
                self._forget_calls_of(call_id)
                if entry.parent is not None:
                    del self._calls[call_id]
        return self._start_ready(entry.parent)

    def _forget_calls_of(self, parent: CallId) -> None:
        self._calls = {call_id: entry for call_id, entry in self._calls.items() if entry.parent != parent}

    def _start_ready(self, parent: CallId | None) -> list[Action]:
        """Start the calls that may run now, among those of the reply or those that `parent` made."""
        started: list[Action] = []
        all_before_are_done = all_before_are_parallel = True
        siblings = [entry for entry in self._calls.values() if entry.parent == parent]
        running = sum(entry.stage == "running" for entry in siblings)
        for entry in siblings:
            may_start = all_before_are_parallel if entry.parallel else all_before_are_done
            if entry.stage == "ready" and may_start and running < self._policy.max_parallel:
                entry.stage = "running"
                running += 1
                started.append(Execute(entry.call))
            if entry.stage != "done":
                all_before_are_done = False
                all_before_are_parallel = all_before_are_parallel and entry.parallel
        return self._drain() if all_before_are_done and parent is None else started

    def _drain(self) -> list[Action]:
        self.move("draining_events")
        return [DrainTurn(self.turn)]

    def _after_boundary(self, event: Drained) -> list[Action]:
        if event.stop is not None:
            return self._end(event.stop.outcome, event.stop.reason)
        if not self._calls and not event.more:
            return self._end("completed")
        if self._calls and self._repeats():
            return self._end("limit", f"the same calls gave the same results {REPEAT_LIMIT} times")
        if self._fails_again():
            return self._end("limit", f"every call of the last {FAILED_TURNS_LIMIT} turns failed")
        self.move("calling_llm")
        return self._call_model()

    def _repeats(self) -> bool:
        seen = [(entry.call.name, entry.call.args, entry.result) for entry in self._calls.values()]
        without_ids = [
            (name, args, result and (result.output, result.is_error)) for name, args, result in seen
        ]
        digest = hashlib.sha256(encode(without_ids)).digest()
        self._recent.append(digest)
        return self._recent.count(digest) >= REPEAT_LIMIT

    def _fails_again(self) -> bool:
        """Count turns in a row whose calls all failed or were denied; return True at the limit."""
        results = [entry.result for entry in self._calls.values()]
        failed = bool(results) and all(result is not None and result.is_error for result in results)
        self._failed_turns = self._failed_turns + 1 if failed else 0
        return self._failed_turns >= FAILED_TURNS_LIMIT

    def _cancel(self, event: CancelRequested) -> list[Action]:
        if self.state in ("cancelling", "completed"):
            return []
        self.move("cancelling")
        self._ending = EndRun(event.outcome, event.reason)
        return [StopWork()]

    def _end(self, outcome: Outcome, reason: str = "") -> list[Action]:
        self.move("completed")
        return [EndRun(outcome, reason)]
