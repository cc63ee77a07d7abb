"""Error messages for invalid request fields, the same in every protocol."""

import re

import msgspec

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)

MAX_CHARS = 1_000


def format_validation_error(error: msgspec.ValidationError, where: str = "") -> str:
    """Return which field is invalid and why; `where` is the object that contains the field."""
    found = _PLACE.match(str(error))
    assert found is not None
    what, place = found["what"], found["place"] or ""
    for pattern, words in ((_MISSING, "is missing"), (_UNKNOWN, "unknown field")):
        if named := pattern.fullmatch(what):
            place = f"{place}.{named['name']}" if place else named["name"]
            what = words
    parts = (where, place, f"{what[:1].lower()}{what[1:]}")
    return ": ".join(filter(None, parts))[:MAX_CHARS]
