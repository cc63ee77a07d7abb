"""Tools that the requests of a run describe, name or do not have at all."""

from typing import Any

import pytest

from bridle.core.codeact import PYTHON
from bridle.core.errors import ConfigError
from bridle.core.protocol import RunOptions
from bridle.sessions.setup import ToolNeeds, choose_tools
from bridle.tools.tool_search import MAX_LISTED
from bridle.tools.toolbox import Toolbox
from tests.sessions.stage import SmallTool


def tool(name: str, *, seldom: bool = False) -> SmallTool:
    made = SmallTool(name, str)
    if seldom:
        made.seldom = True  # type: ignore[attr-defined]
    return made


OWN = [tool("read"), tool(PYTHON), tool("wait", seldom=True), tool("grep"), tool("jobs", seldom=True)]
SERVER_TOOLS = [tool("mcp__desk__ring"), tool("mcp__desk__call")]


def wants(*, agent: tuple[str, ...] | None = None, **given: Any) -> ToolNeeds:
    facts = {"cwd": "/", "window_tokens": 100_000, "max_server_tokens": 1_000} | given
    options = RunOptions(**{name: facts.pop(name) for name in ("tools", "without_tools") if name in facts})
    return ToolNeeds(options, agent, **facts)


def sight(
    wanted: ToolNeeds, own: Any = OWN, client_tools: Any = (), server_tools: Any = ()
) -> tuple[list[str], list[str]]:
    """Return what requests show, and what can be called beside it."""
    chosen = choose_tools(own, client_tools, server_tools, wanted)
    box = Toolbox(chosen.tools, chosen.deferred)
    shown = [spec.name for spec in box.specs]
    return shown, [name for name in box.names if name not in shown]


def test_what_is_seldom_needed_is_not_shown():
    assert sight(wants()) == (["grep", PYTHON, "read", "tool_call"], ["jobs", "wait"])


def test_with_nothing_to_find_there_is_nothing_to_find_it_with():
    assert sight(wants(), OWN[:2]) == ([PYTHON, "read"], [])


def test_what_the_agent_or_the_run_names_is_shown():
    assert sight(wants(agent=("wait", "gr*"))) == (["grep", "wait"], [])
    assert sight(wants(tools=("wait", "read"))) == (["read", "wait"], [])
    assert sight(wants(tools=("*s", "read"))) == (["read", "tool_call"], ["jobs"])
    assert sight(wants(without_tools=("jobs", PYTHON))) == (["grep", "read", "tool_call"], ["wait"])


def test_what_a_small_window_has_no_room_for_is_named():
    [narrow, tiny] = [sight(wants(window_tokens=tokens)) for tokens in (640, 200)]

    assert narrow == ([PYTHON, "read", "tool_call"], ["grep", "jobs", "wait"])
    assert tiny == (["read"], [])


def test_tools_of_a_client_are_shown_and_take_the_place_of_ours():
    client_tools = [tool("wait"), tool("theirs")]

    assert sight(wants(), client_tools=client_tools) == (
        ["grep", PYTHON, "read", "theirs", "tool_call", "wait"],
        ["jobs"],
    )


def test_tools_of_servers_are_found_by_search_when_they_are_many():
    few, many = wants(), wants(max_server_tokens=10)

    assert sight(few, OWN[:1], server_tools=SERVER_TOOLS) == (
        ["mcp__desk__call", "mcp__desk__ring", "read"],
        [],
    )
    assert sight(many, OWN[:1], server_tools=SERVER_TOOLS) == (
        ["read", "tool_call", "tool_search"],
        ["mcp__desk__call", "mcp__desk__ring"],
    )
    assert sight(many, server_tools=SERVER_TOOLS)[1] == ["jobs", "mcp__desk__call", "mcp__desk__ring", "wait"]


def test_more_than_can_be_named_are_found_by_search():
    crowd = [tool("read"), *(tool(f"t{n}", seldom=True) for n in range(MAX_LISTED + 1))]

    assert sight(wants(), crowd)[0] == ["read", "tool_call", "tool_search"]


def test_in_code_mode_they_are_functions():
    assert sight(wants(code=True)) == (["grep", PYTHON, "read"], ["jobs", "wait"])
    assert sight(wants(code=True, agent=("grep",))) == (["grep", PYTHON], [])
    assert sight(wants(code=True, max_server_tokens=10), server_tools=SERVER_TOOLS)[0][-2:] == [
        "tool_call",
        "tool_search",
    ]
    with pytest.raises(ConfigError, match="code mode needs the tool python"):
        sight(wants(code=True), OWN[:1])
