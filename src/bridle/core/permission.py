"""Rules: what an agent may do without asking, what it must ask for, and what it may never do.

```
rule     = tool [ "(" pattern ")" ]          bash(git status:*)   edit_file(src/**)   mcp__github__*
pattern  = path glob | command prefix ":*" | "domain:" host glob
verdict  = deny > ask > allow > what the mode says      (mode yolo never asks, but obeys deny)
```

A call is judged by every subject it touches: it is allowed only if all of them are allowed, and denied if
any of them is denied.

Deny and ask rules apply broadly, allow rules narrowly. A deny or ask rule for a path of `read_file` applies
to every tool that would touch that path, and one for a path of an editing tool to every tool that would
change it; it covers a folder with all its contents, and a program under any path. An allow rule applies only
to its own tool, and literally.

Even in mode accept-edits, writing a file that makes one of the user's programs run something by itself needs
an approval (`traps`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.core.tool import Access, AccessClass, Subject
from bridle.core.traps import trap_in

Action = Literal["allow", "ask", "deny"]
Mode = Literal["ask", "plan", "accept-edits", "yolo"]

READING_TOOL = "read_file"
EDITING_TOOLS = ("write_file", "edit_file", "multi_edit")
NETWORK_TOOLS = ("web_fetch", "download")
SHELL_TOOL = "bash"

_RULE = re.compile(r"(?P<tool>[A-Za-z0-9_*-]+)(?:\((?P<pattern>.+)\))?", re.DOTALL)
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]+")

MAX_RULE_CHARS = 4096  # no path is longer

MODE_TABLE: dict[Mode, dict[AccessClass, Action]] = {
    "ask": {"read": "allow", "write": "ask", "execute": "ask", "network": "ask"},
    "plan": {"read": "allow", "write": "deny", "execute": "deny", "network": "ask"},
    "accept-edits": {"read": "allow", "write": "allow", "execute": "ask", "network": "ask"},
    "yolo": {"read": "allow", "write": "allow", "execute": "allow", "network": "allow"},
}


class Rule(Struct, frozen=True):
    """A permission rule: allow, ask or deny the use of a tool."""

    action: Action
    tool: str
    pattern: str = ""
    """Empty means every use of the tool."""

    def __str__(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool


class Verdict(Struct, frozen=True):
    """The decision about a call, and why."""

    action: Action
    why: str
    rule: Rule | None = None
    """The rule that decided; None if the mode did."""


def parse_rule(action: Action, text: str) -> Rule:
    """Parse a rule as a user writes it; raises ConfigError if it is malformed."""
    if len(text) > MAX_RULE_CHARS:
        raise ConfigError(f'rule "{text[:40]}…" has more than {MAX_RULE_CHARS} characters')
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            f'malformed rule "{text}"', hint='write tool or tool(pattern), for example "edit_file(src/**)"'
        )
    tool, pattern = match["tool"], match["pattern"] or ""
    if not pattern.startswith("domain:"):
        if ":*" in pattern[:-1]:
            raise ConfigError(f'malformed rule "{text}": ":*" may only end a pattern')
        if pattern == ":*":
            raise ConfigError(f'malformed rule "{text}": ":*" needs a command before it')
        if pattern and tool in NETWORK_TOOLS:
            raise ConfigError(
                f'malformed rule "{text}": a pattern of {tool} is a domain',
                hint=f'write "{tool}(domain:{pattern})"',
            )
        if pattern and tool != SHELL_TOOL:
            pattern = _clean_path(pattern, text)
    return Rule(action, tool, pattern)


def _clean_path(pattern: str, text: str) -> str:
    """Normalize a path pattern like the paths of calls; raises ConfigError if it could never match."""
    if "\\" in pattern:
        raise ConfigError(f'malformed rule "{text}": use slashes in a path, not backslashes')
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ConfigError(
            f'malformed rule "{text}": ".." is not supported in a rule', hint="write the full path"
        )
    root = "/" if pattern.startswith("/") else ""
    if pattern.endswith("/"):  # a folder means all its contents
        parts.append("**")
    return root + "/".join(parts) or "."


def check_examples(rule: Rule, match: Sequence[str], not_match: Sequence[str]) -> None:
    """Test a rule on its author's examples; raises ConfigError for the first that does not fit."""
    for example, wanted in [*((text, True) for text in match), *((text, False) for text in not_match)]:
        if rule_matches(rule, rule.tool, _example(rule, example)) != wanted:
            said = "should match" if wanted else "should not match"
            raise ConfigError(f'rule "{rule}" {said} "{example}", but does{"" if not wanted else " not"}')


def _example(rule: Rule, text: str) -> Subject:
    if rule.pattern.startswith("domain:"):
        return Subject("domain", text)
    if rule.tool == SHELL_TOOL:
        return Subject("command", " ".join(text.split()))
    return Subject("path", text, "write")


