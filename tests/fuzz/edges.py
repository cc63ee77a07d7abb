"""Paths that a run took through its source files: pairs of consecutive lines."""

import sys
from collections.abc import Callable, Collection
from types import CodeType, FrameType
from typing import Any

Edge = tuple[CodeType, int, int]


def edges_of(files: Collection[str], work: Callable[[], object]) -> set[Edge]:
    """Do some work and return the edges that it took in these files; its exceptions propagate."""
    found: set[Edge] = set()
    add = found.add
    watched: dict[CodeType, bool] = {}

    def enter(frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in watched:
            watched[code] = code.co_filename in files
        if not watched[code]:
            return None
        last = 0

        def follow(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            nonlocal last
            if event == "line":
                add((code, last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "return":
                add((code, last, -1))
            return follow

        return follow

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        work()
    finally:
        sys.settrace(before)
    return found
