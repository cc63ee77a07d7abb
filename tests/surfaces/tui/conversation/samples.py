"""Items, and a conversation's view of them as plain lines."""

from collections.abc import Iterable, Sequence
from typing import Any

from bridle.core.ids import CallId, SessionId
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Call,
    Head,
    Item,
    Said,
    ViewPage,
    ViewSnapshot,
)
from bridle.surfaces.tui.conversation.markdown import MarkdownStream
from bridle.surfaces.tui.conversation.text_wrap import Flow, Line, wrap

HEAD = Head(session=SessionId("s"), seq=1, title="", cwd="/", agent="coder")


def texts(lines: Iterable[Line]) -> list[str]:
    """Return lines without their inks."""
    return [line.text for line in lines]


def wrapped(flows: Iterable[Flow], width: int = 60) -> list[str]:
    """Return flows at a width, without their inks."""
    return texts(line for flow in flows for line in wrap(flow, width))


def settled(prose: MarkdownStream, width: int) -> list[str]:
    """Return a text as it is when there was time to show it finely."""
    prose.lines(width)
    while prose.is_rough:
        prose.refine()
        prose.lines(width)
    return texts(prose.lines(width))


def shown(text: str, width: int = 60) -> list[str]:
    """Return a finished Markdown text as lines."""
    prose = MarkdownStream()
    prose.feed(text)
    prose.finish()
    return settled(prose, width)


def said(seq: int, text: str = "") -> Said:
    """Return an item with a text."""
    return Said(key=f"k{seq}", seq=seq, at=seq, text=text or f"said {seq}")


def answer(seq: int, text: str | None = None, **more: Any) -> Answer:
    """Return an answer."""
    return Answer(key=f"k{seq}", seq=seq, at=seq, text=f"answer {seq}" if text is None else text, **more)


def call(seq: int = 1, key: str = "", **more: Any) -> Call:
    """Return a call of bash that is done."""
    key = key or f"k{seq}"
    given = {"tool": "bash", "state": "done", "brief": "ls"} | more
    return Call(key=key, seq=seq, at=seq, call_id=CallId(key), **given)


def view(items: Sequence[Item], before: int | None = None) -> ViewSnapshot:
    """Return the end of a session."""
    return ViewSnapshot(HEAD, tuple(items), before)


def page(first: int, last: int) -> ViewPage:
    """Return a page of messages by their numbers; before the first one there is nothing."""
    return ViewPage(tuple(said(seq) for seq in range(first, last + 1)), first - 1 or None)
