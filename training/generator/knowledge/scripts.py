"""Little scripts for the model to run, read from text files; what stands in `<…>` is drawn."""

import random
import re
from pathlib import Path

from msgspec import Struct

NAMES = (
    "Anna Omar Lucia Ben Mei Jonas Fatima Pedro Nora Ivan Chloe Samir Greta Tom Aylin Hugo Rosa Dario".split()
)
CITIES = (
    "Porto Lyon Bergen Graz Bari Leeds Brno Cadiz Turku Ghent Basel Split Riga Malmo Nantes Perth".split()
)
WORDS = """lantern basil violin pepper anchor meadow cedar pebble marble copper saffron walnut harbour thunder
velvet juniper compass ribbon sparrow canyon almond pigeon turnip saddle bucket cobalt""".split()
_BLANK = re.compile(r"<([a-z]+2?)>")


class Script(Struct):
    """A script with its name, and what the head of its block says."""

    name: str
    notes: list[str]
    code: str

    @property
    def command(self) -> str:
        """The command that runs it."""
        return f"{'sh' if self.name.endswith('.sh') else 'python3'} {self.name}"

    def drawn(self, rng: random.Random) -> "Script":
        """Return the script with all blanks filled."""
        values = _values(rng)

        def fill(text: str) -> str:
            return _BLANK.sub(lambda blank: values[blank[1]], text)

        return Script(self.name, [fill(note) for note in self.notes], fill(self.code))


def _values(rng: random.Random) -> dict[str, str]:
    name, name2 = rng.sample(NAMES, 2)
    city, city2 = rng.sample(CITIES, 2)
    word, word2 = rng.sample(WORDS, 2)
    numbers = [rng.randint(2, 60) for _ in range(rng.randint(4, 7))]
    return {
        "name": name,
        "name2": name2,
        "city": city,
        "city2": city2,
        "word": word,
        "word2": word2,
        "n": str(rng.randint(11, 99)),
        "m": str(rng.randint(11, 99)),
        "two": str(rng.randint(20, 99)),
        "small": str(rng.randint(2, 9)),
        "small2": str(rng.randint(2, 9)),
        "die": str(rng.randint(2, 6)),
        "nums": ", ".join(map(str, numbers)),
        "bool": rng.choice(["True", "False"]),
        "abcd": rng.choice("abcd"),
    }


def load_scripts(name: str) -> list[Script]:
    """Return the scripts of a file of this folder."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    scripts = []
    for block in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, _, code = block.partition("\n")
        first, *notes = head.split(" | ")
        scripts.append(Script(first, notes, code.rstrip("\n") + "\n"))
    return scripts
