"""Folds a session's records and deltas into the view of a user interface."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bridle.core.protocol import (
    Aborted,
    Delta,
    HookStarted,
    Lagged,
    Notice,
    ReasoningDelta,
    Record,
    Rewound,
    TextDelta,
    ToolCallDelta,
    ToolOutputDelta,
)
from bridle.core.session_status import SessionStatus
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.view_model.bounded_text import LINE_CHARS, shorten
from bridle.surfaces.shared.view_model.conversation import Conversation
from bridle.surfaces.shared.view_model.head import HeadBuilder
from bridle.surfaces.shared.view_model.view_types import (
    Flash,
    Head,
    HeadChanged,
    Item,
    Patch,
    Put,
    Reset,
    ViewSnapshot,
)


class ViewModel:
    """The view of one session, kept up to date by records and deltas."""

    def __init__(
        self, status: SessionStatus, items: Sequence[Item] | Conversation = (), before: int | None = None
    ) -> None:
        """Start with the session status and the newest items, which include those up to `status.seq`."""
        self._conversation = items if isinstance(items, Conversation) else Conversation(items)
        self._conversation.go_on(status)
        self._before = before
        self._head_builder = HeadBuilder(status)
        self._head = self._head_builder.head

    def read_earlier(self, records: Iterable[Record]) -> None:
        """Take details from the newest earlier records that neither the status nor the items contain."""
        self._head_builder.read_earlier(records)
        self._head = self._head_builder.head

    @property
    def head(self) -> Head:
        """Everything except the conversation."""
        return self._head

    @property
    def items(self) -> tuple[Item, ...]:
        """The loaded items, oldest first, live ones last."""
        return self._conversation.items.in_order

    @property
    def count(self) -> int:
        """The number of loaded items."""
        return len(self._conversation.items)

    @property
    def view(self) -> ViewSnapshot:
        """Everything loaded."""
        return ViewSnapshot(self._head, self.items, self._before)

    @property
    def welcome(self) -> list[Patch]:
        """The patches that bring a screen that has seen every record up to date.

        The screen may have been disconnected, and may hold fragments that were dropped meanwhile.
        """
        return [*self._conversation.unrecorded, HeadChanged(self._head)]

    def add(self, item: Record | Delta) -> list[Patch]:
        """Apply the next record or delta and return the changes; after `Reset`, open a new view."""
        if not isinstance(item, Record):
            return self._add_delta(item)
        if isinstance(item.event, Rewound) and item.event.scope != "files":
            return [Reset()]
        patches = self._conversation.add(item)
        self._head_builder.add(item)
        return [*patches, *self._head_patches()]

    def _add_delta(self, delta: Delta) -> list[Patch]:
        patches = self._conversation.add_delta(delta)
        match delta:
            case Notice() if not (delta.is_wait and self._head.run):
                return [Flash(_brief(delta.text), "detail" if delta.is_wait else "warning")]
            case Aborted():
                words = f"the run ended without a record: {delta.reason}" if delta.run_id else delta.reason
                patches.append(Flash(_brief(words), "failed"))
            case TextDelta() | ReasoningDelta() | ToolCallDelta() if not _has_begun(patches):
                return patches  # thousands come per second, and the first one has set the activity
            case ToolOutputDelta() | Lagged() | HookStarted():
                return patches
            case _:
                pass
        self._head_builder.add_delta(delta)
        return [*patches, *self._head_patches()]

    def _head_patches(self) -> list[Patch]:
        """Return a patch if more than the record count of the head has changed."""
        before, self._head = self._head, self._head_builder.head
        is_same = replace(self._head, seq=before.seq, updated_at=before.updated_at) == before
        return [] if is_same else [HeadChanged(self._head)]

    def forget(self, keys: Sequence[str]) -> None:
        """Unload items that are not in view, to bound memory.

        Only the oldest items are unloaded, and related items together.
        """
        before = self._conversation.forget(keys)
        self._before = self._before if before is None else before


def _has_begun(patches: list[Patch]) -> bool:
    return any(isinstance(patch, Put) for patch in patches)


def _brief(text: str) -> str:
    return one_line(shorten(text, LINE_CHARS))
