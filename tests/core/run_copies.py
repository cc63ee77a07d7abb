"""Independent copies of loops and sessions, and the state of a loop as a comparable value."""

import copy
from collections import deque
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from bridle.core.loop import Loop
from bridle.core.messages import ToolCall
from bridle.core.session import Session


def copied_loop(loop: Loop) -> Loop:
    """Return a loop that goes its own way from here."""
    other = copy.copy(loop)
    for name, value in vars(loop).items():
        if isinstance(value, dict):
            setattr(other, name, {key: copy.copy(item) for key, item in value.items()})
        elif isinstance(value, deque | list | set):
            setattr(other, name, copy.copy(value))
    return other


def copied_session(session: Session) -> Session:
    """Return a session that goes its own way from here."""
    other = copy.copy(session)
    other.transcript = copy.copy(session.transcript)
    for name, value in vars(session.transcript).items():
        if isinstance(value, dict | list | set):
            setattr(other.transcript, name, copy.copy(value))
    if session.run is not None:
        other.run = copy.copy(session.run)
        for name in session.run.__struct_fields__:
            value = getattr(session.run, name)
            if isinstance(value, dict):
                setattr(other.run, name, dict(value))
    return other


def loop_key(loop: Loop) -> tuple[Any, ...]:
    """Return all that a loop knows, as something that can be compared."""
    return tuple(_plain(value) for name, value in vars(loop).items() if name != "_policy")


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return tuple((key, _plain(item)) for key, item in value.items())
        case Struct() if isinstance(value, ToolCall):
            return value.id
        case Struct():
            return (type(value).__name__, *map(_plain, astuple(value)))
        case list() | tuple() | deque():
            return tuple(map(_plain, value))
        case _:
            return value
