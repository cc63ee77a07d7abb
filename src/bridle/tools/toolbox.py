"""The tools of one agent: look them up by name, check their calls, limit their output; tools of programs."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.json import encode

from bridle.core.deferred_tools import CALL
from bridle.core.errors import ToolError, UsageError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.messages import ToolCall
from bridle.core.ports import (
    GuardedDispatcher,
    Tool,
    ToolContext,
    ToolDispatcher,
    ToolOutput,
    implements,
)
from bridle.core.tool import Access, ToolSpec

_MAX_NAMES = 30


class Toolbox:
    """Looks up tools by name and checks the arguments of calls."""

    def __init__(self, tools: Sequence[Tool], deferred: frozenset[str] = frozenset()) -> None:
        """Take the tools in any order, and the names of those that the model has to find first.

        Raises UsageError when two tools have the same name.
        """
        by_name: dict[str, tuple[ToolSpec, Tool]] = {}
        for tool in tools:
            spec = tool.spec
            if spec.name in by_name:
                raise UsageError(f'two tools are named "{spec.name}"')
            by_name[spec.name] = (spec, tool)
        self._by_name = dict(sorted(by_name.items()))
        self.names = tuple(self._by_name)
        """The names of all tools, including those that the model has to find first."""
        self.deferred = deferred
        self.specs = tuple(spec for name, (spec, _) in self._by_name.items() if name not in deferred)
        """The definitions sent to the model, sorted by name: the same tools give the same bytes."""
        far = {name for name in deferred if name.startswith(MCP_PREFIX)}
        left_out = far or {CALL}  # tool_call is useless where every tool is a function
        self.functions = tuple(spec for name, (spec, _) in self._by_name.items() if name not in left_out)
        """The tools that code can call: all but those of MCP servers that have to be found first."""

    def get(self, name: str) -> Tool:
        """Return the tool with this name; raises ToolError with similar names."""
        return self._find(name)[1]

    def arguments(self, call: ToolCall) -> dict[str, Any]:
        """Return the arguments to run a call with, near misses corrected.

        Raises ToolError, which includes the definition of a tool that the model has not seen.
        """
        try:
            return self._fitted(call)
        except ToolError as error:
            if call.name not in self.deferred:
                raise
            raise ToolError(f"{error}\n{describe_tool(self._find(call.name)[0])}") from error

    def _fitted(self, call: ToolCall) -> dict[str, Any]:
        spec, _ = self._find(call.name)
        # Loads jsonschema-rs, which a program that only reads sessions never needs.
        from bridle.tools.arguments import fit_arguments, json_error  # noqa: PLC0415

        if call.invalid:
            raise json_error(call)
        return fit_arguments(spec, call.args)

    def validate(self, name: str, args: dict[str, Any]) -> None:
        """Check arguments without correcting near misses; raises ToolError."""
        spec, _ = self._find(name)
        from bridle.tools.arguments import validate_arguments  # noqa: PLC0415  as above

        validate_arguments(spec, args)

    def _find(self, name: str) -> tuple[ToolSpec, Tool]:
        if found := self._by_name.get(name):
            return found
        raise _unknown_tool(name, tuple(self._by_name))


def describe_tool(spec: ToolSpec) -> str:
    """Return the text of a tool's definition: all that is needed to call it."""
    return f"{spec.name}: {spec.description}\nparameters: {encode(spec.parameters).decode()}"


def cap_output(text: str, limit: int, *, rest: str = "ask for a smaller part to see it") -> str:
    """Return at most `limit` bytes of a text: its head and its tail, with a line about the rest between them.

    `rest` says how to get what was left out. Half surrogate pairs, which cannot be stored, become escapes.
    """
    data = text.encode(errors="backslashreplace")
    if len(data) <= limit:
        return data.decode()
    note = "\n[{} of {} bytes left out here; {}]\n"
    room = (limit - len(note.format(len(data), len(data), rest).encode())) // 2
    if room <= 0:
        return data[:limit].decode(errors="ignore")
    head, tail = data[:room], data[-room:]
    # Cut between two lines, unless the lines are very long.
    head = head[: head.rfind(b"\n")] if head.rfind(b"\n") > room // 2 else head
    tail = tail[tail.find(b"\n") + 1 :] if 0 <= tail.find(b"\n") < room // 2 else tail
    start, end = head.decode(errors="ignore"), tail.decode(errors="ignore")
    left_out = len(data) - len(start.encode()) - len(end.encode())
    return start + note.format(left_out, len(data), rest) + end


def _unknown_tool(name: str, names: Sequence[str]) -> ToolError:
    from difflib import get_close_matches  # noqa: PLC0415  only for this message

    message = f"no tool is named {name[:80]!r}"
    if not names:
        return ToolError(message, hint="no tools are available")
    near = get_close_matches(name[:80].lower().replace("-", "_"), names, cutoff=0.75)
    if near:
        return ToolError(message, hint=f"did you mean {' or '.join(near)}?")
    more = ", …" if len(names) > _MAX_NAMES else ""
    return ToolError(message, hint=f"available tools: {', '.join(names[:_MAX_NAMES])}{more}")


# ---------------------------------------------------------------------------- tools of programs
# A tool that runs outside Bridle: in a client of a session, or in a program that embeds Bridle.

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
