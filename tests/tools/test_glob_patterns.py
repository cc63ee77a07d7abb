"""Glob patterns mean what shell users expect, and none of them is slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.glob_patterns import (
    add_empty_matches,
    enter_folder,
    expand_braces,
    is_plain,
    literal_folders,
    match_any_folder,
    matches_file,
    parse_glob,
    path_expression,
    plain_name,
)


def matches(pattern: str, path: str) -> bool:
    segments = parse_glob(pattern)
    *folders, name = path.split("/")
    states = add_empty_matches(segments, {0})
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
def test_no_pattern_explodes(pattern: str):
    assert not matches(pattern, "a" * 255)


def test_no_number_of_folders_explodes():
    assert not matches("**/a/" * 30 + "b", "a/" * 200 + "c")


def simple_match(pattern: str, name: str) -> bool:
    """A plain reference implementation: `*` is any text, `?` any character."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return simple_match(pattern[1:], name) or (bool(name) and simple_match(pattern, name[1:]))
    return bool(name) and pattern[0] in ("?", name[0]) and simple_match(pattern[1:], name[1:])


@given(pattern=st.text("ab*?", min_size=1, max_size=8), name=st.text("ab", max_size=8))
def test_a_name_is_matched_like_in_the_plainest_matcher(pattern: str, name: str):
    if pattern != "**":
        assert matches(pattern, name) == simple_match(pattern, name)


PIECES = st.sampled_from(["a", "b", "*", "?", "[ab]", "[^a]", "[+-9]", "**", "/", "/", "\\a", "{", ","])
NAMES = st.text(alphabet="abc/\n", min_size=1, max_size=12)


@given(pattern=st.lists(PIECES, min_size=1, max_size=10).map("".join), path=NAMES)
def test_a_whole_path_is_matched_like_its_names_one_by_one(pattern: str, path: str):
    pattern, path = pattern.strip("/"), path.strip("/")
    if not path or "//" in path or not pattern or "//" in pattern:
        return

    assert bool(path_expression((pattern,)).fullmatch(path)) == matches(pattern, path)
    if matches(pattern, path):
        assert matches(plain_name(pattern), path.rpartition("/")[2])
    if is_plain(pattern):
        assert matches(pattern, path) == matches(plain_name(pattern), path.rpartition("/")[2])


@pytest.mark.parametrize("pattern", ["**/a/" * 30 + "b", "**/*/" * 30 + "b", "**/*a*a*a/" * 20 + "b"])
def test_no_path_pattern_explodes(pattern: str):
    assert not path_expression((pattern,)).fullmatch("/".join(["aaaa", "a"] * 60))


def test_any_of_several_patterns_may_fit():
    expression = path_expression(("a/*", "**/x"))

    assert [path for path in ("a/b", "b/x", "x", "b", "a/b/c") if expression.fullmatch(path)] == [
        "a/b",
        "b/x",
        "x",
    ]


def test_braces_stand_for_several_patterns():
    assert [
        expand_braces(pattern) for pattern in ("a", "*.{ts,tsx}", "{a,b}{c,}", "{a,{b,c}}d", "{a}", "{a")
    ] == [
        ("a",),
        ("*.ts", "*.tsx"),
        ("a", "ac", "b", "bc"),
        ("ad", "bd", "cd"),
        ("{a}",),
        ("{a",),
    ]


@pytest.mark.parametrize("pattern", ["{a,b}" * 1000, "{" + "a," * 100 + "}"])
def test_too_many_braces_are_refused(pattern: str):
    with pytest.raises(ToolError) as caught:
        expand_braces(pattern)

    assert str(caught.value) == "the braces of the pattern expand to more than 64 patterns"


def test_the_plain_part_of_a_name():
    patterns = ["*.py", "src/**/*.py", "a?b", "x[ab]y[c].py", "**", "a\\*b", "é.md", "!x", "a:b", "a b-c_d.1"]

    assert [plain_name(pattern) for pattern in patterns] == [
        "*.py",
        "*.py",
        "a*b",
        "x*.py",
        "*",
        "a*b",
        "*.md",
        "*x",
        "a*b",
        "a b-c_d.1",
    ]
    assert [pattern for pattern in ("**/*.py", "src/*.py", "**/a?", "*.py") if is_plain(pattern)] == [
        "**/*.py"
    ]
    assert [match_any_folder(pattern) for pattern in ("*.py", "a/b")] == ["**/*.py", "a/b"]


def test_no_set_and_no_star_crosses_a_folder():
    patterns = ("a[^x]b", "a[!x]b", "a[+-9]b", "a?b", "a*b", "a[^z-a]b")

    assert [pattern for pattern in patterns if path_expression((pattern,)).fullmatch("a/b")] == []
    assert all(path_expression((pattern,)).fullmatch("a1b") for pattern in patterns)
