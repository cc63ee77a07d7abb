"""What a program may not change although it lies in a writable folder, judged by path alone.

The sandbox makes paths read-only that exist when a program starts. This module refuses what the program
creates itself: a path that a deny rule matches, Bridle's own files in a project, a new hook in a repository.
"""

import re
from collections.abc import Callable, Sequence

from bridle.core.permission import EDITING_TOOLS, Rule, rule_matches
from bridle.core.tool import Subject
from bridle.sandbox.protected_paths import ProtectedPaths

_OWN = (".bridle", ".mcp.json")  # other traps are moved away at the end, because normal programs create them
# The user's next git command runs a hook, except the samples that `git init` creates; the two files make git
# take its config and its hooks from elsewhere.
_OF_GIT = re.compile(
    r"/\.git/(?:modules/.+/)?(?:hooks/.+(?<!\.sample)|commondir|config\.worktree)\Z", re.DOTALL
)


def build_path_check(
    rules: Sequence[Rule],
    writable: Sequence[str],
    cwd: str,
    home: str,
    unwalled: ProtectedPaths | None = None,
) -> Callable[[str], bool]:
    """Return a function that decides whether a path, absolute and free of links, must not be changed.

    With `unwalled`, it also covers the paths that the sandbox itself cannot fix, pin or hide.
    """
    denials = [_at_home(rule, home) for rule in rules if rule.action == "deny" and rule.pattern]
    walls = unwalled or ProtectedPaths()
    pinned = walls.pinned
    closed = (
        *walls.fixed,
        *walls.hidden_files,
        *walls.hidden_folders,
        *(f"{root.rstrip('/')}/{name}" for root in writable for name in _OWN),
    )
    below = tuple(f"{place}/" for place in closed)

    def refuses(path: str) -> bool:
        if path in closed or path in pinned or path.startswith(below):
            return True
        if "/.git/" in path and _OF_GIT.search(path) is not None:
            return True
        return any(_speaks_of(rule, name) for rule in denials for name in _names(path, writable, cwd))

    return refuses


def _names(path: str, writable: Sequence[str], cwd: str) -> list[str]:
    """Return the forms in which rules may name a path."""
    return [path, *(path[len(base) + 1 :] for base in {cwd, *writable} if path.startswith(base + "/"))]


def _speaks_of(rule: Rule, name: str) -> bool:
    return rule_matches(rule, EDITING_TOOLS[0], Subject("path", name, "write"))


def _at_home(rule: Rule, home: str) -> Rule:
    if not rule.pattern.startswith("~/"):
        return rule
    return Rule(rule.action, rule.tool, f"{home.rstrip('/')}/{rule.pattern[2:]}")
