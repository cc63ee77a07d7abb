"""Rules as users write them: a string, or a table with examples that check the rule.

```toml
deny = [
    "read_file(~/.ssh/**)",
    { rule = "bash(git push:*)", match = ["git push -f"], not_match = ["git pull"] },
]
```

A path in a rule is relative to the working directory, or to the project if a project defines the rule;
`~/` is the user's home folder.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.core.permission import SHELL_TOOL, Action, Rule, check_examples, parse_rule
from bridle.core.rule_paths import localize_rule

ACTIONS: tuple[Action, ...] = ("deny", "ask", "allow")
"""The strictest first."""


class RuleText(str):
    """A rule as the user wrote it; its class says which list it is in."""

    __slots__ = ()
    action: ClassVar[Action] = "deny"


class DenyText(RuleText):
    """A rule of the list `deny`."""

    __slots__ = ()


class AskText(RuleText):
    """A rule of the list `ask`."""

    __slots__ = ()
    action = "ask"


class AllowText(RuleText):
    """A rule of the list `allow`."""

    __slots__ = ()
    action = "allow"


class RuleTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule with examples, which are checked when it is read."""

    rule: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


def read_rule(kind: type[RuleText], table: RuleTable) -> RuleText:
    """Check a rule and its examples; raises ConfigError."""
    check_examples(parse_rule(kind.action, table.rule), table.match, table.not_match)
    return kind(table.rule)


def rule_text(item: Any) -> str:
    """Return the rule of an item in a file, which may be a string or a table."""
    return str(item["rule"] if isinstance(item, dict) else item)


def resolve_rules(rules: Iterable[Rule], user_folder: Path | None, cwd: Path) -> tuple[Rule, ...]:
    """Return rules as they apply in a working directory; raises ConfigError for `~/` without a home."""
    return tuple(local for rule in rules for local in localize_rule(_below_home(rule, user_folder), str(cwd)))


def _below_home(rule: Rule, user_folder: Path | None) -> Rule:
    if rule.tool == SHELL_TOOL or not (rule.pattern == "~" or rule.pattern.startswith("~/")):
        return rule
    if user_folder is None:
        raise ConfigError(f'rule "{rule}": no home folder', hint="set HOME")
    return replace(rule, pattern=f"{str(user_folder).rstrip('/')}{rule.pattern[1:]}")


def anchor_rules(tree: dict[str, Any], project: Path, cwd: Path) -> dict[str, Any]:
    """Return a project's tree with the relative paths of its rules made relative to the project."""
    if project == cwd or not isinstance(tree.get("rules"), dict):
        return tree
    lists = {
        action: [_moved(action, item, project) for item in tree["rules"][action]]
        for action in ACTIONS
        if action in tree["rules"]
    }
    return {**tree, "rules": {**tree["rules"], **lists}}


def _moved(action: Action, item: Any, project: Path) -> str:
    rule = parse_rule(action, rule_text(item))
    is_path = rule.pattern and rule.tool != SHELL_TOOL and not rule.pattern.startswith("domain:")
    if not is_path or rule.pattern.startswith(("/", "~")):
        return str(rule)
    return str(replace(rule, pattern=f"{str(project).rstrip('/')}/{rule.pattern}"))
