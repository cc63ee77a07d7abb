"""Sort the arguments of a program into flags, their values, and operands."""

from collections.abc import Sequence

from msgspec import Struct

from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.program_tables import FlagValue, Program


class SortedArguments(Struct, frozen=True):
    """The arguments of a program, sorted."""

    operands: tuple[Argument, ...]
    flags: dict[str, tuple[Argument, ...]]
    """Each known flag that is present, with all its values."""
    reads: tuple[Argument, ...]
    """Files to read that flags name."""
    writes: tuple[Argument, ...]
    texts: tuple[Argument, ...]
    """Values of flags that are text."""
    guesses: tuple[Argument, ...]
    """Values of unknown flags."""
    is_understood: bool
    """True if every flag is in the program's list."""


def sort_arguments(fields: Sequence[Argument], program: Program) -> SortedArguments:
    """Sort the arguments of a program; flags may also follow operands."""
    sorter = _Sorter(program)
    waiting = list(reversed(fields))
    while waiting:
        field = waiting.pop()
        text = field.text
        if sorter.is_over or not text.startswith("-") or field.value == "-":
            sorter.operands.append(field)
        elif text == "--":
            sorter.is_over = True
        elif field.value is None:
            sorter.unknown(field)
        elif text.startswith("--"):
            sorter.long(text, waiting)
        else:
            sorter.short(text, waiting)
    return sorter.result()


class _Sorter:
    def __init__(self, program: Program) -> None:
        self._program = program
        self.operands: list[Argument] = []
        self.is_over = False
        self._flags: dict[str, tuple[Argument, ...]] = {}
        self._values: dict[FlagValue, list[Argument]] = {"": [], ":": [], "<": [], ">": [], "?": []}
        self._is_understood = True

    def result(self) -> SortedArguments:
        return SortedArguments(
            tuple(self.operands),
            self._flags,
            tuple(self._values["<"]),
            tuple(self._values[">"]),
            tuple(self._values[":"]),
            tuple(self._values[""]),
            self._is_understood,
        )

    def unknown(self, field: Argument) -> None:
        self._is_understood = False
        self._values[""].append(field)

    def long(self, text: str, waiting: list[Argument]) -> None:
        name, equals, value = text.partition("=")
        mark = self._program.flags.get(name)
        given = Argument(value, value) if equals else None
        if mark is None or (mark == "" and equals):
            self.unknown(given or Argument(text, text))
            return
        if mark not in ("", "?") and given is None:
            given = self._following(waiting)
        self._take(name, mark, given)

    def short(self, text: str, waiting: list[Argument]) -> None:
        if self._program.takes_numbers and text[1:].isdigit():
            return
        for index in range(1, len(text)):
            name, rest = "-" + text[index], text[index + 1 :]
            mark = self._program.flags.get(name)
            if mark is None:
                self.unknown(Argument(text, text))
                return
            if mark == "":
                self._take(name, mark, None)
                continue
            given = Argument(rest, rest) if rest else None
            if given is None and mark != "?":
                given = self._following(waiting)
            self._take(name, mark, given)
            return

    def _take(self, name: str, mark: FlagValue, given: Argument | None) -> None:
        self._flags[name] = (*self._flags.get(name, ()), *([given] if given is not None else []))
        if given is not None:
            self._values[mark].append(given)

    def _following(self, waiting: list[Argument]) -> Argument | None:
        """Take the next argument as a value; one that looks like a flag clears `is_understood`."""
        if not waiting:
            return None
        given = waiting.pop()
        text = given.text
        if text.startswith("-") and not text[1:].isdigit() and text != "-":
            self._is_understood = False
        return given
