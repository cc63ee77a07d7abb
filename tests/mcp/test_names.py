"""Names of what servers offer."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridle.config.server_keys import ServerName
from bridle.config.validation import problems
from bridle.core.permission import Rule, rule_matches
from bridle.mcp.names import MAX_NAME_CHARS, full_name


def test_a_name_says_server_and_tool():
    assert full_name("git", "log") == "mcp__git__log"


def test_what_vendors_refuse_becomes_an_underscore():
    assert full_name("my.server", "läs mig/nu") == "mcp__my_server__l_s_mig_nu"


def test_long_names_that_begin_alike_stay_apart():
    one, other = full_name("server", "x" * 100 + "1"), full_name("server", "x" * 100 + "2")

    assert len(one) == len(other) == MAX_NAME_CHARS
    assert one[:55] == other[:55]
    assert one != other


def test_a_rule_for_all_tools_of_a_server_holds_however_long_their_names_are():
    server = "s" * 48
    made = full_name(server, "x" * 100)

    assert (next(problems({server: {}}, dict[ServerName, Any]), None), len(made)) == (None, MAX_NAME_CHARS)
    assert next(problems({server + "s": {}}, dict[ServerName, Any]), None) is not None
    assert rule_matches(Rule("deny", f"mcp__{server}__*"), made, None)


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_name_is_one_that_vendors_take(server: str, tool: str):
    name = full_name(server, tool)

    assert re.fullmatch(r"mcp__[A-Za-z0-9_-]+", name)
    assert len(name) <= MAX_NAME_CHARS
    assert name == full_name(server, tool)
