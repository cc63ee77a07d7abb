"""A page is a small text file together with the questions that it answers."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Ask", "Page", "joined", "lower_first", "pick", "spin", "unfolded", "upper_first"]

CHOICE = re.compile(r"\[([^\[\]]*)\]")


def spin(rng: random.Random, template: str, values: Mapping[str, str] | None = None) -> str:
    """Write out a template: `a|b` and nested `[a|b]` are alternatives, `{name}` is filled from the values."""
    text = f"[{template}]"
    while match := CHOICE.search(text):
        text = text[: match.start()] + rng.choice(match[1].split("|")) + text[match.end() :]
    text = re.sub(r" +", " ", text).strip()
    for name, value in (values or {}).items():
        text = text.replace("{" + name + "}", value)
    return text


def pick(rng: random.Random, words: Sequence[str], least: int, most: int) -> list[str]:
    """Between `least` and `most` different words."""
    return rng.sample(list(words), min(len(words), rng.randint(least, most)))


def joined(words: Sequence[str], last: str = "and") -> str:
    """Words in a row: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def unfolded(text: str) -> str:
    """A block of text in which a line that starts with two spaces continues the one before."""
    return text.strip().replace("\n  ", " ")


def upper_first(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Ask:
    """One question about a page: ways to word it, and what is right."""

    shape: str
    """fact, list, count, check, most, sum, code or quote."""
    words: str
    """Questions without the file, as a template of `spin` whose values are already in."""
    answer: str
    """The closing sentence."""
    lines: tuple[int, ...] = ()
    """The lines that prove it."""
    items: tuple[str, ...] = ()
    """Listed with numbers before the closing sentence."""
    noun: str = ""
    """What is asked for, with its article: `the price of the soup`. Empty when no plain frame fits."""
    value: str = ""


@dataclass
class Page:
    """One file: its path, its lines, how people call it and the questions it answers."""

    path: str
    called: str
    """Ways to name the file by what it is, with article or pronoun, as a template."""
    about: str
    """What the file is, for a summary: `a recipe for lentil soup`."""
    language: str = "en"
    lines: list[str] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    title: int = 0
    """The line of the title, when there is one."""
    absent: list[tuple[str, str]] = field(default_factory=list)
    """Questions that the file does not answer, and the sentence that says so."""

    is_common: bool = False
    """True when the questions could be about the world as well: never asked without naming the file."""

    def add(self, *lines: str) -> int:
        """Append lines; the number of the last one."""
        self.lines.extend(lines)
        return len(self.lines)

    @property
    def text(self) -> str:
        """The content, with a final newline."""
        return "\n".join(self.lines) + "\n"

    def fact(self, noun: str, value: str, line: int, words: str = "", answer: str = "", *more: int) -> None:
        """A value that stands in a line; without `words` only the plain frames ask for it."""
        plain = f"{upper_first(noun)} is {value}."
        self.asks.append(Ask("fact", words, answer or plain, (line, *more), noun=noun, value=value))

    def ask(
        self, shape: str, words: str, answer: str, lines: Sequence[int] = (), items: Sequence[str] = ()
    ) -> None:
        """Any other question."""
        self.asks.append(Ask(shape, words, answer, tuple(lines), tuple(items)))

    def listed(self, shape: str, words: str, items: Sequence[str], closing: str = "") -> None:
        """A question whose answer is a list."""
        self.ask(shape, words, closing or f"That is {len(items)}.", (), items)

    def missing(self, words: str, answer: str) -> None:
        """A question that the file does not answer."""
        self.absent.append((words, answer))
