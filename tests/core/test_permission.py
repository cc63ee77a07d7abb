from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bridle.core.errors import ConfigError
from bridle.core.permission import (
    MODE_TABLE,
    Action,
    Mode,
    Rule,
    Verdict,
    judge,
    parse_rule,
    rule_matches,
    suggest_rule,
)
from bridle.core.tool import Access, AccessClass, Subject, SubjectKind

MODES: tuple[Mode, ...] = get_args(Mode)
ACCESS_CLASSES: tuple[AccessClass, ...] = get_args(AccessClass)
STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}

tools = st.sampled_from(["bash", "edit_file", "web_fetch", "mcp__git__log"])
subjects = st.builds(
    Subject,
    st.sampled_from(get_args(SubjectKind)),
    st.sampled_from(["a", "src/a", "src/b/c", "git", "git status", "git push -f", "example.com", "x.org"]),
)
accesses = st.builds(
    Access, tools, st.sampled_from(ACCESS_CLASSES), st.lists(subjects, max_size=3).map(tuple)
)
rules = st.builds(
    Rule,
    st.sampled_from(get_args(Action)),
    st.sampled_from(["bash", "edit_file", "web_fetch", "mcp__*", "*"]),
    st.sampled_from(["", "*", "src/**", "src/*", "git:*", "git status", "domain:example.com", "domain:*"]),
)
rule_lists = st.lists(rules, max_size=5)
modes = st.sampled_from(MODES)


def matches(text: str, tool: str, kind: SubjectKind, value: str) -> bool:
    return rule_matches(parse_rule("allow", text), tool, Subject(kind, value))


# ---------------------------------------------------------------------------- reading rules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("bash", Rule("allow", "bash")),
        ("  bash  ", Rule("allow", "bash")),
        ("*", Rule("allow", "*")),
        ("mcp__github__*", Rule("allow", "mcp__github__*")),
        ("bash(git status:*)", Rule("allow", "bash", "git status:*")),
        ("bash(echo (hi))", Rule("allow", "bash", "echo (hi)")),
        ("bash(echo a\nb)", Rule("allow", "bash", "echo a\nb")),
        ("edit_file(src/**)", Rule("allow", "edit_file", "src/**")),
        ("web_fetch(domain:example.com)", Rule("allow", "web_fetch", "domain:example.com")),
        ("web_fetch(domain:*)", Rule("allow", "web_fetch", "domain:*")),
        ("web_fetch(domain:*.example.com)", Rule("allow", "web_fetch", "domain:*.example.com")),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_pattern(text: str, rule: Rule):
    assert parse_rule("allow", text) == rule


@pytest.mark.parametrize("text", ["", " ", "bash(", "bash)", "bash()", "(x)", "bash(x)y", "ba sh", "bash x"])
def test_a_malformed_rule_is_an_error(text: str):
    with pytest.raises(ConfigError) as caught:
        parse_rule("deny", text)

    assert (
        str(caught.value) == f'malformed rule "{text}" '
        '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'
    )


@pytest.mark.parametrize("text", ["bash(git:* status)", "bash(git:*:*)", "bash(:*x)"])
def test_a_prefix_mark_in_the_middle_is_an_error(text: str):
    with pytest.raises(ConfigError) as caught:
        parse_rule("deny", text)

    assert str(caught.value) == f'malformed rule "{text}": ":*" may only end a pattern'


def test_a_prefix_mark_without_a_prefix_is_an_error():
    """It would match no command at all, so that a deny rule would be silence."""
    with pytest.raises(ConfigError) as caught:
        parse_rule("deny", "bash(:*)")

    assert str(caught.value) == 'malformed rule "bash(:*)": ":*" needs a command before it'


@given(rules)
def test_a_rule_reads_back_as_it_is_written(rule: Rule):
    assert parse_rule(rule.action, str(rule)) == rule


# ---------------------------------------------------------------------------- matching


@pytest.mark.parametrize(
    ("tool_pattern", "tool", "matching"),
    [
        ("bash", "bash", True),
        ("bash", "bash2", False),
        ("bash", "Bash", False),
        ("*", "anything", True),
        ("mcp__github__*", "mcp__github__list_issues", True),
        ("mcp__github__*", "mcp__gitlab__list_issues", False),
        ("mcp__*__list", "mcp__github__list", True),
        ("mcp__*__list", "mcp__github__list_all", False),
        ("edit-*", "edit-file", True),
    ],
)
def test_a_tool_is_named_exactly_or_with_wildcards(tool_pattern: str, tool: str, matching: bool):
    assert rule_matches(parse_rule("allow", tool_pattern), tool, None) is matching


