"""Random event logs as the engine writes them, with independently computed folds.

```
SessionCreated, then runs:  RunStarted MessageAdded
                              TurnStarted [Retrying] ModelReplied
                                per call  [ApprovalRequested ApprovalDecided] ToolStarted ToolFinished
                              TurnEnded [MessageAdded: steering]
                              …
                            Checkpoint RunEnded
```

Calls of a turn are interleaved, the queue changes in between, and a run may be cancelled in the
middle of a turn or be cut off: then it is resumed, ended by the next prompt, or left as it is.
"""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Checkpoint,
    Event,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    Outcome,
    PromptQueued,
    QueueDropped,
    QueueEdited,
    Record,
    Retrying,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionArchived,
    SessionConfigured,
    SessionCreated,
    SessionLabelled,
    SessionOptions,
    SessionTitled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.session import Session

OPTIONS = st.builds(
    SessionOptions,
    model=st.sampled_from([None, "scripted/model", "scripted/other"]),
    mode=st.sampled_from([None, "plan"]),
    without_builtins=st.sampled_from([(), ("bash",)]),
)


class Written(Struct, frozen=True):
    """A message and the sequence numbers of the first and the last record that it is made of."""

    first: int
    last: int
    message: Message


class Log:
    """A log under construction."""

    def __init__(self, draw: DrawFn) -> None:
        self.records: list[Record] = []
        self.appends: list[int] = []
        """How many records there are after each append; only there can a process be cut off."""
        self.settings: list[SessionOptions] = []
        """The options of the next run, after each record."""
        self.messages: list[Written] = []
        self._draw = draw
        self._session = Session()
        self._runs = 0
        self._turn = 0
        self._lives: dict[CallId, list[Event]] = {}
        self._replied: tuple[int, tuple[ToolCall, ...]] = (0, ())
        self._results: dict[CallId, ToolResult] = {}

    # ------------------------------------------------------------------ writing

    def _stage(self, *events: Event) -> None:
        for event in events:
            seq = len(self.records) + 1
            record = Record(seq, 1000 * seq, event, "")
            self.records.append(record)
            self._session.apply(record)
            self.settings.append(self._settings_after(event))
            match event:
                case MessageAdded() | ModelReplied():
                    self.messages.append(Written(seq, seq, event.message))
                    self._replied, self._results = (seq, event.message.calls), {}
                case ToolFinished():
                    self._results[event.result.call_id] = event.result
                    self._join_results(seq)

    def _settings_after(self, event: Event) -> SessionOptions:
        match event:
            case SessionCreated() | SessionConfigured():
                return event.options
            case RunStarted():
                return replace(self.settings[-1], model=event.model)
            case _:
                return self.settings[-1]

    def _append(self, *events: Event) -> None:
        self._stage(*events)
        self.appends.append(len(self.records))

    def _join_results(self, seq: int) -> None:
        first, calls = self._replied
        if len(self._results) == len(calls):
            message = Message("tool", tuple(self._results[call.id] for call in calls))
            self.messages.append(Written(first, seq, message))

    # ------------------------------------------------------------------ a session

    def write(self) -> None:
        """Write a whole session."""
        title = self._draw(st.sampled_from(["", "given"]))
        parent = self._draw(st.sampled_from([None, SessionId("parent")]))
        options = self._draw(OPTIONS)
        self._append(SessionCreated(SessionId("s"), "/work", "coder", title, parent, options=options))
        for asides in self._draw(st.lists(st.integers(0, 2), max_size=4)):
            self._write_run()
            for _ in range(asides):
                self._write_aside()

    def _write_aside(self) -> None:
        """Write what a user may do at any time."""
        queued = [item.item_id for item in self._session.known.queue]
        match self._draw(st.integers(-2, 9)):
            case -2:
                self._append(SessionLabelled({"team": self._draw(st.sampled_from(["red", "blue"]))}))
            case -1:
                self._append(SessionConfigured(self._draw(OPTIONS)))
            case 0:
                self._append(SessionTitled(self._draw(st.sampled_from(["renamed", ""]))))
            case 1:
                self._append(SessionArchived(self._draw(st.booleans())))
            case 2 | 3 | 4 if queued:
                item = self._draw(st.sampled_from(queued))
                self._append(QueueEdited(item, user_message(f"edited {item}")))
            case 5 | 6 if queued:
                self._append(QueueDropped(self._draw(st.sampled_from(queued))))
            case _:
                item = f"item {len(self.records)}"
                delivery = self._draw(st.sampled_from(["queue", "steer"]))
                self._append(PromptQueued(item, user_message(f"queued {item}"), delivery=delivery))

    # ------------------------------------------------------------------ a run

    def _write_run(self) -> None:
        if self._session.run is not None:
            self._close_calls()
            self._end("failed")
        self._runs += 1
        self._turn = 0
        message, item_id = user_message(f"prompt {self._runs}\nplease"), None
        for item in self._session.known.queue[:1]:
            message, item_id = item.message, item.item_id
        self._stage(RunStarted(self._run_id, "scripted/model"))
        self._append(MessageAdded(message, "prompt", 5, item_id))
        for calls in self._draw(st.lists(st.integers(1, 3), max_size=2)):
            if not self._write_turn(calls):
                return
        while self._write_turn(0):
            pass

    @property
    def _run_id(self) -> RunId:
        return RunId(f"run {self._runs}")

    def _write_turn(self, calls: int) -> bool:
        """Write a turn; return whether the run continues after it."""
        self._turn += 1
        self._append(TurnStarted(self._run_id, self._turn))
        match self._draw(st.integers(0, 9)):
            case 0:
                self._append(Retrying(self._run_id, self._turn, 1, 3, "rate_limited", "slow down", 500))
            case 1:
                self._append(ModelSwitched(self._run_id, self._turn, "scripted/other", "gone"))
            case 2:
                return False  # cut off while the model was answering
        self._append(self._reply_with(calls))
        while self._lives:
            self._advance(self._draw(st.sampled_from(sorted(self._lives))))
            match self._draw(st.integers(0, 19)):
                case 0 | 1:
                    self._write_aside()
                case 2:
                    self._append(RunResumed(self._run_id))
                case 3:
                    return False  # cut off among the calls
                case 4:
                    self._close_calls()
                    self._stage(self._turn_ended())
                    self._end("cancelled")
                    self.appends.append(len(self.records))
                    return False
        return self._write_boundary(wants_more=calls > 0)

    def _reply_with(self, count: int) -> ModelReplied:
        names = [f"{self._runs}.{self._turn}.{n}" for n in range(count)]
        calls = [ToolCall(CallId(name), "tool", {"name": name}) for name in names]
        self._lives = {call.id: self._life_of(call) for call in calls}
        message = Message("assistant", (Text(f"reply {self._runs}.{self._turn}"), *calls))
        usage = Usage(input=10 * self._turn, output=7)
        cost = self._draw(st.sampled_from([None, 0.25]))
        return ModelReplied(self._run_id, self._turn, message, "tool_use", usage, cost, 7)

    def _life_of(self, call: ToolCall) -> list[Event]:
        """Return what will be recorded about a call, in order."""
        started = ToolStarted(call.id, call.name, call.args)
        finished = ToolFinished(ToolResult(call.id, call.name, f"output of {call.id}"), 3, 11)
        match self._draw(st.sampled_from(["allowed", "refused", "once", "session", "deny"])):
            case "allowed":
                return [started, finished]
            case "refused":
                return [finished]
            case answer:
                asked = ApprovalRequested(call.id, call.name, call.args, "mode ask")
                rules = (f"tool({self._turn})",) if answer == "session" else ()
                decided = ApprovalDecided(call.id, answer, "", rules)
                return [asked, decided, *([] if answer == "deny" else [started]), finished]

    def _advance(self, call_id: CallId) -> None:
        life = self._lives[call_id]
        event = life.pop(0)
        if not life:
            del self._lives[call_id]
        self._append(event)

    def _write_boundary(self, *, wants_more: bool) -> bool:
        self._stage(self._turn_ended())
        steering = [item for item in self._session.known.queue if item.delivery == "steer"]
        for item in steering:
            self._stage(MessageAdded(item.message, "steer", 4, item.item_id))
        goes_on = wants_more or bool(steering)
        if not goes_on:
            self._end("completed")
        self.appends.append(len(self.records))
        return goes_on

    def _turn_ended(self) -> TurnEnded:
        return TurnEnded(self._run_id, self._turn, Usage(output=7), ContextUsage(1000, run=self._turn))

    def _close_calls(self) -> None:
        """Give each call that is still open a result, as the engine does when a run ends early."""
        _, calls = self._replied
        for call in calls:
            if call.id not in self._results:
                self._stage(ToolFinished(ToolResult(call.id, call.name, "not finished", is_error=True)))
        self._lives = {}

    def _end(self, outcome: Outcome) -> None:
        self._stage(Checkpoint(self._session.known))
        self._stage(RunEnded(self._run_id, outcome, reason="for a reason"))


@st.composite
def logs(draw: DrawFn) -> Log:
    """Draw the log of a session whose last run may be cut off."""
    log = Log(draw)
    log.write()
    return log
