"""Scenes: a small text of one kind, the questions that its owner would ask, and what may change in it.

```
=== paths | what it is called | variants      the kind; {v} is a variant, of which the folder has several
text with [[slot:kind]]                       `%% ` begins a line that may be left out, `&& ` one of a group
                                              of lines in any order
---
? question ; question => answer               slots of the answer are the evidence, or `^slot`, `^"text"`
~ slot = name ; name                          may be changed and asked for by these names
```
"""

import re
from pathlib import Path
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import spell
from training.generator.play import Unfit

SLOT = re.compile(r"\[\[(\w+)(?::([^\]]+))?\]\]")
FIRST = """
Ada Ben Cleo Dario Elif Finn Greta Hugo Ines Jonas Kaya Leo Mina Nils Olga Pablo Quinn Rosa Sven
Tilda Umar Vera Wim Xenia Yann Zoe Amir Bela Chiara Dunja Emil Fatma Goran Hana Ivo Jana Karim Lotte
Milo Noor Otto Petra Ravi Selma Theo Uta Viktor Wanda Yara Zeno Aiko Bruno Carmen Dilan Esra Farid
Gina Hamid Ilse Jin
""".split()
SURNAMES = """
Abara Brandt Castro Dahl Egger Fontaine Gruber Haddad Ionescu Jansen Kovac Lindqvist Moreau Novak
Okafor Petrov Quist Rossi Sato Tanaka Ullmann Varga Weiss Xu Yilmaz Zeller Almeida Bauer Conti Duval
Eriksen Farkas Garcia Horvat Ito Keller Laurent Meyer Nowak Olsen Perez Reyes Schmid Torres Urban
Vogel Winter Zhang
""".split()
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
PETS = "Momo Biscuit Luna Pepper Kiwi Oscar Nala Socks Rocky Mochi Bella Simba Cookie Tiger Coco".split()
WAYS = "Street Lane Road Alley Square Avenue Way Hill Court Row".split()
TREES = (
    "Mill Oak Station Church River Garden Bridge School Harbour Castle Maple Linden North Market Rose".split()
)


class Question(Struct, frozen=True):
    """What is asked and answered."""

    wordings: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...]


class Kind(Struct, frozen=True):
    """A kind of text as the file has it."""

    paths: tuple[str, ...]
    called: tuple[str, ...]
    variants: tuple[str, ...]
    lines: tuple[str, ...]
    questions: tuple[Question, ...]
    names: dict[str, tuple[str, ...]]
    is_code: bool


