"""Options of Bridle, of a session and of a run are merged."""

from typing import Any

import pytest

import bridle
from bridle.core.budget import Limits
from bridle.core.protocol import RunOptions
from bridle.surfaces.python.options import check_tool_names, merge_options, run_options

ENVIRON = {"HOME": "/home/jo"}


def options(**keywords: Any) -> RunOptions:
    return run_options(merge_options({}, **keywords), None, "/home/jo/project", ENVIRON)


def test_the_nearest_counts_and_rules_limits_and_params_are_joined():
    far = merge_options(
        {}, model="a/b", mode="plan", allow=["x"], limits=Limits(turns=1, tokens=2), params={"p": 1, "q": 1}
    )
    near = merge_options(far, model="c/d", allow=["y"], deny=["z"], limits=Limits(turns=3), params={"q": 2})

    assert run_options(near, None, "/", ENVIRON) == RunOptions(
        model="c/d",
        mode="plan",
        allow=("x", "y"),
        deny=("z",),
        limits=Limits(turns=3, tokens=2),
        params={"p": 1, "q": 2},
    )


def test_nothing_said_is_no_difference():
    assert options() == RunOptions()


@pytest.mark.parametrize(
    ("keywords", "tools"),
    [
        ({"builtins": True}, None),
        ({"builtins": False}, ()),
        ({"builtins": ["grep"]}, ("grep",)),
        ({"builtins": False, "code": True}, ("python",)),
    ],
)
def test_which_tools_a_run_has(keywords: dict[str, Any], tools: tuple[str, ...] | None):
    assert options(**keywords).builtins == tools


def test_rules_are_seen_from_the_folder_of_the_session():
    assert options(allow=["read_file(~/project/src/**)"]).allow == (
        "read_file(/home/jo/project/src/**)",
        "read_file(src/**)",
    )
    with pytest.raises(bridle.ConfigError, match="malformed rule"):
        options(deny=["("])


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"modell": "a/b"}, 'unknown option "modell"'),
        ({"allow": "bash"}, "allow is a list of texts, not one"),
        ({"deny": [5]}, r"deny is a list of texts, not \[5\]"),
        ({"limits": 5}, "limits are not 5"),
        ({"builtins": "grep"}, "builtins is a list of texts, not one"),
        ({"builtins": [5]}, r"builtins is a list of texts, not \[5\]"),
        ({"builtins": 5}, "builtins is a list of texts, not 5"),
    ],
)
def test_what_is_no_option_is_refused(keywords: dict[str, Any], problem: str):
    with pytest.raises(bridle.UsageError, match=problem):
        merge_options({}, **keywords)


KNOWN = ["grep", "glob", "web_fetch", "stock"]


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"builtins": ["gerp"]}, "builtins: no tool is named 'gerp' (hint: did you mean grep?)"),
        (
            {"without_tools": ["Web-Fetch"]},
            "without_tools: no tool is named 'Web-Fetch' (hint: did you mean web_fetch?)",
        ),
        (
            {"builtins": ["zzz"]},
            f"builtins: no tool is named 'zzz' (hint: available tools: {', '.join(KNOWN)})",
        ),
        (
            {"builtins": ["x" * 500]},
            f"builtins: no tool is named '{'x' * 80}' (hint: available tools: {', '.join(KNOWN)})",
        ),
    ],
)
def test_a_name_that_no_tool_has_is_refused(keywords: dict[str, Any], problem: str):
    with pytest.raises(bridle.UsageError) as caught:
        check_tool_names(merge_options({}, **keywords), KNOWN)

    assert str(caught.value) == problem


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"builtins": False},
        {"builtins": ["grep", "web_*", "mcp__git__log"], "without_tools": ["stock", "mcp__git__*"]},
    ],
)
def test_names_of_tools_patterns_and_tools_of_servers_are_taken(keywords: dict[str, Any]):
    check_tool_names(merge_options({}, **keywords), KNOWN)
