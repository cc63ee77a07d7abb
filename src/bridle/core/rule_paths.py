"""Rules with absolute paths, translated for a working directory.

The paths of calls are relative inside the working directory and absolute outside of it. So an absolute
pattern that reaches into the directory needs a relative copy:

```
/home/ann/.ssh/**    from /home/ann        also  .ssh/**
/home/*/src/**       from /home/ann/src    also  **
/home/ann            from /home/ann/src    also  **        (deny and ask: a folder means all its contents)
```
"""

from collections.abc import Iterator

from msgspec.structs import replace

from bridle.core.permission import SHELL_TOOL, Rule, rule_matches
from bridle.core.tool import Subject


def localize_rule(rule: Rule, cwd: str) -> Iterator[Rule]:
    """Yield a rule, and its relative copies for paths in the working directory."""
    yield rule
    if rule.pattern.startswith("/") and rule.tool != SHELL_TOOL:
        for pattern in _twins(rule, [part for part in cwd.split("/") if part]):
            yield replace(rule, pattern=pattern)


def _twins(rule: Rule, folders: list[str]) -> Iterator[str]:
    """Match the pattern against the folders from the root; yield what is left of the pattern after them."""
    names = rule.pattern[1:].split("/")
    places = _with_skips(names, {0})
    is_covered = False
    for folder in folders:
        is_covered |= len(names) in places
        fitting = {place for place in places if place < len(names) and _is_name(names[place], folder)}
        places = _with_skips(names, {place + (names[place] != "**") for place in fitting})
    if len(names) in places and rule.action == "allow":
        yield "."
    if rule.action != "allow" and (is_covered or len(names) in places):
        yield "**"
        return
    for place in sorted(places - {len(names)}):
        if not (place - 1 in places and names[place - 1] == "**"):  # that copy already covers this one
            yield "/".join(names[place:])


def _with_skips(names: list[str], places: set[int]) -> set[int]:
    """Add the positions after each `**`, which may match no folder at all."""
    found = set(places)
    for place, name in enumerate(names):
        if place in found and name == "**":
            found.add(place + 1)
    return found


def _is_name(pattern: str, folder: str) -> bool:
    return pattern == "**" or rule_matches(Rule("allow", "x", pattern), "x", Subject("path", folder))
