"""Tools that answer questions about code: its problems, its symbols, and where they are used."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeLocation, LanguageServers, LookupKind, SymbolQuery
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.code.edit_plans import absolute_path
from bridle.tools.code.formatter import (
    FileFilter,
    format_outline,
    format_places,
    format_problems,
    format_symbols,
    redact_error,
)
from bridle.tools.paths import printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    WithoutPreview,
    description,
    integer_arg,
    parameters,
    path_access,
    resolve_path,
    text_arg,
)

MAX_NAME_CHARS = 500
READ_S = 5.0  # for reading the lines of code; places are useful without them


class CodeCall(Struct, frozen=True):
    """One call of a code tool."""

    tool: str
    args: dict[str, Any]
    context: ToolContext
    languages: LanguageServers

    async def path(self) -> str:
        """Return the real path of the argument `path`; empty when it is not given."""
        return await run_in_thread(lambda _: named_path(self.tool, self.args, self.context))

    async def spot(self) -> SymbolQuery:
        """Return the symbol that the call is about; raises ToolError."""
        path, line = await self.path(), integer_arg(self.args, "line") or 0
        if line and not path:
            raise ToolError("line needs a path")
        if line < 0:
            raise ToolError("lines start at 1")
        return SymbolQuery(name_arg(self.args, "symbol"), path, line)

    def sight(self, path: str) -> FileFilter:
        """Return the filter for shown files; the rules for the call's own file were checked with the call."""
        return FileFilter(self.tool, self.context, (path,) if path else ())

    async def check_refusal(self, error: ToolError, spot: SymbolQuery) -> None:
        """Raise the reason why a symbol was not found, unless it would reveal files that may not be read."""
        refusal = await run_in_thread(lambda _: redact_error(error, spot, self.sight(spot.path)))
        if refusal is not None:
            raise refusal from error


class CodeQueryTool(WithoutPreview):
    """A tool that answers a question about code."""

    parallel = True
    seldom = True

    def __init__(
        self,
        spec: ToolSpec,
        answer: Callable[[CodeCall], Awaitable[str]],
        languages: LanguageServers,
    ) -> None:
        """Take the function that returns the answer; it may raise ToolError."""
        self.spec = spec
        self._answer = answer
        self._languages = languages

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file and its link target; results in other files are checked later."""
        return read_access(self.spec.name, args, context)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the answer as text."""
        return ToolOutput(await self._answer(CodeCall(self.spec.name, args, context, self._languages)))


def query_tools(languages: LanguageServers) -> tuple[CodeQueryTool, ...]:
    """Return the code tools that only read."""
    answers = {
        "diagnostics": diagnostics,
        "references": references,
        "definition": definition,
        "symbols": symbols,
        "call_hierarchy": call_hierarchy,
    }
    return tuple(
        CodeQueryTool(ToolSpec(name, description(f"code/{name}"), _PARAMETERS[name]), answer, languages)
        for name, answer in answers.items()
    )


def read_access(tool: str, args: dict[str, Any], context: ToolContext) -> Access:
    """Return the read access of a call, to its file if it names one."""
    return path_access(tool, "read", args, context) if args.get("path") else Access(tool, "read")


def named_path(tool: str, args: dict[str, Any], context: ToolContext) -> str:
    """Return the real path of the argument `path`; empty when it is not given; blocking."""
    return (
        absolute_path(resolve_path(tool, "read", text_arg(args, "path"), context)) if args.get("path") else ""
    )


def name_arg(args: dict[str, Any], key: str) -> str:
    """Return a name on one line; raises ToolError."""
    name = text_arg(args, key).strip()
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise ToolError(f"{key} must be a name of 1 to {MAX_NAME_CHARS} characters on one line")
    return name


# ---------------------------------------------------------------------------- answers


async def diagnostics(asked: CodeCall) -> str:
    """Return the problems in a file, or in all files that the servers have checked."""
    path = await asked.path()
    found = await asked.languages.problems(path or asked.context.cwd, asked.context.cwd)
    where = f"in {printable(asked.args['path'])}" if path else "in the files checked so far"
    nothing = f"no problems {where}"
    return await run_in_thread(lambda _: format_problems(found, asked.sight(path), nothing))


async def references(asked: CodeCall) -> str:
    """Return where something is used."""
    return await _places(asked, "references")


async def definition(asked: CodeCall) -> str:
    """Return where something is defined."""
    return await _places(asked, "definition")


async def call_hierarchy(asked: CodeCall) -> str:
    """Return what calls something, or what it calls."""
    match text_arg(asked.args, "direction"):
        case "incoming":
            return await _places(asked, "incoming_calls")
        case "outgoing":
            return await _places(asked, "outgoing_calls")
        case _:
            raise ToolError("direction must be incoming or outgoing")


async def symbols(asked: CodeCall) -> str:
    """Return the symbols of a file, or those of the project that match the query."""
    path, cwd = await asked.path(), asked.context.cwd
    query = name_arg(asked.args, "query") if asked.args.get("query") else ""
    if not path:
        if not query:
            raise ToolError("give a path for the outline of a file, or a query to search the project")
        found = await asked.languages.find(query, cwd)
        return await run_in_thread(lambda _: format_symbols(found, asked.sight("")))
    outline = await asked.languages.symbols(path, cwd)
    wanted = [symbol for symbol in outline if query.casefold() in symbol.name.casefold()]
    return await run_in_thread(lambda _: format_outline(wanted, asked.sight(path)))


async def _places(asked: CodeCall, kind: LookupKind) -> str:
    spot = await asked.spot()
    found: tuple[CodeLocation, ...] = ()
    try:
        found = await asked.languages.look(kind, spot, asked.context.cwd)
    except ToolError as error:
        await asked.check_refusal(error, spot)
    return await run_in_thread(
        lambda stop: format_places(found, asked.sight(spot.path), stop), deadline_s=READ_S
    )


_SPOT = {"symbol": ("string", ""), "path": ("string", ""), "line": ("integer", "")}
_PARAMETERS = {
    "diagnostics": parameters(0, path=("string", "")),
    "references": parameters(1, **_SPOT),
    "definition": parameters(1, **_SPOT),
    "symbols": parameters(0, path=("string", ""), query=("string", "")),
    "call_hierarchy": {
        "type": "object",
        "properties": {
            "symbol": {"type": "string"},
            "direction": {"type": "string", "enum": ["incoming", "outgoing"]},
            "path": {"type": "string"},
            "line": {"type": "integer"},
        },
        "required": ["symbol", "direction"],
    },
}
