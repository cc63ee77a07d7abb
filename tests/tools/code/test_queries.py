"""Queries about code: the form of answers, what they leave out, and the requests to servers."""

import os
from pathlib import Path
from typing import Any

import pytest

from bridle.core.deferred_tools import is_rarely_used
from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeLocation, SymbolInfo, SymbolQuery
from bridle.core.ports import ConditionalTool, Tool, ToolContext, implements
from bridle.core.tool import Access, Subject
from bridle.tools.code.formatter import MAX_ROWS
from tests.tools.code.fake import FakeLanguages, call, in_call, problem, span

LEFT_OUT = "[files protected by a rule are left out]"


async def refusal(tool: Tool, args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await call(tool, args, context)
    return str(caught.value)


def test_they_are_all_there(tools: dict[str, Tool]):
    assert sorted(tools) == [
        "call_hierarchy",
        "code_action",
        "definition",
        "diagnostics",
        "references",
        "rename_symbol",
        "replace_symbol",
        "symbols",
    ]


def test_they_are_named_and_not_shown_whether_there_is_code_or_not(tools: dict[str, Tool]):
    assert all(is_rarely_used(tool) and not implements(tool, ConditionalTool) for tool in tools.values())


# ---------------------------------------------------------------------------- places


async def test_places_come_with_their_lines_file_by_file(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    a, b = project / "a.py", project / "b.py"
    languages.found = (
        CodeLocation(span(b, 3, 7), "a lie"),
        CodeLocation(span(a, 1, 5)),
        CodeLocation(span(b, 1, 15)),
        CodeLocation(span(b, 3, 7)),
        CodeLocation(span(a, 77, 1)),
    )

    output = await call(tools["references"], {"symbol": "price", "path": "b.py", "line": 3}, context)

    assert output.text == (
        "b.py:3:7: print(price())\nb.py:1:15: from a import price\na.py:1:5: def price():\na.py:77:1"
    )
    assert languages.asked == [("references", SymbolQuery("price", str(b), 3), str(project))]


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("references", {}, "references"),
        ("definition", {}, "definition"),
        ("call_hierarchy", {"direction": "incoming"}, "incoming_calls"),
        ("call_hierarchy", {"direction": "outgoing"}, "outgoing_calls"),
    ],
)
async def test_each_tool_asks_its_own_question(
    tools: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
    tool: str,
    args: dict[str, Any],
    kind: str,
):
    output = await call(tools[tool], {"symbol": "price", **args}, context)

    assert output.text == "no results"
    assert languages.asked == [(kind, SymbolQuery("price"), str(project))]


