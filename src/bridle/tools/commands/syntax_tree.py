"""Parse bash with the tree-sitter grammar, which is loaded when the first command line is parsed."""

from functools import lru_cache
from typing import TYPE_CHECKING

from bridle.tools.commands.lexer import utf8
from bridle.tools.commands.node_types import SUBSTITUTIONS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


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
