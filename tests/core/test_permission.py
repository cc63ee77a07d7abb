from typing import get_args

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bridle.core.errors import ConfigError
from bridle.core.permission import (
    MODE_TABLE,
    Action,
    Mode,
    Rule,
    Verdict,
    check_examples,
    guarded_patterns,
    hidden_patterns,
    judge,
    parse_rule,
    rule_matches,
    suggest_rules,
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
    st.sampled_from([None, *ACCESS_CLASSES]),
    st.sampled_from(["", "read_file", "write_file"]),
    st.sampled_from(["", "git:*"]),
)
accesses = st.builds(
    Access,
    tools,
    st.sampled_from(ACCESS_CLASSES),
    st.lists(subjects, max_size=3).map(tuple),
    st.sampled_from(["", "it cannot be parsed"]),
)
rules = st.builds(
    Rule,
    st.sampled_from(get_args(Action)),
    st.sampled_from(["bash", "edit_file", "read_file", "mcp__*", "*"]),
    st.sampled_from(["", "*", "src/**", "src/*", "git:*", "git status", "domain:example.com", "domain:*"]),
)
rule_lists = st.lists(rules, max_size=5)
modes = st.sampled_from(MODES)


def matches(text: str, tool: str, kind: SubjectKind, value: str, action: Action = "allow") -> bool:
    return rule_matches(parse_rule(action, text), tool, Subject(kind, value))


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


def test_a_rule_of_a_network_tool_needs_a_domain():
    """A bare host would be taken for a path, and match nothing."""
    with pytest.raises(ConfigError) as caught:
        parse_rule("deny", "web_fetch(example.com)")

    assert str(caught.value) == (
        'malformed rule "web_fetch(example.com)": a pattern of web_fetch is a domain '
        '(hint: write "web_fetch(domain:example.com)")'
    )


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("edit_file(./src/a.py)", "src/a.py"),
        ("edit_file(././src//./**)", "src/**"),
        ("edit_file(src/)", "src/**"),
        ("edit_file(/etc//x/)", "/etc/x/**"),
        ("edit_file(./)", "**"),
        ("edit_file(/)", "/**"),
        ("edit_file(.)", "."),
        ("*(./secrets/**)", "secrets/**"),
        ("edit_file(..a/.b)", "..a/.b"),
        ("bash(./run.sh a//b \\; ../x)", "./run.sh a//b \\; ../x"),
    ],
)
def test_a_path_pattern_is_written_as_calls_write_their_paths(text: str, pattern: str):
    assert parse_rule("deny", text).pattern == pattern


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "edit_file(src\\a.py)",
            'malformed rule "edit_file(src\\a.py)": use slashes in a path, not backslashes',
        ),
        (
            "edit_file(../x)",
            'malformed rule "edit_file(../x)": ".." is not supported in a rule (hint: write the full path)',
        ),
        (
            "edit_file(a/..)",
            'malformed rule "edit_file(a/..)": ".." is not supported in a rule (hint: write the full path)',
        ),
        ("bash(" + "x" * 4092 + ")", f'rule "bash({"x" * 35}…" has more than 4096 characters'),
    ],
)
def test_a_pattern_that_could_never_match_is_an_error(text: str, message: str):
    with pytest.raises(ConfigError) as caught:
        parse_rule("deny", text)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("action", "text", "match", "not_match", "surprise"),
    [
        ("deny", "bash(git push:*)", ["git push", "git  push origin main"], ["git pull", "git pushx"], None),
        ("deny", "bash(git push:*)", ["/usr/bin/git push"], [], None),
        ("allow", "bash(git push:*)", [], ["/usr/bin/git push"], None),
        ("allow", "edit_file(src/**)", ["src/a/b"], ["srcs/a", "/src/a"], None),
        ("deny", "edit_file(src)", ["src/a/b"], [], None),
        ("allow", "mcp__*", ["anything"], [], None),
        ("ask", "web_fetch(domain:*.org)", ["a.ORG"], ["a.org.evil.com"], None),
        ("deny", "bash(git push:*)", ["git push", "git pull"], [], 'should match "git pull", but does not'),
        ("allow", "edit_file(src/**)", [], ["src/a"], 'should not match "src/a", but does'),
    ],
)
def test_a_rule_is_tried_on_what_its_author_says_it_means(
    action: Action, text: str, match: list[str], not_match: list[str], surprise: str | None
):
    rule = parse_rule(action, text)

    if surprise is None:
        check_examples(rule, match, not_match)
        return
    with pytest.raises(ConfigError) as caught:
        check_examples(rule, match, not_match)
    assert str(caught.value) == f'rule "{rule}" {surprise}'


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