def judge(access: Access, rules: Sequence[Rule], mode: Mode) -> Verdict:
    """Decide about a call; a deny rule always wins, in every mode."""
    verdicts = [_judge_part(access, subject, rules, mode) for subject in _subjects(access)]
    for verdict in verdicts:
        if verdict.action == "deny":
            return verdict
    if access.doubt and (mode != "yolo" or any(rule.action == "deny" and rule.pattern for rule in rules)):
        return Verdict("ask", access.doubt)
    if access.unseen and (rule := _protects_files(rules, mode)):
        return Verdict("ask", f"{access.unseen}, and rule {rule.action} {rule} protects some of them", rule)
    for verdict in verdicts:
        if verdict.action == "ask":
            return verdict
    if access.unproven and mode != "yolo" and all(verdict.rule is None for verdict in verdicts):
        return Verdict("ask", access.unproven)
    return verdicts[0]


def _judge_part(access: Access, subject: Subject, rules: Sequence[Rule], mode: Mode) -> Verdict:
    """Decide about one subject of a call; an unproven command needs an allow rule."""
    verdict = _judge_subject(access.tool, subject, rules, mode)
    is_free = verdict.action == "allow" and verdict.rule is None and mode != "yolo"
    if is_free and access.unproven and subject.kind == "command":
        return Verdict("ask", access.unproven)
    return verdict


def _protects_files(rules: Sequence[Rule], mode: Mode) -> Rule | None:
    """Return a rule that protects files from being read, or None; mode yolo ignores ask rules."""
    actions = ("deny",) if mode == "yolo" else ("deny", "ask")
    for rule in rules:
        is_path = rule.pattern and not rule.pattern.startswith("domain:")
        if rule.action in actions and is_path and _names(rule, READING_TOOL):
            return rule
    return None


def _subjects(access: Access) -> Iterator[Subject]:
    """Yield the subjects to judge, each with its access class."""
    for subject in access.subjects or (Subject("text", ""),):
        yield subject if subject.access is not None else replace(subject, access=access.access)


def _judge_subject(tool: str, subject: Subject, rules: Sequence[Rule], mode: Mode) -> Verdict:
    matching = {rule.action: rule for rule in reversed(rules) if rule_matches(rule, tool, subject)}
    access = subject.access or "read"
    if rule := matching.get("deny"):
        return Verdict("deny", f"rule deny {rule}", rule)
    default = MODE_TABLE[mode][access]
    if default == "deny":
        return Verdict("deny", f"mode {mode}: no {access} access")
    if mode == "yolo":
        return Verdict("allow", "mode yolo")
    if rule := matching.get("ask"):
        return Verdict("ask", f"rule ask {rule}", rule)
    if rule := matching.get("allow"):
        return Verdict("allow", f"rule allow {rule}", rule)
    if default == "allow" and (trap := _trap(subject)):
        return Verdict("ask", f"{trap} can make other programs run code (mode {mode})")
    return Verdict(default, f"{_describe(subject)} (mode {mode})")


def _describe(subject: Subject) -> str:
    """Return what a call does to a subject, as a phrase for people."""
    match subject.access or "read":
        case "read":
            return "reads a file" if subject.kind == "path" else "only reads"
        case "write":
            return "writes a file" if subject.kind == "path" else "makes changes"
        case "execute":
            return "runs a command" if subject.kind == "command" else "runs code"
        case "network":
            return "uses the network"


def _trap(subject: Subject) -> str:
    if subject.kind != "path" or subject.access != "write":
        return ""
    return trap_in(subject.value) or subject.trap


def rule_matches(rule: Rule, tool: str, subject: Subject | None) -> bool:
    """Return True if a rule applies to this tool and subject."""
    if subject is None or not rule.pattern:
        names = (tool, subject.tool) if subject is not None and subject.tool else (tool,)
        return not rule.pattern and any(_names(rule, name) for name in names)
    match subject.kind:
        case "path":
            return _speaks_of_path(rule, subject.tool or tool, subject)
        case "command":
            return _names(rule, tool) and _matches_command(rule, subject.value)
        case "domain":
            return _speaks_of_domain(rule, subject.tool or tool, subject.value)
        case "text":
            return _names(rule, tool) and _fits(rule.pattern, subject.value)


def _names(rule: Rule, tool: str) -> bool:
    return _fits(rule.tool, tool)


def _fits(pattern: str, text: str) -> bool:
    return _wildcard(pattern).fullmatch(text) is not None


def _speaks_of_path(rule: Rule, tool: str, subject: Subject) -> bool:
    covering = [tool]
    if rule.action != "allow":
        covering += [READING_TOOL, *(EDITING_TOOLS if subject.access == "write" else ())]
    if not any(_names(rule, name) for name in covering):
        return False
    if path_glob(rule.pattern).fullmatch(subject.value) is not None:
        return True
    return rule.action != "allow" and _covers_folder(rule.pattern, subject.value)


def _speaks_of_domain(rule: Rule, tool: str, host: str) -> bool:
    covering = (tool,) if rule.action == "allow" else (tool, *NETWORK_TOOLS)
    if not rule.pattern.startswith("domain:") or not any(_names(rule, name) for name in covering):
        return False
    return _fits(rule.pattern.removeprefix("domain:").lower(), host.lower().rstrip("."))


