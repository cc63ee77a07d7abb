"""Events of a newer Bridle: kept as they are, sent on as they are, and passed over by everybody.

While machines are upgraded one after the other, old ones read what new ones have stored. A new kind of event
must therefore be one that an old machine may pass over; a change that it may not is a new schema version of
the store (`oldest_reader`). A known kind may gain fields, which old machines do not see, but no new values.
"""

import re
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct, defstruct

MAX_FIELDS = 100
MAX_KINDS = 256  # classes are made for so many at a time

_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Unknown(Struct, frozen=True):
    """An event of a kind that is not known here; each kind has a class of its own, with its name as tag."""


def unknown_event(kind: str, fields: dict[str, Any]) -> Unknown | None:
    """Return an event that is encoded again as it was, or None for what can be no event."""
    if not _KIND.fullmatch(kind) or len(fields) > MAX_FIELDS or not all(map(_FIELD.fullmatch, fields)):
        return None
    return _class_of(kind, tuple(fields))(*fields.values())


@lru_cache(maxsize=MAX_KINDS)
def _class_of(kind: str, keys: tuple[str, ...]) -> type[Unknown]:
    names = {f"field_{number}": key for number, key in enumerate(keys)}  # a key may be a word of Python's
    made = defstruct(
        "Unknown",
        [(name, Any) for name in names],
        bases=(Unknown,),
        tag=kind,
        rename=names,
        frozen=True,
        module=__name__,
    )
    return cast(type[Unknown], made)