def _split(text: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


def _question(line: str) -> Question:
    asked, _, answered = line[2:].partition(" => ")
    evidence = tuple(re.findall(r' \^("[^"]+"|\w+)', answered))
    answer = re.sub(r' \^("[^"]+"|\w+)', "", answered).strip()
    shown = evidence or tuple(dict.fromkeys(name for name, _ in SLOT.findall(answer)))
    return Question(_split(asked, " ; "), answer, shown)


def _kind(block: str, *, is_code: bool) -> Kind:
    head, _, rest = block.partition("\n")
    text, _, below = rest.partition("\n---\n")
    paths, called, *more = head.split(" | ")
    rows = below.strip().split("\n")
    names = {row[2:].split(" = ")[0]: _split(row.split(" = ")[1], ";") for row in rows if row[0] == "~"}
    questions = tuple(_question(row) for row in rows if row[0] == "?")
    variants = _split(more[0], ",") if more else ()
    return Kind(
        _split(paths, ","), _split(called, ";"), variants, tuple(text.split("\n")), questions, names, is_code
    )


def _is_code(block: str) -> bool:
    """True for code and settings, false for texts and tables that anybody has."""
    ending = block.split(",")[0].split(" | ")[0].rpartition(".")[2]
    return ending not in {"txt", "md", "csv", "html", "bib", "eml", "srt"} and not block.startswith("LICENSE")


def load_kinds() -> tuple[Kind, ...]:
    """Return all kinds, in the order of the files."""
    found = []
    for name in ("texts", "code", "places", "more", "abroad"):
        text = (Path(__file__).parent / f"{name}.txt").read_text()
        blocks = text.removeprefix("=== ").split("\n=== ")
        found += [_kind(block, is_code=_is_code(block)) for block in blocks]
    return tuple(found)


KINDS = load_kinds()


def draw(rng: Random, kind: str) -> str:
    """Make up a value of a kind: those of `sources.value`, and names, days and streets."""
    match kind:
        case "firstname":
            return rng.choice(FIRST)
        case "surname":
            return rng.choice(SURNAMES)
        case "fullname":
            return f"{rng.choice(FIRST)} {rng.choice(SURNAMES)}"
        case "petname":
            return rng.choice(PETS)
        case "month":
            return rng.choice(MONTHS)
        case "monthyear":
            return f"{rng.choice(MONTHS)} {rng.randint(2025, 2029)}"
        case "weekday":
            return rng.choice(DAYS)
        case "street":
            return f"{rng.choice(TREES)} {rng.choice(WAYS)}"
        case "float 1 9" | "float 2 3" | "float 2 5" | "float 3 6":
            return f"{rng.uniform(*map(float, kind.split()[1:])):.1f}"
        case _:
            return sources.value(rng, kind)


class Scene:
    """A text of a kind with its values; lines and values change as the conversation goes on."""

    def __init__(self, rng: Random, kind: Kind, variant: str = "", path: str = "") -> None:
        self.rng, self.kind, self.variant = rng, kind, variant
        self.pattern = path or rng.choice(kind.paths)
        if not variant and kind.variants:
            variant = self.variant = rng.choice(kind.variants)
        self.path = self.pattern.replace("{v}", variant)
        self.values: dict[str, str] = {"v": variant} if variant else {}
        self.kinds: dict[str, str] = {}
        self.rows = _laid(rng, kind.lines)
        for row in self.rows:
            for name, what in SLOT.findall(row):
                if what:
                    self.kinds[name] = what
                    self.values[name] = self.fresh(what)

    def fresh(self, what: str, *taken: str) -> str:
        """A value of a kind that is not in the text yet."""
        for _ in range(40):
            new = draw(self.rng, what)
            is_free = what.count("/") == 1 or new not in self.values.values()
            if is_free and new not in taken:
                return new
        raise Unfit("no other value")

    def put(self, text: str) -> str:
        """Fill the slots of a text."""
        return SLOT.sub(lambda found: self.values.get(found[1], found[0]), text)

    @property
    def lines(self) -> list[str]:
        """The lines as they are now."""
        return [self.put(row) for row in self.rows]

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines) + "\n"

    def row_of(self, mark: str) -> int:
        """The number of the line with a slot, or with a text in quotes."""
        wanted = mark[1:-1] if mark[0] == '"' else ""
        for number, row in enumerate(self.rows, 1):
            if (wanted and wanted in row) or (not wanted and re.search(rf"\[\[{mark}[:\]]", row)):
                return number
        raise Unfit(f"no line with {mark}")

    def evidence(self, *marks: str) -> str:
        """The lines with these slots, as proof."""
        numbers = sorted({self.row_of(mark) for mark in marks if mark != "v" or mark in self.kinds})
        return "\n".join(f"{self.path}, line {at}: {self.lines[at - 1].strip()}" for at in numbers)

    def answer(self, question: Question) -> str:
        """The proof and the answer to a question."""
        if question.answer.startswith("%count "):
            word = question.answer.removeprefix("%count ")
            found = [line for line in self.lines if word in line]
            return "\n".join(f"{at}. {line}" for at, line in enumerate(found, 1)) + f"\nThat is {len(found)}."
        told = self.put(question.answer)
        if not self.kind.is_code:
            told = told[0].upper() + told[1:]
        return f"{self.evidence(*question.evidence)}\n{told}"

    def name_of(self, slot: str) -> str:
        """What the user calls a value that may change."""
        return self.put(self.rng.choice(self.kind.names[slot]))

    def told_name(self, slot: str) -> str:
        """What the answer calls it."""
        return re.sub(r"\bmy\b", "your", self.put(self.kind.names[slot][0]))

    def told(self, slot: str) -> str:
        """The proof and the value of something that may change."""
        name = self.told_name(slot)
        is_word = self.kind.is_code and not name.startswith("the ")
        name = name if is_word else name[0].upper() + name[1:]
        return f"{self.evidence(slot)}\n{name} {is_or_are(name)} {self.values[slot]}."

    def called(self) -> str:
        """What the user calls the file."""
        return self.rng.choice(self.kind.called).replace("{v}", self.variant)

    def ask(self, question: Question) -> str:
        """One wording of a question."""
        return self.put(spell(self.rng, self.rng.choice(question.wordings)))


def is_or_are(name: str) -> str:
    """The verb after a name: `the fee`, `the weeks of notice`."""
    head = re.split(r" (?:of|for|between|at|in|until|with|to|from|kept) ?", name)[0]
    return "are" if re.search(r"[^su]s$", head) else "is"


def _laid(rng: Random, lines: tuple[str, ...]) -> list[str]:
    """Leave out some lines, and shuffle those of a group."""
    kept = [line for line in lines if not line.startswith("%% ") or rng.random() < 0.5]
    group = [line for line in kept if line.startswith("&& ")]
    rng.shuffle(group)
    rows = [group.pop() if line.startswith("&& ") else line for line in kept]
    return [re.sub(r"^(%%|&&) ", "", row) for row in rows]
