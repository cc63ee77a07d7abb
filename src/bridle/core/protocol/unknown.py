"""Events of a newer Bridle: stored and sent unchanged, and otherwise ignored.

While machines are upgraded one after the other, old ones read what new ones have stored. So an old machine
must be able to ignore a new kind of event; any other change needs a new schema version of the store
(`oldest_reader`). A known kind may gain fields, which old machines do not see, but no new values.
"""

import re
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct, defstruct

MAX_FIELDS = 100
MAX_KINDS = 256  # cached classes

_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Unknown(Struct, frozen=True):
    """An event of a kind that this version does not have; each such kind gets its own class, with its tag."""


def unknown_event(kind: str, fields: dict[str, Any]) -> Unknown | None:
    """Return an event that encodes to the same JSON again, or None if this cannot be an event."""
    if not _KIND.fullmatch(kind) or len(fields) > MAX_FIELDS or not all(map(_FIELD.fullmatch, fields)):
        return None
    return _class_of(kind, tuple(fields))(*fields.values())


@lru_cache(maxsize=MAX_KINDS)
def _class_of(kind: str, keys: tuple[str, ...]) -> type[Unknown]:
    names = {f"field_{number}": key for number, key in enumerate(keys)}  # a key may be a Python keyword
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
