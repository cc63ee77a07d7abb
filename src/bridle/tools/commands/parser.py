"""Parse a command line into simple commands, from the syntax tree of the bash grammar.

```
text --grammar--> tree --walk--> Script(steps: Simple | Construct | Block)
                   │ each word is read again from the source (words.py);
                   │ only blanks may be between two nodes
                   └ any inconsistency is a doubt, never an error
```
"""

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bridle.core.errors import ToolError
from bridle.tools.commands.lexer import (
    EXPANDING,
    Lexer,
    Word,
    is_blank,
    may_hold_commands,
    unescape_backquotes,
    utf8,
)
from bridle.tools.commands.script import (
    Block,
    CommandBuilder,
    Construct,
    Feed,
    Redirect,
    Script,
    Step,
    assignment_of,
    read_body,
)
from bridle.tools.commands.syntax_tree import (
    COMPOUND,
    LOOPS,
    REDIRECTS,
    SIMPLE,
    SUBSTITUTIONS,
    WORDS,
    Tree,
    find_unreadable,
    has_heredoc,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_VALUES = 64
MAX_DEPTH = 50

_COMPARING = re.compile(r"-(?:eq|ne|lt|le|gt|ge|v)\b")
_READING = re.compile(r"\b(?:read|readarray|mapfile|getopts)\b")
_CALCULATING = re.compile(r"\[|:(?![-=+?])")  # in an expansion: a subscript or an offset
_SEPARATORS = ("", *" \t\n;&|()<>")
_TOO_DEEP = "the command line is nested too deeply"
_NOT_IN_FULL = "the command line cannot be parsed in full"


def parse_script(text: str, depth: int = 0) -> Script:
    """Parse a command line; never raises. `depth` is the number of command lines that contain this one."""
    problem = _TOO_DEEP if depth > MAX_DEPTH else find_unreadable(text)
    if problem:
        return Script((), (problem,), {}, frozenset())
    return _Reader(Tree(text.encode()), depth).read()


class _Reader:
    """Walks one syntax tree."""

    def __init__(self, tree: Tree, depth: int) -> None:
        self._tree = tree
        self._source = tree.source
        self._lexer = Lexer(tree.source, tree.node_at)
        self._depth = depth
        self._doubts: list[str] = []
        self._values: dict[str, tuple[Word, ...]] = {}
        self._functions: set[str] = set()
        self._calculates = False

    def read(self) -> Script:
        """Return the whole command line as a script."""
        if self._tree.root.has_error:
            self._doubts.append("the command line cannot be parsed")
        steps = self._children(self._tree.root, 0, len(self._source))
        is_armed = any(map(may_hold_commands, self._values.values())) or _READING.search(self._source)
        if self._calculates and is_armed:
            # Arithmetic runs the substitutions in the value of a variable: a='x[$(rm f)]'; echo $((a))
            self._doubts.append("the command line does arithmetic on text that may contain commands")
        return Script(tuple(steps), tuple(self._doubts), self._values, frozenset(self._functions))

    def _expect_blanks(self, start: int, end: int, *, newlines: bool = True) -> None:
        if not is_blank(self._source[start:end], newlines=newlines):
            self._doubts.append(_NOT_IN_FULL)

    def _expect_alone(self, node: "Node") -> None:
        """Add a doubt if a reserved word is part of a longer word: `{a` and `![[` are names of programs."""
        is_word = node.type[-1:].isalpha() or node.type in ("{", "}", "!", "[[", "]]")
        if is_word and self._source[node.end_byte : node.end_byte + 1] not in _SEPARATORS:
            self._doubts.append(_NOT_IN_FULL)

    # ------------------------------------------------------------------ statements

    def _children(self, node: "Node", start: int, end: int, feed: Feed = "nothing") -> list[Step]:
        """Read the statements among the children of a node, which cover the source from start to end."""
        steps: list[Step] = []
        if self._depth >= MAX_DEPTH:
            self._doubts.append(_TOO_DEEP)
            return steps
        self._depth += 1
        position = start
        for child in node.children:
            self._expect_blanks(position, child.start_byte)
            position = max(position, child.end_byte)
            if child.is_named:
                steps += self._statement(child, feed)
            elif child.type == "&" and steps:
                steps[-1] = Block((steps[-1],), is_own_shell=True)
            else:
                self._expect_alone(child)
        self._expect_blanks(position, end)
        self._depth -= 1
        return steps

    def _statement(self, node: "Node", feed: Feed, tail: Sequence["Node"] = ()) -> list[Step]:
        """Read one statement; `tail` holds the redirections that the tree puts after it."""
        kind = node.type
        if kind in SIMPLE or kind in REDIRECTS:
            return self._simple([node, *tail], feed)
        if kind == "redirected_statement":
            body, *rest = node.children
            return self._statement(body, feed, [*rest, *tail])
        if kind == "list":
            return self._list(node, feed, tail)
        if kind == "pipeline":
            return self._pipeline(node, feed, tail)
        if kind == "comment":
            return self._comment(node)
        if kind == "negated_command" and node.children[-1].is_named:
            self._expect_alone(node.children[0])
            self._expect_blanks(node.start_byte + 1, node.children[-1].start_byte)
            return self._statement(node.children[-1], feed, tail)
        opened = self._simple(tail, "nothing") if tail else []
        if any(child.type != "file_redirect" or "<" in self._tree.text(child) for child in tail):
            feed = "pipe"
        return [*opened, *self._compound(node, feed)]

    def _list(self, node: "Node", feed: Feed, tail: Sequence["Node"]) -> list[Step]:
        """Read `a && b || c`, which the tree nests to the left to any depth."""
        links: list[Node] = []
        first = node
        while first.type == "list":
            children = first.children
            for before, after in itertools.pairwise(children):
                self._expect_blanks(before.end_byte, after.start_byte)
            links.extend(child for child in reversed(children[1:]) if child.is_named)
            first = children[0]
        steps = self._statement(first, feed)
        for index, link in enumerate(reversed(links), 1):
            linked = self._statement(link, feed, tail if index == len(links) else ())
            steps.append(Block(tuple(linked), is_certain=False))
        return steps

    def _pipeline(self, node: "Node", feed: Feed, tail: Sequence["Node"] = ()) -> list[Step]:
        steps: list[Step] = []
        position = node.start_byte
        for child in node.children:
            self._expect_blanks(position, child.start_byte)
            position = child.end_byte
            if child.is_named:
                part = self._statement(child, feed, tail if child.end_byte == node.end_byte else ())
                steps.append(Block(tuple(part), is_own_shell=True))
            else:
                feed = "pipe"
        return steps

    def _compound(self, node: "Node", feed: Feed) -> list[Step]:
        kind, start, end = node.type, node.start_byte, node.end_byte
        if kind == "test_command":
            return self._test(node)
        if kind == "compound_statement" and node.children[0].type == "((":
            return [*self._calculated(node), Construct(self._tree.shown(node), is_harmless=False)]
        if kind == "compound_statement":
            return [Block(tuple(self._children(node, start, end, feed)))]
        if kind == "subshell":
            return [Block(tuple(self._children(node, start, end, feed)), is_own_shell=True)]
        if kind == "function_definition":
            return self._function(node)
        if kind == "ERROR":
            return self._children(node, start, end, "pipe")
        if kind in WORDS:
            return self._lone_word(node)
        if kind not in COMPOUND:
            return self._mentioned(node)
        if kind == "for_statement":
            self._loop_values(node)
        self._calculates |= kind == "c_style_for_statement"
        steps = self._children(node, start, end, feed)
        return [Block(tuple(steps), is_certain=False, is_repeated=kind in LOOPS)]

    def _lone_word(self, node: "Node") -> list[Step]:
        """Read a word that is not part of a command: a value of a loop, a pattern of a case."""
        try:
            word, end = self._lexer.word(node.start_byte)
            if end != node.end_byte:
                raise ToolError(_NOT_IN_FULL)
            return self._nested(word)
        except ToolError as error:
            self._doubts.append(str(error))
            return self._mentioned(node)

    def _loop_values(self, node: "Node") -> None:
        """Record the possible values of a loop's variable."""
        name = node.child_by_field_name("variable")
        shown = self._tree.text(name) if name is not None else ""
        for child in node.children_by_field_name("value")[:MAX_VALUES]:
            try:
                self._note(shown, self._lexer.word(child.start_byte)[0])
            except ToolError as error:
                self._doubts.append(str(error))

    def _note(self, name: str, value: Word) -> None:
        self._values[name] = (*self._values.get(name, ()), value)[:MAX_VALUES]

    def _test(self, node: "Node") -> list[Step]:
        if node.children[0].type == "[":
            return self._simple([node], "nothing")
        self._expect_alone(node.children[0])
        self._expect_alone(node.children[-1])
        shown = self._tree.shown(node)
        steps = self._calculated(node) if _COMPARING.search(shown) else self._mentioned(node)
        return [*steps, Construct(shown, is_harmless=not set("$`") & set(shown))]

    def _function(self, node: "Node") -> list[Step]:
        name = node.child_by_field_name("name")
        shown = utf8(self._tree.text(name)) if name is not None else ""
        self._functions.add(shown)
        steps = self._children(node, node.start_byte, node.end_byte)
        return [Construct(f"{shown}()", is_harmless=False), Block(tuple(steps), is_certain=False)]

    def _comment(self, node: "Node") -> list[Step]:
        start, end = node.start_byte, node.end_byte
        before, after = self._source[start - 1 : start] if start else "", self._source[end : end + 1]
        if not (before in _SEPARATORS and after in ("", "\n")):
            self._doubts.append("the command line contains something that may not be a comment")
        return []

    # ------------------------------------------------------------------ substitutions

    def _mentioned(self, node: "Node") -> list[Step]:
        """Read the substitutions in a node that is not a statement, such as arithmetic or an expansion."""
        found, rest = self._tree.substitutions(node)
        if any(EXPANDING.search(text) for text in rest):
            self._doubts.append("the command line contains an ambiguous substitution")
        return [step for inner in found for step in self._substitution(inner)]

    def _substitution(self, node: "Node") -> list[Step]:
        start, end = node.start_byte, node.end_byte
        if self._source[start] == "`":
            text = self._source[start + 1 : end - 1]
            if "`" in text.replace("\\`", ""):
                self._doubts.append("the command line contains an ambiguous substitution")
            return self._backquotes(unescape_backquotes(text, in_quotes=False))
        feed: Feed = "pipe" if self._source[start] == ">" else "nothing"
        statements = [child for child in node.children if child.is_named and child.type != "comment"]
        if any(has_heredoc(child) for child in statements[:-1]):
            # bash 5.2 loses a semicolon there: $(a <<E … E; b;c) runs `b c`
            self._doubts.append("a here-document inside a substitution is followed by more text")
        return [Block(tuple(self._children(node, start, end, feed)), is_own_shell=True)]

    def _backquotes(self, text: str) -> list[Step]:
        inner = parse_script(utf8(text), self._depth + 1)
        self._doubts += inner.doubts
        self._functions |= inner.functions
        for name, words in inner.values.items():
            self._values[name] = (*self._values.get(name, ()), *words)[:MAX_VALUES]
        return [Block(inner.steps, is_own_shell=True)]

    def _nested(self, word: Word) -> list[Step]:
        steps: list[Step] = []
        for inner in word.nested:
            if isinstance(inner, str):
                steps += self._backquotes(inner)
            elif inner.type in SUBSTITUTIONS:
                steps += self._substitution(inner)
            else:
                shown = self._tree.shown(inner)
                if inner.type == "expansion" and "@" in shown:
                    self._doubts.append(f"the command line transforms a value: {shown}")
                calculates = inner.type == "arithmetic_expansion" or _CALCULATING.search(shown)
                steps += self._calculated(inner) if calculates else self._mentioned(inner)
        return steps

    def _calculated(self, node: "Node") -> list[Step]:
        """Read arithmetic, which runs the substitutions in the values it uses."""
        self._calculates = True
        steps = self._mentioned(node)
        if steps:  # echo $(($(cat f))) runs the commands in the file
            self._doubts.append("the command line does arithmetic on the output of a command")
        return steps

    # ------------------------------------------------------------------ simple commands

    def _simple(self, nodes: Sequence["Node"], feed: Feed) -> list[Step]:
        """Read a simple command: its node, and the redirections that the tree puts after it."""
        command = CommandBuilder(feed, nodes[0].start_byte)
        try:
            for node in nodes:
                self._take(node, command)
        except ToolError as error:
            self._doubts.append(str(error))
        for assignment in command.assignments:
            self._note(assignment.name, assignment.value)
        return [*command.before, command.simple(), *command.after]

    def _take(self, node: "Node", command: CommandBuilder) -> None:
        if node.start_byte < command.position:
            if node.end_byte > command.position:
                raise ToolError(_NOT_IN_FULL)
            return  # the tree has two words where bash has one
        self._expect_blanks(command.position, node.start_byte, newlines=False)
        kind = node.type
        if kind in ("command", "variable_assignments"):
            command.position = node.start_byte
            for child in node.children:
                self._take(child, command)
        elif kind in ("declaration_command", "unset_command", "test_command"):
            self._take_words(node, command)
        elif kind == "heredoc_redirect":
            self._heredoc(node, command)
        elif kind in ("file_redirect", "herestring_redirect"):
            self._redirect(node, command)
        elif kind == "subshell" and [word.literal for word in command.words] in (["time"], ["coproc"]):
            command.add([], self._statement(node, command.feed), node.end_byte)
        elif kind == "comment":
            command.add([], self._comment(node), node.end_byte)
        elif kind == "subshell":
            raise ToolError("the command line is unclear: a word cannot be a subshell")
        else:
            self._take_word(node, command)
        if command.position < node.end_byte:
            raise ToolError(_NOT_IN_FULL)

    def _take_word(self, node: "Node", command: CommandBuilder) -> None:
        word, end = self._lexer.word(node.start_byte)
        nested = self._nested(word)
        assignment = assignment_of(word) if not command.words else None
        command.add([] if assignment is not None else [word], nested, end)
        if assignment is not None:
            command.assignments.append(assignment)

    def _take_words(self, node: "Node", command: CommandBuilder) -> None:
        """Read every word from the start of a node to its end, whatever its structure in the tree."""
        position = node.start_byte
        while position < node.end_byte:
            if self._source[position] in " \t":
                position += 1
            elif self._source.startswith("\\\n", position):
                position += 2
            else:
                word, position = self._lexer.word(position)
                command.add([word], self._nested(word), position)
        for assignment in filter(None, map(assignment_of, command.words)):
            self._note(assignment.name, assignment.value)

    def _redirect(self, node: "Node", command: CommandBuilder) -> None:
        """Read a redirection; further targets in the tree are words of the command."""
        extras = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        operator = next(child for child in node.children if not child.is_named)
        first, before = node.children[0], self._source[max(0, node.start_byte - 1) : node.start_byte]
        has_number = first.type == "file_descriptor"
        if has_number and not (self._tree.text(first).isdigit() and before in _SEPARATORS):
            raise ToolError(f"the command line is unclear: {self._tree.shown(node)}")
        command.position = operator.end_byte
        if extras and not operator.type.endswith("-"):
            target = extras.pop(0)
            self._expect_blanks(operator.end_byte, target.start_byte, newlines=False)
            word, end = self._lexer.word(target.start_byte)
            command.add([], self._nested(word), end)
            takes_input = not has_number or self._tree.text(first) == "0"
            command.redirect(Redirect(operator.type, word), is_input=takes_input)
        for extra in extras:
            self._take(extra, command)

    def _heredoc(self, node: "Node", command: CommandBuilder) -> None:
        """Read a here-document: first the rest of its line, then its body."""
        dash, opening, *others = (
            child for child in node.children if child.type not in ("heredoc_body", "heredoc_end")
        )
        delimiter, end = self._lexer.word(opening.start_byte)
        if delimiter.nested or end != opening.end_byte:
            raise ToolError("the end of a here-document is not plain text")
        if any(has_heredoc(child) for child in others):
            raise ToolError("two here-documents start on one line")
        follows = False
        for child in others:
            self._expect_blanks(end, child.start_byte, newlines=False)
            command.position = child.start_byte
            if child.type == "pipeline":
                command.after += self._pipeline(child, "nothing")
            elif child.is_named and follows:
                command.after.append(Block(tuple(self._statement(child, "nothing")), is_certain=False))
            elif child.is_named:
                self._take(child, command)
            follows = follows or not child.is_named
            end = child.end_byte
        start = self._source.find("\n", end) + 1
        self._expect_blanks(end, start)
        body, is_known = read_body(
            self._source, self._lexer, delimiter, (start, node.end_byte), strips=dash.type == "<<-"
        )
        command.add([], self._nested(body), node.end_byte)
        command.feed_text(body if is_known else None)
