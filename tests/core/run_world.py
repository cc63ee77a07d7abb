"""A run at one moment: its loop, the fold of its record, and its environment.

It does what the driver does, without waiting for anything: inputs are fed, actions recorded and begun.
Whatever is recorded is checked against all that was recorded before.
"""

import copy
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.loop import (
    Action,
    Backoff,
    BackoffEnded,
    Begin,
    CallModel,
    CancelRequested,
    Decided,
    Drained,
    DrainTurn,
    EndRun,
    Execute,
    Input,
    Loop,
    LoopPolicy,
    ModelFailed,
    Prepare,
    Prepared,
    Refuse,
    Refused,
    Replied,
    Returned,
    Settled,
    StopWork,
    SwitchModel,
)
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Answer,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageAdded,
    Record,
    RunResumed,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.recovery import close_calls, make_failed_call, make_run_end, plan_resume
from bridle.core.retry import RetryPolicy
from bridle.core.session import RunState, Session, fold
from tests.core.run_copies import copied_loop, copied_session, loop_key

RUN = RunId("run")
BUSY = ModelFailed("server_overloaded", "busy")
Todo = tuple[str, str]
"""Something that goes on outside, and the call it belongs to."""


class Bounds(Struct, frozen=True):
    """How much may happen in one run."""

    turns: int = 1
    calls: int = 1
    """In one reply."""
    parallel: int = 10
    retries: int = 0
    fallbacks: int = 0
    cancels: int = 0
    cuts: int = 0
    steers: int = 0
    queued: int = 0
    nested: int = 0
    questions: int = 0
    children: int = 0
    overflows: int = 0
    stops: int = 0
    """Budgets that run out at the end of a turn or before a request."""
    verdicts: tuple[str, ...] = ("parallel", "alone", "ask", "refused")
    answers: tuple[Answer, ...] = ("once", "session", "deny", "stop")


class Broken(AssertionError):
    """Something that must always hold does not; says how it came to that."""