async def test_calls_say_who_calls(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.found = (CodeLocation(span(project / "b.py", 3, 7), symbol="main\n(x)"),)

    output = await call(tools["call_hierarchy"], {"symbol": "price", "direction": "incoming"}, context)

    assert output.text == "b.py:3:7 main (x): print(price())"


async def test_many_places_are_cut(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    (project / "long.py").write_text("x" * 1000 + "\n")
    languages.found = tuple(CodeLocation(span(project / "long.py", 1, column)) for column in range(1, 251))

    lines = (await call(tools["references"], {"symbol": "x"}, context)).text.split("\n")

    assert lines[0] == f"long.py:1:1: {'x' * 200}…"
    assert lines[MAX_ROWS:] == ["[and 150 more]"]


async def test_a_place_outside_is_named_without_its_line(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, outside: Path, context: ToolContext
):
    library = outside / "secret.txt"
    languages.found = (CodeLocation(span(library), "secret"),)
    args = {"symbol": "x"}

    plain = await call(tools["definition"], args, context)
    opened = await call(tools["definition"], args, in_call(context, "c", f"allow read_file({outside}/**)"))
    denied = await call(tools["definition"], args, in_call(context, "c", f"deny read_file({outside}/**)"))

    assert plain.text == f"{library}:1:1"
    assert opened.text == f"{library}:1:1: secret"
    assert denied.text == f"no results\n{LEFT_OUT}"


@pytest.mark.parametrize(
    "rule", ["deny read_file(secrets/**)", "ask read_file(secrets/**)", "deny *(secrets/**)"]
)
async def test_denied_files_are_left_out_of_every_answer(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext, rule: str
):
    key = project / "secrets/key.py"
    os.link(key, project / "hard.py")
    (project / "soft.py").symlink_to(key)
    everywhere = (key, project / "soft.py", *([project / "hard.py"] if rule.startswith("deny") else []))
    languages.found = tuple(CodeLocation(span(path, 1, 1), "KEY = 'tOp-sEcRet'") for path in everywhere)
    languages.project_symbols = tuple(
        SymbolInfo("KEY", "constant", span(path), span(path)) for path in everywhere
    )
    languages.known_problems = tuple(problem(path, "tOp-sEcRet") for path in everywhere)
    guarded = in_call(context, "c", rule)

    for tool, args, nothing in (
        ("references", {"symbol": "KEY"}, "no results"),
        ("symbols", {"query": "KEY"}, "no symbols found"),
        ("diagnostics", {}, "no problems in the files checked so far"),
    ):
        assert (await call(tools[tool], args, guarded)).text == f"{nothing}\n{LEFT_OUT}"
        assert "key.py" in (await call(tools[tool], args, context)).text


async def test_a_denied_file_cannot_be_asked_about(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    guarded = in_call(context, "c", "deny read_file(secrets/**)")

    for name, more in (
        ("diagnostics", {}),
        ("symbols", {}),
        ("references", {"symbol": "KEY"}),
        ("code_action", {"line": 1}),
        ("code_action", {"line": 1, "action": "f1"}),
        ("rename_symbol", {"symbol": "KEY", "new_name": "x"}),
        ("replace_symbol", {"symbol": "KEY", "action": "delete"}),
    ):
        text = await refusal(tools[name], {"path": "secrets/key.py", **more}, guarded)

        assert text == "denied by rule deny read_file(secrets/**)"
    assert languages.asked == []


async def test_a_file_that_was_asked_about_and_allowed_is_shown(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    key = project / "secrets/key.py"
    languages.known_problems = (problem(key, "bad"),)

    output = await call(
        tools["diagnostics"], {"path": "secrets/key.py"}, in_call(context, "c", "ask read_file(secrets/**)")
    )

    assert output.text == f"error secrets/key.py:1:1 bad [fake E1]\n{LEFT_OUT}"


async def test_a_line_is_read_anew_whatever_a_server_says_it_is(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    (project / "pkg/key.py").write_text("x\n")
    languages.found = (CodeLocation(span(project / "pkg/key.py"), "KEY = 'tOp-sEcRet'"),)

    output = await call(tools["definition"], {"symbol": "x"}, context)

    assert output.text == "pkg/key.py:1:1: x"


async def test_a_refusal_tells_nothing_of_denied_files(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    """Otherwise a model could guess their content, one word at a time."""
    guarded = in_call(context, "c", "deny read_file(secrets/**)")
    key, a = f"{project}/secrets/key.py:1", f"{project}/a.py:7"
    said: dict[str, list[str]] = {}
    for text in (
        f"no language server knows 'KEY'; it occurs at {key}",
        f"'KEY' does not occur in {project}",
        f"'KEY' is ambiguous: {key}, {a}",
        "pyright is still indexing (42 %)",
    ):
        languages.refusal = ToolError(text, hint="say which")
        for given in (context, guarded):
            try:
                answer = (await call(tools["definition"], {"symbol": "KEY"}, given)).text
            except ToolError as error:
                answer = f"refused: {error}"
            said.setdefault(text.replace(f"{project}/", ""), []).append(answer)

    assert said == {
        "no language server knows 'KEY'; it occurs at secrets/key.py:1": [
            "refused: no language server knows 'KEY'; it occurs at secrets/key.py:1 (hint: say which)",
            f"no results\n{LEFT_OUT}",
        ],
        f"'KEY' does not occur in {project}": [
            f"refused: 'KEY' does not occur in {project} (hint: say which)",
            f"no results\n{LEFT_OUT}",
        ],
        "'KEY' is ambiguous: secrets/key.py:1, a.py:7": [
            "refused: 'KEY' is ambiguous: secrets/key.py:1, a.py:7 (hint: say which)",
            "refused: 'KEY' could be one of a.py:7 (hint: say which with path and line)",
        ],
        "pyright is still indexing (42 %)": ["refused: pyright is still indexing (42 %) (hint: say which)"]
        * 2,
    }
    languages.refusal = ToolError(f"no language server knows 'KEY'; it occurs at {key}")
    assert await refusal(tools["rename_symbol"], {"symbol": "KEY", "new_name": "x"}, guarded) == (
        "nothing to change"
    )


# ---------------------------------------------------------------------------- problems


async def test_problems_are_shown_errors_first(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, outside: Path, context: ToolContext
):
    a, b = project / "a.py", project / "b.py"
    languages.known_problems = (
        problem(a, "hm", "hint"),
        problem(b, "two\n  lines\x1b[2J", line=2),
        problem(a, "careful", "warning", 9),
        problem(b, "one", line=1),
        problem(a, "by the way", "information"),
        problem(b, "one", line=1),
        problem(outside / "secret.txt", "not ours"),
        problem(b, "m" * 600, line=3),
    )

    output = await call(tools["diagnostics"], {}, context)

    assert output.text == (
        "error b.py:1:1 one [fake E1]\n"
        "error b.py:2:1 two lines\\x1b[2J [fake E1]\n"
        f"error b.py:3:1 {'m' * 500}… [fake E1]\n"
        "warning a.py:9:1 careful [fake E1]\n"
        "information a.py:1:1 by the way [fake E1]\n"
        "hint a.py:1:1 hm [fake E1]"
    )
    assert languages.asked == [("problems", str(project), str(project))]


async def test_a_file_without_problems_says_so(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    (project / "link.py").symlink_to("pkg/c.py")

    output = await call(tools["diagnostics"], {"path": "link.py"}, context)

    assert output.text == "no problems in link.py"
    assert languages.asked == [("problems", str(project / "pkg/c.py"), str(project))]
    assert tools["diagnostics"].access({"path": "link.py"}, context) == Access(
        "diagnostics", "read", (Subject("path", "link.py"), Subject("path", "pkg/c.py"))
    )


async def test_many_problems_are_cut(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.known_problems = tuple(problem(project / "a.py", "bad", line=line) for line in range(1, 251))

    lines = (await call(tools["diagnostics"], {"path": "a.py"}, context)).text.split("\n")

    assert lines[MAX_ROWS - 1 :] == ["error a.py:100:1 bad [fake E1]", "[and 150 more]"]


# ---------------------------------------------------------------------------- symbols


async def test_a_file_is_outlined(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    path = project / "a.py"
    languages.symbols_of["a.py"] = (
        SymbolInfo("Order", "class", span(path, 1, 1, 9, 1), span(path, 1, 7)),
        SymbolInfo("rate", "variable", span(path, 2, 5), span(path, 2, 5), "Order", 1),
        SymbolInfo("total", "method", span(path, 2, 5, 4, 9), span(path, 2, 9), "Order", 1),
        SymbolInfo("local", "variable", span(path, 3, 9), span(path, 3, 9), "total", 2),
        SymbolInfo("inner", "function", span(path, 3, 9), span(path, 3, 9), "total", 2),
        SymbolInfo("local", "constant", span(path, 3, 9), span(path, 3, 9), "total", 3),
        SymbolInfo("price", "function", span(path, 10, 1, 12, 1), span(path, 10, 5)),
    )

    whole = await call(tools["symbols"], {"path": "a.py"}, context)
    some = await call(tools["symbols"], {"path": "a.py", "query": "TOT"}, context)

    assert whole.text == (
        "1-9: class Order\n  2-2: variable rate\n  2-4: method total\n    3-3: function inner\n"
        "10-12: function price"
    )
    assert some.text == "  2-4: method total"


async def test_a_project_is_searched_for_symbols(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    a = project / "a.py"
    languages.project_symbols = (
        SymbolInfo("total", "method", span(a, 1, 1, 4, 9), span(a, 2, 9), "Order"),
        SymbolInfo("price", "function", span(a, 10), span(a, 10, 5)),
    )

    output = await call(tools["symbols"], {"query": "t"}, context)

    assert output.text == "a.py:2:9: method total in Order\na.py:10:5: function price"
    assert languages.asked == [("find", "t", str(project))]


# ---------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("tool", "args", "why"),
    [
        ("symbols", {}, "give a path for the outline of a file, or a query to search the project"),
        ("references", {"symbol": "x", "line": 3}, "line needs a path"),
        ("references", {"symbol": "x", "path": "a.py", "line": -1}, "lines start at 1"),
        ("references", {"symbol": " "}, "symbol must be a name of 1 to 500 characters on one line"),
        ("definition", {"symbol": "a\nb"}, "symbol must be a name of 1 to 500 characters on one line"),
        ("definition", {"symbol": "x" * 501}, "symbol must be a name of 1 to 500 characters on one line"),
        ("call_hierarchy", {"symbol": "x", "direction": "up"}, "direction must be incoming or outgoing"),
        ("diagnostics", {"path": "/etc/passwd"}, "absolute or parent paths are not allowed"),
        (
            "definition",
            {"symbol": "x", "path": "out/secret.txt"},
            "out/secret.txt leads outside the working directory through a symbolic link",
        ),
    ],
)
async def test_a_wrong_call_is_refused_before_a_server_is_asked(
    tools: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    outside: Path,
    context: ToolContext,
    tool: str,
    args: dict[str, Any],
    why: str,
):
    (project / "out").symlink_to(outside)

    assert await refusal(tools[tool], args, context) == why
    assert languages.asked == []
