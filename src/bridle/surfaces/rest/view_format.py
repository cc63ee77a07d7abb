"""Streams a session as patches of its view, for clients that display it.

```
event: put                                  one event per patch, named by its type
data: {"type":"put","item":{…}}

id: 12                                      on the last event of a record
event: head_changed
data: {"type":"head_changed","head":{…}}
```

Deltas are merged, so that thousands a second become at most thirty events a second for each item.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record
from bridle.core.session_api import SessionApi
from bridle.surfaces.rest.event_format import EventFormat, Frame
from bridle.surfaces.shared.view_model.loader import open_view
from bridle.surfaces.shared.view_model.view import ViewModel
from bridle.surfaces.shared.view_model.view_types import Drop, Flash, Grow, HeadChanged, Patch, Put, Reset

# ---------------------------------------------------------------------------- patch buffer
# Combines patches for a moment, so that thousands of deltas become a few screen updates.


FRAME_S = 1 / 30
"""How long patches are collected: one frame at 30 frames per second."""

Field = Literal["text", "output", "written"]
FIELDS: tuple[Field, ...] = ("text", "output", "written")


class _Grown(Struct):
    """Several pieces of text for one field of an item."""

    key: str
    field: Field
    texts: list[str]


class PatchBuffer:
    """A combined list of patches with the same effect as all that were added."""

    def __init__(self) -> None:
        self._patches: list[Patch | _Grown] = []
        self._grown: dict[tuple[str, Field], _Grown] = {}
        """The entry that takes the next piece of a field; removed by a patch of the whole item."""

    def __bool__(self) -> bool:
        return bool(self._patches)

    def add(self, patches: Iterable[Patch]) -> None:
        """Add patches in their order."""
        for patch in patches:
            match patch:
                case Grow():
                    self._grow(patch)
                case HeadChanged():
                    self._patches = [other for other in self._patches if not isinstance(other, HeadChanged)]
                    self._patches.append(patch)
                case Put():
                    self._append(patch, patch.item.key)
                case Drop():
                    self._append(patch, patch.key)
                case Reset():
                    self._patches, self._grown = [patch], {}
                case Flash():
                    self._patches.append(patch)

    def take(self) -> list[Patch]:
        """Return the combined patches and start over."""
        taken = [
            Grow(patch.key, "".join(patch.texts), patch.field) if isinstance(patch, _Grown) else patch
            for patch in self._patches
        ]
        self._patches, self._grown = [], {}
        return taken

    def _append(self, patch: Put | Drop, key: str) -> None:
        self._patches.append(patch)
        for field in FIELDS:
            self._grown.pop((key, field), None)

    def _grow(self, patch: Grow) -> None:
        grown = self._grown.get((patch.key, patch.field))
        if grown is None:
            grown = self._grown[patch.key, patch.field] = _Grown(patch.key, patch.field, [])
            self._patches.append(grown)
        grown.texts.append(patch.text)


# ---------------------------------------------------------------------------- view format


MAX_ITEMS = 1_000  # items kept for computing patches; a client loads older ones itself
KEPT_ITEMS = 500


class ViewEncoder:
    """Encodes the changes of a board as events."""

    def __init__(self, model: ViewModel) -> None:
        self.is_void = False
        self._model = model
        self._gathered = PatchBuffer()

    def encode_item(self, item: Record | Delta) -> Sequence[Frame]:
        """Process the next record or delta; events for deltas are held back."""
        patches = self._model.add(item)
        self._gathered.add(patches)
        if not isinstance(item, Record):
            return ()
        self.is_void = any(isinstance(patch, Reset) for patch in patches)
        if self._model.count > MAX_ITEMS:
            self._model.forget([old.key for old in self._model.items[:-KEPT_ITEMS]])
        return self.release()

    def release(self) -> Sequence[Frame]:
        """Return the events held back."""
        return _frames(self._gathered.take())

    def welcome(self) -> Sequence[Frame]:
        """Return the live items and the head."""
        return _frames(self._model.welcome)


def _frames(patches: Iterable[Patch]) -> list[Frame]:
    return [(str(type(patch).__struct_config__.tag), encode(patch)) for patch in patches]


async def _open(api: SessionApi, session: SessionId, upto: int) -> ViewEncoder:
    return ViewEncoder(await open_view(api, session, max(1, upto)))  # 0 means the client has seen nothing


BOARD = EventFormat("board", open=_open, missed=_frames([Reset()])[0], hold_s=FRAME_S)
"""Patches, relative to the view after the record that the client names."""
