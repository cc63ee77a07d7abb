"""The tree of the bash grammar, limited to the parts in use."""

import subprocess
import sys

from bridle.tools.commands.syntax_tree import Tree, has_heredoc


def test_a_node_is_found_where_it_begins():
    tree = Tree(b"a $(b) 'c'")
    node = tree.node_at(2, ("command_substitution",))

    assert node is not None
    assert (tree.text(node), tree.node_at(3, ("command_substitution",))) == ("$(b)", None)


def test_substitutions_are_told_from_the_text_around_them():
    tree = Tree(b"a ${x:-y$(b $(c))`d`}")
    node = tree.node_at(2, ("expansion",))

    assert node is not None
    found, rest = tree.substitutions(node)
    assert ([tree.text(inner) for inner in found], "".join(rest)) == (["$(b $(c))"], "${x:-y`d`}")


def test_a_node_is_shown_on_one_line():
    tree = Tree("a  é\\\n b".encode())

    assert tree.shown(tree.root) == "a é\\ b"


def test_a_here_document_is_noticed():
    assert [has_heredoc(Tree(text).root) for text in (b"a <<E\nx\nE", b"a <<< x", b"(a <<E\nx\nE\n)")] == [
        True,
        False,
        True,
    ]


def test_the_grammar_is_not_loaded_before_it_is_needed():
    code = "import sys, bridle.tools.commands; print('tree_sitter' in sys.modules)"

    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False\n"
    )
