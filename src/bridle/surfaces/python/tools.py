"""Tools of the embedding program: typed functions, tools and dispatchers."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from inspect import cleandoc
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_args, overload

import msgspec
from msgspec import Struct

from bridle.core.errors import ToolError, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, ToolCall
from bridle.core.ports import Tool, ToolContext, ToolDispatcher, ToolOutput
from bridle.core.tool import Access, AccessClass, ToolSpec
from bridle.surfaces.python.callbacks import call
from bridle.surfaces.python.extensions import check_shape
from bridle.surfaces.python.signatures import read_signature
from bridle.tools.toolbox import NAME, DispatchedTool, make_client_tools

# ---------------------------------------------------------------------------- docstrings
# Parse a docstring in Google, NumPy or Sphinx style for the descriptions of a function and its arguments.


_ARGUMENTS = ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments")
_OTHERS = (
    *("returns", "return", "yields", "yield", "raises", "raise", "example", "examples", "note", "notes"),
    *("see also", "warning", "warnings", "references", "todo", "attributes", "other parameters"),
)
_SPHINX = re.compile(r":(?P<kind>\w+)(?:\s+(?P<name>[^:]*?))?:\s*(?P<text>.*)", re.DOTALL)
_GOOGLE = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_LINE = re.compile(r"-{3,}")
_NUMPY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?::.*)?")


class ParsedDocstring(Struct, frozen=True):
    """A parsed docstring."""

    text: str
    """The text before and between the sections."""
    arguments: dict[str, str]


def parse_docstring(docstring: str) -> ParsedDocstring:
    """Parse a docstring; anything that is not a section of a known style is text."""
    text: list[str] = []
    arguments: dict[str, str] = {}
    lines = cleandoc(docstring).splitlines()
    number = 0
    while number < len(lines):
        heading = lines[number].strip().removesuffix(":").lower()
        is_google = lines[number].strip().endswith(":") and not lines[number].startswith(" ")
        is_numpy = number + 1 < len(lines) and _LINE.fullmatch(lines[number + 1].strip()) is not None
        if heading in (*_ARGUMENTS, *_OTHERS) and (is_google or is_numpy):
            first = number + (2 if is_numpy else 1)
            last = _end(lines, first, is_numpy=is_numpy)
            if heading in _ARGUMENTS:
                arguments |= _arguments(lines[first:last], _NUMPY if is_numpy else _GOOGLE)
            number = last
        elif lines[number].startswith(":") and _SPHINX.fullmatch(lines[number]):
            last = _end(lines, number + 1, is_numpy=False)
            arguments |= _sphinx("\n".join(lines[number:last]))
            number = last
        else:
            text.append(lines[number])
            number += 1
    return ParsedDocstring("\n".join(text).strip(), arguments)


def _end(lines: list[str], first: int, *, is_numpy: bool) -> int:
    """Return the index where a section ends: at the next heading or the next unindented line."""
    for number in range(first, len(lines)):
        if is_numpy:
            is_next = number + 1 < len(lines) and bool(_LINE.fullmatch(lines[number + 1].strip()))
        else:
            is_next = bool(lines[number].strip()) and not lines[number].startswith((" ", "\t"))
        if is_next:
            return number
    return len(lines)


def _arguments(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    current: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        match = pattern.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == depth else None
        if match is not None:
            current = found[match["name"]] = [text] if (text := match.groupdict().get("text")) else []
        else:
            current.append(line.strip())
    return {name: " ".join(words) for name, words in found.items() if words}


def _sphinx(field: str) -> dict[str, str]:
    match = _SPHINX.fullmatch(field)
    if match is None or match["kind"] not in ("param", "parameter", "arg", "argument"):
        return {}
    name = (match["name"] or "").split()[-1:]
    return {name[0].lstrip("*"): " ".join(match["text"].split())} if name else {}


# ---------------------------------------------------------------------------- tools


P = ParamSpec("P")
R = TypeVar("R")

ToolLike = Tool | ToolDispatcher | Callable[..., Any]
"""A function, a tool, or a dispatcher of many tools."""
Preview = Callable[..., str | Awaitable[str]]


class FunctionTool(Generic[P, R]):
    """A function that the model can call, and the program as before; made by `@tool`."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str = "",
        description: str = "",
        access: AccessClass = "read",
        once: bool = False,
        preview: Preview | None = None,
    ) -> None:
        """Read the function's signature and docstring; raises UsageError for unusable ones."""
        self.function = function
        named: str = name or getattr(function, "__name__", type(function).__name__)
        if not NAME.fullmatch(named):
            raise UsageError(f"{named!r} cannot name a tool", hint="letters, digits, _ and -, up to 64")
        if access not in get_args(AccessClass):
            raise UsageError(
                f"tool {named}: unknown access {access!r}", hint=", ".join(get_args(AccessClass))
            )
        self.__name__ = named
        self.__doc__ = function.__doc__
        said = parse_docstring(function.__doc__ or "")
        self._signature = read_signature(function, named, said.arguments)
        self._access: AccessClass = access
        self._once = once
        self._preview = preview
        self.spec = ToolSpec(named, description or said.text, self._signature.schema)

    def __call__(self, *args: P.args, **named: P.kwargs) -> R:
        """Call the function itself."""
        return self.function(*args, **named)

    @property
    def parallel(self) -> bool:
        """True if calls may run in parallel with others."""
        return self._access == "read"

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the declared access of the function."""
        return Access(self.spec.name, self._access, once=self._once)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Call the preview function, if there is one."""
        if self._preview is None:
            return ""
        shown: str = await call(self._preview, **self._signature.arguments(args))
        return shown

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call the function: an async one on the loop, any other in a thread."""
        given = self._signature.arguments(args)
        if self._signature.context:
            given[self._signature.context] = context
        return to_output(self.spec.name, await call(self.function, **given))


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    access: AccessClass = "read",
    once: bool = False,
    preview: Preview | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    access: AccessClass = "read",
    once: bool = False,
    preview: Preview | None = None,
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Let the model call a typed function.

    The model sees its name, docstring and annotations. `access` declares what it does: "read" runs without
    approval and in parallel; "write", "execute" and "network" need an approval if the rules say so. With
    `once`, a call that a crash cut off is not repeated automatically. `preview` gets the same arguments and
    shows, for the approval, what the call would do.

    It may return text, any JSON value, a `ToolOutput`, or `media`; the model gets what it raises. A parameter
    of type `ToolContext` gets the context of the call.

    ```python
    @bridle.tool
    async def stock(article: str, warehouse: int = 1) -> int:
        \"\"\"Say how many pieces of an article there are.

        Args:
            article: its number, as on the label
        \"\"\"
        return await count(article, warehouse)
    ```
    """

    def made(function: Callable[P, R]) -> FunctionTool[P, R]:
        return FunctionTool(
            function, name=name, description=description, access=access, once=once, preview=preview
        )

    return made if function is None else made(function)


