"""Paths that a program may not create or change."""

import pytest

from bridle.core.permission import Rule
from bridle.sandbox.path_check import build_path_check
from bridle.sandbox.protected_paths import ProtectedPaths

RULES = [
    Rule("deny", "read_file", "secrets/**"),
    Rule("deny", "edit_file", "*.lock"),
    Rule("deny", "edit_file", "~/notes/**"),
    Rule("deny", "bash", "rm:*"),
    Rule("allow", "edit_file", "src/**"),
    Rule("deny", "bash", "domain:example.com"),
]


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/p/a.txt", False),
        ("/p/secrets", True),
        ("/p/secrets/new", True),
        ("/p/yarn.lock", True),
        ("/p/sub/yarn.lock", False),
        ("/home/u/notes/a", True),
        ("/p/.bridle", True),
        ("/p/.bridle/config.toml", True),
        ("/p/.bridlex", False),
        ("/p/.mcp.json", True),
        ("/p/sub/.mcp.json", False),
        ("/p/.git/hooks/pre-commit", True),
        ("/p/new/.git/hooks/pre-commit", True),
        ("/p/new/.git/hooks/pre-commit.sample", False),
        ("/p/.git/index", False),
        ("/p/.git/refs/heads/hooks/x", False),
        ("/p/.git/modules/a/b/hooks/post-checkout", True),
        ("/p/.git/commondir", True),
        ("/p/.git/commondirs", False),
        ("/p/.git/worktrees/new/commondir", False),
        ("/p/.git/modules/a/commondir", True),
        ("/p/.git/config.worktree", True),
        ("/q/secrets/x", True),
        ("/p/fixed/x", True),
        ("/p/way", True),
        ("/p/way/beside", False),
    ],
)
def test_rules_own_files_and_hooks_are_refused(path: str, refused: bool):
    unwalled = ProtectedPaths(fixed=("/p/fixed",), pinned=("/p/way",))

    assert build_path_check(RULES, ["/p", "/q"], "/p", "/home/u", unwalled)(path) is refused
