"""A tool that somebody else performs: a client of a session, or a program that embeds Bridle."""

import re
from collections.abc import Iterable
from typing import Any

from bridle.core.errors import UsageError
from bridle.core.messages import ToolCall
from bridle.core.ports import GuardedDispatcher, ToolContext, ToolDispatcher, ToolOutput, offers
from bridle.core.tool import Access, ToolSpec

LONGEST_S = 24 * 3600.0  # somebody may have to think about it
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every vendor takes


class DispatchedTool:
    """One of the tools of a dispatcher.

    Who lends it answers for what it does: it is not asked about, unless the dispatcher says what it touches.
    """

    def __init__(self, spec: ToolSpec, dispatcher: ToolDispatcher) -> None:
        self.spec = spec
        self._dispatcher = dispatcher
        self._access = Access(spec.name, "read")
        if offers(dispatcher, GuardedDispatcher):
            self._access = dispatcher.access_of(spec.name)

    @property
    def parallel(self) -> bool:
        """Whether calls may run beside others."""
        return self._access.access == "read"

    def longest_s(self) -> float:
        """Return what a call may take at most."""
        return LONGEST_S

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Say what the dispatcher says; otherwise nothing that Bridle guards is touched."""
        return self._access

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show nothing."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Let the dispatcher do it."""
        return await self._dispatcher.dispatch(ToolCall(context.call_id, self.spec.name, args))


def dispatched(dispatcher: ToolDispatcher) -> list[DispatchedTool]:
    """Return every tool of a dispatcher; raises UsageError for what cannot be a tool."""
    check_specs(dispatcher.specs)
    return [DispatchedTool(spec, dispatcher) for spec in dispatcher.specs]


def check_specs(specs: Iterable[ToolSpec]) -> None:
    """Raise UsageError for what cannot be a tool."""
    for spec in specs:
        if not NAME.fullmatch(spec.name):
            raise UsageError(
                f"{spec.name[:80]!r} cannot name a tool", hint="letters, digits, _ and -, up to 64"
            )
        if spec.parameters.get("type", "object") != "object":
            raise UsageError(f"tool {spec.name}: its input schema is not of type object")