def to_output(name: str, said: Any) -> ToolOutput:
    """Convert a function's return value to a tool output; raises ToolError for what JSON cannot hold."""
    match said:
        case ToolOutput():
            return said
        case None:
            return ToolOutput("done")
        case str():
            return ToolOutput(said)
        case Media():
            return ToolOutput("", media=(said,))
        case list() | tuple() if any(isinstance(part, Media) for part in said):
            words = [
                part if isinstance(part, str) else _json(name, part)
                for part in said
                if not isinstance(part, Media)
            ]
            return ToolOutput("\n".join(words), media=tuple(part for part in said if isinstance(part, Media)))
        case _:
            return ToolOutput(_json(name, said))


def _json(name: str, value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ToolError(f"{name} returned a {type(value).__name__}, which is not JSON: {error}") from error


def _plain(value: Any) -> Any:
    """Convert a pydantic model to plain data; raises TypeError for anything else."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"there is a {type(value).__name__} in it")


def to_tools(given: Sequence[ToolLike]) -> list[Tool]:
    """Convert everything that a program may pass as a tool; raises UsageError."""
    made: list[Tool] = []
    if not isinstance(given, Iterable):
        raise UsageError(f"tools are a list, not {given!r}", hint="tools=[…]")
    for one in given:
        if hasattr(one, "dispatch"):
            check_shape("tools", one, ("specs",), "specs is a list of bridle.ToolSpec, what the model sees")
            made.extend(make_client_tools(cast("ToolDispatcher", one)))
        elif hasattr(one, "spec"):
            check_shape("tools", one, ("parallel", "access", "preview", "run"), "@bridle.tool is shorter")
            made.append(cast("Tool", one))
        elif callable(one):
            made.append(tool(one))
        else:
            raise UsageError(
                f"{one!r} is not a tool",
                hint="give a typed function, a Tool or a ToolDispatcher; built-in tools go to builtins",
            )
    names = [one.spec.name for one in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f'two tools are named "{twice}"')
    return made


class PythonTools:
    """The program's tools, as client tools of a session: they cannot ask questions or show progress."""

    def __init__(self, tools: Sequence[Tool], session: SessionId, cwd: str) -> None:
        """Check and store the tools; raises UsageError for one whose access depends on the call."""
        for one in tools:
            if not isinstance(one, FunctionTool | DispatchedTool):
                raise UsageError(
                    f"tool {one.spec.name} needs the engine in its own process",
                    hint="give it to bridle.open(tools=…), without daemon",
                )
        self._tools = {tool.spec.name: tool for tool in tools}
        self._session = session
        self._cwd = cwd

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools as the model sees them."""
        return [tool.spec for tool in self._tools.values()]

    def access_of(self, tool: str) -> Access:
        """Return what calls of a tool may touch."""
        return self._tools[tool].access({}, self._context(CallId("")))

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Run a tool call; raises ToolError for an unknown tool."""
        found = self._tools.get(call.name)
        if found is None:
            raise ToolError(f"no tool is named {call.name!r}")
        return await found.run(call.args, self._context(call.id))

    def _context(self, call_id: CallId) -> ToolContext:
        return ToolContext(self._session, self._cwd, lambda text: None, call_id)
