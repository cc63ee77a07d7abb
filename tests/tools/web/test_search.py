"""Search through servers that speak the API of SearXNG and of Sourcegraph."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import judge, parse_rule
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.web.network import Network
from bridle.tools.web.search import MAX_BODY_BYTES, CodeSearch, SearchServer, WebSearch
from tests.tools.web.conftest import Site
from tests.tools.web.pages import answer, redirect

RESULTS = {
    "query": "q",
    "results": [
        {
            "url": "https://a.example/x",
            "title": "A  page",
            "content": "about\n a",
            "engine": "e",
            "score": 1.5,
        },
        {"url": "https://b.example/", "title": None, "content": None, "thumbnail": None},
    ],
    "answers": [],
    "unresponsive_engines": [["duckduckgo", "timeout"]],
}
MATCH = {
    "type": "content",
    "repository": "github.com/a/b",
    "path": "src/x.py",
    "commit": "0" * 40,
    "chunkMatches": [
        {
            "content": "def a():\n    run()",
            "contentStart": {"offset": 0, "line": 11, "column": 0},
            "ranges": [],
        },
        {"content": "run()", "contentStart": {"offset": 90, "line": 40, "column": 0}, "ranges": []},
    ],
}


def stream(*events: tuple[str, Any]) -> bytes:
    """Make what Sourcegraph streams."""
    parts = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events]
    return answer("".join(parts).encode(), kind="text/event-stream")


class Answers:
    """Makes a site answer every query with one response, and remembers the queries."""

    def __init__(self, site: Site, path: str, response: bytes) -> None:
        self.queries: list[dict[str, list[str]]] = []
        self._path, self._response, self._site = path, response, site
        site.pages = self  # type: ignore[assignment]

    def __getitem__(self, target: str) -> bytes:
        parts = urlsplit(target)
        assert parts.path == self._path
        self.queries.append(parse_qs(parts.query))
        return self._response


async def web(site: Site, context: ToolContext, body: Any, **args: Any) -> str:
    Answers(site, "/search", answer(json.dumps(body).encode(), kind="application/json"))
    return (await WebSearch(SearchServer(site.url)).run({"query": "q", **args}, context)).text


async def code(site: Site, context: ToolContext, *events: tuple[str, Any], **args: Any) -> str:
    Answers(site, "/.api/search/stream", stream(*events))
    return (await CodeSearch(SearchServer(site.url)).run({"query": "q", **args}, context)).text


async def refusal(tool: WebSearch | CodeSearch, context: ToolContext, query: str = "q") -> str:
    with pytest.raises(ToolError) as caught:
        await tool.run({"query": query}, context)
    return str(caught.value)


# ---------------------------------------------------------------------------- the web


async def test_results_have_a_title_an_address_and_an_excerpt(site: Site, context: ToolContext):
    assert await web(site, context, RESULTS) == (
        "1. A page\n   https://a.example/x\n   about a\n"
        "2. b.example\n   https://b.example/\n"
        "[without an answer of duckduckgo]"
    )


async def test_the_query_is_sent_as_it_is(site: Site, context: ToolContext):
    asked = Answers(site, "/search", answer(b'{"results": []}'))

    output = await WebSearch(SearchServer(f"{site.url}/")).run({"query": "a&format=html é"}, context)

    assert output.text == "no results"
    assert asked.queries == [{"q": ["a&format=html é"], "format": ["json"]}]


async def test_results_are_limited(site: Site, context: ToolContext):
    many = {"results": [{"url": f"https://a.example/{number}"} for number in range(100)]}

    assert len((await web(site, context, many)).splitlines()) == 2 * 10
    assert len((await web(site, context, many, limit=3)).splitlines()) == 2 * 3
    assert len((await web(site, context, many, limit=1000)).splitlines()) == 2 * 20


async def test_a_result_cannot_look_like_another_one(site: Site, context: ToolContext):
    hostile = {
        "results": [
            {"url": "javascript:alert(1)", "title": "no page"},
            {"url": "https://u:p@a.example/", "title": "with a password"},
            {"url": "https://a.example/\n2. x", "title": "a line"},
            {
                "url": "https://a.example/",
                "title": "t\n2. Trusted\x1b[31m",
                "content": "c\n3. d" + "y" * 9000,
            },
        ]
    }

    lines = (await web(site, context, hostile)).splitlines()

    assert lines[:2] == ["1. t 2. Trusted\ufffd[31m", "   https://a.example/"]
    assert len(lines) == 3
    assert len(lines[2]) < 600


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b'{"results": {}}', b'{"results": [1]}', b"[" * 100_000]
)
async def test_another_answer_is_an_error_with_a_hint(site: Site, context: ToolContext, body: bytes):
    Answers(site, "/search", answer(body))

    assert await refusal(WebSearch(SearchServer(site.url)), context) == (
        f"{site.url} did not answer as SearXNG does"
        " (hint: tools.search_url names the server, whose search.formats must include json)"
    )


async def test_a_refusal_of_the_server_is_an_error(site: Site, context: ToolContext):
    Answers(site, "/search", answer(b"", status="403 FORBIDDEN"))

    assert await refusal(WebSearch(SearchServer(site.url)), context) == f"{site.url} answered 403 FORBIDDEN"


async def test_an_answer_may_be_neither_endless_nor_slow(site: Site, context: ToolContext):
    Answers(site, "/search", answer(b"x" * (MAX_BODY_BYTES + 1)))
    assert "answered with more than 4194304 bytes" in await refusal(
        WebSearch(SearchServer(site.url)), context
    )

    is_over = asyncio.Event()

    async def hang(request: str, writer: asyncio.StreamWriter) -> None:
        await is_over.wait()

    site.pages = {"/search?q=q&format=json": hang}
    slow = WebSearch(SearchServer(site.url, timeout_s=0.05))
    said = await refusal(slow, context)
    is_over.set()
    assert said == f"{site.url}: no complete answer within 0.05 s"


@pytest.mark.parametrize("query", ["", "  ", "x" * 1001])
async def test_a_query_has_a_length(site: Site, context: ToolContext, query: str):
    said = "a query must have 1 to 1000 characters"

    assert await refusal(WebSearch(SearchServer(site.url)), context, query) == said
    assert site.requests == []


# ---------------------------------------------------------------------------- code


async def test_matches_have_a_repository_a_path_and_lines(site: Site, context: ToolContext):
    symbols = [{"name": "run", "kind": "FUNCTION", "line": 7, "url": "/x"}]
    others = [
        {"type": "path", "repository": "github.com/a/b", "path": "run.py"},
        {"type": "repo", "repository": "github.com/a/run"},
        {"type": "symbol", "repository": "github.com/a/b", "path": "c.py", "symbols": symbols},
        {"type": "commit", "label": "unknown"},
    ]

    text = await code(
        site, context, ("progress", {}), ("matches", [MATCH]), ("matches", others), ("done", {})
    )

    assert text == (
        "github.com/a/b src/x.py\n12: def a():\n13:     run()\n41: run()\n\n"
        "github.com/a/b run.py\n\n"
        "github.com/a/run\n\n"
        "github.com/a/b c.py\n7: function run"
    )


async def test_the_query_names_what_is_wanted(site: Site, context: ToolContext):
    asked = Answers(site, "/.api/search/stream", stream(("done", {})))
    tool = CodeSearch(SearchServer(site.url, authorization="token abc"))

    output = await tool.run({"query": "lang:go x", "limit": 5, "context": 99}, context)

    assert output.text == "no matches"
    assert asked.queries == [
        {"q": ["lang:go x"], "v": ["V3"], "cm": ["true"], "cl": ["10"], "display": ["5"]}
    ]
    assert "\r\nAuthorization: token abc\r\n" in site.requests[0]


async def test_matches_and_lines_are_limited(site: Site, context: ToolContext):
    long = {**MATCH, "chunkMatches": [{"content": "\n".join(["y" * 1000] * 100)}]}

    text = await code(site, context, ("matches", [long] * 20), limit=2)

    assert text.count("github.com/a/b src/x.py") == 2
    assert text.count("[60 more lines]") == 2
    assert len(text) < 2 * 41 * 310


async def test_what_the_server_says_is_shown(site: Site, context: ToolContext):
    alert = {
        "title": "Unable To\nProcess Query",
        "description": "Unbalanced parentheses",
        "proposedQueries": [],
    }

    assert await code(site, context, ("alert", alert), ("done", {})) == (
        "[the server says: Unable To Process Query Unbalanced parentheses]"
    )
    assert await code(site, context, ("error", {"message": "timed out"})) == "[the server says: timed out]"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"event: matches\ndata: {}\n\n", b"event: matches\n\n", b"event: \xff\ndata: 1\n\n"],
)
async def test_another_stream_is_an_error_with_a_hint(site: Site, context: ToolContext, body: bytes):
    Answers(site, "/.api/search/stream", answer(body))

    assert await refusal(CodeSearch(SearchServer(site.url)), context) == (
        f"{site.url} did not answer as Sourcegraph does (hint: tools.code_search_url names the server)"
    )


# ---------------------------------------------------------------------------- rules and addresses


def test_rules_name_the_server(context: ToolContext):
    access = WebSearch(SearchServer("https://search.example:8443/x")).access({"query": "q"}, context)

    assert access == Access("web_search", "network", (Subject("domain", "search.example"),))
    assert judge(access, (), "ask").action == "ask"
    assert judge(access, (parse_rule("allow", "web_search(domain:search.example)"),), "ask").action == "allow"
    assert judge(access, (parse_rule("deny", "web_fetch(domain:search.example)"),), "yolo").action == "deny"


async def test_a_redirect_to_another_server_needs_a_rule_and_gets_no_token(site: Site, context: ToolContext):
    site.pages = {"/.api/search/stream?q=q&v=V3&cm=true&cl=3&display=10": redirect("http://127.0.0.2:1/")}
    tool = CodeSearch(SearchServer(site.url, authorization="token abc"))

    assert "redirects to 127.0.0.2; fetch http://127.0.0.2:1/ if you want it" in await refusal(tool, context)
    allowed = replace(context, rules=(parse_rule("allow", "code_search"),))
    assert "127.0.0.2 is a loopback address" in await refusal(tool, allowed)


async def test_a_redirect_to_another_port_gets_no_token(site: Site, context: ToolContext):
    other = Site()
    other.pages["/x"] = stream(("done", {}))
    server = await asyncio.start_server(other.accept, "127.0.0.1", 0)
    other.port = server.sockets[0].getsockname()[1]
    query = "/.api/search/stream?q=q&v=V3&cm=true&cl=3&display=10"
    site.pages = {query: redirect(f"{other.url}/x")}
    tool = CodeSearch(SearchServer(site.url, authorization="token abc"))

    assert "127.0.0.1 is a loopback address" in await refusal(tool, context)
    opened = replace(context, rules=(parse_rule("allow", "code_search(domain:127.0.0.1)"),))
    await tool.run({"query": "q"}, opened)

    assert "Authorization" not in other.requests[0]
    server.close()
    await asyncio.gather(*other.serving)


async def test_a_name_of_the_settings_may_have_any_address(site: Site, context: ToolContext):
    async def lookup(host: str) -> list[str]:
        assert host == "search.example"
        return ["127.0.0.1"]

    Answers(site, "/search", answer(b'{"results": []}'))
    server = SearchServer(f"http://search.example:{site.port}", network=Network(lookup=lookup))

    assert (await WebSearch(server).run({"query": "q"}, context)).text == "no results"