def fits(pattern: str, path: str) -> bool:
    """Return what a glob means, one choice after the other; too slow for anything but a test."""
    at_start = pattern.startswith("**/")
    if at_start and (fits(pattern[3:], path) or any(fits(pattern[3:], path[i + 1 :]) for i in slashes(path))):
        return True
    if at_start:
        return False
    if pattern.startswith("**"):
        return any(fits_on("**", pattern[2:], path[i:]) for i in range(len(path) + 1))
    if pattern.startswith("*"):
        free = len(path) if "/" not in path else path.index("/")
        return any(fits_on("*", pattern[1:], path[i:]) for i in range(free + 1))
    if not pattern or not path:
        return pattern == path
    is_same = path[0] != "/" if pattern[0] == "?" else path[0] == pattern[0]
    return is_same and fits_on(pattern[0], pattern[1:], path[1:])


def fits_on(before: str, pattern: str, path: str) -> bool:
    """Go on behind a piece of the pattern: `**/` means something only where a name may start."""
    if before != "/" and pattern.startswith("**/"):
        return any(fits_on("**", pattern[2:], path[i:]) for i in range(len(path) + 1))
    return fits(pattern, path)


def slashes(path: str) -> list[int]:
    return [index for index, char in enumerate(path) if char == "/"]


@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?"]), max_size=8), st.text("ab/", max_size=9)
)
@example(["**", "a", "**/", "b"], "xa/ab")
@example(["*", "a", "*", "b", "/", "**/", "a"], "aab/b/a")
def test_a_glob_means_the_same_as_trying_every_choice(pieces: list[str], path: str):
    pattern = "".join(pieces)
    assume("***" not in pattern)

    assert rule_matches(Rule("allow", "edit_file", pattern), "edit_file", Subject("path", path)) == (
        pattern == "" or fits(pattern, path)
    )


@pytest.mark.parametrize(
    ("tool", "kind", "pattern", "value"),
    [
        ("edit_file", "path", "*a" * 40 + "*b", "a" * 3000),
        ("edit_file", "path", "**/" + "a/**/" * 40 + "b", "a/" * 1500),
        ("edit_file", "path", "**a" * 40 + "**b", "a" * 3000),
        ("bash", "command", "*a" * 40 + "*b", "a" * 3000),
        ("skill", "text", "*a" * 40 + "*b", "a" * 3000),
        ("web_fetch", "domain", "domain:" + "*a" * 40 + "*b", "a" * 3000),
    ],
)
def test_no_pattern_takes_forever(tool: str, kind: SubjectKind, pattern: str, value: str):
    """A project may bring deny rules, so that one of them could stop everything."""
    assert not rule_matches(Rule("deny", tool, pattern), tool, Subject(kind, value))


@pytest.mark.parametrize(
    ("pattern", "path", "matching"),
    [
        ("src", "src", True),
        ("src", "src/a/b", True),
        ("src", "srcs", False),
        ("src/**", "src", True),
        ("src/**", "src/a", True),
        ("*.key", "x.key/inside", True),
        ("/etc/**", "/etc", True),
        ("/etc", "/etc/ssl/x", True),
        ("src/a.py", "src", False),
    ],
)
def test_a_deny_rule_covers_a_folder_with_all_that_is_in_it(pattern: str, path: str, matching: bool):
    assert matches(f"edit_file({pattern})", "edit_file", "path", path, "deny") is matching


@pytest.mark.parametrize(("pattern", "path"), [("src", "src/a"), ("src/**", "src"), ("*.key", "x.key/a")])
def test_an_allow_rule_is_taken_literally(pattern: str, path: str):
    assert not matches(f"edit_file({pattern})", "edit_file", "path", path)


READ, WRITE = Subject("path", "secrets/a", "read"), Subject("path", "secrets/a", "write")


