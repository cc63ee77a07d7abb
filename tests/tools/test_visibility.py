"""Rules decide which results a search shows."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.permission import Action, Mode, Rule, parse_rule
from bridle.core.ports import ToolContext
from bridle.tools import visibility
from bridle.tools.visibility import LEFT_OUT, VisibilityFilter, has_denied_name

RULES = (parse_rule("deny", "read_file(secrets/**)"),)


@pytest.fixture
def secret(cwd: Path) -> Path:
    (cwd / "secrets").mkdir()
    (cwd / "secrets" / "key").write_text("hunter2")
    return cwd / "secrets" / "key"


def denied(path: Path, context: ToolContext) -> bool:
    return has_denied_name(os.lstat(path), replace(context, rules=RULES))


def test_another_name_of_a_denied_file_is_denied(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")

    assert denied(cwd / "harmless", context)


def test_a_file_with_two_names_that_no_rule_denies_is_not(cwd: Path, secret: Path, context: ToolContext):
    (cwd / "a").write_text("a")
    os.link(cwd / "a", cwd / "b")

    assert not denied(cwd / "a", context)


def test_without_a_rule_nothing_is_looked_for(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")

    assert not has_denied_name(os.lstat(cwd / "harmless"), context)


def test_a_tree_that_is_too_large_to_look_through_hides_what_has_two_names(
    cwd: Path, secret: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(visibility, "MAX_ENTRIES", 2)
    (cwd / "a").write_text("a")
    os.link(cwd / "a", cwd / "b")
    os.link(cwd / "a", cwd.parent / "outside")

    assert denied(cwd / "a", context)


def test_a_file_of_another_device_is_another_file(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")
    found = os.lstat(cwd / "harmless")
    fields = list(found)
    fields[2] += 1  # the device: as below a mount, which has its own inode numbers

    assert not has_denied_name(os.stat_result(fields), replace(context, rules=RULES))


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
