"""The variables of a command line: the few known values, and the possible values of the others."""

import itertools
import os.path
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from bridle.tools.commands.expansion import Argument, expand
from bridle.tools.commands.lexer import Word
from bridle.tools.commands.step_limit import StepLimit

MAX_GUESSES = 64
MAX_STEPS = 3
"""How many references from variable to variable are followed."""


class Variables:
    """The known and possible values of variables during the analysis of a command line."""

    def __init__(self, effort: StepLimit) -> None:
        self.home = os.path.expanduser("~")
        self._effort = effort
        self._values: dict[str, tuple[Word, ...]] = {}

    def assign(self, values: Mapping[str, tuple[Word, ...]]) -> None:
        """Record what a command line assigns, anywhere in it."""
        for name, words in values.items():
            self._values[name] = (*self._values.get(name, ()), *words)[:MAX_GUESSES]

    def fields(self, words: Sequence[Word], cwd: str | None) -> list[Argument]:
        """Return the arguments that words expand to; unknown ones carry guesses."""
        certain = self._certain(cwd)
        fields: list[Argument] = []
        for word in words:
            expanded = self._expand(word, certain)
            if len(expanded) == 1 and expanded[0].value is None and not expanded[0].pattern:
                expanded = [replace(expanded[0], guesses=tuple(self._possible(word, certain, 0)))]
            fields += expanded
        return fields

    def _certain(self, cwd: str | None) -> dict[str, str]:
        if "IFS" in self._values:
            return {}
        names = {"HOME": self.home} if cwd is None else {"HOME": self.home, "PWD": cwd}
        return {name: value for name, value in names.items() if name not in self._values}

    def _expand(self, word: Word, names: Mapping[str, str]) -> list[Argument]:
        expanded = expand(word, names)
        self._effort.spend(
            len(expanded) + (len(word.source) + len(expanded[0].text) if expanded else 0) // 50
        )
        return expanded

    def _possible(self, word: Word, certain: Mapping[str, str], step: int) -> list[str]:
        """Return the possible texts of a word, from all assignments to the variables in it."""
        used = [name for name in dict.fromkeys(_names_in(word)) if name in self._values]
        if not used or step > MAX_STEPS:
            return [field.text for field in self._expand(word, certain) if field.text] if step else []
        choices = [
            [text for value in self._values[name] for text in self._possible(value, certain, step + 1)][
                :MAX_GUESSES
            ]
            for name in used
        ]
        texts: list[str] = []
        for chosen in itertools.islice(itertools.product(*choices), MAX_GUESSES):
            expanded = self._expand(word, {**certain, **dict(zip(used, chosen, strict=True))})
            texts += [field.text for field in expanded if field.text]
        return texts[:MAX_GUESSES]


def _names_in(word: Word) -> Iterator[str]:
    return (piece.text for piece in word.pieces if piece.kind == "name")