@pytest.mark.parametrize(
    ("rule_tool", "tool", "subject", "matching"),
    [
        ("read_file", "grep", READ, True),
        ("read_file", "bash", READ, True),
        ("read_file", "edit_file", WRITE, True),
        ("edit_file", "write_file", WRITE, True),
        ("multi_edit", "bash", WRITE, True),
        ("edit_file", "read_file", READ, False),
        ("grep", "read_file", READ, False),
        ("list_files", "read_file", READ, False),
        ("*", "anything", READ, True),
        ("bash", "bash", Subject("path", "secrets/a", "write", "write_file"), False),
        ("write_file", "bash", Subject("path", "secrets/a", "write", "write_file"), True),
    ],
)
@pytest.mark.parametrize("action", ["ask", "deny"])
def test_strictness_about_a_path_holds_for_whatever_else_would_touch_it(
    action: Action, rule_tool: str, tool: str, subject: Subject, matching: bool
):
    assert rule_matches(Rule(action, rule_tool, "secrets/**"), tool, subject) is matching


@pytest.mark.parametrize(
    ("rule_tool", "tool", "own_tool", "matching"),
    [
        ("read_file", "grep", "", False),
        ("edit_file", "write_file", "", False),
        ("write_file", "bash", "write_file", True),
        ("bash", "bash", "write_file", False),
    ],
)
def test_permission_for_a_path_holds_for_its_own_tool(
    rule_tool: str, tool: str, own_tool: str, matching: bool
):
    subject = Subject("path", "secrets/a", "write", own_tool)

    assert rule_matches(Rule("allow", rule_tool, "secrets/**"), tool, subject) is matching


@pytest.mark.parametrize(
    ("rule", "matching"),
    [
        (Rule("deny", "write_file"), True),
        (Rule("deny", "bash"), True),
        (Rule("allow", "bash"), True),
        (Rule("deny", "edit_file"), False),
    ],
)
def test_a_rule_without_a_pattern_speaks_of_the_called_tool_and_of_the_subjects(rule: Rule, matching: bool):
    assert rule_matches(rule, "bash", Subject("path", "x", "write", "write_file")) is matching


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


@pytest.mark.parametrize("command", ["/bin/rm -rf x", "./rm", "../../rm x", "rm"])
def test_a_deny_rule_knows_a_program_by_whichever_path_it_is_called(command: str):
    assert matches("bash(rm:*)", "bash", "command", command, "deny")
    assert matches("bash(rm:*)", "bash", "command", command, "ask")
    assert matches("bash(rm:*)", "bash", "command", command) is (command == "rm")


@pytest.mark.parametrize(
    ("action", "rule_tool", "tool", "own_tool", "matching"),
    [
        ("deny", "web_fetch", "download", "", True),
        ("ask", "download", "bash", "", True),
        ("deny", "bash", "web_fetch", "", False),
        ("allow", "web_fetch", "download", "", False),
        ("allow", "web_fetch", "bash", "web_fetch", True),
    ],
)
def test_strictness_about_a_domain_holds_for_whatever_else_would_go_there(
    action: Action, rule_tool: str, tool: str, own_tool: str, matching: bool
):
    subject = Subject("domain", "x.org", "network", own_tool)

    assert rule_matches(Rule(action, rule_tool, "domain:x.org"), tool, subject) is matching


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
        ("domain:example.com", "example.com.", True),
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
        ((), "ask", Verdict("ask", "runs a command (mode ask)")),
        ((ALLOW,), "ask", Verdict("allow", "rule allow bash(ls:*)", ALLOW)),
        ((ALLOW, ASK), "ask", Verdict("ask", "rule ask bash(ls:*)", ASK)),
        ((ALLOW, ASK, DENY), "ask", Verdict("deny", "rule deny bash(ls:*)", DENY)),
        ((DENY, ASK, ALLOW), "ask", Verdict("deny", "rule deny bash(ls:*)", DENY)),
        ((ALLOW,), "plan", Verdict("deny", "mode plan: no execute access")),
        ((DENY,), "plan", Verdict("deny", "rule deny bash(ls:*)", DENY)),
        ((ASK,), "yolo", Verdict("allow", "mode yolo")),
        ((), "yolo", Verdict("allow", "mode yolo")),
        ((DENY,), "yolo", Verdict("deny", "rule deny bash(ls:*)", DENY)),
        ((Rule("deny", "bash"),), "ask", Verdict("deny", "rule deny bash", Rule("deny", "bash"))),
        ((Rule("allow", "edit_file"),), "ask", Verdict("ask", "runs a command (mode ask)")),
    ],
)
def test_deny_beats_ask_beats_allow_beats_the_mode(rules: tuple[Rule, ...], mode: Mode, verdict: Verdict):
    assert judge(LS, rules, mode) == verdict


