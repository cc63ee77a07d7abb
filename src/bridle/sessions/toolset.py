"""Chooses a run's tools, and which of them its requests show.

```
named by the agent or the run   shown
often needed                    shown while the window has room; the rest is found by name
seldom needed                   found by name: `tool_call` lists them
provided by servers             shown while they are few, otherwise found by `tool_search`
```

What is shown depends on the settings, the model and the servers, never on what was said, done or allowed: so
all requests of a session begin with the same bytes.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.json import encode

from bridle.core.codeact import PYTHON
from bridle.core.context import estimate_tokens
from bridle.core.deferred_tools import is_rarely_used
from bridle.core.errors import ConfigError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.ports import ConditionalTool, Tool, implements
from bridle.core.protocol import RunOptions
from bridle.core.tool import ToolSpec, is_among
from bridle.tools.tool_search import MAX_LISTED, ToolCaller, ToolSearch

TOOL_SHARE = 4  # the tools of an agent that names none take at most 1/4 of the window
CALLER_SHARE = 2  # and the list of those not shown takes at most 1/2 of that


class ToolNeeds(Struct, frozen=True):
    """The inputs that decide a run's tools."""

    options: RunOptions
    chosen: tuple[str, ...] | None
    """The tools that the agent names."""
    cwd: str
    window_tokens: int
    lent_tokens: int
    """How many tokens the servers' tools may take before they are found by search."""
    code: bool = False

    def usable(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools that the run may use and that are useful in its folder."""
        allowed = [tool for tool in tools if self.allows(tool)]
        return [tool for tool in allowed if not implements(tool, ConditionalTool) or tool.is_useful(self.cwd)]

    def allows(self, tool: Tool) -> bool:
        """Return whether the run may use a tool."""
        name, options = tool.spec.name, self.options
        is_wanted = options.tools is None or is_among(name, options.tools)
        return is_wanted and not is_among(name, options.without_tools)


class Toolset(Struct, frozen=True):
    """A run's tools, and the names of those that the model must find first."""

    tools: tuple[Tool, ...]
    deferred: frozenset[str]


def choose_tools(
    own: Sequence[Tool], loaned: Sequence[Tool], lent: Sequence[Tool], wants: ToolNeeds
) -> Toolset:
    """Combine Bridle's own tools, most useful first, the client's tools and the servers' tools.

    Raises ConfigError when code mode has no Python tool.
    """
    loaned = wants.usable(loaned)
    replaced = {tool.spec.name for tool in loaned}
    usable = [tool for tool in wants.usable(own) if tool.spec.name not in replaced]
    shown, found = _split_shown_and_found(usable, wants)
    lent = [tool for tool in lent if _is_chosen(tool, wants.chosen) and wants.allows(tool)]
    many = [tool.spec for tool in lent if tool.spec.name.startswith(MCP_PREFIX)]
    if _tokens(many) <= wants.lent_tokens:
        many = []
    specs = [tool.spec for tool in found]
    return Toolset(
        (*shown, *found, *loaned, *lent, *_finders(specs, many, code=wants.code)),
        frozenset(spec.name for spec in (*specs, *many)),
    )


def _finders(found: Sequence[ToolSpec], many: Sequence[ToolSpec], *, code: bool) -> list[Tool]:
    """Return the tools that find those not shown; in code mode Bridle's own are Python functions already."""
    needs_search = bool(many) or (len(found) > MAX_LISTED and not code)
    finders: list[Tool] = [ToolSearch([*found, *many])] if needs_search else []
    return [*finders, ToolCaller(found)] if needs_search or (found and not code) else []


def _split_shown_and_found(tools: Sequence[Tool], wants: ToolNeeds) -> tuple[list[Tool], list[Tool]]:
    """Return the tools that requests show, and those that the model must find."""
    needed = [tool for tool in tools if wants.code and tool.spec.name == PYTHON]
    if wants.code and not needed:
        raise ConfigError(f"code mode needs the tool {PYTHON}, which is not available")
    if wants.chosen is not None:
        return [tool for tool in tools if _is_chosen(tool, wants.chosen) or tool in needed], []
    named = wants.options.tools or ()
    first = [tool for tool in tools if not is_rarely_used(tool) or tool.spec.name in named]
    found = [tool for tool in tools if tool not in first]
    room = wants.window_tokens // TOOL_SHARE
    naming = _names(found)
    can_name = naming <= room // CALLER_SHARE
    left = room - naming if can_name else room
    shown: list[Tool] = []
    for tool in first:
        left -= _tokens([tool.spec])
        if left >= 0 or not shown or tool in needed:
            shown.append(tool)
    return shown, [tool for tool in tools if tool not in shown] if can_name else []


def _is_chosen(tool: Tool, chosen: tuple[str, ...] | None) -> bool:
    return chosen is None or is_among(tool.spec.name, chosen)


def _names(tools: Sequence[Tool]) -> int:
    """Return the tokens needed to list tools by name."""
    return _tokens([ToolCaller([tool.spec for tool in tools]).spec]) if tools else 0


def _tokens(specs: Iterable[ToolSpec]) -> int:
    return sum(estimate_tokens(encode(spec).decode()) for spec in specs)