class World:
    """A run, its record and its surroundings at one moment."""

    def __init__(self, bounds: Bounds, loops: type[Loop] = Loop) -> None:
        self.bounds = bounds
        self._loops = loops
        self.session = Session()
        self.records: tuple[Record, ...] = ()
        self.todo: frozenset[Todo] = frozenset()
        self.left = Counter(
            {name: getattr(bounds, name) for name in bounds.__struct_fields__ if name in _COUNTED}
        )
        self.is_stopping = False
        self.ends = 0
        self.parallel: frozenset[str] = frozenset()
        """The calls that may run beside others."""
        self.loop = self._new_loop(0)
        self.stage(
            SessionCreated(SessionId("s"), "/"), RunStarted(RUN, "m/x"), MessageAdded(user_message("go"))
        )
        self.feed(Begin())

    def _new_loop(self, turn: int) -> Loop:
        retry = RetryPolicy(max_retries=self.bounds.retries, initial_s=0.0, max_s=0.0)
        policy = LoopPolicy(self.bounds.turns, self.bounds.parallel, self.bounds.fallbacks, retry)
        return self._loops(policy, turn)

    @property
    def run(self) -> RunState:
        assert self.session.run is not None
        return self.session.run

    def copied(self) -> "World":
        """Return the same world, to be changed."""
        other = copy.copy(self)
        other.left = self.left.copy()
        other.loop = copied_loop(self.loop)
        other.session = copied_session(self.session)
        return other

    def use(self, what: str) -> None:
        """Count something that may happen only so often."""
        self.left[what] -= 1

    # ------------------------------------------------------------------ what the driver does

    def stage(self, *events: Event) -> None:
        """Record events, each checked against what was recorded before it."""
        for event in events:
            self._check(event)
            record = Record(self.session.seq + 1, 0, event, "")
            self.records += (record,)
            self.session.apply(record)

    def feed(self, *inputs: Input) -> None:
        """Feed inputs, and do what they lead to."""
        pending = deque(inputs)
        while pending:
            for action in self.loop.feed(pending.popleft()):
                pending.extend(self._act(action))

    def begin(self, kind: str, call: str = "") -> None:
        self.todo |= {(kind, call)}

    def end(self, kind: str, call: str = "") -> None:
        self.todo -= {(kind, call)}

    def _act(self, action: Action) -> list[Input]:
        match action:
            case CallModel():
                if self.run.turn != action.turn or self.run.replied is not None:
                    self.stage(TurnStarted(RUN, action.turn))
                self.begin("model")
            case SwitchModel():
                self.begin("switch")
            case Backoff():
                self.begin("wait")
            case Prepare():
                return self._prepare(action.call)
            case Execute():
                self._check_turn_of(action.call.id)
                call = action.call.id
                self.stage(ToolStarted(call, "t", {}, call in self.parallel, parent_of(call)))
                self.begin("tool", call)
            case Refuse():
                return self.refuse(action.call.id)
            case DrainTurn():
                if not self.run.turn_ended:
                    self.stage(TurnEnded(RUN, action.turn, Usage(), ContextUsage()))
                self.begin("drain")
            case StopWork():
                self.is_stopping = True
                self.todo = frozenset({("late", call) for kind, call in self.todo if kind == "tool"})
                self.begin("settle")
            case EndRun():
                self._end(action)
        return []

    def _prepare(self, call: ToolCall) -> list[Input]:
        if finished := self.run.finished.get(call.id):
            return [Returned(finished.result)]
        self.begin("judge", call.id)
        return []

    def refuse(self, call: CallId) -> list[Input]:
        """Record that a call does not run."""
        result = make_failed_call(call, "t", "no").result
        self.stage(ToolFinished(result, denied=True, parent=parent_of(call)))
        return [Returned(result)]

    def _end(self, ending: EndRun) -> None:
        if self.ends:
            raise Broken("the run ends twice")
        self.stage(*close_calls(self.run, begun="cut off", not_begun="not run"))
        if self.run.replied is not None and not self.run.turn_ended:
            self.stage(TurnEnded(RUN, self.run.turn, Usage(), ContextUsage()))
        self.stage(make_run_end(self.run, ending.outcome, "", ending.reason, ending.error))
        self.ends += 1
        self.todo = frozenset()

    def cut(self) -> None:
        """Lose everything but the record, and continue from it."""
        self.session = fold(self.records)
        plan = plan_resume(self.run, self.session.messages[-1].message, ())
        self.stage(RunResumed(RUN, tuple(lost.result.call_id for lost in plan.lost)), *plan.lost)
        self.loop = self._new_loop(plan.turn)
        self.todo, self.is_stopping = frozenset(), False
        self.feed(Begin() if self.run.turn == 0 else Begin(plan.replay))

    # ------------------------------------------------------------------ what must always hold

    def _check(self, event: Event) -> None:
        if self.ends:
            raise Broken(f"{type(event).__name__} after the end of the run")
        if self.is_stopping and isinstance(event, ToolStarted | TurnStarted | ApprovalRequested):
            raise Broken(f"{type(event).__name__} after a cancel")
        run = self.session.run
        match event:
            case ToolStarted():
                earlier = self.run.started.get(event.call_id)
                if event.call_id in self.run.finished or (earlier is not None and not earlier.repeatable):
                    raise Broken(f"call {event.call_id} runs a second time")
            case ToolFinished() if event.result.call_id in self.run.finished:
                raise Broken(f"call {event.result.call_id} has two results")
            case ApprovalDecided():
                if event.call_id not in self.run.requested or event.call_id in self.run.decided:
                    raise Broken(f"an approval of {event.call_id} is decided that nobody waits for")
            case TurnEnded() if run is not None and run.replied is not None:
                wanted = [call.id for call in run.replied.message.calls]
                last = self.session.messages[-1].message
                results = [part.call_id for part in last.parts if isinstance(part, ToolResult)]
                if results != wanted:
                    raise Broken(f"the calls are {wanted} and their results {results}")
            case _:
                pass

    def _check_turn_of(self, begun: CallId) -> None:
        """Check that a call begins only where running one by one would allow it."""
        calls = [entry for entry in self.loop._calls.values() if parent_of(entry.call.id) == parent_of(begun)]
        place = [entry.call.id for entry in calls].index(begun)
        running = [entry for entry in calls if entry.stage == "running"]
        if len(running) > self.bounds.parallel:
            raise Broken(f"{len(running)} calls run at once")
        for number, entry in enumerate(calls):
            are_parallel = {begun, entry.call.id} <= self.parallel
            if number < place and entry.stage != "done" and not are_parallel:
                raise Broken(f"{begun} begins before {entry.call.id} is done")
            if number > place and entry.stage == "running" and not are_parallel:
                raise Broken(f"{begun} begins after {entry.call.id}")

    def check(self) -> None:
        """Check what must hold at every moment."""
        if self.ends:
            if self.ends != 1 or self.loop.state != "completed" or self.session.run is not None:
                raise Broken("a run that has ended goes on, or ended twice")
            return
        if self.loop.state == "completed":
            raise Broken("the loop is done, and the run has no end")
        if self.loop.state == "waiting_for_ops":
            for asked in self.run.pending:
                entry = self.loop._calls.get(asked.parent or asked.call_id)
                waits = (
                    ("asking", "preparing")
                    if asked.parent is None
                    else ("preparing", "asking", "ready", "running")
                )
                if entry is None or entry.stage not in waits:
                    raise Broken(f"the answer to the approval of {asked.call_id} would be lost")
        self._check_late()

    def _check_late(self) -> None:
        """Feed an unexpected input: it has no effect."""
        loop = copied_loop(self.loop)
        before = loop_key(loop)
        for event in self._late_inputs():
            if loop.feed(event) or loop_key(loop) != before:
                raise Broken(f"{event} comes too late and still has an effect")

    def _late_inputs(self) -> Iterator[Input]:
        kinds = {kind for kind, _ in self.todo}
        yield Begin()
        if "model" not in kinds:
            yield from (Replied(reply_of(self.loop.turn, 1)), Refused("failed", ""))
            if "switch" not in kinds:
                yield BUSY
        if not kinds & {"wait", "switch"}:
            yield BackoffEnded()
        if "drain" not in kinds:
            yield Drained(more=True)
        if "settle" not in kinds:
            yield Settled()
        else:
            yield CancelRequested()
        for call in ("1a", "1b", "2a", "1a.1", "zz"):
            call_id = CallId(call)
            if ("judge", call) not in self.todo:
                yield Prepared(call_id, "allow")
            if (
                self.loop.state != "waiting_for_ops"
                or call_id not in self.run.requested
                or call_id in self.run.decided
            ):
                yield Decided(call_id, "stop")
            if not self._may_return(call_id):
                yield Returned(result_of(call_id))

    def _may_return(self, call: CallId) -> bool:
        entry = self.loop._calls.get(call)
        return self.loop.state == "waiting_for_ops" and entry is not None and entry.stage != "done"