def test_of_several_rules_the_first_is_named():
    assert judge(LS, (ALLOW, Rule("allow", "*")), "ask") == Verdict("allow", "rule allow bash(ls:*)", ALLOW)


def test_an_ask_rule_makes_reading_ask():
    access = Access("read_file", "read", (Subject("path", ".env"),))

    rule = Rule("ask", "read_file", ".env")
    assert judge(access, (rule,), "ask") == Verdict("ask", "rule ask read_file(.env)", rule)


def test_one_command_of_a_pipeline_that_is_not_allowed_asks_for_all():
    pipeline = Access("bash", "execute", (Subject("command", "ls"), Subject("command", "sh")))

    assert judge(pipeline, (ALLOW,), "ask") == Verdict("ask", "runs a command (mode ask)")


def test_one_denied_command_denies_the_pipeline_and_says_which_rule():
    pipeline = Access("bash", "execute", (Subject("command", "ls"), Subject("command", "rm -rf /")))

    rule = Rule("deny", "bash", "rm:*")
    assert judge(pipeline, (ALLOW, rule), "yolo") == Verdict("deny", "rule deny bash(rm:*)", rule)


def test_each_subject_is_judged_by_what_is_done_to_it():
    """`sort a > b` reads one file and writes the other."""
    redirection = Access(
        "bash",
        "execute",
        (
            Subject("command", "sort a", "read"),
            Subject("path", "a", "read", "read_file"),
            Subject("path", "b", "write", "write_file"),
        ),
    )

    rule = Rule("allow", "write_file", "b")
    assert judge(redirection, (), "ask") == Verdict("ask", "writes a file (mode ask)")
    assert judge(redirection, (rule,), "ask") == Verdict("allow", "only reads (mode ask)")
    assert judge(redirection, (), "accept-edits").action == "allow"
    assert judge(redirection, (), "plan") == Verdict("deny", "mode plan: no write access")


@pytest.mark.parametrize(
    ("rules", "mode", "verdict"),
    [
        ((ALLOW,), "ask", Verdict("ask", "it cannot be parsed")),
        ((DENY,), "ask", Verdict("deny", "rule deny bash(ls:*)", DENY)),
        ((), "plan", Verdict("deny", "mode plan: no execute access")),
        ((), "accept-edits", Verdict("ask", "it cannot be parsed")),
        ((), "yolo", Verdict("allow", "mode yolo")),
        ((Rule("deny", "web_fetch"),), "yolo", Verdict("allow", "mode yolo")),
        ((Rule("deny", "bash", "rm:*"),), "yolo", Verdict("ask", "it cannot be parsed")),
    ],
)
def test_in_doubt_a_person_looks(rules: tuple[Rule, ...], mode: Mode, verdict: Verdict):
    """In mode yolo too where a rule forbids something that the call may hide."""
    assert judge(Access("bash", "execute", LS.subjects, "it cannot be parsed"), rules, mode) == verdict


@given(accesses, rule_lists, modes, rules, st.integers(0, 5))
def test_a_further_rule_only_moves_the_verdict_its_own_way(
    access: Access, rules: list[Rule], mode: Mode, extra: Rule, place: int
):
    before = STRICTNESS[judge(access, rules, mode).action]

    after = STRICTNESS[judge(access, [*rules[:place], extra, *rules[place:]], mode).action]

    assert after <= before if extra.action == "allow" else after >= before


@given(accesses, rule_lists, modes)
def test_several_subjects_get_the_strictest_verdict_of_each(access: Access, rules: list[Rule], mode: Mode):
    assume(access.subjects and not access.doubt)
    each = [judge(Access(access.tool, access.access, (one,)), rules, mode) for one in access.subjects]

    assert judge(access, rules, mode) == max(each, key=lambda verdict: STRICTNESS[verdict.action])


