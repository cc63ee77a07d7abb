import pytest

from bridle.config.foreign.claude_rules import NO_TOOL, TOO_WIDE, rule_from_claude
from bridle.config.foreign.findings import FoundRule, NotImported


@pytest.mark.parametrize(
    ("action", "written", "rules"),
    [
        ("allow", "Bash(npm run test:*)", ["bash(npm run test:*)"]),
        ("allow", "Bash(git * main)", ["bash(git * main)"]),
        ("deny", "Bash", ["bash"]),
        ("deny", "Bash(*)", ["bash"]),
        ("allow", "Read(//etc/hosts)", ["read_file(/etc/hosts)"]),
        ("allow", "Read(/src/**)", ["read_file(src/**)"]),
        ("deny", "Read(./secrets/**)", ["read_file(secrets/**)"]),
        ("deny", "Read(.env)", ["read_file(**/.env)"]),
        ("allow", "Read(.env)", ["read_file(.env)"]),
        ("deny", "Read(~/.ssh/**)", ["read_file(~/.ssh/**)"]),
        ("allow", "Edit(docs/**)", ["write_file(docs/**)", "edit_file(docs/**)", "multi_edit(docs/**)"]),
        ("ask", "Write(docs/**)", ["edit_file(docs/**)"]),
        ("allow", "Grep", ["grep"]),
        ("allow", "WebFetch(domain:example.com)", ["web_fetch(domain:example.com)"]),
        ("allow", "mcp__github", ["mcp__github__*"]),
        ("deny", "mcp__github__delete", ["mcp__github__delete"]),
    ],
)
def test_a_rule_in_our_words(action, written: str, rules: list[str]):
    assert rule_from_claude(action, written) == FoundRule(action, written, tuple(rules))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("Bash", TOO_WIDE),
        ("Bash(:*)", TOO_WIDE),
        ("Task(Explore)", NO_TOOL),
        ("Sorcery", NO_TOOL),
        ("Read(src", "it is not valid"),
        ("", "it is not valid"),
    ],
)
def test_what_has_no_place_here(written: str, why: str):
    assert rule_from_claude("allow", written) == NotImported("rule", f"allow {written}", why)


def test_a_path_that_leads_up_is_refused():
    found = rule_from_claude("allow", "Read(../other/**)")

    assert isinstance(found, NotImported)
    assert '".." is not supported' in found.why
