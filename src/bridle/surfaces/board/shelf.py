"""The items of a board in their order: what is recorded, and after it what is only live."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from bridle.surfaces.board.growing import OUTPUT_CHARS, TEXT_CHARS, WRITTEN_CHARS, Growing
from bridle.surfaces.board.values import Call, Drop, Grow, Item, Patch, Put

Field = Literal["text", "output", "written"]

MOST_CHARS: dict[Field, int] = {"text": TEXT_CHARS, "output": OUTPUT_CHARS, "written": WRITTEN_CHARS}


class Shelf:
    """Holds items by their key and says how each change of them is told."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = {item.key: item for item in items}
        self._order = list(self._items)
        self._live: dict[str, None] = {}
        """Keys of items that no record holds yet; they stand last."""
        self._growing: dict[str, tuple[Field, Growing]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._order)

    def get(self, key: str) -> Item | None:
        """Return an item as it is now."""
        item = self._items.get(key)
        growing = self._growing.get(key)
        if item is None or growing is None:
            return item
        return replace(item, **{growing[0]: growing[1].text})

    def is_recorded(self, key: str) -> bool:
        """Tell whether an item is there and is not only live."""
        return key in self._items and key not in self._live

    @property
    def items(self) -> tuple[Item, ...]:
        """Return all items in their order."""
        return tuple(item for key in self._order if (item := self.get(key)) is not None)

    @property
    def live(self) -> list[str]:
        """Return the keys of what no record holds yet."""
        return list(self._live)

    @property
    def unrecorded(self) -> list[Patch]:
        """Return what puts everything there that records do not hold."""
        found = map(self.get, dict.fromkeys([*self._live, *self._growing]))
        return [Put(item) for item in found if item is not None]

    @property
    def last(self) -> Item | None:
        """Return the item at the end, without what was added to it."""
        return self._items[self._order[-1]] if self._order else None

    def put(self, item: Item, *, before: str = "", is_live: bool = False) -> Put:
        """Take an item in: in the place of the one with its key, or where it belongs."""
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
        """Add text to an item that is there."""
        growing = self._growing.get(key)
        if growing is None or growing[0] != field:
            so_far: str = getattr(self._items[key], field)
            growing = self._growing[key] = field, Growing(MOST_CHARS[field], so_far)
        if growing[1].add(text):
            return Grow(key, text, field)
        item = self.get(key)
        assert item is not None
        return Put(item)

    def grow_all(self, text: str) -> list[Patch]:
        """Add the same text to every item that text was added to."""
        return [self.grow(key, field, text) for key, (field, _) in list(self._growing.items())]

    def drop_live(self) -> list[Patch]:
        """Let go of what will never be recorded."""
        live, self._live = list(self._live), {}
        self.forget(live)
        return [Drop(key) for key in live]

    def forget(self, keys: Sequence[str]) -> None:
        """Let go of items without a word."""
        if not keys:
            return
        gone = set(keys)
        self._order = [key for key in self._order if key not in gone]
        for key in gone:
            self._items.pop(key, None)
            self._growing.pop(key, None)

    def after_code(self, parent: str) -> str:
        """Return the key of what follows a call and the calls that its code has made; empty for the end."""
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
        """Find an item; most that are looked for are near the end."""
        place = len(self._order) - 1
        while self._order[place] != key:
            place -= 1
        return place
