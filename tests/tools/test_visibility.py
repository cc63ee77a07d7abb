"""Rules decide which results a search shows."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.permission import Action, Mode, Rule
from bridle.core.ports import ToolContext
from bridle.tools.visibility import LEFT_OUT, VisibilityFilter

PATHS = ("secrets/key", "secrets", "src/a.py", "src/.env", ".env")


def visible(
    context: ToolContext, *rules: Rule, hidden: tuple[Action, ...] = ("deny",), mode: Mode = "ask"
) -> tuple[list[str], str]:
    tells = VisibilityFilter("grep", replace(context, rules=rules, mode=mode), hidden=hidden)
    return [path for path in PATHS if tells(path)], tells.note


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (Rule("deny", "read_file", "secrets/**"), ["src/a.py", "src/.env", ".env"]),
        (Rule("deny", "read_*", "**/.env"), ["secrets/key", "secrets", "src/a.py"]),
        (Rule("deny", "grep", ".env"), ["secrets/key", "secrets", "src/a.py", "src/.env"]),
        (Rule("deny", "read_file"), []),
        (Rule("deny", "grep"), []),
        (Rule("deny", "*", "src"), ["secrets/key", "secrets", ".env"]),
    ],
)
def test_what_is_denied_to_reading_or_to_the_tool_is_hidden(
    context: ToolContext, rule: Rule, left: list[str]
):
    assert visible(context, rule) == visible(context, rule, mode="yolo") == (left, LEFT_OUT)


@pytest.mark.parametrize(
    "rule",
    [
        Rule("allow", "read_file", "src/**"),
        Rule("deny", "write_file", "**"),
        Rule("deny", "glob", "**"),
        Rule("deny", "web_fetch", "domain:*"),
        Rule("deny", "*", "domain:*"),
        Rule("ask", "read_file", "**"),
    ],
)
def test_other_rules_hide_nothing(context: ToolContext, rule: Rule):
    assert visible(context, rule) == (list(PATHS), "")


def test_what_is_asked_for_can_be_hidden_too(context: ToolContext):
    rule = Rule("ask", "read_file", "src/**")

    assert visible(context, rule, hidden=("ask", "deny")) == (["secrets/key", "secrets", ".env"], LEFT_OUT)
    assert visible(context, rule, hidden=("ask", "deny"), mode="yolo")[0] == list(PATHS)


def test_a_place_outside_is_visible_only_where_a_rule_opens_it(context: ToolContext, outside: Path):
    rules = (Rule("allow", "read_file", "/usr/**"), Rule("allow", "bash", "/etc/**"))
    tells = VisibilityFilter("grep", replace(context, rules=rules), hidden=("deny",))

    assert [path for path in ("/usr/a", "/etc/a", "/usra", "/", "a") if tells(path)] == ["/usr/a", "a"]
    assert not VisibilityFilter("grep", context, hidden=())("/usr/a")