_COUNTED = frozenset("cancels cuts steers queued nested questions children overflows stops".split())


def reply_of(turn: int, count: int) -> Message:
    """Return a reply of some turn with so many calls."""
    calls = [ToolCall(CallId(f"{turn}{name}"), "t") for name in "abcd"[:count]]
    return Message("assistant", (Text("so"), *calls))


def result_of(call: CallId, *, is_error: bool = False) -> ToolResult:
    """Return what a call gave back."""
    return ToolResult(call, "t", "out", is_error)


def parent_of(call: CallId) -> CallId | None:
    """Return the call whose code made this one: its name tells."""
    parent, dot, _ = call.partition(".")
    return CallId(parent) if dot else None


def key_of(world: World) -> tuple[Any, ...]:
    """Return all of a world that can matter for what may happen in it later."""
    run, facts = world.session.run, world.session.known
    known: tuple[Any, ...] = ()
    if run is not None:
        known = (
            run.turn,
            run.turn_ended,
            run.model,
            None if run.replied is None else len(run.replied.message.calls),
            tuple(run.requested),
            tuple((call, decided.answer) for call, decided in run.decided.items()),
            tuple(run.questions),
            tuple((call, begun.repeatable) for call, begun in run.started.items()),
            tuple((call, finished.result.is_error) for call, finished in run.finished.items()),
        )
    queue = tuple(item.item_id for item in facts.queue)
    last = world.session.messages[-1].message.role
    left = tuple(world.left[name] for name in sorted(world.left))
    return (
        loop_key(world.loop),
        known,
        queue,
        bool(facts.granted),
        last,
        world.todo,
        left,
        world.is_stopping,
        world.parallel,
    )
