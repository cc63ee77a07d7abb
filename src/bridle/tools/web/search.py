"""Search the web through a SearXNG server, and public code through Sourcegraph.

```
query ─▶ GET <the server in the settings>/search?format=json      ─▶ titles, addresses, excerpts
      └▶ GET <the server in the settings>/.api/search/stream?q=…  ─▶ repositories, paths, lines
```

The user names the servers, so they may have any address. What they answer is untrusted: it is decoded
strictly, cut, and shown on lines that it cannot break.
"""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.tool_support import WithoutPreview, description, integer_arg, parameters, text_arg
from bridle.tools.web.network import DIRECT, Network
from bridle.tools.web.urls import Url, parse_url, shorten

MAX_QUERY_CHARS = 1000
MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_EXCERPT_CHARS = 500
MAX_ADDRESS_CHARS = 2000
MAX_LINE_CHARS = 300
MAX_LINES = 40  # of one file
DEFAULT_RESULTS = 10
MAX_RESULTS = 20
DEFAULT_CONTEXT = 3
MAX_CONTEXT = 10


class SearchServer(Struct, frozen=True):
    """A server that the user's settings name, and how to reach it."""

    url: str
    timeout_s: float = 30.0
    authorization: str = ""
    network: Network = DIRECT

    async def get(
        self, tool: str, path: str, query: dict[str, str], accept: str, context: ToolContext
    ) -> bytes:
        """Return the answer to a GET request; raises ToolError."""
        # Loads aiohttp, which a program that never searches does not need.
        from bridle.tools.web.client import WebRequest, get  # noqa: PLC0415

        url = parse_url(f"{self.url.rstrip('/')}{path}?{urlencode(query)}")
        request = WebRequest(
            url, tool, context, self.network, accept, True, authorization=self.authorization, trusted=True
        )
        try:
            async with asyncio.timeout(self.timeout_s), get(request) as answer:
                if answer.status != 200:
                    raise ToolError(f"{self.url} answered {answer.status} {answer.words}".rstrip())
                body, is_cut = await answer.read(MAX_BODY_BYTES)
        except TimeoutError as error:
            raise ToolError(f"{self.url}: no complete answer within {self.timeout_s:g} s") from error
        if is_cut:
            raise ToolError(f"{self.url} answered with more than {MAX_BODY_BYTES} bytes; search for less")
        return body


class _ServerTool(WithoutPreview):
    """A tool that sends a query to one server."""

    parallel = True
    _name = ""

    def __init__(self, server: SearchServer) -> None:
        """Take the server that answers."""
        self._server = server

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the server."""
        return Access(self._name, "network", (Subject("domain", parse_url(self._server.url).host),))


class WebSearch(_ServerTool):
    """The tool that searches the web."""

    _name = "web_search"

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("web_search", description("web/web_search"), _WEB_PARAMETERS)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return a title, an address and an excerpt for each result."""
        query = {"q": _query(args), "format": "json"}
        body = await self._server.get("web_search", "/search", query, "application/json", context)
        try:
            found = msgspec.json.decode(body, type=_WebResults)
        except MALFORMED as error:
            raise ToolError(
                f"{self._server.url} did not answer as SearXNG does",
                hint="tools.search_url names the server, whose search.formats must include json",
            ) from error
        shown = [text for result in found.results if (text := _shown(result))][: _limit(args)]
        lines = [f"{number}. {text}" for number, text in enumerate(shown, 1)] or ["no results"]
        if failed := [shorten(str(engine[0])) for engine in found.unresponsive_engines[:10] if engine]:
            lines.append(f"[without an answer of {', '.join(failed)}]")
        return ToolOutput("\n".join(lines))


