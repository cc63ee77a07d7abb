"""The ordered items of a view: recorded items first, then live ones."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from bridle.surfaces.shared.view_model.bounded_text import (
    OUTPUT_CHARS,
    TEXT_CHARS,
    WRITTEN_CHARS,
    BoundedText,
)
from bridle.surfaces.shared.view_model.view_types import Call, Drop, Grow, Item, Patch, Put

Field = Literal["text", "output", "written"]

MAX_CHARS: dict[Field, int] = {"text": TEXT_CHARS, "output": OUTPUT_CHARS, "written": WRITTEN_CHARS}


class ItemList:
    """Stores items by key and returns a patch for each change."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = {item.key: item for item in items}
        self._order = list(self._items)
        self._live: dict[str, None] = {}
        """Keys of items that are not recorded yet; they come last."""
        self._growing: dict[str, tuple[Field, BoundedText]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._order)

    def get(self, key: str) -> Item | None:
        """Return an item with all text added so far."""
        item = self._items.get(key)
        growing = self._growing.get(key)
        if item is None or growing is None:
            return item
        return replace(item, **{growing[0]: growing[1].text})

    def is_recorded(self, key: str) -> bool:
        """Return whether an item exists and is recorded."""
        return key in self._items and key not in self._live

    @property
    def in_order(self) -> tuple[Item, ...]:
        """All items in order."""
        return tuple(item for key in self._order if (item := self.get(key)) is not None)

    @property
    def live(self) -> list[str]:
        """The keys of items that are not recorded yet."""
        return list(self._live)

    @property
    def unrecorded(self) -> list[Patch]:
        """The patches that recreate everything that is not recorded."""
        found = map(self.get, dict.fromkeys([*self._live, *self._growing]))
        return [Put(item) for item in found if item is not None]

    @property
    def last(self) -> Item | None:
        """The last item, without the text added to it."""
        return self._items[self._order[-1]] if self._order else None

    def put(self, item: Item, *, before: str = "", is_live: bool = False) -> Put:
        """Store an item: replace the one with its key, or insert it at its position."""
        key = item.key
        self._growing.pop(key, None)
        if key in self._items:
            before = ""
        else:
            if not before and not is_live:
                before = next(iter(self._live), "")
            if before:
                self._order.insert(self._place(before), key)
            else:
                self._order.append(key)
        self._items[key] = item
        if is_live:
            self._live[key] = None
        else:
            self._live.pop(key, None)
        return Put(item, before)

    def grow(self, key: str, field: Field, text: str) -> Patch:
        """Append text to an existing item."""
        growing = self._growing.get(key)
        if growing is None or growing[0] != field:
            so_far: str = getattr(self._items[key], field)
            growing = self._growing[key] = field, BoundedText(MAX_CHARS[field], so_far)
        if growing[1].add(text):
            return Grow(key, text, field)
        item = self.get(key)
        assert item is not None
        return Put(item)

    def append_text_to_all(self, text: str) -> list[Patch]:
        """Append the same text to every growing item."""
        return [self.grow(key, field, text) for key, (field, _) in list(self._growing.items())]

    def drop_live(self) -> list[Patch]:
        """Remove the live items, which will never be recorded."""
        live, self._live = list(self._live), {}
        self.forget(live)
        return [Drop(key) for key in live]

    def forget(self, keys: Sequence[str]) -> None:
        """Remove items without returning patches."""
        if not keys:
            return
        gone = set(keys)
        self._order = [key for key in self._order if key not in gone]
        for key in gone:
            self._items.pop(key, None)
            self._growing.pop(key, None)

    def after_code(self, parent: str) -> str:
        """Return the key of the item after a call and all calls made by its code; empty for the end."""
        family = {parent}
        if self._is_below(self.last, parent) or parent not in self._items:
            return ""
        place = self._place(parent) + 1
        while place < len(self._order):
            item = self._items[self._order[place]]
            if not isinstance(item, Call) or item.parent not in family:
                return item.key
            family.add(item.call_id)
            place += 1
        return ""

    def _is_below(self, item: Item | None, key: str) -> bool:
        while isinstance(item, Call):
            if item.key == key:
                return True
            item = self._items.get(item.parent) if item.parent is not None else None
        return False

    def _place(self, key: str) -> int:
        """Return the position of an item, searching from the end, where most of them are."""
        place = len(self._order) - 1
        while self._order[place] != key:
            place -= 1
        return place
