"""Translates a session's records and deltas into ACP updates.

```
TextDelta, ReasoningDelta            agent_message_chunk, agent_thought_chunk   the rest with ModelReplied
ModelReplied, ToolStarted            tool_call pending, tool_call_update in_progress
ToolOutputDelta, ToolFinished        tool_call_update with text, completed or failed with diffs
TodosChanged                         plan
ChildStarted, ChildEnded             a separate tool_call
SessionTitled, ModelReplied          session_info_update, usage_update
notes and notices                    agent_thought_chunk, as the protocol has no other place for them
```
"""

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    Cost,
    CurrentModeUpdate,
    PlanEntry,
    SessionInfoUpdate,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    UsageUpdate,
    UserMessageChunk,
)

from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, Usage
from bridle.core.permission import EDITING_TOOLS
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Delta,
    Event,
    FilesChanged,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    Notice,
    QuestionAsked,
    ReasoningDelta,
    Record,
    ReplyLost,
    Retrying,
    Rewound,
    RunEnded,
    RunStarted,
    SessionTitled,
    TextDelta,
    Todo,
    TodosChanged,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.surfaces.acp.content import blocks_of, media_block, text_block
from bridle.surfaces.acp.tool_calls import (
    ToolCallView,
    diff_contents,
    final_update,
    shorten_title,
    status_update,
    text_content,
)
from bridle.surfaces.shared.event_notes import make_note
from bridle.surfaces.shared.subagent_names import SubAgentNames
from bridle.surfaces.shared.text_format import describe_changes, format_count
from bridle.system.dates import rfc3339

Update = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
)

Priced = ModelReplied | ModelSampled | ReplyLost | Compacted | CompactionFailed | ChildEnded | SessionTitled

MAX_PRINTED_CHARS = 4000
"""How much of a running call's output is sent, the newest: each update repeats the output before it."""


