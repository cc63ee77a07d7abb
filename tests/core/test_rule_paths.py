import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bridle.core.permission import Action, Rule, rule_matches
from bridle.core.rule_paths import localize_rule
from bridle.core.tool import Subject

names = st.sampled_from(["a", "b", "ab"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("action", "pattern", "cwd", "twins"),
    [
        ("deny", "/home/ann/.ssh/**", "/home/ann", [".ssh/**"]),
        ("deny", "/home/ann/.ssh/**", "/home/ann/src", []),
        ("deny", "/home/*/src/x", "/home/ann/src", ["x"]),
        ("deny", "/home/ann", "/home/ann/src", ["**"]),
        ("allow", "/home/ann", "/home/ann/src", []),
        ("allow", "/home/ann", "/home/ann", ["."]),
        ("deny", "/**/.env", "/a/b", ["**/.env"]),
        ("deny", "/**/src/**/x", "/src", ["**/src/**/x", "**/x"]),
        ("deny", "/etc/**", "/", ["etc/**"]),
        ("deny", "src/**", "/a", []),
        ("deny", "domain:/a", "/", []),
    ],
)
def test_an_absolute_pattern_has_a_twin_where_it_reaches_into_the_directory(
    action: Action, pattern: str, cwd: str, twins: list[str]
):
    rule = Rule(action, "read_file", pattern)

    assert list(localize_rule(rule, cwd)) == [rule, *(Rule(action, "read_file", twin) for twin in twins)]


def test_a_command_is_no_path():
    rule = Rule("deny", "bash", "/bin/rm:*")

    assert list(localize_rule(rule, "/bin")) == [rule]


@given(
    st.sampled_from(["allow", "ask", "deny"]),
    st.lists(st.sampled_from(["a", "b", "ab", "*", "a*", "**"]), min_size=1, max_size=4).map("/".join),
    st.one_of(st.just(""), paths),
    paths,
)
def test_a_path_is_judged_the_same_by_either_name(action: Action, pattern: str, cwd: str, path: str):
    assume("**/**" not in pattern)
    rule = Rule(action, "read_file", f"/{pattern}")
    whole = f"/{cwd}/{path}".replace("//", "/")

    inside = any(
        rule_matches(local, "read_file", Subject("path", path)) for local in localize_rule(rule, f"/{cwd}")
    )
    assert inside == rule_matches(rule, "read_file", Subject("path", whole))
