"""Where words end."""

import pytest

from bridle.core.errors import ToolError
from bridle.tools.commands.lexer import Lexer, Word, WordPart, is_blank, unescape_backquotes
from bridle.tools.commands.syntax_tree import Tree


def read(source: str) -> tuple[Word, int]:
    tree = Tree(source.encode())
    return Lexer(tree.source, tree.node_at).word(0)


@pytest.mark.parametrize(
    ("source", "pieces"),
    [
        ("a", [WordPart("bare", "a", "a")]),
        ("a'b'", [WordPart("bare", "a", "a"), WordPart("quoted", "b", "'b'")]),
        ("\\ ", [WordPart("quoted", " ", "\\ ")]),
        ("$a", [WordPart("name", "a", "$a", is_split=True)]),
        ('"${a}"', [WordPart("quoted", "", '""'), WordPart("name", "a", "${a}")]),
        ("$1$@", [WordPart("name", "1", "$1", is_split=True), WordPart("name", "@", "$@", is_split=True)]),
        ("$", [WordPart("quoted", "$", "$")]),
        ("a\\\nb", [WordPart("bare", "ab", "ab")]),
    ],
)
def test_a_word_is_cut_into_pieces(source: str, pieces: list[WordPart]):
    word, end = read(source)

    assert (list(word.pieces), end) == (pieces, len(source))


@pytest.mark.parametrize("ending", [" b", "\tb", ";b", "|b", "&b", ")b", ">b", "<b", "\nb", ""])
def test_a_word_ends_at_what_is_no_part_of_it(ending: str):
    word, end = read(f"a'x'{ending}")

    assert (word.source, end) == ("a'x'", 4)


@pytest.mark.parametrize(
    ("source", "nested"),
    [("`a`", ["a"]), ("`a \\`b\\``", ["a `b`"]), ('"`a \\"b\\"`"', ['a "b"']), ("`a \\$b`", ["a $b"])],
)
def test_backquotes_hold_a_text_of_their_own(source: str, nested: list[str]):
    assert list(read(source)[0].nested) == nested


@pytest.mark.parametrize("source", ["'a", '"a', "`a", "$'a", "a\\", "#a", "a[b c]", "\\\n"])
def test_a_word_that_does_not_end_is_an_error(source: str):
    with pytest.raises(ToolError):
        read(source)


def test_a_substitution_that_the_tree_does_not_see_is_an_error():
    with pytest.raises(ToolError, match="unclear"):
        Lexer("a$(b)", lambda _start, _kinds: None).word(0)


def test_backquotes_guard_double_quotes_only_inside_of_double_quotes():
    assert [unescape_backquotes('\\"\\$', in_quotes=quotes) for quotes in (False, True)] == ['\\"$', '"$']


@pytest.mark.parametrize(
    ("source", "newlines", "expected"),
    [
        ("", False, True),
        (" \t", False, True),
        ("\n", False, False),
        ("\n", True, True),
        ("\\\n ", False, True),
        ("x", True, False),
        ("\\ ", True, False),
        ("\u00a0", True, False),
        ("\r", True, False),
    ],
)
def test_blanks_are_only_what_bash_takes_for_them(source: str, newlines: bool, expected: bool):
    assert is_blank(source, newlines=newlines) == expected