class UpdateTranslator:
    """Translates the items of one session, which must come in order."""

    def __init__(self, cwd: str, cost: float | None = 0.0) -> None:
        """`cwd` is the session's folder."""
        self.cost = cost
        """The session's cost so far; None if it is unknown."""
        self._cwd = cwd
        self._subagent_names = SubAgentNames()
        self._message_id: str | None = None
        self._said: list[str] = []
        self._thought: list[str] = []
        self._open: dict[CallId, ToolCallView] = {}
        """Calls that have not ended."""
        self._begun: set[CallId] = set()
        """Calls that the model is still writing."""
        self._printed: dict[CallId, str] = {}
        self._diffs: dict[CallId, str] = {}

    def take(self, item: Record | Delta, *, is_own: bool = False, diff: str = "") -> list[Update]:
        """Return the updates of an item.

        `is_own` means that a message came from the editor itself, which already shows it; `diff` is the diff
        of a FilesChanged event.
        """
        match item:
            case Record():
                return self._record(item, is_own=is_own, diff=diff)
            case TextDelta():
                self._said.append(item.text)
                return [self._message(item.text)]
            case ReasoningDelta():
                self._thought.append(item.text)
                return [self._thinking(item.text)]
            case ToolCallDelta():
                return self._writing(item)
            case ToolOutputDelta():
                return self._printing(item)
            case Notice(is_wait=False):
                return [note(item.text)]
            case _:
                return []

    def wants_diff(self, event: FilesChanged) -> bool:
        """Return True if the caller should compute a diff for this event; edit tools provide their own."""
        call = self._open.get(event.call_id) if event.call_id is not None else None
        return call is None or call.tool not in EDITING_TOOLS

    def call_of(self, request: ApprovalRequested) -> ToolCallView:
        """Return the call that needs approval."""
        return self._open.get(request.call_id) or self._call(request)

    def who_asks(self, asked: QuestionAsked) -> str:
        """Return the name of the sub-agent that asks; empty for the session itself."""
        return self._subagent_names.format_asker(asked)

    def close(self) -> list[Update]:
        """Close what a run left open; no more updates of it follow."""
        updates: list[Update] = [status_update(call_id, "failed") for call_id in self._open]
        self._open.clear()
        self._begun.clear()
        self._printed.clear()
        self._diffs.clear()
        self._message_id = None
        return updates

    # ------------------------------------------------------------------ records

    def _record(self, record: Record, *, is_own: bool, diff: str) -> list[Update]:
        if isinstance(record.event, Priced):
            self._pay(record.event)
        match record.event:
            case MessageAdded(message=message, source="prompt" | "steer" | "fork" | "import"):
                return [] if is_own else self._user_updates(message, record.seq)
            case MessageAdded(message=message, source="child" | "peer"):
                return [note(message.text)]
            case RunStarted() | TurnStarted() as event:
                self._begin(f"{event.run_id}-{event.turn if isinstance(event, TurnStarted) else 0}")
                return []
            case Retrying() as event:
                void = self._void(f"{event.run_id}-{event.turn}-{event.attempt}")
                return [*void, *_noted(event)]
            case ModelSwitched() as event:
                void = self._void(f"{event.run_id}-{event.turn}-{event.model}")
                return [*void, *_noted(event)]
            case ModelReplied() as event:
                return self._replied(event)
            case TodosChanged(todos=todos):
                return [plan(todos)]
            case SessionTitled() as event:
                return [info(event.title, record.at)]
            case Rewound() as event if event.scope != "files":
                return [plan(event.todos), *_noted(event)]
            case RunEnded():
                return self.close()
            case event:
                return self._about_calls(event, record.seq, diff)

    def _about_calls(self, event: Event, seq: int, diff: str) -> list[Update]:
        match event:
            case ApprovalRequested():
                return self._start(self._call(event))
            case ApprovalDecided():
                return self._decided(event)
            case ToolStarted():
                started = self._start(self._call(event))
                return [*started, status_update(event.call_id, "in_progress")]
            case FilesChanged():
                return self._files(event, seq, diff)
            case ToolFinished():
                return self._finished(event)
            case ChildStarted():
                return [self._child(event)]
            case ChildEnded():
                return [self._child_ended(event)]
            case CompactionStarted():
                return [note(f"compacting {format_count(event.messages, 'message')}")]
            case _:
                return _noted(event)

    # ------------------------------------------------------------------ text

    def _begin(self, message_id: str) -> None:
        self._message_id, self._said, self._thought = message_id, [], []

    def _void(self, message_id: str) -> list[Update]:
        """Restart the message: its streamed text is void."""
        given_up = [status_update(call_id, "failed") for call_id in sorted(self._begun)]
        for call_id in self._begun:
            del self._open[call_id]
        self._begun.clear()
        self._begin(message_id)
        return [*given_up]

    def _message(self, text: str) -> AgentMessageChunk:
        return AgentMessageChunk(
            session_update="agent_message_chunk", content=text_block(text), message_id=self._message_id
        )

    def _thinking(self, text: str) -> AgentThoughtChunk:
        return AgentThoughtChunk(
            session_update="agent_thought_chunk", content=text_block(text), message_id=self._message_id
        )

    def _user_updates(self, message: Message, seq: int) -> list[Update]:
        if message.role == "assistant":
            return self._spoken(message, f"record-{seq}")
        if message.role != "user":
            return []
        return [
            UserMessageChunk(session_update="user_message_chunk", content=block, message_id=f"record-{seq}")
            for block in blocks_of(message)
        ]

    def _spoken(self, message: Message, message_id: str) -> list[Update]:
        """Return a whole message that was not streamed."""
        self._begin(message_id)
        return self._rest(message)

    def _replied(self, event: ModelReplied) -> list[Update]:
        if self._message_id is None:
            self._begin(f"{event.run_id}-{event.turn}")
        updates = self._rest(event.message)
        calls = {call.id for call in event.message.calls}
        given_up = sorted(self._begun - calls)
        self._begun.clear()
        for call_id in given_up:
            del self._open[call_id]
            updates.append(status_update(call_id, "failed"))
        for call in event.message.calls:
            updates += self._announce(ToolCallView(call.id, call.name, call.args, self._cwd))
        self._message_id = None
        return [*updates, usage(event, self.cost)] if event.context.window else updates

    def _rest(self, message: Message) -> list[Update]:
        """Return the part of a reply that was not streamed, since deltas may be lost."""
        updates: list[Update] = []
        thoughts = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        is_whole = text.startswith("".join(self._said)) and thoughts.startswith("".join(self._thought))
        if not is_whole:  # deltas were lost: send the whole text again
            self._begin(f"{self._message_id}-whole")
        if rest := _missed(thoughts, self._thought):
            updates.append(self._thinking(rest))
        if rest := _missed(text, self._said):
            updates.append(self._message(rest))
        updates += [
            AgentMessageChunk(
                session_update="agent_message_chunk", content=media_block(part), message_id=self._message_id
            )
            for part in message.parts
            if isinstance(part, Media)
        ]
        self._said, self._thought = [], []
        return updates

    def _pay(self, event: Priced) -> None:
        known = self.cost is not None and (event.cost is not None or event.usage == Usage())
        self.cost = (self.cost or 0.0) + (event.cost or 0.0) if known else None

    # ------------------------------------------------------------------ calls

    def _call(self, event: ApprovalRequested | ToolStarted) -> ToolCallView:
        who = self._subagent_names.format_asker(event) if isinstance(event, ApprovalRequested) else ""
        return ToolCallView(event.call_id, event.tool, event.args, self._cwd, event.parent, who)

    def _start(self, call: ToolCallView) -> list[Update]:
        """Announce a call that the editor has not seen."""
        if call.id in self._open:
            return []
        self._open[call.id] = call
        return [call.start()]

    def _announce(self, call: ToolCallView) -> list[Update]:
        """Announce a call, or update it if it was announced while the model wrote it."""
        if call.id not in self._open:
            return self._start(call)
        self._open[call.id] = call
        facts = {"title": call.title, "raw_input": call.args, "locations": call.places or None}
        return [status_update(call.id, "pending", call.code_content, **facts)]

    def _writing(self, item: ToolCallDelta) -> list[Update]:
        if item.call_id in self._open or not item.name or not item.call_id:
            return []
        self._begun.add(item.call_id)
        return self._start(ToolCallView(item.call_id, item.name, {}, self._cwd))

    def _printing(self, item: ToolOutputDelta) -> list[Update]:
        if item.call_id not in self._open:
            return []
        printed = (self._printed.get(item.call_id, "") + item.text)[-MAX_PRINTED_CHARS:]
        self._printed[item.call_id] = printed
        return [status_update(item.call_id, "in_progress", [text_content(printed)])]

    def _decided(self, event: ApprovalDecided) -> list[Update]:
        """Close the approval of a sub-agent's call, because its further progress is not shown here."""
        call = self._open.get(event.call_id)
        if call is None or not call.who:
            return []
        del self._open[event.call_id]
        return [status_update(event.call_id, "failed" if event.answer in ("deny", "stop") else "completed")]

    def _files(self, event: FilesChanged, seq: int, diff: str) -> list[Update]:
        if event.call_id is not None and event.call_id in self._open:
            self._diffs[event.call_id] = diff
            return []
        content = diff_contents(diff, self._cwd) or [text_content(describe_changes(event.changes))]
        return [
            ToolCallStart(
                session_update="tool_call",
                tool_call_id=f"files-{seq}",
                title=shorten_title(f"on disk: {describe_changes(event.changes)}"),
                kind="edit",
                status="completed",
                content=[*content],
            )
        ]

    def _finished(self, event: ToolFinished) -> list[Update]:
        result = event.result
        call = ToolCallView(result.call_id, result.name, {}, self._cwd, event.parent)
        started = self._start(call)  # a call denied without an approval has no start
        del self._open[result.call_id]
        self._printed.pop(result.call_id, None)
        noticed = self._diffs.pop(result.call_id, "")
        end = final_update(result, event.diff, self._cwd)
        if not event.diff and (seen := diff_contents(noticed, self._cwd)):
            end.content = [*(end.content or []), *seen]
        answer: list[Update] = [self._message(event.answer)] if event.answer else []
        return [*started, end, *answer]

    def _child(self, event: ChildStarted) -> ToolCallStart:
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=_child_id(event),
            title=shorten_title(self._subagent_names.line(event)),
            kind="think",
            status="in_progress",
            field_meta={"bridle": {"session": event.child, "parent": event.call_id}},
        )

    def _child_ended(self, event: ChildEnded) -> ToolCallProgress:
        status: ToolCallStatus = "completed" if event.outcome == "completed" else "failed"
        return status_update(_child_id(event), status, [text_content(self._subagent_names.line(event))])


