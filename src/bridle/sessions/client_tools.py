"""Client tools: tools that clients provide to single sessions."""

from collections.abc import Iterator
from contextlib import contextmanager

from bridle.core.ids import SessionId
from bridle.core.ports import Tool, ToolDispatcher
from bridle.tools.client_tools import make_client_tools


class ClientTools:
    """Keeps the client tools of each session."""

    def __init__(self) -> None:
        self._tools: dict[SessionId, list[list[Tool]]] = {}

    def tools(self, session: SessionId) -> list[Tool]:
        """Return a session's client tools; of several with one name, the newest."""
        newest = {tool.spec.name: tool for tools in self._tools.get(session, ()) for tool in tools}
        return list(newest.values())

    @contextmanager
    def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> Iterator[None]:
        """Add a dispatcher's tools to a session until the context exits; raises UsageError."""
        tools: list[Tool] = [*make_client_tools(dispatcher)]
        self._tools.setdefault(session, []).append(tools)
        try:
            yield
        finally:
            others = [other for other in self._tools.pop(session) if other is not tools]
            if others:
                self._tools[session] = others
