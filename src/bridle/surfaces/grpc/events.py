"""Translates a run's records to Kontekst's events, in the order that its clients expect.

```
started  {token | reasoning}*  turn_completed  context_snapshot             each turn
         tools_proposed  {tool_started  tool_completed | tool_failed}*  tools_completed
completed | cancelled | failed                                              the last event
```

Calls may run concurrently; here they are sent one after the other, each with its end. A call that the
engine refuses is sent as failed, without a proposal; a call that a person denied is only proposed.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.json import encode

from bridle.core.ids import CallId, RunId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelReplied,
    RunEnded,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.tool import INSTRUCTION_TOOLS
from bridle.surfaces.grpc.generated.kontekst_pb2 import (
    ContextSnapshot,
    ContextSnapshotEvent,
    ProposedToolCall,
    RunCancelledEvent,
    RunCompletedEvent,
    RunEvent,
    RunFailedEvent,
    ToolExecutionCompletedEvent,
    ToolExecutionFailedEvent,
    ToolExecutionStartedEvent,
    ToolsCompletedEvent,
    ToolsProposedEvent,
    TurnCompletedEvent,
)


class _Lane(Struct):
    """The unsent events of one call."""

    events: list[RunEvent] = []
    is_over: bool = False


class _Lanes:
    """Serializes the events of concurrent calls, in the order in which the calls started."""

    def __init__(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self._lanes: dict[CallId, _Lane] = {}

    def add(self, call_id: CallId, *events: RunEvent, is_over: bool = False) -> None:
        """Add events to a call, starting its list if needed."""
        lane = self._lanes.setdefault(call_id, _Lane())
        lane.events.extend(events)
        lane.is_over = lane.is_over or is_over

    def __contains__(self, call_id: CallId) -> bool:
        return call_id in self._lanes

    def take(self) -> list[RunEvent]:
        """Return the events that can be sent now."""
        told: list[RunEvent] = []
        while self.is_open and self._lanes:
            call_id, lane = next(iter(self._lanes.items()))
            told += lane.events
            lane.events = []
            if not lane.is_over:
                break
            del self._lanes[call_id]
        return told


class _Turn:
    """The calls of one reply and their state so far."""

    def __init__(self, calls: Sequence[ToolCall], *, is_proposed: bool) -> None:
        self.calls = calls
        self.is_proposed = is_proposed
        """True once the calls were proposed together, or if they need not be."""
        self.requested: dict[CallId, ApprovalRequested] = {}
        self.decided: set[CallId] = set()
        self.denied: set[CallId] = set()
        self.started: set[CallId] = set()
        self.refused: dict[CallId, ToolResult] = {}
        self.lanes = _Lanes(is_open=is_proposed)
        self.is_over = False
        self.is_cut_off = False

    @property
    def is_known(self) -> bool:
        """True once each call is either requested, started or refused, or needs no approval."""
        known = self.requested.keys() | self.refused.keys() | self.started
        return all(call.id in known or call.name in INSTRUCTION_TOOLS for call in self.calls)

    @property
    def waits(self) -> bool:
        """True while a decision is pending."""
        return any(call_id not in self.decided for call_id in self.requested)


class EventTranslator:
    """Translates one run; with `proposes_all`, each of its calls waits for approval."""

    def __init__(self, run_id: RunId, *, proposes_all: bool) -> None:
        self.is_over = False
        self.proposed: set[CallId] = set()
        """Calls that were sent to the client, which it may decide on."""
        self._run_id = run_id
        self._proposes_all = proposes_all
        self._reasoning = ""
        self._turn = _Turn((), is_proposed=True)

    def reply(self, event: ModelReplied, context: ContextSnapshot) -> list[RunEvent]:
        """Return the events of a whole reply, with the context window after it."""
        message = event.message
        self._reasoning = message.reasoning
        self._turn = _Turn(message.calls, is_proposed=not self._proposes_all)
        completed = TurnCompletedEvent(content=message.text, reasoning=message.reasoning, context=context)
        return [
            RunEvent(turn_completed=completed),
            RunEvent(context_snapshot=ContextSnapshotEvent(context=context)),
        ]

    def add(self, event: Event) -> list[RunEvent]:
        """Return the events for any other event of the session; most have none."""
        match event:
            case ApprovalRequested():
                return self._ask(event)
            case ApprovalDecided():
                self._turn.decided.add(event.call_id)
                if event.answer in ("deny", "stop"):
                    self._turn.denied.add(event.call_id)
            case ToolStarted():
                return self._start(event)
            case ToolFinished():
                return self._finish(event)
            case TurnEnded():
                self._turn.is_over = bool(self._turn.calls)
            case TurnStarted():
                return self._cross_boundary()
            case RunEnded() if event.run_id == self._run_id:
                return self._end(event)
            case _:
                pass
        return []

    def abort(self, event: Aborted) -> list[RunEvent]:
        """Return the events for a run whose end could not be recorded."""
        if event.run_id != self._run_id:
            return []
        self.is_over = True
        return [failed(event.reason, self._run_id)]

    # ------------------------------------------------------------------ proposals

    def _ask(self, event: ApprovalRequested) -> list[RunEvent]:
        turn = self._turn
        turn.requested[event.call_id] = event
        if turn.is_proposed:
            return [self._proposal([event])]
        return self._propose_all() if turn.is_known else []

    def _propose_all(self) -> list[RunEvent]:
        turn = self._turn
        turn.is_proposed = turn.lanes.is_open = True
        asked = [turn.requested[call.id] for call in turn.calls if call.id in turn.requested]
        told = [self._proposal(asked)] if asked else []
        return [*told, *turn.lanes.take()]

    def _proposal(self, asked: Sequence[ApprovalRequested]) -> RunEvent:
        self.proposed.update(event.call_id for event in asked)
        return RunEvent(tools_proposed=ToolsProposedEvent(calls=map(_proposed, asked)))

    # ------------------------------------------------------------------ calls

    def _start(self, event: ToolStarted) -> list[RunEvent]:
        turn = self._turn
        turn.started.add(event.call_id)
        lane = event.call_id if event.parent is None else event.parent
        turn.lanes.add(lane, _started(event.call_id))
        return turn.lanes.take()

    def _finish(self, event: ToolFinished) -> list[RunEvent]:
        turn, call_id = self._turn, event.result.call_id
        is_open = call_id in turn.requested and call_id not in turn.decided
        if call_id in turn.denied:
            return []
        if is_open:  # the request was never answered, and no longer can be
            turn.is_cut_off = turn.is_cut_off or event.parent is None
            return []
        if event.parent is not None:
            return self._finish_nested(event, event.parent)
        if call_id in turn.started:
            turn.lanes.add(call_id, _finished(event.result), is_over=True)
            return turn.lanes.take()
        turn.refused[call_id] = event.result
        is_due = not turn.is_proposed and turn.is_known and turn.waits and not turn.is_cut_off
        return self._propose_all() if is_due else []

    def _finish_nested(self, event: ToolFinished, parent: CallId) -> list[RunEvent]:
        """Return the end of a call made by code, within the call that runs the code."""
        turn, call_id = self._turn, event.result.call_id
        told = [_finished(event.result)]
        if call_id not in turn.started:
            told.insert(0, _started(call_id))
        if parent not in turn.lanes:
            return told
        turn.lanes.add(parent, *told)
        return turn.lanes.take()

    # ------------------------------------------------------------------ boundaries

    def _cross_boundary(self) -> list[RunEvent]:
        """Return the end of a turn's calls, now that the run is known to have survived them."""
        turn = self._turn
        if not turn.is_over:
            return []
        turn.is_over = False
        told = [] if turn.is_proposed else self._propose_all()
        for call in turn.calls:
            if call.id in turn.refused:
                told += [_started(call.id), _finished(turn.refused[call.id])]
        return [*told, RunEvent(tools_completed=ToolsCompletedEvent())]

    def _end(self, event: RunEnded) -> list[RunEvent]:
        self.is_over = True
        is_denied = any(call.id in self._turn.denied for call in self._turn.calls)
        if event.outcome in ("cancelled", "denied"):
            return [RunEvent(cancelled=RunCancelledEvent(run_id=event.run_id))]
        told = self._cross_boundary()
        if event.outcome != "completed":
            return [*told, failed(event.reason, event.run_id)]
        completed = RunCompletedEvent(run_id=event.run_id)
        if not (is_denied and self._proposes_all):
            completed = RunCompletedEvent(run_id=event.run_id, content=event.text, reasoning=self._reasoning)
        return [*told, RunEvent(completed=completed)]


def failed(error: str, run_id: str = "") -> RunEvent:
    """Return the event of a failed run; without an id, of a run that never began."""
    return RunEvent(failed=RunFailedEvent(run_id=run_id, error=error))


def _proposed(event: ApprovalRequested) -> ProposedToolCall:
    arguments = encode(event.args, order="sorted").decode()
    return ProposedToolCall(
        call_id=event.call_id, name=event.tool, arguments_json=arguments, preview=event.preview
    )


def _started(call_id: CallId) -> RunEvent:
    return RunEvent(tool_started=ToolExecutionStartedEvent(call_id=call_id))


def _finished(result: ToolResult) -> RunEvent:
    if result.is_error:
        return RunEvent(tool_failed=ToolExecutionFailedEvent(call_id=result.call_id, error=result.output))
    return RunEvent(tool_completed=ToolExecutionCompletedEvent(call_id=result.call_id, output=result.output))
