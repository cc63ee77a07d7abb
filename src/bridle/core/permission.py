"""Rules: what an agent may do without asking, what it must ask for, and what it may never do.

```
rule     = tool [ "(" pattern ")" ]          bash(git status:*)   edit_file(src/**)   mcp__github__*
pattern  = path glob | command prefix ":*" | "domain:" host glob
verdict  = deny > ask > allow > what the mode says      (mode yolo never asks, but obeys deny)
```

A call is judged by every subject it touches: it is allowed only if all of them are, and denied if
any of them is.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.core.tool import Access, AccessClass, Subject

Action = Literal["allow", "ask", "deny"]
Mode = Literal["ask", "plan", "accept-edits", "yolo"]

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_*-]+)(?:\((?P<pattern>.+)\))?", re.DOTALL)
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]+")

_GLOB_PARTS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

MODE_TABLE: dict[Mode, dict[AccessClass, Action]] = {
    "ask": {"read": "allow", "write": "ask", "execute": "ask", "network": "ask"},
    "plan": {"read": "allow", "write": "deny", "execute": "deny", "network": "ask"},
    "accept-edits": {"read": "allow", "write": "allow", "execute": "ask", "network": "ask"},
    "yolo": {"read": "allow", "write": "allow", "execute": "allow", "network": "allow"},
}


class Rule(Struct, frozen=True):
    """A standing permission."""

    action: Action
    tool: str
    pattern: str = ""
    """Empty means every use of the tool."""

    def __str__(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool


class Verdict(Struct, frozen=True):
    """What the rules say about a call, and why."""

    action: Action
    why: str


def parse_rule(action: Action, text: str) -> Rule:
    """Read a rule as a user writes it; raises ConfigError when it is malformed."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            f'malformed rule "{text}"', hint='write tool or tool(pattern), for example "edit_file(src/**)"'
        )
    pattern = match["pattern"] or ""
    if not pattern.startswith("domain:"):
        if ":*" in pattern[:-1]:
            raise ConfigError(f'malformed rule "{text}": ":*" may only end a pattern')
        if pattern == ":*":
            raise ConfigError(f'malformed rule "{text}": ":*" needs a command before it')
    return Rule(action, match["tool"], pattern)


def judge(access: Access, rules: Sequence[Rule], mode: Mode) -> Verdict:
    """Decide one call; a deny rule wins over everything, in every mode."""
    subjects: Sequence[Subject | None] = access.subjects or (None,)
    verdicts = [_judge_subject(access, subject, rules, mode) for subject in subjects]
    for action in ("deny", "ask"):
        for verdict in verdicts:
            if verdict.action == action:
                return verdict
    return verdicts[0]


def _judge_subject(access: Access, subject: Subject | None, rules: Sequence[Rule], mode: Mode) -> Verdict:
    matching = {rule.action: rule for rule in reversed(rules) if rule_matches(rule, access.tool, subject)}
    if rule := matching.get("deny"):
        return Verdict("deny", f"rule deny {rule}")
    default = MODE_TABLE[mode][access.access]
    if default == "deny":
        return Verdict("deny", f"mode {mode} does not allow {access.access} access")
    if mode == "yolo":
        return Verdict("allow", "mode yolo")
    if rule := matching.get("ask"):
        return Verdict("ask", f"rule ask {rule}")
    if rule := matching.get("allow"):
        return Verdict("allow", f"rule allow {rule}")
    return Verdict(default, f"mode {mode}: {access.access} access")


def rule_matches(rule: Rule, tool: str, subject: Subject | None) -> bool:
    """Tell whether a rule speaks about this tool and subject."""
    if not _wildcard(rule.tool).fullmatch(tool):
        return False
    if not rule.pattern:
        return True
    if subject is None:
        return False
    match subject.kind:
        case "path":
            return _glob(rule.pattern).fullmatch(subject.value) is not None
        case "command":
            if rule.pattern.endswith(":*"):
                prefix = rule.pattern[:-2]
                return subject.value == prefix or subject.value.startswith(prefix + " ")
            return _wildcard(rule.pattern).fullmatch(subject.value) is not None
        case "domain":
            if not rule.pattern.startswith("domain:"):
                return False
            return (
                _wildcard(rule.pattern.removeprefix("domain:").lower()).fullmatch(subject.value.lower())
                is not None
            )
        case "text":
            return _wildcard(rule.pattern).fullmatch(subject.value) is not None


def suggest_rule(access: Access) -> str:
    """Propose the general rule that an answer "for this session" would add.

    Empty when a name holds characters that a rule would read as a pattern.
    """
    if not _TOOL_NAME.fullmatch(access.tool):
        return ""
    for subject in access.subjects:
        if subject.kind == "path":
            folder, slash, _ = subject.value.rpartition("/")
            pattern = f"{folder}/**" if folder else f"{slash}*"
            return f"{access.tool}({pattern})" if _is_literal(folder) else ""
        if subject.kind == "command":
            word = subject.value.split(" ")[0]
            return f"{access.tool}({word}:*)" if word and _is_literal(word) else ""
        if subject.kind == "domain":
            return f"{access.tool}(domain:{subject.value})" if _is_literal(subject.value) else ""
    return access.tool


def _is_literal(name: str) -> bool:
    return "*" not in name and "?" not in name


@lru_cache(maxsize=1024)
def _wildcard(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(piece) for piece in pattern.split("*")), re.DOTALL)


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> re.Pattern[str]:
    """Translate a path glob: `*` stays inside a folder, `**` crosses folders."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(_GLOB_PARTS.get(part, re.escape(part)) for part in parts), re.DOTALL)
