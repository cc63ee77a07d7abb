"""Glob patterns mean what users of a shell expect, and none of them is slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.globs import enter_folder, literal_folders, matches_file, parse_glob, reaches


def matches(pattern: str, path: str) -> bool:
    segments = parse_glob(pattern)
    *folders, name = path.split("/")
    states = reaches(segments, {0})
    for folder in folders:
        states = enter_folder(segments, states, folder, any_depth=True)
    return matches_file(segments, states, name)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", ".py", "é.py"], ["a.pyc", "s/a.py"]),
        ("a*b*c", ["abc", "axbxbxc"], ["ab", "abcd"]),
        ("?", ["a", "日", "\n"], ["", "ab"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "x"]),
        ("[^a-c]", ["d", "^"], ["a"]),
        ("[!a]", ["!", "b"], ["a"]),
        ("[a\\]]", ["a", "]"], ["\\"]),
        ("[z-a]", [], ["z", "a", "-"]),
        ("[^z-a]", ["z", "a"], [""]),
        ("\\*", ["*"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("sub/*", ["sub/a"], ["sub/a/b", "a", "sub"]),
        ("**", ["a", "a/b/c"], []),
        ("**/*", ["a", "a/b/c"], []),
        ("**/**/x", ["x", "a/x", "a/b/x"], ["xy"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "a"]),
        ("**/t/*.py", ["t/a.py", "a/t/t/b.py"], ["t/a/b.py", "a.py"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["b", "a/x"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("***", ["a"], ["a/b"]),
    ],
)
def test_a_pattern_matches(pattern: str, yes: list[str], no: list[str]):
    assert [path for path in yes if not matches(pattern, path)] == []
    assert [path for path in no if matches(pattern, path)] == []


@pytest.mark.parametrize(
    "pattern", ["[", "[a", "[]", "[]a]", "[a-]", "[-a]", "a/[", "\\", "[\\", "[^", "[a-\\", "a/\\"]
)
def test_a_malformed_pattern_is_refused(pattern: str):
    with pytest.raises(ToolError) as caught:
        parse_glob(pattern)

    assert str(caught.value) == "syntax error in pattern"


def test_the_folders_before_the_first_pattern():
    patterns = ["a", "a/b", "a/b/*.py", "*/b", "a/[b]/c", "a/**", "a/b\\/c"]

    assert [literal_folders(pattern) for pattern in patterns] == [
        (),
        ("a",),
        ("a", "b"),
        (),
        ("a",),
        ("a",),
        ("a",),
    ]


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "*?" * 60 + "b", "[a]*" * 60 + "b"])
@pytest.mark.timeout(2)
def test_no_pattern_explodes(pattern: str):
    assert not matches(pattern, "a" * 255)


@pytest.mark.timeout(2)
def test_no_number_of_folders_explodes():
    assert not matches("**/a/" * 30 + "b", "a/" * 200 + "c")


def simple_match(pattern: str, name: str) -> bool:
    """Say the same in the plainest way: `*` any text, `?` any character."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return simple_match(pattern[1:], name) or (bool(name) and simple_match(pattern, name[1:]))
    return bool(name) and pattern[0] in ("?", name[0]) and simple_match(pattern[1:], name[1:])


@given(pattern=st.text("ab*?", min_size=1, max_size=8), name=st.text("ab", max_size=8))
def test_a_name_is_matched_like_in_the_plainest_matcher(pattern: str, name: str):
    if pattern != "**":
        assert matches(pattern, name) == simple_match(pattern, name)
