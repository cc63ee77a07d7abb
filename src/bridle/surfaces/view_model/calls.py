"""The tool calls of a conversation by id, updated by records and deltas."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
)
from bridle.surfaces.view_model import call_items
from bridle.surfaces.view_model.items import ItemList
from bridle.surfaces.view_model.view_types import Call, CallState, Item, Patch


class CallItems:
    """Maps call ids to items; `home` is the key of the reply or message that a call belongs to."""

    def __init__(self, shelf: ItemList) -> None:
        self._shelf = shelf
        found = [item for item in shelf.items if isinstance(item, Call)]
        self._keys = {call.call_id: call.key for call in found}
        self._homes: dict[CallId, str] = {}
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
        call = self._shelf.get(key)
        if call is None:
            return [self._shelf.put(call_items.make_writing(delta, key, seq), is_live=True)]
        if not isinstance(call, Call) or call.state != "writing" or not (delta.args or delta.name):
            return []
        if call.tool:
            return [self._shelf.grow(key, "written", delta.args)]
        named = replace(call, tool=delta.name, written=call.written + delta.args)
        return [self._shelf.put(named, is_live=True)]

    def _key(self, call_id: CallId, home: str) -> str:
        """Return the call id as the key, with a prefix if an earlier call has the same id."""
        is_taken = call_id in self._keys and self._homes.get(call_id) != home
        return f"{home}.{call_id}" if is_taken else str(call_id)

    # ------------------------------------------------------------------ updates

    def ask(
        self, record: Record, event: ApprovalRequested | ApprovalDecided | QuestionAsked | QuestionAnswered
    ) -> list[Patch]:
        """Mark a call as waiting for a person or as running; ignores what a sub-agent asks for."""
        match event:
            case ApprovalRequested(child=None):
                self._open[event.call_id] = None
                call = self._get(event.call_id) or call_items.make_nested(event, record)
                return [self._put(call_items.mark_waiting(call, event))]
            case ApprovalDecided():
                return self.change(event.call_id, lambda call: call_items.mark_decided(call, event))
            case QuestionAsked(child=None):
                return self.change(event.call_id, lambda call: replace(call, state="waiting"))
            case QuestionAnswered():
                return self.change(event.call_id, call_items.mark_answered)
            case _:
                return []

    def work(self, record: Record, event: ToolStarted | ToolFinished) -> list[Patch]:
        """Mark a call as started or finished."""
        match event:
            case ToolStarted():
                self._open[event.call_id] = None
                call = self._get(event.call_id) or call_items.make_nested(event, record)
                return [self._put(call_items.mark_started(call, event, record))]
            case ToolFinished():
                self._open.pop(event.result.call_id, None)
                known = self._get(event.result.call_id)
                call = known or call_items.make_finished_only(event.result, record, event.parent)
                return [self._put(call_items.mark_finished(call, event))]

    def print(self, delta: ToolOutputDelta) -> list[Patch]:
        """Append to the output of a call."""
        key = self._keys.get(delta.call_id)
        return [] if key is None or not delta.text else [self._shelf.grow(key, "output", delta.text)]

    def tell(self, result: ToolResult) -> list[Patch]:
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
        item = self._shelf.get(self._keys.get(call_id, ""))
        return item if isinstance(item, Call) else None

    def _put(self, call: Call) -> Patch:
        """Store a call at its position: a new call made by code goes after its parent."""
        is_new = call.call_id not in self._keys
        self._keys.setdefault(call.call_id, call.key)
        parent = None if call.parent is None else self._keys.get(call.parent)
        return self._shelf.put(call, before=self._shelf.after_code(parent) if is_new and parent else "")
