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

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record
from bridle.core.session_api import SessionApi
from bridle.surfaces.rest.event_format import EventFormat, Frame
from bridle.surfaces.view_model.loader import open_view
from bridle.surfaces.view_model.patch_buffer import FRAME_S, PatchBuffer
from bridle.surfaces.view_model.view import ViewModel
from bridle.surfaces.view_model.view_types import Patch, Reset

MAX_ITEMS = 1_000  # items kept for computing patches; a client loads older ones itself
KEPT_ITEMS = 500


class ViewEncoder:
    """Encodes the changes of a board as events."""

    def __init__(self, board: ViewModel) -> None:
        self.is_void = False
        self._board = board
        self._gathered = PatchBuffer()

    def tell(self, item: Record | Delta) -> Sequence[Frame]:
        """Process the next record or delta; events for deltas are held back."""
        patches = self._board.add(item)
        self._gathered.add(patches)
        if not isinstance(item, Record):
            return ()
        self.is_void = any(isinstance(patch, Reset) for patch in patches)
        if self._board.count > MAX_ITEMS:
            self._board.forget([old.key for old in self._board.items[:-KEPT_ITEMS]])
        return self.release()

    def release(self) -> Sequence[Frame]:
        """Return the events held back."""
        return _frames(self._gathered.take())

    def welcome(self) -> Sequence[Frame]:
        """Return the live items and the head."""
        return _frames(self._board.welcome)


def _frames(patches: Iterable[Patch]) -> list[Frame]:
    return [(str(type(patch).__struct_config__.tag), encode(patch)) for patch in patches]


async def _open(api: SessionApi, session: SessionId, upto: int) -> ViewEncoder:
    return ViewEncoder(await open_view(api, session, max(1, upto)))  # 0 means the client has seen nothing


BOARD = EventFormat("board", open=_open, missed=_frames([Reset()])[0], hold_s=FRAME_S)
"""Patches, relative to the view after the record that the client names."""