@given(accesses, rule_lists, modes)
def test_a_matching_deny_rule_denies_in_every_mode(access: Access, rules: list[Rule], mode: Mode):
    assert judge(access, [*rules, Rule("deny", access.tool)], mode).action == "deny"


@given(accesses, rule_lists)
def test_plan_mode_never_lets_anything_change(access: Access, rules: list[Rule]):
    changing = ("write", "execute")
    done = [subject.access or access.access for subject in access.subjects] or [access.access]
    assume(any(what in changing for what in done))

    assert judge(access, rules, "plan").action == "deny"


# ---------------------------------------------------------------------------- suggesting


PUSH = Subject("command", "git push -f", general="git push:*")


@pytest.mark.parametrize(
    ("access", "rules"),
    [
        (Access("edit_file", "write", (Subject("path", "src/sub/a.py"),)), ("edit_file(src/sub/**)",)),
        (Access("edit_file", "write", (Subject("path", "a.py"),)), ("edit_file(*)",)),
        (Access("edit_file", "write", (Subject("path", "/a.py"),)), ("edit_file(/*)",)),
        (Access("edit_file", "write", (Subject("path", "/etc/a"),)), ("edit_file(/etc/**)",)),
        (Access("bash", "execute", (PUSH,)), ("bash(git push:*)",)),
        (Access("web_fetch", "network", (Subject("domain", "x.org"),)), ("web_fetch(domain:x.org)",)),
        (Access("todos", "write"), ("todos",)),
        (Access("skill", "write", (Subject("text", "review"),)), ("skill",)),
        (Access("read_file", "read", (Subject("path", "a"),)), ()),
        (
            Access("bash", "execute", (PUSH, Subject("path", "out/x", "write", "write_file"))),
            ("bash(git push:*)", "write_file(out/**)"),
        ),
        (Access("bash", "execute", (PUSH, Subject("path", "a", "read", "read_file"))), ("bash(git push:*)",)),
        (
            Access("multi_edit", "write", (Subject("path", "src/a"), Subject("path", "src/b"))),
            ("multi_edit(src/**)",),
        ),
        (
            Access("download", "network", (Subject("domain", "x.org", tool="web_fetch"),)),
            ("web_fetch(domain:x.org)",),
        ),
    ],
)
def test_the_general_rules_for_all_that_was_asked_about_are_suggested(access: Access, rules: tuple[str, ...]):
    assert suggest_rules(access, (), "ask") == rules


@pytest.mark.parametrize(
    "access",
    [
        Access("edit_file", "write", (Subject("path", "*/a.py"),)),
        Access("edit_file", "write", (Subject("path", "a:*b/c"),)),
        Access("edit_file", "write", (Subject("path", "s?c/a.py"),)),
        Access("edit_file", "write", (Subject("path", "a\\b/c"),)),
        Access("download", "write", (Subject("path", "a/b"),)),
        Access("bash", "execute", (Subject("command", "sh -c x"),)),
        Access("bash", "execute", (Subject("command", "a b", general="a:*b:*"),)),
        Access("bash", "execute", (Subject("command", "a b", general="b:*"),)),
        Access("web_fetch", "network", (Subject("domain", "*"),)),
        Access("mcp__a.b__c", "network"),
        Access("bash", "execute", (PUSH,), "it cannot be parsed"),
    ],
)
def test_nothing_is_suggested_that_no_rule_could_say_or_should(access: Access):
    """A granted rule that cannot be read would end every later run of the session."""
    assert suggest_rules(access, (), "ask") == ()


def test_nothing_is_suggested_where_an_ask_rule_would_ask_again():
    assert suggest_rules(Access("bash", "execute", (PUSH,)), (Rule("ask", "bash", "git:*"),), "ask") == ()


def test_what_is_allowed_already_is_not_suggested():
    both = Access("bash", "execute", (Subject("command", "ls", general="ls:*"), PUSH))

    assert suggest_rules(both, (ALLOW,), "ask") == ("bash(git push:*)",)


