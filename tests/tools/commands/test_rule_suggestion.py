"""The rule that "always" would add."""

import shlex

import pytest

from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.rule_suggestion import suggest_rule_pattern


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("ls -la", "ls:*"),
        ("pytest -q x", "pytest:*"),
        ("git commit -m x", "git commit:*"),
        ("git stash push x", "git stash push:*"),
        ("git", "git"),
        ("git -C x commit", ""),
        ("git -c a=b status", ""),
        ("git config a b", ""),
        ("npm install x", "npm install:*"),
        ("npm run test:unit -- x", "npm run test:unit:*"),
        ("npm run", ""),
        ("npm --prefix x run y", ""),
        ("make", "make"),
        ("make test", "make test:*"),
        ("make -j4 test", ""),
        ("cargo build --release", "cargo build:*"),
        ("docker compose up -d", "docker compose up:*"),
        ("docker run x", ""),
        ("uv run pytest -q", "uv run pytest:*"),
        ("uv run python x.py", ""),
        ("npx tsc -p .", "npx tsc:*"),
        ("npx rm x", ""),
        ("./run.sh x", "./run.sh:*"),
        ("scripts/check x", "scripts/check:*"),
        ("./bash x", ""),
        ("../x", ""),
        ("/usr/bin/ls", ""),
        ("bash x", ""),
        ("python3 x", ""),
        ("python3.12 x", ""),
        ("rm x", ""),
        ("sudo ls", ""),
        ("xargs ls", ""),
        ("find .", ""),
        ("curl x", ""),
        ("'a b' x", ""),
        ("'a*' x", ""),
        ("git 'a b'", ""),
        ("git 'a*'", ""),
    ],
)
def test_a_pattern_is_general_but_never_careless(line: str, pattern: str):
    fields = [Argument(word, word) for word in shlex.split(line)]

    assert suggest_rule_pattern(fields) == pattern


def test_what_is_not_known_has_no_pattern():
    assert [
        suggest_rule_pattern([Argument("$x")]),
        suggest_rule_pattern([Argument("git", "git"), Argument("$x")]),
    ] == ["", ""]
