"""Parse bash with the tree-sitter grammar, which is loaded when the first command line is parsed."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from bridle.tools.commands.lexer import utf8

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# ---------------------------------------------------------------------------- readable
# Reject command lines that are too long to analyze or contain hidden characters.


MAX_BYTES = 64 * 1024
MAX_LOOSE_BYTES = 4 * 1024
"""The limit outside quotes and here-documents: the grammar takes quadratic time on invalid input, 100 ms for
this size."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
_CLOSED = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|<<-?[ ]?["'\\]?(\w++)[^\n]*+\n""", re.DOTALL)


def find_unreadable(text: str) -> str:
    """Return why a command line is not parsed at all; empty for one that is."""
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        return f"the command line is longer than {MAX_BYTES} bytes"
    if len(text) > MAX_LOOSE_BYTES and _loose_bytes(text) > MAX_LOOSE_BYTES:
        return f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands"
    if _CONTROL.search(text):
        return "the command line contains control characters"
    if not text.isascii() and any(
        unicodedata.category(char) in _HIDDEN for char in text if not char.isascii()
    ):
        return "the command line contains invisible characters"
    return ""


def _loose_bytes(text: str) -> int:
    """Count the bytes outside quotes and here-documents, roughly."""
    loose, position = 0, 0
    for match in _CLOSED.finditer(text):
        if match.start() < position:
            continue
        loose += match.start() - position
        position = match.end()
        if match[1]:
            position = max(position, text.find("\n" + match[1], position - 1))
        elif set("$`") & set(match[0]) and match[0][0] == '"':
            loose += len(match[0])
    return loose + len(text) - position


# ---------------------------------------------------------------------------- node types
# The node types of the bash grammar.


COMPOUND = frozenset(
    "if_statement elif_clause else_clause while_statement do_group for_statement c_style_for_statement"
    " case_statement case_item".split()
)
LOOPS = frozenset("while_statement for_statement c_style_for_statement".split())
SIMPLE = frozenset(
    "command declaration_command unset_command variable_assignment variable_assignments".split()
)
REDIRECTS = frozenset("file_redirect herestring_redirect heredoc_redirect".split())
WORDS = frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
    " command_substitution process_substitution brace_expression arithmetic_expansion extglob_pattern".split()
)
SUBSTITUTIONS = ("command_substitution", "process_substitution")


# ---------------------------------------------------------------------------- syntax tree


class Tree:
    """The syntax tree of a command line; invalid input gives a tree with error nodes."""

    def __init__(self, data: bytes) -> None:
        self.root: Node = _parser().parse(data).root_node
        self.source = data.decode("latin-1")
        """The command line with one character per byte, to match the byte offsets of the tree."""

    def node_at(self, start: int, kinds: tuple[str, ...]) -> "Node | None":
        """Return the innermost node of one of these types that starts at `start`."""
        node = self.root.descendant_for_byte_range(start, start + 1)
        while node is not None and node.start_byte == start:
            if node.type in kinds:
                return node
            node = node.parent
        return None

    def text(self, node: "Node") -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte]

    def shown(self, node: "Node") -> str:
        """Return the text of a node on one line."""
        return " ".join(utf8(self.text(node)).split())

    def substitutions(self, node: "Node") -> tuple[list["Node"], list[str]]:
        """Return the outermost substitutions below a node, and all text that is not part of one."""
        found: list[Node] = []
        rest: list[str] = []
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            if inner.type in SUBSTITUTIONS:
                found.append(inner)
            elif inner.child_count:
                waiting += reversed(inner.children)
                rest += self._between(inner)
            else:
                rest.append(self.text(inner))
        return found, rest

    def _between(self, node: "Node") -> list[str]:
        """Return the text of a node that is in none of its children."""
        position, gaps = node.start_byte, []
        for child in node.children:
            gaps.append(self.source[position : child.start_byte])
            position = child.end_byte
        return [gap for gap in (*gaps, self.source[position : node.end_byte]) if gap]


def has_heredoc(node: "Node") -> bool:
    """Return whether a node contains a here-document."""
    return node.type == "heredoc_redirect" or any(has_heredoc(child) for child in node.children)


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    # Imported here because it takes 20 ms, which a start without a shell command does not need.
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))