class CodeSearch(_ServerTool):
    """The tool that searches public code."""

    seldom = True
    _name = "code_search"

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("code_search", description("web/code_search"), _CODE_PARAMETERS)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the repository, path and lines of each match."""
        around = integer_arg(args, "context")
        around = DEFAULT_CONTEXT if around is None else max(0, min(around, MAX_CONTEXT))
        query = {"q": _query(args), "v": "V3", "cm": "true", "cl": str(around), "display": str(_limit(args))}
        body = await self._server.get(
            "code_search", "/.api/search/stream", query, "text/event-stream", context
        )
        try:
            parts = list(_matches(body, _limit(args)))
        except MALFORMED as error:
            raise ToolError(
                f"{self._server.url} did not answer as Sourcegraph does",
                hint="tools.code_search_url names the server",
            ) from error
        return ToolOutput("\n\n".join(parts) or "no matches")


def _query(args: dict[str, Any]) -> str:
    query = text_arg(args, "query").strip()
    if not 0 < len(query) <= MAX_QUERY_CHARS:
        raise ToolError(f"a query must have 1 to {MAX_QUERY_CHARS} characters")
    return query


def _limit(args: dict[str, Any]) -> int:
    return max(1, min(integer_arg(args, "limit") or DEFAULT_RESULTS, MAX_RESULTS))


def _line(text: str, most: int) -> str:
    """Return untrusted text on one line, cut."""
    cut = text if len(text) <= most else f"{text[:most]}…"
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in cut)


# ---------------------------------------------------------------------------- SearXNG


class _WebResult(Struct, frozen=True):
    url: str = ""
    title: str | None = None
    content: str | None = None


class _WebResults(Struct, frozen=True):
    results: list[_WebResult]
    unresponsive_engines: list[list[Any]] = []


def _shown(result: _WebResult) -> str:
    """Return the lines of a result; empty if its address is not one of a page."""
    try:
        url: Url = parse_url(result.url)
    except ToolError:
        return ""
    title = _line(" ".join((result.title or "").split()), MAX_LINE_CHARS) or url.host
    excerpt = _line(" ".join((result.content or "").split()), MAX_EXCERPT_CHARS)
    return "\n   ".join(filter(None, (title, _line(str(url), MAX_ADDRESS_CHARS), excerpt)))


# ---------------------------------------------------------------------------- Sourcegraph


class _Place(Struct, frozen=True):
    line: int = 0


class _Chunk(Struct, frozen=True, rename="camel"):
    content: str = ""
    content_start: _Place = _Place()


class _Symbol(Struct, frozen=True):
    name: str = ""
    kind: str = ""
    line: int = 0


class _Match(Struct, frozen=True, rename="camel"):
    type: str = ""
    repository: str = ""
    path: str = ""
    chunk_matches: list[_Chunk] = []
    symbols: list[_Symbol] = []


class _Alert(Struct, frozen=True):
    title: str = ""
    description: str | None = None
    message: str = ""


def _matches(body: bytes, limit: int) -> Iterator[str]:
    """Yield the text of each match, and what the server says besides."""
    shown = 0
    for event, data in _events(body):
        if event == "matches":
            for match in msgspec.json.decode(data, type=list[_Match]):
                if shown < limit and (text := _match(match)):
                    shown += 1
                    yield text
        elif event in ("alert", "error"):
            alert = msgspec.json.decode(data, type=_Alert)
            said = f"{alert.title or alert.message} {alert.description or ''}"
            yield f"[the server says: {_line(' '.join(said.split()), MAX_EXCERPT_CHARS)}]"


def _events(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and data of each server-sent event; raises a decoding error if there is none."""
    text = body.replace(b"\r\n", b"\n")
    found = False
    for block in text.split(b"\n\n"):
        lines = block.split(b"\n")
        names = [line[6:].strip() for line in lines if line.startswith(b"event:")]
        data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
        if names:
            found = True
            yield names[0].decode(), data
    if not found:
        raise msgspec.DecodeError("no events")


def _match(match: _Match) -> str:
    where = _line(f"{match.repository} {match.path}".strip(), MAX_LINE_CHARS)
    match match.type:
        case "content" | "path" | "repo":
            lines = [line for chunk in match.chunk_matches for line in _numbered(chunk)]
        case "symbol":
            lines = [
                _line(f"{symbol.line}: {symbol.kind.lower()} {symbol.name}", MAX_LINE_CHARS)
                for symbol in match.symbols
            ]
        case _:
            return ""
    more = [f"[{len(lines) - MAX_LINES} more lines]"] if len(lines) > MAX_LINES else []
    return "\n".join([where, *lines[:MAX_LINES], *more])


def _numbered(chunk: _Chunk) -> Iterator[str]:
    for number, line in enumerate(chunk.content.split("\n"), chunk.content_start.line + 1):
        yield f"{number}: {_line(line.rstrip(), MAX_LINE_CHARS)}"


_WEB_PARAMETERS = parameters(1, query=("string", ""), limit=("integer", ""))
_CODE_PARAMETERS = parameters(1, query=("string", ""), limit=("integer", ""), context=("integer", ""))
