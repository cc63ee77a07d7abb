"""The one fold of tool calls: records and deltas update the items of calls, found by id.

`CallItems` serves a conversation. `RunCalls` serves a follower that shows calls and keeps no conversation.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    FilesChanged,
    ModelReplied,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
)
from bridle.core.revision import FileChange
from bridle.surfaces.shared.text_format import code_of, describe_args, describe_changes
from bridle.surfaces.shared.view_model import call_items
from bridle.surfaces.shared.view_model.items import ItemList
from bridle.surfaces.shared.view_model.view_types import Call, CallState, Item, Patch, Put


class CallItems:
    """Maps call ids to items; `home` is the key of the reply or message that a call belongs to."""

    def __init__(self, items: ItemList) -> None:
        self._items = items
        found = [item for item in items.in_order if isinstance(item, Call)]
        self._keys = {call.call_id: call.key for call in found}
        self._homes: dict[CallId, str] = {}
        self._changes: dict[CallId, list[FileChange]] = {}
        self._open = {call.call_id: None for call in found if call.state in call_items.OPEN}

    def __contains__(self, call_id: CallId) -> bool:
        return call_id in self._keys

    @property
    def open(self) -> list[Call]:
        """The calls whose end may still come."""
        return [call for call in map(self._get, self._open) if call is not None]

    # ------------------------------------------------------------------ new calls

    def make_requested(self, call: ToolCall, home: str, record: Record, state: CallState) -> Call:
        """Return the item of a call in a message."""
        is_foreign = state == "lost"  # ids from other programs may repeat, also on another page
        key = self._keys[call.id] = f"{home}.{call.id}" if is_foreign else self._key(call.id, home)
        self._homes[call.id] = home
        if state in call_items.OPEN:
            self._open[call.id] = None
        return call_items.make_requested(call, key, record, state)

    def write(self, delta: ToolCallDelta, home: str, seq: int) -> list[Patch]:
        """Show a call while the model writes it."""
        key = self._key(delta.call_id, home)
        call = self._items.get(key)
        if call is None:
            return [self._items.put(call_items.make_writing(delta, key, seq), is_live=True)]
        if not isinstance(call, Call) or call.state != "writing" or not (delta.args or delta.name):
            return []
        if call.tool:
            return [self._items.grow(key, "written", delta.args)]
        named = replace(call, tool=delta.name, written=call.written + delta.args)
        return [self._items.put(named, is_live=True)]

    def _key(self, call_id: CallId, home: str) -> str:
        """Return the call id as the key, with a prefix if an earlier call has the same id."""
        is_taken = call_id in self._keys and self._homes.get(call_id) != home
        return f"{home}.{call_id}" if is_taken else str(call_id)

    # ------------------------------------------------------------------ updates

    def add(self, record: Record) -> list[Patch]:
        """Apply a record about a call, if it is one; ignores what a sub-agent asks for."""
        match record.event:
            case ApprovalRequested(child=None) as event:
                return [self._put(call_items.mark_waiting(self._begin(record, event), event))]
            case ApprovalDecided() as decided:
                return self.change(decided.call_id, lambda call: call_items.mark_decided(call, decided))
            case QuestionAsked(child=None) as event:
                return self.change(event.call_id, lambda call: replace(call, state="waiting"))
            case QuestionAnswered() as event:
                return self.change(event.call_id, call_items.mark_answered)
            case ToolStarted() as event:
                call = self._begin(record, event)
                return [self._put(call_items.mark_started(call, event, record))]
            case FilesChanged(call_id=str() as call_id) as event:
                changes = self._changes.setdefault(CallId(call_id), [])
                changes += event.changes
                return self.change(
                    CallId(call_id), lambda call: replace(call, changed=describe_changes(changes))
                )
            case ToolFinished() as event:
                return [self._finish(record, event)]
            case _:
                return []

    def _begin(self, record: Record, event: ApprovalRequested | ToolStarted) -> Call:
        self._open[event.call_id] = None
        return self._get(event.call_id) or call_items.make_nested(event, record)

    def _finish(self, record: Record, event: ToolFinished) -> Patch:
        result = event.result
        self._open.pop(result.call_id, None)
        self._changes.pop(result.call_id, None)
        call = self._get(result.call_id) or call_items.make_finished_only(result, record, event.parent)
        return self._put(call_items.mark_finished(call, event))

    def print(self, delta: ToolOutputDelta) -> list[Patch]:
        """Append to the output of a call."""
        key = self._keys.get(delta.call_id)
        return [] if key is None or not delta.text else [self._items.grow(key, "output", delta.text)]

    def finish_imported(self, result: ToolResult) -> list[Patch]:
        """Add the result to a call of an imported conversation."""
        return self.change(result.call_id, lambda call: call_items.mark_imported(call, result))

    def mark_lost(self) -> list[Patch]:
        """Mark the calls whose end will not be recorded."""
        lost = [self._put(replace(call, state="lost")) for call in self.open]
        self._open = {}
        return lost

    def change(self, call_id: CallId, change: Callable[[Call], Call]) -> list[Patch]:
        """Change the item of a call, if it is loaded."""
        call = self._get(call_id)
        return [] if call is None else [self._put(change(call))]

    def forget(self, items: Iterable[Item]) -> None:
        """Remove calls that are no longer loaded."""
        for item in items:
            if isinstance(item, Call) and self._keys.get(item.call_id) == item.key:
                del self._keys[item.call_id]
                self._homes.pop(item.call_id, None)
                self._open.pop(item.call_id, None)

    def _get(self, call_id: CallId) -> Call | None:
        item = self._items.get(self._keys.get(call_id, ""))
        return item if isinstance(item, Call) else None

    def _put(self, call: Call) -> Patch:
        """Store a call at its position: a new call made by code goes after its parent."""
        is_new = call.call_id not in self._keys
        self._keys.setdefault(call.call_id, call.key)
        parent = None if call.parent is None else self._keys.get(call.parent)
        return self._items.put(call, before=self._items.after_code(parent) if is_new and parent else "")


class RunCalls:
    """The open calls of a run, for a follower that keeps no conversation."""

    def __init__(self) -> None:
        self._items = ItemList()
        self._calls = CallItems(self._items)

    @property
    def open(self) -> list[Call]:
        """The calls that have not ended."""
        return self._calls.open

    def add(self, record: Record) -> list[Call]:
        """Apply a record; return the calls that it requests, starts or ends, with their whole texts."""
        match record.event:
            case ModelReplied() as event:
                calls = event.message.calls
                items = [call_items.make_requested(call, str(call.id), record) for call in calls]
                self._items = ItemList(items)
                self._calls = CallItems(self._items)
                return [_with_args(item, call.args) for item, call in zip(items, calls, strict=True)]
            case ApprovalRequested(parent=str()) | ToolStarted() as event:
                return [_with_args(call, event.args) for call in self._change(record)]
            case ToolFinished() as event:
                ended = self._change(record)
                self._items.forget([call.key for call in ended])
                self._calls.forget(ended)
                texts = {"output": event.result.output, "diff": event.diff, "answer": event.answer}
                return [replace(call, **texts) for call in ended]
            case ApprovalRequested():  # the reply has requested the call
                return []
            case _:
                self._change(record)
                return []

    def _change(self, record: Record) -> list[Call]:
        changed = [patch.item for patch in self._calls.add(record) if isinstance(patch, Put)]
        return [call for call in changed if isinstance(call, Call)]


def _with_args(call: Call, args: dict[str, Any]) -> Call:
    return replace(call, brief=describe_args(args), code=code_of(call.tool, args))
