from pathlib import Path
from typing import Any

import pytest

from bridle.config.agents import load_agent
from bridle.config.rules import anchor_rules, resolve_rules
from bridle.config.settings import load_settings
from bridle.core.errors import ConfigError
from bridle.core.permission import Rule


def refusal(home: Path, text: str) -> str:
    (home / "config.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings({"HOME": str(home.parent)}, home.parent)
    return str(caught.value)


def test_both_forms_stand_in_one_list(home: Path):
    (home / "config.toml").write_text(
        '[rules]\ndeny = ["read_file(.env)", { rule = "bash(git push:*)", match = ["git push -f"] }]\n'
        '[[rules.ask]]\nrule = "bash(rm:*)"\nmatch = ["rm -r x"]\nnot_match = ["rmdir x"]\n'
    )

    rules = load_settings({"HOME": str(home.parent)}, home.parent).rules

    assert [rules.deny, rules.ask] == [("read_file(.env)", "bash(git push:*)"), ("bash(rm:*)",)]
    assert rules.rules() == (
        Rule("deny", "read_file", ".env"),
        Rule("deny", "bash", "git push:*"),
        Rule("ask", "bash", "rm:*"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '\nallow = [\n "a",\n "b(",\n]',
            (
                '5: rules.allow[1]: malformed rule "b(" '
                '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'
            ),
        ),
        (
            'deny = [\n { rule = "bash(git push:*)", match = ["git pull"] }]',
            '3: rules.deny[0]: rule "bash(git push:*)" should match "git pull", but does not',
        ),
        (
            'allow = [\n { rule = "bash(git:*)", not_match = ["git pull"] }]',
            '3: rules.allow[0]: rule "bash(git:*)" should not match "git pull", but does',
        ),
        (
            'deny = ["a", { rule = "b", mach = [] }]',
            "2: unknown key rules.deny[1].mach (hint: did you mean rules.deny[1].match?)",
        ),
        (
            'deny = [{ match = ["x"] }]',
            '2: rules.deny[0] has no rule (hint: write { rule = "bash(ls:*)", match = ["ls -l"] })',
        ),
        ("deny = [{ rule = 5 }]", "2: rules.deny[0].rule must be text, not 5"),
        ('deny = [{ rule = "a", match = "x" }]', '2: rules.deny[0].match must be a list, not "x"'),
        ('deny = [{ rule = "a", match = [1] }]', "2: rules.deny[0].match[0] must be text, not 1"),
        ("deny = [5]", '2: rules.deny[0] must be a rule such as "edit_file(src/**)", not 5'),
        (
            'deny = ["edit_file(a\\\\b)"]',
            '2: rules.deny[0]: malformed rule "edit_file(a\\b)": use slashes in a path, not backslashes',
        ),
        (
            'deny = ["web_fetch(x.org)"]',
            (
                '2: rules.deny[0]: malformed rule "web_fetch(x.org)": a pattern of web_fetch is a domain '
                '(hint: write "web_fetch(domain:x.org)")'
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_with_file_line_and_key(home: Path, text: str, message: str):
    assert refusal(home, f"[rules]\n{text}\n") == f"{home / 'config.toml'}:{message}"


def test_an_example_is_tried_as_the_list_means_it(home: Path):
    """A deny rule knows a program by any path, an allow rule does not."""
    item = '{ rule = "bash(rm:*)", match = ["/bin/rm x"] }'
    (home / "config.toml").write_text(f"[rules]\ndeny = [{item}]\n")

    assert load_settings({"HOME": str(home.parent)}, home.parent).rules.deny == ("bash(rm:*)",)
    assert refusal(home, f"[rules]\nallow = [{item}]\n") == (
        f'{home / "config.toml"}:2: rules.allow[0]: rule "bash(rm:*)" should match "/bin/rm x", but does not'
    )


def test_an_agent_has_both_forms_too(home: Path):
    folder = home / "agents" / "coder"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[rules]\nask = [{ rule = "bash", not_match = ["ls"] }]\n')

    with pytest.raises(ConfigError) as caught:
        load_agent("coder", load_settings({"HOME": str(home.parent)}, home.parent))

    assert str(caught.value) == (
        f'{folder / "config.toml"}:2: rules.ask[0]: rule "bash" should not match "ls", but does'
    )


def test_rules_are_seen_from_the_working_directory():
    rules = [
        Rule("deny", "read_file", "~/.ssh/**"),
        Rule("deny", "read_file", "~"),
        Rule("deny", "bash", "~/bin/x:*"),
        Rule("deny", "edit_file", "~x"),
        Rule("allow", "edit_file", "/w/src/**"),
    ]

    assert resolve_rules(rules, Path("/home/ann"), Path("/w")) == (
        Rule("deny", "read_file", "/home/ann/.ssh/**"),
        Rule("deny", "read_file", "/home/ann"),
        Rule("deny", "bash", "~/bin/x:*"),
        Rule("deny", "edit_file", "~x"),
        Rule("allow", "edit_file", "/w/src/**"),
        Rule("allow", "edit_file", "src/**"),
    )


def test_without_a_home_nothing_lies_below_it():
    with pytest.raises(ConfigError) as caught:
        resolve_rules([Rule("deny", "read_file", "~/x")], None, Path("/w"))

    assert str(caught.value) == 'rule "read_file(~/x)": no home folder (hint: set HOME)'


@pytest.mark.parametrize(
    ("rules", "moved"),
    [
        ({"deny": ["read_file(secrets/**)"]}, {"deny": ["read_file(/p/secrets/**)"]}),
        ({"ask": [{"rule": "edit_file(./a)", "match": ["a"]}]}, {"ask": ["edit_file(/p/a)"]}),
        (
            {"deny": ["bash(rm a)", "bash", "web_fetch(domain:x)", "edit_file(/a)", "edit_file(~/a)"]},
            {"deny": ["bash(rm a)", "bash", "web_fetch(domain:x)", "edit_file(/a)", "edit_file(~/a)"]},
        ),
        ({"mode": "plan"}, {"mode": "plan"}),
    ],
)
def test_a_project_speaks_of_its_own_paths(rules: dict[str, Any], moved: dict[str, Any]):
    tree = {"model": "a/b", "rules": rules}

    assert anchor_rules(tree, Path("/p"), Path("/p/sub")) == {"model": "a/b", "rules": moved}
    assert anchor_rules(tree, Path("/p"), Path("/p")) == tree
    assert anchor_rules({}, Path("/p"), Path("/p/sub")) == {}


def test_a_projects_rule_holds_in_all_of_its_folders(home: Path):
    project = home.parent / "project"
    (project / ".bridle").mkdir(parents=True)
    (project / "src").mkdir()
    (project / ".bridle" / "config.toml").write_text(
        '[rules]\ndeny = ["read_file(secrets/**)", "edit_file(src/gen/**)"]\n'
    )

    agent = load_agent("default", load_settings({"HOME": str(home.parent)}, project / "src")).agent

    assert agent.rules == (
        Rule("deny", "read_file", f"{project}/secrets/**"),
        Rule("deny", "edit_file", f"{project}/src/gen/**"),
        Rule("deny", "edit_file", "gen/**"),
    )