@given(accesses, rule_lists, modes)
def test_after_the_suggested_rules_the_call_is_not_asked_about_again(
    access: Access, rules: list[Rule], mode: Mode
):
    suggested = suggest_rules(access, rules, mode)

    more = [parse_rule("allow", text) for text in suggested]
    before, after = judge(access, rules, mode), judge(access, [*rules, *more], mode)
    assert not suggested or (before.action, after.action) in [("ask", "allow"), ("deny", "deny")]


# ---------------------------------------------------------------------------- for the sandbox


PATH_RULES = [
    Rule("deny", "read_file", "secrets/**"),
    Rule("deny", "edit_file", ".git/hooks/**"),
    Rule("deny", "multi_edit", "/etc/**"),
    Rule("deny", "*", "**/.env"),
    Rule("deny", "read_file"),
    Rule("ask", "read_file", "asked"),
    Rule("allow", "read_file", "allowed"),
    Rule("deny", "bash", "rm:*"),
    Rule("deny", "*", "domain:x.org"),
]


def test_what_nobody_may_read_is_hidden():
    assert hidden_patterns(PATH_RULES) == ("secrets/**", "**/.env")


def test_what_nobody_may_change_is_guarded():
    assert guarded_patterns(PATH_RULES) == (".git/hooks/**", "/etc/**", "**/.env")


# ---------------------------------------------------------------------------- what is not proven, or not seen


def line(*commands: str, unproven: str = "", unseen: str = "") -> Access:
    subjects = [
        Subject("command", command, "read", general=f"{command.split()[0]}:*") for command in commands
    ]
    path = Subject("path", "a.txt", "read", "read_file")
    return Access("bash", "execute", (*subjects, path), unproven=unproven, unseen=unseen)


@pytest.mark.parametrize(
    ("rules", "mode", "expected"),
    [
        ((), "ask", "ask"),
        ((), "plan", "ask"),
        ((), "accept-edits", "ask"),
        ((), "yolo", "allow"),
        (("allow bash(cat:*)",), "ask", "ask"),
        (("allow bash(cat:*)", "allow bash(wc:*)"), "ask", "allow"),
        (("allow bash",), "ask", "allow"),
        (("allow bash", "deny bash(wc:*)"), "ask", "deny"),
    ],
)
def test_what_is_not_proven_needs_a_rule_for_every_command(rules: tuple[str, ...], mode: Mode, expected: str):
    parsed = [parse_rule(*rule.split(" ", 1)) for rule in rules]  # type: ignore[arg-type]

    assert judge(line("cat a.txt", "wc -l", unproven="it has a loop"), parsed, mode).action == expected


def test_an_unproven_line_without_a_command_is_asked_about():
    access = Access(
        "bash", "execute", (Subject("path", "a", "read", "read_file"),), unproven="it has a redirection"
    )

    assert judge(access, [], "ask") == Verdict("ask", "it has a redirection")


def test_rules_for_what_is_not_proven_are_proposed():
    access = line("cat a.txt", "wc -l", unproven="it has a loop")

    assert suggest_rules(access, [], "ask") == ("bash(cat:*)", "bash(wc:*)")
    assert suggest_rules(access, [parse_rule("allow", "bash(wc:*)")], "ask") == ("bash(cat:*)",)


@pytest.mark.parametrize(
    ("rules", "mode", "expected"),
    [
        ((), "ask", "allow"),
        (("deny read_file(secrets/**)",), "ask", "ask"),
        (("deny read_file(secrets/**)",), "yolo", "ask"),
        (("ask read_file(secrets/**)",), "ask", "ask"),
        (("ask read_file(secrets/**)",), "yolo", "allow"),
        (("deny read_file(secrets/**)", "allow bash"), "ask", "ask"),
        (("deny edit_file(secrets/**)",), "ask", "allow"),
        (("deny bash(rm:*)", "deny web_fetch(domain:x.example)"), "ask", "allow"),
    ],
)
def test_what_may_show_any_file_is_asked_about_where_a_rule_protects_one(
    rules: tuple[str, ...], mode: Mode, expected: str
):
    parsed = [parse_rule(*rule.split(" ", 1)) for rule in rules]  # type: ignore[arg-type]
    access = line("git log -p", unseen="git can show the contents of any file")

    assert judge(access, parsed, mode).action == expected
    assert expected == "allow" or suggest_rules(access, parsed, mode) == ()