@pytest.mark.parametrize(
    ("pattern", "path", "matching"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/aXpy", False),
        ("src/*", "src/a.py", True),
        ("src/*", "src/sub/a.py", False),
        ("src/*", "src", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/sub/a.py", False),
        ("src/**", "src/a.py", True),
        ("src/**", "src/sub/deep/a.py", True),
        ("src/**", "srcs/a.py", False),
        ("src/**", "lib/src/a.py", False),
        ("**/a.py", "a.py", True),
        ("**/a.py", "src/sub/a.py", True),
        ("**/a.py", "src/ba.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("src/**/a.py", "src/x/ya.py", False),
        ("*", "a.py", True),
        ("*", "src/a.py", False),
        ("**", "src/a.py", True),
        ("**", "/etc/passwd", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a?c", "ac", False),
        ("a[b]c", "a[b]c", True),
        ("a[b]c", "abc", False),
        ("src/*", "src/a\nb", True),
        ("src/*", "../src/a", False),
    ],
)
def test_a_star_stays_inside_a_folder_and_two_cross_folders(pattern: str, path: str, matching: bool):
    assert matches(f"edit_file({pattern})", "edit_file", "path", path) is matching


@pytest.mark.parametrize(
    ("pattern", "command", "matching"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", False),
        ("git status:*", "git status", True),
        ("git status:*", "git status -s", True),
        ("git status:*", "git statuses", False),
        ("git status:*", "git", False),
        ("git:*", "git push", True),
        ("git:*", "gitk", False),
        ("git:*", "/bin/git push", False),
        ("npm run *", "npm run test/unit", True),
        ("npm run *", "npm install", False),
        ("ls *.py", "ls a.py", True),
    ],
)
def test_a_command_prefix_ends_at_a_word(pattern: str, command: str, matching: bool):
    assert matches(f"bash({pattern})", "bash", "command", command) is matching


@pytest.mark.parametrize(
    ("pattern", "host", "matching"),
    [
        ("domain:example.com", "example.com", True),
        ("domain:example.com", "EXAMPLE.com", True),
        ("domain:Example.COM", "example.com", True),
        ("domain:example.com", "www.example.com", False),
        ("domain:example.com", "example.com.evil.org", False),
        ("domain:example.com", "exampleXcom", False),
        ("domain:*.example.com", "www.example.com", True),
        ("domain:*.example.com", "a.b.example.com", True),
        ("domain:*.example.com", "example.com", False),
        ("domain:*.example.com", "evilexample.com", False),
        ("domain:*", "anything.org", True),
        ("example.com", "example.com", False),
    ],
)
def test_a_domain_is_matched_whole_and_without_case(pattern: str, host: str, matching: bool):
    assert matches(f"web_fetch({pattern})", "web_fetch", "domain", host) is matching


@pytest.mark.parametrize(
    ("pattern", "text", "matching"), [("a*", "a b", True), ("a*", "b a", False), ("a", "a", True)]
)
def test_other_text_is_matched_with_wildcards(pattern: str, text: str, matching: bool):
    assert matches(f"skill({pattern})", "skill", "text", text) is matching


def test_a_pattern_does_not_speak_about_a_call_without_a_subject():
    assert not rule_matches(parse_rule("deny", "bash(ls)"), "bash", None)


# ---------------------------------------------------------------------------- judging


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        ("ask", {"read": "allow", "write": "ask", "execute": "ask", "network": "ask"}),
        ("plan", {"read": "allow", "write": "deny", "execute": "deny", "network": "ask"}),
        ("accept-edits", {"read": "allow", "write": "allow", "execute": "ask", "network": "ask"}),
        ("yolo", {"read": "allow", "write": "allow", "execute": "allow", "network": "allow"}),
    ],
)
def test_without_rules_the_mode_decides(mode: Mode, verdicts: dict[AccessClass, Action]):
    assert MODE_TABLE[mode] == verdicts
    assert {access: judge(Access("t", access), (), mode).action for access in ACCESS_CLASSES} == verdicts


LS = Access("bash", "execute", (Subject("command", "ls -l"),))
DENY, ASK, ALLOW = (Rule(action, "bash", "ls:*") for action in ("deny", "ask", "allow"))


@pytest.mark.parametrize(
    ("rules", "mode", "verdict"),
    [
        ((), "ask", Verdict("ask", "mode ask: execute access")),
        ((ALLOW,), "ask", Verdict("allow", "rule allow bash(ls:*)")),
        ((ALLOW, ASK), "ask", Verdict("ask", "rule ask bash(ls:*)")),
        ((ALLOW, ASK, DENY), "ask", Verdict("deny", "rule deny bash(ls:*)")),
        ((DENY, ASK, ALLOW), "ask", Verdict("deny", "rule deny bash(ls:*)")),
        ((ALLOW,), "plan", Verdict("deny", "mode plan does not allow execute access")),
        ((DENY,), "plan", Verdict("deny", "rule deny bash(ls:*)")),
        ((ASK,), "yolo", Verdict("allow", "mode yolo")),
        ((), "yolo", Verdict("allow", "mode yolo")),
        ((DENY,), "yolo", Verdict("deny", "rule deny bash(ls:*)")),
        ((Rule("deny", "bash"),), "ask", Verdict("deny", "rule deny bash")),
        ((Rule("allow", "edit_file"),), "ask", Verdict("ask", "mode ask: execute access")),
    ],
)
def test_deny_beats_ask_beats_allow_beats_the_mode(rules: tuple[Rule, ...], mode: Mode, verdict: Verdict):
    assert judge(LS, rules, mode) == verdict


def test_of_several_rules_the_first_is_named():
    assert judge(LS, (ALLOW, Rule("allow", "*")), "ask").why == "rule allow bash(ls:*)"


def test_an_ask_rule_makes_reading_ask():
    access = Access("read_file", "read", (Subject("path", ".env"),))

    assert judge(access, (Rule("ask", "read_file", ".env"),), "ask") == Verdict(
        "ask", "rule ask read_file(.env)"
    )


def test_one_command_of_a_pipeline_that_is_not_allowed_asks_for_all():
    pipeline = Access("bash", "execute", (Subject("command", "ls"), Subject("command", "sh")))

    assert judge(pipeline, (ALLOW,), "ask") == Verdict("ask", "mode ask: execute access")


def test_one_denied_command_denies_the_pipeline_and_says_which_rule():
    pipeline = Access("bash", "execute", (Subject("command", "ls"), Subject("command", "rm -rf /")))

    assert judge(pipeline, (ALLOW, Rule("deny", "bash", "rm:*")), "yolo") == Verdict(
        "deny", "rule deny bash(rm:*)"
    )


@given(accesses, rule_lists, modes, rules, st.integers(0, 5))
def test_a_further_rule_only_moves_the_verdict_its_own_way(
    access: Access, rules: list[Rule], mode: Mode, extra: Rule, place: int
):
    before = STRICTNESS[judge(access, rules, mode).action]

    after = STRICTNESS[judge(access, [*rules[:place], extra, *rules[place:]], mode).action]

    assert after <= before if extra.action == "allow" else after >= before


@given(accesses, rule_lists, modes)
def test_several_subjects_get_the_strictest_verdict_of_each(access: Access, rules: list[Rule], mode: Mode):
    assume(access.subjects)
    each = [judge(Access(access.tool, access.access, (one,)), rules, mode) for one in access.subjects]

    assert judge(access, rules, mode) == max(each, key=lambda verdict: STRICTNESS[verdict.action])


@given(accesses, rule_lists, modes)
def test_a_matching_deny_rule_denies_in_every_mode(access: Access, rules: list[Rule], mode: Mode):
    assert judge(access, [*rules, Rule("deny", access.tool)], mode).action == "deny"


@given(accesses, rule_lists)
def test_plan_mode_never_lets_anything_change(access: Access, rules: list[Rule]):
    assume(access.access in ("write", "execute"))

    assert judge(access, rules, "plan").action == "deny"


# ---------------------------------------------------------------------------- suggesting


@pytest.mark.parametrize(
    ("access", "rule"),
    [
        (Access("edit_file", "write", (Subject("path", "src/sub/a.py"),)), "edit_file(src/sub/**)"),
        (Access("edit_file", "write", (Subject("path", "a.py"),)), "edit_file(*)"),
        (Access("edit_file", "write", (Subject("path", "/a.py"),)), "edit_file(/*)"),
        (Access("edit_file", "write", (Subject("path", "/etc/a"),)), "edit_file(/etc/**)"),
        (Access("bash", "execute", (Subject("command", "git push -f"),)), "bash(git:*)"),
        (Access("web_fetch", "network", (Subject("domain", "x.org"),)), "web_fetch(domain:x.org)"),
        (Access("todos", "write"), "todos"),
        (Access("skill", "read", (Subject("text", "review"),)), "skill"),
    ],
)
def test_a_suggestion_is_the_general_rule_for_the_first_subject(access: Access, rule: str):
    assert suggest_rule(access) == rule


@pytest.mark.parametrize(
    "access",
    [
        Access("edit_file", "write", (Subject("path", "*/a.py"),)),
        Access("edit_file", "write", (Subject("path", "a:*b/c"),)),
        Access("edit_file", "write", (Subject("path", "s?c/a.py"),)),
        Access("bash", "execute", (Subject("command", "a:*b"),)),
        Access("bash", "execute", (Subject("command", ""),)),
        Access("bash", "execute", (Subject("command", " ls"),)),
        Access("web_fetch", "network", (Subject("domain", "*"),)),
        Access("mcp__a.b__c", "network"),
    ],
)
def test_nothing_is_suggested_for_a_name_that_a_rule_would_read_as_a_pattern(access: Access):
    """A granted rule that cannot be read would end every later run of the session."""
    assert suggest_rule(access) == ""


@given(
    st.sampled_from(["bash", "edit-file", "a.b", "*", "(x)", ""]),
    st.sampled_from(ACCESS_CLASSES),
    st.sampled_from(get_args(SubjectKind)),
    st.text("ab*?:/ \n.()", max_size=8),
)
def test_a_suggested_rule_can_be_read_and_covers_the_call(
    tool: str, access_class: AccessClass, kind: SubjectKind, value: str
):
    access = Access(tool, access_class, (Subject(kind, value),))

    text = suggest_rule(access)

    assert text == "" or rule_matches(parse_rule("allow", text), tool, access.subjects[0])
