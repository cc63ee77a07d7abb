"""The programs of `training.generator.sources_code`, with the edits that make sense in each."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources_code
from training.generator.sources import fill, in_folder, unwrap


class CodeEdit(Struct, frozen=True):
    """An edit of a program, as the tables have it."""

    kind: str
    left: str
    """What it is about, as the file has it."""
    right: str
    """The words of the order, or the name of what is changed."""
    new: str = ""
    """The new text, or the kind of the new value."""


class Program(Struct, frozen=True):
    """A small program."""

    path: str
    text: str
    edits: tuple[CodeEdit, ...]

    @property
    def ending(self) -> str:
        """The ending of its name, without the dot."""
        return self.path.rpartition("/")[2].partition(".")[2].rpartition(".")[2]

    @property
    def lines(self) -> list[str]:
        """The lines of its text."""
        return self.text.removesuffix("\n").split("\n")

    def line_with(self, part: str) -> int:
        """The number of the only line that holds a text, or begins with it after `^`."""
        found = [
            number
            for number, line in enumerate(self.lines, 1)
            if (line.startswith(part[1:]) if part.startswith("^") else part in line)
        ]
        assert len(found) == 1, (self.path, part, found)
        return found[0]


BLOCKS = unwrap(sources_code.PROGRAMS).removeprefix("=== ").split("\n=== ")


def make_program(rng: Random, block: str = "", kind: str = "") -> Program:
    """Make a program, one with an edit of some kind if that is asked for."""
    if not block:
        block = rng.choice([block for block in BLOCKS if f"\n{kind}" in block.partition("\n---\n")[2]])
    block = fill(rng, block)
    head, _, rest = block.partition("\n")
    text, _, edits = rest.partition("\n---\n")
    path = rng.choice(head.split(", "))
    if "/" not in path and path not in ("Dockerfile", "Makefile", "compose.yaml"):
        path = in_folder(rng, path, 0.3)
    return Program(path, text + "\n", tuple(_edit(line) for line in edits.strip("\n").split("\n")))


def _edit(line: str) -> CodeEdit:
    kind, _, rest = line.partition(" ")
    if kind == "rename":
        left, _, right = rest.partition(" > ")
        new, _, what = right.partition(" | ")
        return CodeEdit(kind, left, what, new)
    if kind in ("line", "below"):
        left, _, right = rest.partition(" => ")
        new, _, orders = right.rpartition(" | ")
        return CodeEdit(
            kind, left, orders, new.removeprefix("\\").replace("\\n", "\n") if kind == "below" else new
        )
    left, *others = rest.split(" | ")
    return CodeEdit(kind, left, others[0], others[1] if len(others) > 1 else "")


def functions(program: Program) -> list[tuple[str, int]]:
    """The functions that a program defines, and their lines."""
    pattern = re.compile(r"\s*(?:pub |export |public |static )*(?:def|function|func|fn|fun)\s+(\w+)")
    return [
        (match[1], number)
        for number, line in enumerate(program.lines, 1)
        if (match := pattern.match(line)) and not match[1].startswith("_")
    ]
