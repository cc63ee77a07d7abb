"""Tools to find and call other tools: all schemas together would fill the context, so few are shown."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from bridle.core.deferred_tools import CALL, SEARCH
from bridle.core.errors import ToolError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import WithoutPreview, description, integer_arg, parameters, text_arg
from bridle.tools.toolbox import describe_tool

DEFAULT_FOUND = 5
MAX_FOUND = 20
MAX_SHOWN_BYTES = 24_000
MAX_SERVERS = 20
MAX_LISTED = 60
MAX_NEAR = 3
MAX_QUERY_WORDS = 64
NAME_WEIGHT = 4
SATURATION, LENGTH_SHARE = 1.2, 0.75  # the standard constants of BM25

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_ENDINGS = ("ing", "es", "ed", "s")


class _Index(Struct, frozen=True):
    places: dict[str, list[tuple[int, float]]]
    """For each word, the tools that contain it and its weight in each."""
    count: int


class ToolSearch(WithoutPreview):
    """The tool that shows the tools that best fit a query, with all that is needed to call them."""

    parallel = True

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        """Take the tools that the model does not see otherwise."""
        self._specs = sorted(specs, key=lambda spec: spec.name)

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        names = [spec.name for spec in self._specs if spec.name.startswith(MCP_PREFIX)]
        servers = Counter(name.split("__")[1] for name in names)
        named = [f"{name} ({count})" for name, count in sorted(servers.items())[:MAX_SERVERS]]
        more = ", …" if len(servers) > len(named) else ""
        text = f"{description(SEARCH)} There are {', '.join(named)}{more}." if named else description(SEARCH)
        return ToolSpec(SEARCH, text, _SEARCH_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access without subjects."""
        return Access(SEARCH, "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the matching tools, best first."""
        query = text_arg(args, "query")
        limit = min(MAX_FOUND, max(1, integer_arg(args, "limit") or DEFAULT_FOUND))
        found = await run_in_thread(lambda _: self.find(query, limit))
        if not found:
            raise ToolError(f"no tool matches {query[:80]!r}", hint="try other words for what it should do")
        return ToolOutput("\n\n".join(_shown(found)))

    def find(self, query: str, limit: int) -> list[ToolSpec]:
        """Return the best matching tools; tools named in the query come first."""
        wanted = set(re.split(r"[\s,]+", query.strip()))
        named = [spec for spec in self._specs if spec.name in wanted]
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(list(_words(query))[:MAX_QUERY_WORDS]):
            places = self._index.places.get(word, ())
            rarity = math.log(1 + (self._index.count - len(places) + 0.5) / (len(places) + 0.5))
            for place, weight in places:
                scores[place] += rarity * weight
        best = sorted(scores, key=lambda place: (-scores[place], place))
        others = [self._specs[place] for place in best if self._specs[place] not in named[:limit]]
        return [*named, *others][:limit]

    @cached_property
    def _index(self) -> _Index:
        counts = [_count(spec) for spec in self._specs]
        lengths = [sum(count.values()) for count in counts]
        usual = sum(lengths) / len(lengths) if lengths else 1.0
        places: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, count in enumerate(counts):
            room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths[place] / usual)
            for word, times in count.items():
                places[word].append((place, times * (SATURATION + 1) / (times + room)))
        return _Index(places, len(counts))


class ToolCaller(WithoutPreview):
    """The tool that calls the tools that are not shown: a call of it becomes a call of the named tool.

    A call gets here only when it names no such tool.
    """

    parallel = True

    def __init__(self, specs: Sequence[ToolSpec] = ()) -> None:
        """Take the tools to list in the description; `tool_search` finds those of MCP servers."""
        self._specs = sorted(specs, key=lambda spec: spec.name)

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        named = self._named()
        text = f"{description(CALL)} There are {named}." if named else description(CALL)
        return ToolSpec(CALL, text, _CALL_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Raise ToolError with similar names: there is nothing to call."""
        name = str(args.get("name", ""))[:80]
        if any(spec.name == name for spec in context.tools):
            raise ToolError(f"{name} cannot be called through {CALL}", hint="call it by itself")
        near = ToolSearch(self._specs).find(name, MAX_NEAR)
        if near:
            raise ToolError(
                "\n".join((f"no tool is named {name!r}; these come near:", *map(describe_tool, near)))
            )
        named = self._named()
        hint = f"there are {named}" if named else f"{SEARCH} finds the available ones"
        raise ToolError(f"no tool is named {name!r}", hint=hint)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Raise ToolError, as `access` does."""
        self.access(args, context)
        raise AssertionError("access has refused it")

    def _named(self) -> str:
        return ", ".join(spec.name for spec in self._specs) if len(self._specs) <= MAX_LISTED else ""


def _count(spec: ToolSpec) -> Counter[str]:
    """Count the words of a tool; each word of its name counts `NAME_WEIGHT` times."""
    counted = Counter(_words(spec.description))
    properties = spec.parameters.get("properties")
    if isinstance(properties, dict):
        counted.update(word for name in properties for word in _words(str(name)))
    for word in _words(spec.name.removeprefix("mcp__")):
        counted[word] += NAME_WEIGHT
    return counted


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text or a name without their endings."""
    for word in _WORD.findall(text):
        word = word.lower()
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                word = word.removesuffix(ending)
                break
        yield word.removesuffix("e") if len(word) > 3 else word


def _shown(specs: Sequence[ToolSpec]) -> Iterator[str]:
    left = MAX_SHOWN_BYTES
    for place, spec in enumerate(specs):
        text = describe_tool(spec)
        left -= len(text.encode())
        if left < 0 and place:
            yield f"Also: {', '.join(spec.name for spec in specs[place:])}"
            return
        yield text


_SEARCH_PARAMETERS = parameters(
    1, query=("string", "What it should do, or its name"), limit=("integer", "How many (default: 5)")
)
_CALL_PARAMETERS = parameters(1, name=("string", ""), arguments=("object", ""))
