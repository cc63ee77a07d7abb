"""A tool that runs outside Bridle: in a client of a session, or in a program that embeds Bridle."""

import re
from collections.abc import Iterable
from typing import Any

from bridle.core.errors import UsageError
from bridle.core.messages import ToolCall
from bridle.core.ports import GuardedDispatcher, ToolContext, ToolDispatcher, ToolOutput, implements
from bridle.core.tool import Access, ToolSpec

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every vendor accepts


class DispatchedTool:
    """One of the tools of a dispatcher.

    The program that provides the tool is responsible for what it does: no approval is requested, unless
    the dispatcher declares what the tool accesses.
    """

    def __init__(self, spec: ToolSpec, dispatcher: ToolDispatcher) -> None:
        self.spec = spec
        self._dispatcher = dispatcher
        self._access = Access(spec.name, "read")
        if implements(dispatcher, GuardedDispatcher):
            self._access = dispatcher.access_of(spec.name)

    @property
    def parallel(self) -> bool:
        """True if calls may run in parallel with others."""
        return self._access.access == "read"

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return what the dispatcher declares; by default, the call accesses nothing that Bridle guards."""
        return self._access

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return an empty text: a dispatched call has no preview."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run the call through the dispatcher."""
        return await self._dispatcher.dispatch(ToolCall(context.call_id, self.spec.name, args))


def make_client_tools(dispatcher: ToolDispatcher) -> list[DispatchedTool]:
    """Return every tool of a dispatcher; raises UsageError for a bad name or schema."""
    check_specs(dispatcher.specs)
    return [DispatchedTool(spec, dispatcher) for spec in dispatcher.specs]


def check_specs(specs: Iterable[ToolSpec]) -> None:
    """Raise UsageError for a bad tool name or a schema that is not of type object."""
    for spec in specs:
        if not NAME.fullmatch(spec.name):
            raise UsageError(
                f"{spec.name[:80]!r} cannot name a tool", hint="letters, digits, _ and -, up to 64"
            )
        if spec.parameters.get("type", "object") != "object":
            raise UsageError(f"tool {spec.name}: its input schema must have type object")