def _noted(event: Event) -> list[Update]:
    found = make_note(event)
    return [note(found[1])] if found else []


def _missed(whole: str, streamed: list[str]) -> str:
    return whole[len("".join(streamed)) :]


def _child_id(event: ChildStarted | ChildEnded) -> CallId:
    return CallId(f"child-{event.child}")


# ---------------------------------------------------------------------------- simple updates


def note(text: str) -> AgentThoughtChunk:
    """Return a note that is neither from the model nor from the user."""
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(f"{text}\n"))


def plan(todos: tuple[Todo, ...]) -> AgentPlanUpdate:
    """Return the to-do list as a plan."""
    entries = [PlanEntry(content=todo.text, priority="medium", status=todo.status) for todo in todos]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def info(title: str, at: int) -> SessionInfoUpdate:
    """Return the session's title."""
    return SessionInfoUpdate(session_update="session_info_update", title=title, updated_at=rfc3339(at))


def usage(event: ModelReplied, cost: float | None) -> UsageUpdate:
    """Return how much of the context window is used, and the session's cost so far."""
    return UsageUpdate(
        session_update="usage_update",
        used=min(event.usage.context, event.context.window),
        size=event.context.window,
        cost=Cost(amount=cost, currency="USD") if cost is not None else None,
    )
