"""Tools that clients lend to single sessions."""

from collections.abc import Iterator
from contextlib import contextmanager

from bridle.core.ids import SessionId
from bridle.core.ports import Tool, ToolDispatcher
from bridle.tools.dispatched import dispatched


class Loans:
    """Knows who has lent what to whom."""

    def __init__(self) -> None:
        self._tools: dict[SessionId, list[list[Tool]]] = {}

    def tools(self, session: SessionId) -> list[Tool]:
        """Return what a session may call; of one name the newest."""
        newest = {tool.spec.name: tool for tools in self._tools.get(session, ()) for tool in tools}
        return list(newest.values())

    @contextmanager
    def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> Iterator[None]:
        """Lend the tools of a dispatcher until the context is left; raises UsageError."""
        tools: list[Tool] = [*dispatched(dispatcher)]
        self._tools.setdefault(session, []).append(tools)
        try:
            yield
        finally:
            others = [other for other in self._tools.pop(session) if other is not tools]
            if others:
                self._tools[session] = others