def _covers_folder(pattern: str, path: str) -> bool:
    """Return True if a path is the folder that a pattern names, or lies below it."""
    folder = pattern.removesuffix("/**").rstrip("/")
    return (
        path_glob(folder).fullmatch(path) is not None or path_glob(folder + "/**").fullmatch(path) is not None
    )


def _matches_command(rule: Rule, command: str) -> bool:
    if _matches_words(rule.pattern, command):
        return True
    program, space, rest = command.partition(" ")
    by_path = rule.action != "allow" and "/" in program
    return by_path and _matches_words(rule.pattern, program.rpartition("/")[2] + space + rest)


def _matches_words(pattern: str, command: str) -> bool:
    if pattern.endswith(":*"):
        prefix = pattern[:-2]
        return command == prefix or command.startswith(prefix + " ")
    return _fits(pattern, command)


def hidden_patterns(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the path patterns that may not be read."""
    return tuple(rule.pattern for rule in _path_denials(rules) if _names(rule, READING_TOOL))


def guarded_patterns(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the path patterns that may not be changed."""
    return tuple(
        rule.pattern for rule in _path_denials(rules) if any(_names(rule, name) for name in EDITING_TOOLS)
    )


def _path_denials(rules: Sequence[Rule]) -> Iterator[Rule]:
    for rule in rules:
        if rule.action == "deny" and rule.pattern and not rule.pattern.startswith("domain:"):
            yield rule


def suggest_rules(access: Access, rules: Sequence[Rule], mode: Mode) -> tuple[str, ...]:
    """Suggest general allow rules so that calls like this one need no further approval.

    Returns () if no rule can do that: an ask rule applies, a name contains characters that a rule would read
    as a pattern, or allowing such calls in general would be careless.
    """
    is_hidden = access.unseen and _protects_files(rules, mode)
    if access.doubt or is_hidden or not _TOOL_NAME.fullmatch(access.tool):
        return ()
    proposed: list[str] = []
    for subject in _subjects(access):
        verdict = _judge_part(access, subject, rules, mode)
        if verdict.action == "deny":
            return ()
        if verdict.action != "ask":
            continue
        is_careless = verdict.rule is not None or _trap(subject) != ""
        rule = "" if is_careless else _general(subject.tool or access.tool, subject)
        if not _would_allow(rule, access.tool, subject):
            return ()
        proposed.append(rule)
    return tuple(dict.fromkeys(proposed))


def _general(tool: str, subject: Subject) -> str:
    match subject.kind:
        case "path":
            folder, slash, _ = subject.value.rpartition("/")
            pattern = f"{folder}/**" if folder else f"{slash}*"
            return f"{tool}({pattern})" if _is_literal(folder) else ""
        case "command":
            return f"{tool}({subject.general})" if subject.general else ""
        case "domain":
            return f"{tool}(domain:{subject.value})" if _is_literal(subject.value) else ""
        case "text":
            return tool


def _would_allow(text: str, tool: str, subject: Subject) -> bool:
    try:
        return rule_matches(parse_rule("allow", text), tool, subject)
    except ConfigError:
        return False


def _is_literal(name: str) -> bool:
    return "*" not in name and "?" not in name


# A text between two stars matches at its first position only (an atomic group): the star after it can match
# everything up to a later position, so backtracking never helps, and no pattern takes exponential time.


@lru_cache(maxsize=1024)
def _wildcard(pattern: str) -> re.Pattern[str]:
    return re.compile(_starred(pattern.split("*"), ".", re.escape), re.DOTALL)


@lru_cache(maxsize=1024)
def path_glob(pattern: str) -> re.Pattern[str]:
    """Translate the path pattern of a rule: `*` stays inside a folder, `**` crosses folders."""
    first, *others = _CROSSING.split(re.sub(r"(?:\*\*/)+", "**/", pattern))
    stars, pieces = others[::2], [_path_piece(piece) for piece in others[1::2]]
    if not pieces:
        return re.compile(_path_piece(first), re.DOTALL)
    between = "".join(f"(?>{_CROSSED[star]}{piece})" for star, piece in zip(stars, pieces[:-1], strict=False))
    return re.compile(f"(?>{_path_piece(first)}){between}{_CROSSED[stars[-1]]}{pieces[-1]}", re.DOTALL)


_CROSSING = re.compile(r"((?:^|(?<=/))\*\*/|\*\*)")
_CROSSED = {"**/": "(?:.*?/)??", "**": ".*?"}


def _path_piece(piece: str) -> str:
    return "/".join(_starred(name.split("*"), "[^/]", _literal_name) for name in piece.split("/"))


def _literal_name(text: str) -> str:
    return "[^/]".join(map(re.escape, text.split("?")))


def _starred(texts: list[str], any_char: str, translate: Callable[[str], str]) -> str:
    first, *others = map(translate, texts)
    if not others:
        return first
    between = "".join(f"(?>{any_char}*?{text})" for text in others[:-1])
    return f"{first}{between}{any_char}*?{others[-1]}"
