"""Combines patches for a moment, so that thousands of deltas become a few screen updates."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from bridle.surfaces.view_model.view_types import Drop, Flash, Grow, HeadChanged, Patch, Put, Reset

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
